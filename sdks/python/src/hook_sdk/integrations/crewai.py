"""Hooks for agents and crews of CrewAI (the extra `crewai`).

    from hook_sdk.integrations.crewai import with_hooks

    crew = with_hooks(Crew(agents=[agent], tasks=[task]))

It asks about every tool call and every model call of its agents (complete answers, not chunks),
from `kickoff`, `kickoff_async` and `akickoff` alike.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from crewai import Crew, Memory, Task
from crewai.agent.planning_config import PlanningConfig
from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.agents.parser import AgentAction, OutputParserError, parse
from crewai.hooks.dispatch import (
    HookAborted,
    InterceptionPoint,
    get_global_hook_list,
    get_hooks,
    get_scoped_hooks,
    run_hooks,
)
from crewai.hooks.tool_hooks import before_tool_call_reducer
from crewai.lite_agent import LiteAgent
from crewai.llms.base_llm import BaseLLM
from crewai.memory.memory_scope import MemoryScope, MemorySlice
from crewai.tasks.llm_guardrail import LLMGuardrail
from crewai.tools import BaseTool
from crewai.tools.tool_failure import (
    ToolExecutionFailedError,
    detect_tool_failure,
    failure_from_exception,
    handle_tool_failure,
)
from crewai.utilities.llm_utils import create_llm
from pydantic import BaseModel

from .. import agent, sync
from ..errors import HookError, HookStopped
from ..outcomes import ModelOutcome, Ran, Stopped, ToolCall
from ._common import (
    OnMessage,
    Teller,
    allowed_names,
    check_version,
    left,
    left_failure,
    model_response,
    refuse_withheld,
    unknown_arguments,
)
from ._loops import Here

check_version("crewai", "1.15", "2")

Guarded = TypeVar("Guarded")


class RunStopped(HookStopped, HookAborted):
    """Hooks stop the agent."""

    def __init__(self, reason: str) -> None:
        HookAborted.__init__(self, reason, "hook-sdk")


def with_hooks(
    guarded: Guarded,
    client: sync.HookClient | None = None,
    *,
    on_message: OnMessage | None = None,
) -> Guarded:
    """Puts hooks around the tools and the models of a crew, an agent or a task, and returns it.

    `client` is one with options of yours; else it makes one with the project's hooks. `on_message`
    takes hooks' texts for the user, by default `on_problem` of the client. Raises TypeError for all
    else, and for a model that hooks cannot be put around.
    """
    if not isinstance(guarded, Crew | BaseAgent | LiteAgent | Task):
        raise TypeError(f"hooks go around a Crew, an agent or a Task, not {type(guarded).__name__}")
    _Hooks(client or sync.HookClient(), on_message).put(guarded, set())
    _install()
    return guarded


class _Hooks:
    def __init__(self, client: sync.HookClient, on_message: OnMessage | None) -> None:
        self.client, self.user = client, Teller(client.inner, on_message)
        self._models: dict[int, tuple[Any, Any]] = {}
        """The models with hooks by the identity of those without, which are kept for it."""
        self.kept: dict[tuple[int, int], tuple[Any, str]] = {}
        """Hooks' texts for the next request of an agent in a task, by the identity of these."""

    def put(self, holder: Any, seen: set[int]) -> None:
        """Puts hooks around all models of a part of CrewAI, and of its own parts."""
        if id(holder) in seen:
            return
        seen.add(id(holder))
        if isinstance(holder, Crew) and holder.planning and holder.planning_llm is None:
            raise TypeError("planning=True needs a planning_llm: hooks cannot see the default one")
        if isinstance(holder, Memory):
            _ = holder._llm  # The property makes the model of a name.
        for fields in (vars(holder), getattr(holder, "__pydantic_private__", None) or {}):
            for name, value in list(fields.items()):
                if name in _MODELS and isinstance(value, str) and not isinstance(holder, Memory):
                    value = create_llm(value)
                if isinstance(value, BaseLLM):
                    fields[name] = self.model(value)
                for part in value if isinstance(value, list | tuple) else (value,):
                    if isinstance(part, _PARTS):
                        self.put(part, seen)
        if isinstance(holder, BaseAgent | LiteAgent):
            model = getattr(holder, "llm", None)
            if getattr(model, "_hook_sdk", None) is None:
                raise TypeError(f"hooks cannot be put around the model {type(model).__name__}")
        if isinstance(holder, Crew | BaseAgent) and "copy" not in vars(holder):
            vars(holder)["copy"] = functools.partial(self._copy, holder.copy)
        vars(holder)["_hook_sdk"] = self

    def _copy(self, copy: Callable[[], Any]) -> Any:
        """Copies a crew or an agent: the library makes some of the copy's models anew."""
        made = copy()
        self.put(made, set())
        return made

    def model(self, model: Any) -> Any:
        if getattr(model, "_hook_sdk", None) is not None:
            return model
        if id(model) not in self._models:
            # A copy of its own class, since the library looks into its models.
            calls = type("Calls", (_Model,), {"_inner": model, "_hook_sdk": self})
            hooked: Any = model.model_copy()
            hooked.__class__ = type(type(model).__name__, (calls, type(model)), {})
            self._models[id(model)] = (model, hooked)
        return self._models[id(model)][1]

    def tool(self, context: Any, given: dict[str, Any]) -> str | HookAborted:
        """Calls a tool with hooks around it, and returns the result for the model, or the stop."""
        tool, report = context.tool, self.client.inner._session.on_problem
        failed: list[object] = []
        """The tool's failure: what it raised, or returned."""

        def run(tool_input: dict[str, Any]) -> str:
            failed.clear()
            is_changed = tool_input != given
            if is_changed:
                schema = tool.args_schema.model_json_schema()
                wrong = unknown_arguments(context.tool_name, schema, tool_input, given)
                if wrong is not None:
                    report(wrong)
                    raise HookError(wrong)
            try:
                value = _invoke(tool, tool_input)
            except BaseException as error:
                failed.append(error)
                if is_changed:
                    why = f"{context.tool_name} failed with arguments that hooks changed: {error}"
                    report(why)
                raise
            failed.append(value)
            return str(tool.format_output_for_agent(value))  # Hooks see what the model gets.

        outcome = sync.execute_tool(self.client, ToolCall(context.tool_name, dict(given)), run)
        self.user.tell(outcome)
        if isinstance(outcome, Stopped):
            return RunStopped(outcome.reason)
        if failed and isinstance(outcome, Ran):
            if isinstance(failed[0], BaseException) and not isinstance(failed[0], Exception):
                raise left_failure(outcome, failed[0]) or failed[0]
            return _by_policy(context, given, failed[0]) or outcome.result.text
        return outcome.result.text


