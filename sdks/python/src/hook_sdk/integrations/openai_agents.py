"""Hooks for agents of openai-agents (the extra `openai-agents`).

    from hook_sdk import HookClient
    from hook_sdk.integrations.openai_agents import run, with_hooks

    async with HookClient() as client:
        result = await run(client, with_hooks(client, agent), "Tidy up")

`with_hooks` puts hooks around the function tools, MCP servers, model and handoffs of an agent;
`run` is `Runner.run` with hooks around the turn. `Runner` itself works with such an agent, too.
"""

from __future__ import annotations

import contextvars
import dataclasses
import json
import weakref
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    Handoff,
    ItemHelpers,
    ModelBehaviorError,
    RunConfig,
    Runner,
    RunResult,
    TResponseInputItem,
)
from agents.items import ModelResponse
from agents.mcp import MCPServer
from agents.models.interface import Model
from agents.run_internal import run_loop
from agents.run_internal.turn_preparation import get_model
from agents.tool import maybe_invoke_function_tool_failure_error_function
from openai._models import construct_type
from openai.types.responses import Response, ResponseOutputItem, ResponseStreamEvent

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..model_calls import call_model
from ..outcomes import Blocked, Chunk, ModelOutcome, Ran, Stopped, ToolCall
from ..tool_calls import execute_tool
from ..turns import agent_turn
from ._common import OnMessage, Teller, check_version, model_response, prompt_of

check_version("openai-agents", "0.24", "0.25")

Chunks = Literal["complete", "each"]


_stops: contextvars.ContextVar[list[RunStopped] | None] = contextvars.ContextVar(
    "stops", default=None
)
"""The stops inside of the running tool: the library would turn them into a text for the model."""


class RunStopped(HookStopped, AgentsException):
    """Hooks stop the run, or refuse its prompt."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        if (stops := _stops.get()) is not None:
            stops.append(self)


_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")


def with_hooks(
    client: HookClient,
    agent: Agent[Any],
    *,
    chunks: Chunks = "complete",
    on_message: OnMessage | None = None,
) -> Agent[Any]:
    """Returns a copy of an agent, and of those that it hands off to, with hooks around them.

    Raises TypeError for a tool that hooks cannot be put around: OpenAI runs it, or this machine
    without a function, or it is an agent without hooks. With `chunks="each"` hooks see each chunk
    of a stream before it is shown. What it returns keeps its hooks in a `clone`, and whatever
    model a `RunConfig` has for it. `on_message` takes hooks' texts for the user, by default
    `on_problem` of the client.
    """
    if not hasattr(run_loop, "get_model"):
        raise HookError("this version of openai-agents has no place for hooks around its models")
    run_loop.get_model = _model_of_run
    return _Hooks(client, chunks, on_message).agent(agent)


async def run(
    client: HookClient,
    agent: Agent[Any],
    input: str | list[TResponseInputItem],
    **options: Any,
) -> RunResult:
    """Runs a turn of an agent, as `Runner.run` does, for as long as hooks want it to go on.

    Of a list hooks see the text of the user's last message. Raises HookStopped if hooks refuse
    the prompt, or stop the agent, and TypeError for an agent that `with_hooks` did not make.
    """
    hooks = vars(agent).get("_hooks")
    if not isinstance(hooks, _Hooks):
        raise TypeError(f"the agent {agent.name} has no hooks: run what with_hooks returns for it")
    # `Runner.run` takes others.
    if not isinstance(input, str | list):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"input is a text or a list, not {type(input).__name__}: use Runner.run")
    result: RunResult | None = None
    async with agent_turn(client, _prompt(input)) as turn:
        hooks.user.tell(turn.start)
        async for prompt in turn:
            hooks.user.tell(turn.end)
            if result is None:
                given = _with_prompt(input, prompt_of(turn.start))
            else:
                given = _going_on(result, prompt, options)
            result = await Runner.run(agent, given, **options)
            if result.interruptions:  # The turn waits for an approval: it has no end yet.
                return result
            turn.answer = str(result.final_output)
        hooks.user.tell(turn.end)
    if result is None or isinstance(turn.end, Blocked | Stopped):
        last = turn.end if isinstance(turn.end, Blocked | Stopped) else turn.start
        raise RunStopped(getattr(last, "reason", "the prompt was refused"))
    return result


def _last_of_user(items: list[Any]) -> int | None:
    numbers = [at for at, item in enumerate(items) if item.get("role") == "user"]
    return numbers[-1] if numbers else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content or () if "text" in part)


def _prompt(input: str | list[TResponseInputItem]) -> str:
    """Returns the text of the user's last message, which is empty if there is none."""
    items: list[Any] = ItemHelpers.input_to_new_input_list(input)
    last = _last_of_user(items)
    return "" if last is None else _text(items[last].get("content"))


