#!/usr/bin/env python3
"""An agent without a library: its tools, model and turns have hooks around them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hook_sdk import HookClient, ToolCall, agent_turn, call_model, execute_tool
from hook_sdk.agent import Chunk, Stopped

HERE = Path(__file__).resolve().parent
SERVE = ["hook", "serve", "--stdio", "--project", str(HERE), "--settings"]
SCRIPT: list[Any] = ["/etc/passwd", "draft.txt", "./a.txt", "the key is |hunter2|, as you know", "Done."]


async def model(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """A model that follows a script: it calls a tool with a path, or says something."""
    print("model gets:", request["messages"][-1]["content"])
    for text in SCRIPT.pop(0).split("|"):
        yield {"choices": [{"index": 0, "delta": {"content": text}}]}


def write_file(tool_input: dict[str, Any]) -> str:
    return f"wrote {tool_input['path']}"


async def approve(params: dict[str, Any]) -> bool:
    print("you are asked:", params["reason"])
    return True


async def work(client: HookClient, messages: list[dict[str, str]]) -> str:
    """The loop of an agent: the model, its tool, and so on until it has an answer."""
    while True:
        request = {"model": "m", "messages": messages}
        async with call_model(client, "openai-chat", request, model, chunks="each") as answer:
            shown = [part.chunk async for part in answer if isinstance(part, Chunk)]
            outcome = await answer.finish()
        assert outcome.result is not None, outcome
        said = outcome.result["choices"][0]["message"]["content"]
        print("you see:", "".join(it["choices"][0]["delta"]["content"] for it in shown))
        if not said.endswith(".txt") and not said.startswith("/"):
            return str(said)
        ran = await execute_tool(client, ToolCall("write_file", {"path": said}), write_file)
        if isinstance(ran, Stopped):
            return ran.reason
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": ran.result.text}]


async def main() -> None:
    command = [*SERVE, str(HERE / "settings.json")]
    async with HookClient(command=command, host_services={"user.approve": approve}) as client:
        messages: list[dict[str, str]] = []
        async with agent_turn(client, "Tidy up; my password is hunter2") as turn:
            async for prompt in turn:
                messages.append({"role": "user", "content": prompt})
                turn.answer = await work(client, messages)


asyncio.run(main())
