"""Hooks for agents of Google's ADK (the extra `google-adk`).

    from hook_sdk.integrations.google_adk import HookPlugin

    async with HookClient() as client:
        runner = InMemoryRunner(agent, plugins=[HookPlugin(client)])

It asks about tool calls, model calls (whole answers: with it, nothing streams) and prompts.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, Generic

from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..model_calls import call_model
from ..outcomes import ModelOutcome, Ran, ToolCall, ToolOutcome
from ..turns import Turn
from ._common import OnMessage, Teller, check_version, model_response, prompt_of, tool_text
from ._open_calls import OpenCall, Outcome, is_same, open_tool

check_version("google-adk", "2.13", "3")


class HookPlugin(BasePlugin):
    """Puts hooks around the tools, the models and the prompts of all agents of a runner.

    Put it last: what callbacks behind it change in a call is not seen. `on_message` takes hooks'
    texts for the user, by default `on_problem` of the client.
    """

    def __init__(
        self, client: HookClient, name: str = "hooks", *, on_message: OnMessage | None = None
    ) -> None:
        super().__init__(name)
        self._client, self._user = client, Teller(client, on_message)
        self._said: set[str] = set()
        # Calls that ADK makes now, by what it passes to the callbacks before and after.
        self._tools: dict[int, _Under[ToolOutcome]] = {}
        self._models: dict[int, _Under[ModelOutcome]] = {}
        self._for_model: dict[str, str] = {}
        """What hooks have to add to the next request of an invocation."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        config = invocation_context.run_config
        if invocation_context.live_request_queue is not None or (config and config.support_cfc):
            raise HookError("hooks cannot be asked about the model of a live session")
        if config:
            # Parts of an answer would be shown that hooks have not seen.
            update = {"streaming_mode": type(config.streaming_mode).NONE}
            invocation_context.run_config = config.model_copy(update=update)
        if invocation_context.events_compaction_config is not None:
            self._say("`events_compaction_config`: its model gets what hooks have not seen")

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        if any(it.invocation == invocation_context.invocation_id for it in self._tools.values()):
            self._say("a result did not come to hooks: another plugin answered, or it waits")
        await self._end(invocation_context.invocation_id)

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        await self._end(invocation_context.invocation_id)

    async def _end(self, invocation: str) -> None:
        self._for_model.pop(invocation, None)
        calls: tuple[dict[int, Any], ...] = (self._tools, self._models)
        for under_way in calls:
            for key in [key for key, it in under_way.items() if it.invocation == invocation]:
                await under_way.pop(key).call.end()

    def _say(self, problem: str) -> None:
        if problem not in self._said:
            self._said.add(problem)
            self._client._session.on_problem(problem)

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

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        executor = getattr(agent, "code_executor", None)
        if executor is not None and not isinstance(executor, BuiltInCodeExecutor):
            name = type(executor).__name__
            raise HookError(f"hooks do not see the code of the model that {name} runs: use a tool")

    async def before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
    ) -> dict[str, Any] | None:
        if getattr(tool, "include_plugins", True) is False:
            self._say(f"hooks are not asked about the agent {tool.name}: it has no plugins")
        call = ToolCall(tool.name, tool_args, getattr(tool_context, "function_call_id", None))
        opened = open_tool(self._client, call)
        opened.end_with_task()
        given = await opened.wanted()
        if given is None:
            outcome = self._user.tell(await opened.outcome())
            return _answer(outcome, tool_text(outcome))
        if not is_same(given, tool_args):
            unknown = [it for it in given if it not in tool_args and it not in _names(tool, given)]
            if unknown:  # ADK drops them.
                self._say(f"hooks gave {tool.name} what it does not know: {', '.join(unknown)}")
            tool_args.clear()
            tool_args.update(given)
        # The context is kept, so that no other one has its id.
        under = _Under(tool_context, tool_context.invocation_id, opened)
        self._tools[id(tool_context)] = under
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> dict[str, Any] | None:
        under = self._tools.pop(id(tool_context), None)
        if under is None:
            return None
        waits = tool.is_long_running or getattr(tool, "_defers_response", False)
        if (waits and not result) or _is_asked(tool_context):
            await under.call.end()
            return None
        shown = _shown(result)
        under.call.made(shown)
        value, outcome = await self._finished(under.call, tool, tool_context, result)
        text = tool_text(outcome)
        if not isinstance(outcome, Ran) or outcome.is_changed or outcome.result.error:
            return _answer(outcome, text)
        if value is result:
            # The tool may have changed it while hooks looked at it.
            return None if _shown(value) == shown else {"result": shown}
        return value if isinstance(value, dict) else {"result": value}

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: BaseException
    ) -> dict[str, Any] | None:
        under = self._tools.pop(id(tool_context), None)
        if under is None:
            return None
        if _is_control_flow(error):
            await under.call.end()
            return None
        under.call.failed(error)
        value, outcome = await self._finished(under.call, tool, tool_context, None)
        text = tool_text(outcome)
        if isinstance(outcome, Ran) and outcome.raised is not None:
            return None  # It is ADK's to handle.
        if isinstance(outcome, Ran) and not outcome.is_changed:
            return value if isinstance(value, dict) else {"result": value}
        return _answer(outcome, text)

    async def _finished(
        self, call: OpenCall[ToolOutcome], tool: Any, tool_context: Any, value: Any
    ) -> tuple[Any, ToolOutcome]:
        """Has the tool run again while hooks want that; its last value, and the outcome."""
        while (given := await call.wanted()) is not None:
            try:
                value = await tool.run_async(args=given, tool_context=tool_context)
                call.made(_shown(value))
            except Exception as error:
                call.failed(error)
        return value, self._user.tell(await call.outcome())

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: LlmRequest
    ) -> LlmResponse | None:
        before = _request(llm_request)
        invocation = callback_context.invocation_id
        more: dict[str, Any] = {}
        if invocation in self._for_model:
            more["context"] = self._for_model.pop(invocation)
        opened: OpenCall[ModelOutcome] = OpenCall(
            lambda make: call_model(self._client, "genai", before, make, **more).finish()
        )
        opened.end_with_task()
        given = await opened.wanted()
        if given is None:
            return LlmResponse(content=await self._content(opened, invocation))
        _change(llm_request, before, given)
        key = callback_context.actions
        allowed = _allowed(given) if _tools(given) != _tools(before) else None
        self._models[id(key)] = _Under(key, invocation, opened, allowed)
        return None

    async def after_model_callback(
        self, *, callback_context: Any, llm_response: LlmResponse
    ) -> LlmResponse | None:
        if llm_response.partial:
            nothing = types.Content(role="model", parts=[])
            return llm_response.model_copy(update={"content": nothing})
        under = self._models.pop(id(callback_context.actions), None)
        if under is None:
            raise HookError("the model gave an answer that hooks were not asked about")
        answer = llm_response.content
        before = {"role": "model", **(answer.model_dump(**_JSON) if answer else {"parts": []})}
        under.call.made({"candidates": [{"content": before}]})
        content = await self._content(under.call, under.invocation)
        for part in content.parts or ():
            name = part.function_call.name if part.function_call else None
            if name is not None and under.allowed is not None and name not in under.allowed:
                raise HookStopped(f"the model calls {name}, which hooks withhold")
        if content.model_dump(**_JSON) == types.Content.model_validate(before).model_dump(**_JSON):
            return None
        return llm_response.model_copy(update={"content": content})

    async def _content(self, call: OpenCall[ModelOutcome], invocation: str) -> types.Content:
        """Returns the answer as hooks left it."""
        outcome = self._user.tell(await call.outcome())
        if outcome.for_model is not None:
            self._for_model[invocation] = outcome.for_model
        candidates = model_response(outcome).get("candidates") or [{}]
        content = types.Content.model_validate(candidates[0].get("content") or {"parts": []})
        content.role = "model"
        return content


