#!/usr/bin/env python3
"""Shows hooks a model's response in the form of its SDK, and lays what they changed onto it."""

import asyncio
from typing import Any

from hook_sdk import HookClient, Outcome
from hook_sdk.types import AfterModelPayload


def laid_onto(response: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """A response of OpenAI's chat completions with the text that hooks left.

    What they changed comes in the stable form (docs/model-sdks.md), with only the fields that
    they gave; what that does not show, such as calls of tools and ids, stays as it is.
    """
    changed: dict[str, Any] = outcome.modified or {}
    stable = changed.get("llm_response") or {}
    # `candidates` count before `text`, which is all text of the first of them.
    first = (stable.get("candidates") or [{}])[0]
    parts = (first.get("content") or {}).get("parts")
    text = stable.get("text") if parts is None else "".join(parts)
    if text is None:
        return response
    choice, *others = response["choices"]
    choice = {**choice, "message": {**choice["message"], "content": text}}
    return {**response, "choices": [choice, *others]}


async def main() -> None:
    message = {"role": "assistant", "content": "my key is 1234"}
    request = {"model": "m", "messages": [{"role": "user", "content": "what is your key?"}]}
    response = {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    fired: AfterModelPayload = {
        "sdk": "openai-chat",
        "llm_request": request,
        "llm_response": response,
    }
    async with HookClient() as client:
        outcome = await client.fire("AfterModel", fired)
    if outcome.proceeds:
        print(laid_onto(response, outcome)["choices"][0]["message"])
    else:
        print(f"{outcome.decision}: {outcome.reason}")


if __name__ == "__main__":
    asyncio.run(main())