def _with_prompt(input: str | list[TResponseInputItem], prompt: str) -> Any:
    """Returns the input with another text in the user's last message; images stay."""
    if isinstance(input, str):
        return prompt
    if prompt == _prompt(input):
        return input
    items: list[Any] = ItemHelpers.input_to_new_input_list(input)
    last = _last_of_user(items)
    if last is None:
        return [*items, {"role": "user", "content": prompt}]
    content: Any = items[last].get("content")
    if isinstance(content, list):
        others = [part for part in content if "text" not in part]
        content = [{"type": "input_text", "text": prompt}, *others]
    else:
        content = prompt
    return [*items[:last], {**items[last], "content": content}, *items[last + 1 :]]


def _going_on(result: RunResult, prompt: str, options: dict[str, Any]) -> Any:
    """Returns the next input of a turn: the history, unless something keeps it, and the prompt."""
    if options.get("session") is not None or options.get("conversation_id") is not None:
        return prompt
    chained = options.get("previous_response_id") or options.get("auto_previous_response_id")
    if chained and result.last_response_id:
        options["previous_response_id"] = result.last_response_id
        return prompt
    return [*result.to_input_list(), {"role": "user", "content": prompt}]


class _Hooks:
    def __init__(self, client: HookClient, chunks: Chunks, on_message: OnMessage | None) -> None:
        self.client, self.user = client, Teller(client, on_message)
        self.chunks: Chunks = chunks
        self._agents: weakref.WeakValueDictionary[int, Agent[Any]] = weakref.WeakValueDictionary()
        """Those with hooks, by the identity of those without, which they keep."""

    def has(self, part: Any) -> bool:
        """Returns True for a part that has these hooks already."""
        hooks = getattr(part, "_hooks", None)
        if not isinstance(hooks, _Hooks):
            return False
        same = (self.client, self.chunks, self.user.on_message)
        return (hooks.client, hooks.chunks, hooks.user.on_message) == same

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        known = agent if self.has(agent) else self._agents.get(id(agent))
        if known is not None:
            return known
        servers = agent.mcp_servers
        made = self._agents[id(agent)] = agent.clone(
            tools=[self.tool(tool) for tool in agent.tools],
            mcp_servers=[it if self.has(it) else _Server(self, it) for it in servers],
            model=agent.model if self.has(agent.model) else _Model(self, agent.model),
        )
        vars(made).update(_hooks=self, _without=agent, clone=self._clone(made.clone))
        made.handoffs = [self.handoff(handoff) for handoff in agent.handoffs]
        return made

    def _clone(self, clone: Callable[..., Agent[Any]]) -> Callable[..., Agent[Any]]:
        def hooked(**changed: Any) -> Agent[Any]:
            made, message = clone(**changed), self.user.on_message
            return with_hooks(self.client, made, chunks=self.chunks, on_message=message)

        return hooked

    def handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(handoff, Agent):
            return self.agent(handoff)
        invoke = handoff.on_invoke_handoff

        async def invoked(context: Any, arguments: str) -> Any:
            return self.agent(await invoke(context, arguments))

        return dataclasses.replace(handoff, on_invoke_handoff=invoked)

    def tool(self, tool: Any) -> Any:
        if not isinstance(tool, FunctionTool):
            name = getattr(tool, "name", type(tool).__name__)
            raise TypeError(f"hooks cannot be put around {name}: only function tools and MCP")
        if self.has(tool):
            return tool
        inner = tool._agent_instance
        if inner is not None and "_hooks" not in vars(inner):
            made = f"with_hooks(client, {inner.name}).as_tool(…)"
            raise TypeError(f"the agent inside of the tool {tool.name} has no hooks: use {made}")
        invoke = tool.on_invoke_tool

        async def invoked(context: Any, arguments: str) -> Any:
            given = _arguments(arguments)
            if given is None:  # Hooks cannot see what the tool would do with it.
                error = ModelBehaviorError(f"Invalid JSON input for tool {tool.name}")
                text = await maybe_invoke_function_tool_failure_error_function(
                    function_tool=tool, context=context, error=error
                )
                if text is None:
                    raise error
                return text
            stops: list[RunStopped] = []

            async def call(tool_input: dict[str, Any]) -> Any:
                _stops.set(None if inner is None else stops)
                # What hooks left as it was is given on as it was written.
                return await invoke(
                    context, arguments if tool_input == given else json.dumps(tool_input)
                )

            tool_call = ToolCall(tool.name, given, getattr(context, "tool_call_id", None))
            outcome = self.user.tell(await execute_tool(self.client, tool_call, call))
            if stops:
                raise RunStopped(str(stops[0]))
            if isinstance(outcome, Ran) and not outcome.is_changed and not outcome.result.error:
                return outcome.value
            if isinstance(outcome, Stopped):
                raise RunStopped(outcome.reason)
            return outcome.result.text

        hooked = dataclasses.replace(tool, on_invoke_tool=invoked)
        vars(hooked)["_hooks"] = self
        return hooked