_MODELS = ("llm", "function_calling_llm", "manager_llm", "planning_llm", "chat_llm")
"""The fields that can have a model's name instead of the model."""


_PARTS = (
    Crew,
    BaseAgent,
    LiteAgent,
    Task,
    BaseTool,
    Memory,
    MemoryScope,
    MemorySlice,
    PlanningConfig,
    LLMGuardrail,
)
"""The classes whose instances can hold models."""


class _ToolFailed(ToolExecutionFailedError, HookAborted):
    """A tool failed whose failures end the crew: nothing else gets out of a hook of CrewAI's."""

    def __init__(self, error: ToolExecutionFailedError) -> None:
        ToolExecutionFailedError.__init__(self, error.record)
        self.reason, self.source = str(error), "hook-sdk"


def _by_policy(context: Any, given: dict[str, Any], failed: object) -> HookAborted | None:
    """Does what CrewAI does about a tool's failure: it thinks that hooks refused the call."""
    failure = detect_tool_failure(failed)
    if isinstance(failed, Exception):
        failure = failure_from_exception(failed)
    if failure is None:
        return None
    about = {
        name: getattr(context, name) for name in ("tool_name", "tool", "agent", "task", "crew")
    }
    try:
        handle_tool_failure(failure, tool_args=given, **about)
    except ToolExecutionFailedError as error:
        return _ToolFailed(error)
    return None


def _install() -> None:
    """Has CrewAI call the hooks of this module before others; again, if the program changed that.

    So the first one sees the arguments that CrewAI would call the tool with, and those of the
    program see the result.
    """
    for point, hook in _POINTS.items():
        hooks = get_global_hook_list(point)
        if hooks[:1] != [hook]:
            hooks[:] = [hook, *(it for it in hooks if it is not hook)]