@dataclasses.dataclass(frozen=True)
class _Under(Generic[Outcome]):
    """A call that ADK makes now."""

    key: object
    invocation: str
    call: OpenCall[Outcome]
    allowed: frozenset[str] | None = None
    """The tools that hooks left to the model, if they chose."""


def _answer(outcome: ToolOutcome, text: str) -> dict[str, Any]:
    return {"error" if outcome.result.error else "result": text}


def _names(tool: Any, otherwise: dict[str, Any]) -> Any:
    """Returns the names of a tool's arguments, if it declares them."""
    declaration = tool._get_declaration()
    schema: Any = getattr(declaration, "parameters_json_schema", None)
    if isinstance(schema, dict):
        return schema.get("properties") or {}
    return getattr(getattr(declaration, "parameters", None), "properties", None) or otherwise


_CONTROL_FLOW = (asyncio.CancelledError, HookError, LlmCallsLimitExceededError)


def _is_control_flow(error: BaseException | None) -> bool:
    """Whether an error ends the run, or is by one that does: hooks make no result of it."""
    while error is not None and not isinstance(error, _CONTROL_FLOW):
        error = error.__cause__
    return error is not None


def _is_asked(tool_context: Any) -> bool:
    """Whether a call waits for a confirmation of the user, or for a credential."""
    actions, call = tool_context.actions, tool_context.function_call_id
    return call in actions.requested_tool_confirmations or call in actions.requested_auth_configs


def _shown(value: object) -> Any:
    """Returns what the model gets of a tool's value."""
    response = types.FunctionResponse(response={"result": value})
    return (response.model_dump(mode="json")["response"] or {}).get("result")


def _tools(request: dict[str, Any]) -> dict[str, Any]:
    choice = ((request.get("config") or {}).get("toolConfig") or {}).get("functionCallingConfig")
    return choice or {}


def _allowed(request: dict[str, Any]) -> frozenset[str] | None:
    choice = _tools(request)
    names = [] if choice.get("mode") == "NONE" else choice.get("allowedFunctionNames")
    return None if names is None else frozenset(names)


_JSON: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True}
_SHOWN = {"system_instruction", "tools", "tool_config", "temperature", "top_p", "top_k"}


def _request(request: LlmRequest) -> dict[str, Any]:
    config = request.config.model_dump(**_JSON, include=_SHOWN)
    contents = [content.model_dump(**_JSON) for content in request.contents]
    return {"model": request.model or "", "contents": contents, "config": config}


def _change(request: LlmRequest, before: dict[str, Any], changed: dict[str, Any]) -> None:
    """Makes the request what hooks left of it."""
    if changed.get("contents") != before["contents"]:
        request.contents = [types.Content.model_validate(it) for it in changed["contents"]]
    config = changed.get("config") or {}
    if config != before["config"]:
        read = types.GenerateContentConfig.model_validate(config)
        fields = {
            name: getattr(read, name)
            for name in _SHOWN - {"tools"}
            if _alias(config, name) != _alias(before["config"], name)
        }
        request.config = request.config.model_copy(update=fields)


def _alias(config: dict[str, Any], name: str) -> Any:
    first, *others = name.split("_")
    return config.get(first + "".join(it.capitalize() for it in others))