def _arguments(arguments: str) -> dict[str, Any] | None:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _model_of_run(agent: Agent[Any], run_config: RunConfig) -> Model:
    """Returns the model of a run as the library does, with hooks around that of the run, too.

    It takes the place of an internal function, since nothing public sees the `model` of a
    RunConfig that is given to `Runner` itself: the runner prefers it to the agent's, RunHooks and
    AgentHooks are told of calls without it, and the default runner is anybody's to replace. The
    agent's own model has hooks without this.
    """
    hooked = agent.model
    if not isinstance(hooked, _Model):
        return get_model(agent, run_config)
    model = hooked.model if run_config.model is None else run_config.model
    if not isinstance(model, Model):
        model = run_config.model_provider.get_model(model)
    return _Model(hooked._hooks, model)


class _Server(MCPServer):
    """An MCP server whose tools have hooks around them."""

    def __init__(self, hooks: _Hooks, inner: MCPServer) -> None:
        vars(self).update(vars(inner))
        self._hooks = hooks
        self._inner: Any = inner

    @property
    def name(self) -> str:
        return str(self._inner.name)

    async def connect(self) -> None:
        await self._inner.connect()

    async def cleanup(self) -> None:
        await self._inner.cleanup()

    async def list_tools(self, *given: Any, **named: Any) -> Any:
        return await self._inner.list_tools(*given, **named)

    async def list_prompts(self) -> Any:
        return await self._inner.list_prompts()

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        return await self._inner.get_prompt(name, arguments)

    async def call_tool(self, tool_name: str, arguments: Any, *more: Any, **named: Any) -> Any:
        from .mcp import call_tool

        async def call(tool_input: dict[str, Any]) -> Any:
            return await self._inner.call_tool(tool_name, tool_input, *more, **named)

        hooks, server = self._hooks, self._inner.name
        told = hooks.user.on_message
        return await call_tool(hooks.client, server, tool_name, arguments, call, told)


