"""Hooks for agents of Pydantic AI (the extra `pydantic-ai`).

    from hook_sdk.integrations.pydantic_ai import Hooks

    async with HookClient() as client:
        agent = Agent(model, capabilities=[Hooks(client)])

It asks about tool calls, model calls (complete answers, not chunks) and prompts.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..model_calls import call_model
from ..outcomes import Blocked, Proceed, Ran, Stopped, ToolCall
from ..tool_calls import execute_tool
from ..turns import agent_turn
from ._common import check_version, model_response, tool_text

check_version("pydantic-ai-slim", "2.62", "3")


class Hooks(AbstractCapability[Any]):
    """Puts hooks around the tools, the model and the prompts of an agent."""

    def __init__(self, client: HookClient) -> None:
        self._client = client

    async def wrap_tool_execute(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        async def run(tool_input: dict[str, Any]) -> Any:
            if tool_input == args:
                return await handler(args)
            # Changed arguments are checked as the model's are.
            checked = await ctx.tool_manager.validate_tool_call(
                dataclasses.replace(call, args=tool_input)
            )
            if not checked.args_valid:
                raise checked.validation_error or ValueError("the changed arguments are not valid")
            return await handler(checked.validated_args)

        failures: list[Exception] = []

        async def kept(tool_input: dict[str, Any]) -> Any:
            try:
                return await run(tool_input)
            except Exception as error:
                failures.append(error)
                raise

        tool_call = ToolCall(call.tool_name, args, call.tool_call_id)
        outcome = await execute_tool(self._client, tool_call, kept)
        if isinstance(outcome, Ran) and outcome.is_changed is False and not outcome.result.error:
            return outcome.value
        return tool_text(outcome)

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
        answered: list[ModelResponse] = []
        entries = _entries(request_context.messages)

        async def model(request: dict[str, Any]) -> dict[str, Any]:
            messages = _changed(request_context.messages, entries, request["messages"])
            answered.append(await handler(dataclasses.replace(request_context, messages=messages)))
            return {"text": _text(answered[-1])}

        request = {
            "model": request_context.model.model_name,
            "messages": [{"role": role, "content": text} for _, _, role, text in entries],
        }
        outcome = await call_model(self._client, "stable", request, model).finish()
        text = str(model_response(outcome).get("text") or "")
        if not answered:
            return ModelResponse(parts=[TextPart(text)])
        if text == _text(answered[-1]):
            return answered[-1]
        parts = [part for part in answered[-1].parts if not isinstance(part, TextPart)]
        return dataclasses.replace(answered[-1], parts=[TextPart(text), *parts])

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        prompt = ctx.prompt if isinstance(ctx.prompt, str) else ""
        async with agent_turn(self._client, prompt) as turn:
            if not isinstance(turn.start, Proceed):
                raise HookStopped(turn.start.reason)
            result = await handler()
            turn.answer = str(result.output)
        if isinstance(turn.end, Blocked | Stopped):
            raise HookStopped(turn.end.reason)
        return result


Entry = tuple[int, int, str, str]
"""The numbers of a message and of its part, the role and the text."""


def _entries(messages: list[Any]) -> list[Entry]:
    found: list[Entry] = []
    for number, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            text = getattr(part, "content", None)
            if isinstance(part, SystemPromptPart | UserPromptPart | TextPart) and isinstance(
                text, str
            ):
                role = "model" if isinstance(message, ModelResponse) else "user"
                found.append(
                    (number, place, "system" if isinstance(part, SystemPromptPart) else role, text)
                )
    return found


def _changed(messages: list[Any], entries: list[Entry], changed: list[Any]) -> list[Any]:
    """Returns the messages with the texts that hooks left.

    Raises HookError for what has no place here: messages that are gone or between others.
    """
    if [it["role"] for it in changed[: len(entries)]] != [it[2] for it in entries]:
        raise HookError("hooks removed or moved messages, which Pydantic AI's form does not show")
    made = list(messages)
    for (number, place, _, text), message in zip(entries, changed, strict=False):
        if message["content"] != text:
            parts = list(made[number].parts)
            parts[place] = dataclasses.replace(parts[place], content=message["content"])
            made[number] = dataclasses.replace(made[number], parts=parts)
    for message in changed[len(entries) :]:
        if message["role"] == "model":
            made.append(ModelResponse(parts=[TextPart(message["content"])]))
        else:
            made.append(ModelRequest(parts=[UserPromptPart(message["content"])]))
    return made


def _text(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))
