"""Hooks for agents of Google's ADK (the extra `google-adk`).

    from hook_sdk.integrations.google_adk import HookPlugin

    async with HookClient() as client:
        runner = InMemoryRunner(agent, plugins=[HookPlugin(client)])

It asks about tool calls, model calls (whole answers: with it, nothing streams) and prompts.
"""

from __future__ import annotations

from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from ..client import HookClient
from ..model_calls import call_model
from ..outcomes import Ran, ToolCall
from ..tool_calls import execute_tool
from ..turns import Turn
from ._common import OnMessage, Teller, check_version, model_response, prompt_of, tool_text

check_version("google-adk", "2.13", "3")


class HookPlugin(BasePlugin):
    """Puts hooks around the tools, the models and the prompts of all agents of a runner.

    Put it last: callbacks behind it do not see calls, since it makes them itself. `on_message`
    takes hooks' texts for the user, by default `on_problem` of the client.
    """

    def __init__(
        self, client: HookClient, name: str = "hooks", *, on_message: OnMessage | None = None
    ) -> None:
        super().__init__(name)
        self._client, self._user = client, Teller(client, on_message)

    async def on_user_message_callback(
        self, *, invocation_context: Any, user_message: types.Content
    ) -> types.Content | None:
        text = "".join(part.text or "" for part in user_message.parts or ())
        turn = Turn(self._client, text, None)
        await turn.begin({})
        prompt = prompt_of(self._user.tell(turn.start))
        if prompt == text:
            return None
        others = [part for part in user_message.parts or () if not part.text]
        parts = [types.Part(text=prompt), *others]
        return types.Content(role=user_message.role, parts=parts)

    async def before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
    ) -> dict[str, Any] | None:
        async def run(tool_input: dict[str, Any]) -> Any:
            return await tool.run_async(args=tool_input, tool_context=tool_context)

        call = ToolCall(tool.name, tool_args, getattr(tool_context, "function_call_id", None))
        outcome = self._user.tell(await execute_tool(self._client, call, run))
        if isinstance(outcome, Ran) and not outcome.is_changed and not outcome.result.error:
            value = outcome.value
            return value if isinstance(value, dict) else {"result": value}
        name = "error" if outcome.result.error else "result"
        return {name: tool_text(outcome)}

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: LlmRequest
    ) -> LlmResponse | None:
        answered: list[LlmResponse] = []
        model = callback_context._invocation_context.agent.canonical_model

        async def call(request: dict[str, Any]) -> dict[str, Any]:
            given = _changed(llm_request, request)
            async for answer in model.generate_content_async(given, stream=False):
                answered.append(answer)
            last = answered[-1]
            content = last.content.model_dump(**_JSON) if last.content else {"parts": []}
            return {"candidates": [{"content": {"role": "model", **content}}]}

        request = _request(llm_request)
        outcome = await call_model(self._client, "genai", request, call).finish()
        response = model_response(self._user.tell(outcome))
        candidates = response.get("candidates") or [{}]
        content = types.Content.model_validate(candidates[0].get("content") or {"parts": []})
        content.role = "model"
        if not answered:
            return LlmResponse(content=content)
        return answered[-1].model_copy(update={"content": content})


_JSON: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True}
_SHOWN = {"system_instruction", "tools", "tool_config", "temperature", "top_p", "top_k"}


def _request(request: LlmRequest) -> dict[str, Any]:
    config = request.config.model_dump(**_JSON, include=_SHOWN)
    contents = [content.model_dump(**_JSON) for content in request.contents]
    return {"model": request.model or "", "contents": contents, "config": config}


def _changed(request: LlmRequest, changed: dict[str, Any]) -> LlmRequest:
    """Returns the request as hooks left it."""
    before = _request(request)
    update: dict[str, Any] = {}
    if changed.get("contents") != before["contents"]:
        update["contents"] = [types.Content.model_validate(it) for it in changed["contents"]]
    config = changed.get("config") or {}
    if config != before["config"]:
        read = types.GenerateContentConfig.model_validate(config)
        fields = {
            name: getattr(read, name)
            for name in _SHOWN - {"tools"}
            if _alias(config, name) != _alias(before["config"], name)
        }
        update["config"] = request.config.model_copy(update=fields)
    return request.model_copy(update=update)


def _alias(config: dict[str, Any], name: str) -> Any:
    first, *others = name.split("_")
    return config.get(first + "".join(it.capitalize() for it in others))