def _before_run(context: Any) -> None:
    """Puts hooks around what a crew was given later, before it, or a task of it, begins."""
    crew = context.crew or getattr(context.agent, "crew", None)
    hooks = next(
        (vars(it)["_hook_sdk"] for it in (crew, context.task) if it and "_hook_sdk" in vars(it)),
        None,
    )
    if hooks is None:
        return
    try:
        seen: set[int] = set()
        for part in (crew, context.task, context.agent):
            if part is not None:
                hooks.put(part, seen)
        _install()
    except Exception as error:  # CrewAI goes on after any other one.
        raise RunStopped(str(error)) from error


_made: contextvars.ContextVar[tuple[str, str | HookAborted] | None] = contextvars.ContextVar(
    "made", default=None
)
"""A call between both hooks, with nothing in between: the tool's name, and the result."""


def _before_tool(context: Any) -> None:
    """Makes the call itself, with hooks, and has CrewAI make none."""
    hooks = getattr(getattr(context.agent, "llm", None), "_hook_sdk", None)
    _made.set(None)
    if not isinstance(hooks, _Hooks) or context.tool is None:
        return  # An agent without hooks, or a tool that does not exist.
    result: str | HookAborted
    given = context.tool_input  # A hook that sets others changes nothing, as in CrewAI itself.
    try:
        _install()
        _run_later_hooks(context)
        result = hooks.tool(context, given)
    except HookAborted:
        raise
    except Exception as error:  # Any other one has CrewAI call the tool.
        result = f"hooks could not be asked: {error}"
    _made.set((context.tool_name, result))
    raise HookAborted("hook-sdk has made the call", "hook-sdk")


def _run_later_hooks(context: Any) -> None:
    """Runs the program's own hooks that come after this one: its abort has CrewAI skip them."""
    point = InterceptionPoint.PRE_TOOL_CALL
    registered = get_hooks(point)
    later = [*registered[registered.index(_before_tool) + 1 :], *get_scoped_hooks(point)]
    run_hooks(point, context, later, reducer=before_tool_call_reducer)


def _after_tool(context: Any) -> str | None:
    made, _ = _made.get(), _made.set(None)
    if made is None or made[0] != context.tool_name:
        return None
    if isinstance(made[1], HookAborted):
        raise made[1]
    return made[1]


_POINTS = {
    InterceptionPoint.EXECUTION_START: _before_run,
    InterceptionPoint.PRE_STEP: _before_run,
    InterceptionPoint.PRE_TOOL_CALL: _before_tool,
    InterceptionPoint.POST_TOOL_CALL: _after_tool,
}


def _invoke(tool: Any, tool_input: dict[str, Any]) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return tool.invoke(tool_input)
    # A tool that is a coroutine has a loop of its own.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(contextvars.copy_context().run, tool.invoke, tool_input).result()


class _Model:
    """The calls of a model, with hooks around them."""

    _inner: Any
    _hook_sdk: _Hooks

    def call(self, messages: Any, tools: Any = None, *rest: Any, **named: Any) -> Any:
        call = _Call(self._hook_sdk, self._inner, messages, tools, rest, named)
        _install()

        def model(request: dict[str, Any]) -> dict[str, Any]:
            return call.answered(self._inner.call(*call.given(request), *rest, **named))

        client, user = self._hook_sdk.client, self._hook_sdk.user
        asked = sync.call_model(client, "openai-chat", call.request, model, **call.context)
        return call.result(user.tell(asked.finish()))

    async def acall(self, messages: Any, tools: Any = None, *rest: Any, **named: Any) -> Any:
        call, here = _Call(self._hook_sdk, self._inner, messages, tools, rest, named), Here()
        _install()

        async def model(request: dict[str, Any]) -> dict[str, Any]:
            given = call.given(request)
            answer = await here.run(lambda: self._inner.acall(*given, *rest, **named))
            return call.answered(answer)

        client, user = self._hook_sdk.client, self._hook_sdk.user
        asked = agent.call_model(client.inner, "openai-chat", call.request, model, **call.context)
        return call.result(user.tell(await here.there(client, asked.finish())))