class _Model(Model):
    """A model with hooks around it."""

    def __init__(self, hooks: _Hooks, model: str | Model | None) -> None:
        self._hooks, self.model = hooks, model

    @property
    def _inner(self) -> Model:
        model = self.model
        return model if isinstance(model, Model) else RunConfig().model_provider.get_model(model)

    def get_retry_advice(self, request: Any) -> Any:
        return self._inner.get_retry_advice(request)

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self._inner._cleanup_on_run_end(owner)

    async def close(self) -> None:
        await self._inner.close()

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *rest: Any,
        **named: Any,
    ) -> ModelResponse:
        answered: list[ModelResponse] = []
        inner = self._inner

        async def model(request: dict[str, Any]) -> dict[str, Any]:
            given = _given(request, model_settings, tools)
            answer = await inner.get_response(*given, *rest, **named)
            answered.append(answer)
            output = [_json(item) for item in answer.output]
            return _response(output, answer.response_id)

        request = _request(inner, system_instructions, input, model_settings, tools)
        answer = call_model(self._hooks.client, "openai-responses", request, model)
        response = _whole(self._hooks.user.tell(await answer.finish()))
        return _model_response(response, answered[-1] if answered else None)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *rest: Any,
        **named: Any,
    ) -> AsyncIterator[Any]:
        last: list[Any] = []
        inner = self._inner

        async def model(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            given = _given(request, model_settings, tools)
            async for event in inner.stream_response(*given, *rest, **named):
                if event.type in _LAST_EVENTS:
                    last.append(event)
                yield _json(event)

        request = _request(inner, system_instructions, input, model_settings, tools)
        chunks = self._hooks.chunks
        async with call_model(
            self._hooks.client, "openai-responses", request, model, chunks=chunks
        ) as answer:
            async for part in answer:
                # The last one has the whole response, which hooks have yet to see.
                if isinstance(part, Chunk) and part.chunk.get("type") not in _LAST_EVENTS:
                    yield construct_type(type_=ResponseStreamEvent, value=part.chunk)
            response = _whole(self._hooks.user.tell(await answer.finish()))
        completed = {"type": "response.completed", "sequence_number": 0}
        event: dict[str, Any] = _json(last[-1]) if last else completed
        whole = {**_response([], None), **event.get("response", {}), **response}
        yield construct_type(type_=ResponseStreamEvent, value={**event, "response": whole})


def _whole(outcome: ModelOutcome) -> dict[str, Any]:
    if isinstance(outcome, Stopped):
        raise RunStopped(outcome.reason)
    return model_response(outcome)


def _request(
    model: Model, instructions: Any, input: Any, model_settings: Any, tools: Any
) -> dict[str, Any]:
    """Returns the request for hooks. The instructions are its first message, by the system."""
    functions = [
        {
            "type": "function",
            "name": tool.name,
            "description": getattr(tool, "description", ""),
            "parameters": getattr(tool, "params_json_schema", {}),
        }
        for tool in tools
    ]
    given = [{"role": "system", "content": instructions}] if instructions else []
    given += [_json(item) for item in ItemHelpers.input_to_new_input_list(input)]
    request = {
        "model": str(getattr(model, "model", type(model).__name__)),
        "input": given,
        "tools": functions,
        "tool_choice": model_settings.tool_choice,
    }
    return {name: value for name, value in request.items() if value not in (None, [])}


def _given(request: dict[str, Any], model_settings: Any, tools: Any) -> tuple[Any, ...]:
    """Returns the arguments of the model's methods from a request as hooks left it."""
    choice = request.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        names = {it.get("name") for it in choice.get("tools", ())}
        tools = [tool for tool in tools if tool.name in names]
        choice = choice.get("mode")
    elif isinstance(choice, dict):
        choice = choice.get("name", choice)
    settings = dataclasses.replace(model_settings, tool_choice=choice)
    items: list[Any] = list(request.get("input", ()))
    is_instructed = bool(items) and items[0].get("role") == "system"
    instructions = _text(items.pop(0).get("content")) if is_instructed else None
    return (instructions, items, settings, tools)


def _json(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    dumped: dict[str, Any] = value.model_dump(mode="json", exclude_unset=True)
    return dumped


def _response(output: list[dict[str, Any]], response_id: str | None) -> dict[str, Any]:
    return {
        "id": response_id or "",
        "object": "response",
        "created_at": 0,
        "model": "",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _model_response(response: dict[str, Any], answered: ModelResponse | None) -> ModelResponse:
    if answered is not None and response.get("output") == [_json(it) for it in answered.output]:
        return answered
    read: Any = construct_type(type_=Response, value={**_response([], None), **response})
    output: list[ResponseOutputItem] = list(read.output)
    if answered is not None:
        return dataclasses.replace(answered, output=output)
    from agents.usage import Usage

    return ModelResponse(output=output, usage=Usage(), response_id=None)