class _Call:
    """A call of a model, in the form that hooks see and in that of the library."""

    def __init__(
        self,
        hooks: _Hooks,
        model: BaseLLM,
        messages: Any,
        tools: Any,
        rest: Any,
        named: dict[str, Any],
    ) -> None:
        hooks.user.without_turn("agent_turn of hook_sdk.sync around the kickoff")
        order = ("callbacks", "available_functions", "from_task", "from_agent", "response_model")
        all_named = {**dict(zip(order, rest, strict=False)), **named}
        self._form: Any = all_named.get("response_model")
        self._choice: Any = None
        self._kept = hooks.kept
        self._of = (all_named.get("from_agent"), all_named.get("from_task"))
        _, context = self._kept.pop(self._key, (None, None))
        self.context: Any = {"context": context} if context else {}
        is_text = isinstance(messages, str)
        self._messages = [{"role": "user", "content": messages}] if is_text else list(messages)
        self._before: list[dict[str, Any]] = _json(self._messages)
        self._tools, self._answers = tools, list[Any]()
        self.request = {"model": model.model, "messages": self._before}
        if tools:
            self.request["tools"] = _json(tools)
        elif names := _names_of_tools(*self._of):  # The prompt has them, and the answer is a text.
            functions = [{"type": "function", "function": {"name": name}} for name in names]
            self.request["tools"] = functions

    @property
    def _key(self) -> tuple[int, int]:
        return id(self._of[0]), id(self._of[1])

    def given(self, request: dict[str, Any]) -> tuple[Any, Any]:
        """Returns the messages and the tools that hooks left."""
        made = []
        for message, number in left(request["messages"], self._before):
            if number is None:
                made.append(message)
            elif self._before[number] == message:
                made.append(self._messages[number])
            else:
                made.append({**self._messages[number], "content": message.get("content")})
        self._choice = request.get("tool_choice")
        return made, _chosen(self._tools, self._choice)

    def answered(self, answer: Any) -> dict[str, Any]:
        """Takes the model's answer: a text, calls of tools, or an object of the wanted form."""
        self._answers.append(answer)
        refuse_withheld(_called(answer, self._tools), self._choice, RunStopped)
        message: dict[str, Any] = {"role": "assistant", "content": _text(answer)}
        if isinstance(answer, list):
            message["tool_calls"] = [_tool_call(it) for it in answer]
        return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}

    def result(self, outcome: ModelOutcome) -> Any:
        """Returns the answer that hooks left. Raises RunStopped if the agent is to stop."""
        message = model_response(outcome, RunStopped)["choices"][0]["message"]
        if outcome.for_model:
            self._kept[self._key] = (self._of, outcome.for_model)
        text = message.get("content") or ""
        if self._answers and text == _text(self._answers[-1]):
            return self._answers[-1]
        if self._form is None:
            return text
        try:
            return self._form.model_validate_json(text)
        except ValueError:
            raise HookError(f"hooks left an answer of another form: {text}") from None


def _text(answer: Any) -> str:
    if isinstance(answer, BaseModel):
        return answer.model_dump_json()
    return "" if isinstance(answer, list) else str(answer)


def _tool_call(call: Any) -> dict[str, Any]:
    fields: Any = _json(call)
    function = fields.get("function") or fields if isinstance(fields, dict) else {}
    arguments = function.get("arguments", function.get("input", {}))
    return {
        "id": str(fields.get("id", "")) if isinstance(fields, dict) else "",
        "type": "function",
        "function": {
            "name": str(function.get("name", "")),
            "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
        },
    }


def _chosen(tools: Any, choice: Any) -> Any:
    """Returns the tools that hooks leave to choose from; CrewAI cannot have the model call one."""
    if not tools or choice == "none":
        return None
    if not isinstance(choice, dict):
        return tools
    names = allowed_names(choice) or ()
    return [it for it in tools if _name(it) in names] or None


def _names_of_tools(agent: Any, task: Any) -> list[str]:
    executor = getattr(agent, "agent_executor", None)
    of_each = (getattr(it, "tools", None) or () for it in (executor, task, agent))
    names = (getattr(tool, "name", None) for tools in of_each for tool in tools)
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _called(answer: Any, tools: Any) -> list[Any]:
    """Returns the names of the tools that an answer calls, in its text if the model has none."""
    if isinstance(answer, list):
        return [_tool_call(it)["function"]["name"] for it in answer]
    try:
        action = None if tools else parse(str(answer))
    except OutputParserError:
        return []
    return [action.tool] if isinstance(action, AgentAction) else []


def _name(tool: Any) -> Any:
    function = tool.get("function", tool) if isinstance(tool, dict) else tool
    return function.get("name") if isinstance(function, dict) else None


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=_fields))


def _fields(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
