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
import copy
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
    RunContextWrapper,
    Runner,
    RunResult,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
    TResponseInputItem,
    tool as tools_module,
)
from agents.items import ModelResponse
from agents.mcp import MCPServer
from agents.models.interface import Model
from agents.run_internal import run_loop
from agents.tool import (
    maybe_invoke_function_tool_failure_error_function,
    set_function_tool_failure_error_function,
)
from openai._models import construct_type
from openai.types.responses import (
    Response,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseStreamEvent,
)

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..lines import message_of
from ..model_calls import call_model
from ..outcomes import Blocked, Chunk, ModelOutcome, Ran, Stopped, ToolCall, ToolResult
from ..tool_calls import execute_tool
from ..turns import agent_turn
from ._common import (
    OnMessage,
    Teller,
    allowed_names,
    check_version,
    left_failure,
    model_response,
    prompt_of,
    refuse_withheld,
    unknown_arguments,
)
from ._open_calls import is_same

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
    if not isinstance(agent, Agent):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"hooks go around an Agent, not a {type(agent).__name__}")
    _install()
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
    hooks = getattr(agent, "_hooks", None)
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
                said = getattr(turn.end, "for_model", None)
                texts = (prompt, said, *hooks.kept(result.context_wrapper))
                given = _going_on(result, "\n\n".join(it for it in texts if it), options)
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
        self._kept: weakref.WeakKeyDictionary[Any, list[str]] = weakref.WeakKeyDictionary()

    def kept(self, run: RunContextWrapper[Any]) -> list[str]:
        """Hooks' texts for the next request of a run."""
        return self._kept.setdefault(run, [])

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
        kind = type(agent)
        bases = (kind,) if issubclass(kind, _HookedAgent) else (_HookedAgent, kind)
        hooked = type(kind.__name__, bases, {"_hooks": self})
        fields = (it.name for it in dataclasses.fields(agent) if it.init)
        given = {name: getattr(agent, name) for name in fields}
        made: Agent[Any] = hooked(**{**given, "handoffs": []})
        self._agents[id(agent)] = made  # Handoffs may be a circle.
        vars(made).update(_without=agent, handoffs=list(agent.handoffs))
        _ = made.tools, made.mcp_servers, made.handoffs  # What cannot have hooks is an error now.
        return made

    def handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(handoff, Agent):
            return self.agent(handoff)
        if self.has(handoff):
            return handoff
        invoke = handoff.on_invoke_handoff

        async def invoked(context: Any, arguments: str) -> Any:
            return self.agent(await invoke(context, arguments))

        hooked = dataclasses.replace(handoff, on_invoke_handoff=invoked)
        vars(hooked)["_hooks"] = self
        return hooked

    def server(self, server: MCPServer) -> MCPServer:
        return server if self.has(server) else _Server(self, server)

    def tool(self, tool: Any) -> Any:
        if not isinstance(tool, FunctionTool):
            name = getattr(tool, "name", type(tool).__name__)
            raise TypeError(f"hooks cannot be put around {name}: only function tools and MCP")
        if self.has(tool):
            return tool
        inner = tool._agent_instance
        if inner is not None and not isinstance(inner, _HookedAgent):
            made = f"with_hooks(client, {inner.name}).as_tool(…)"
            raise TypeError(f"the agent inside of the tool {tool.name} has no hooks: use {made}")
        hooked = copy.copy(tool)
        hooked.on_invoke_tool = _Invoker(self, tool)
        vars(hooked)["_hooks"] = self
        return hooked


def _part(name: str, put: Callable[[_Hooks, Any], Any]) -> Any:
    """A list of an agent, whose items have hooks when it is looked at, whenever they came."""

    def items(agent: Any) -> Any:
        found = vars(agent)[name]
        for number, item in enumerate(found if isinstance(found, list) else ()):
            found[number] = put(agent._hooks, item)
        return found

    def set_items(agent: Any, items: Any) -> None:
        vars(agent)[name] = list(items) if isinstance(items, list) else items

    return property(items, set_items)


class _HookedAgent:
    """An agent with hooks around its parts, whenever they came, as have its clones."""

    _hooks: _Hooks
    tools = _part("tools", _Hooks.tool)
    mcp_servers = _part("mcp_servers", _Hooks.server)
    handoffs = _part("handoffs", _Hooks.handoff)

    @property
    def model(self) -> Any:
        model = vars(self)["model"]
        if not self._hooks.has(model):
            model = vars(self)["model"] = _Model(self._hooks, model)
        return model

    @model.setter
    def model(self, model: Any) -> None:
        vars(self)["model"] = model

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> Any:
        _kept.set(self._hooks.kept(run_context))
        return await super().get_all_tools(run_context)  # type: ignore[misc]


_kept: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("kept", default=None)
"""Hooks' texts for the next request of the run."""


class _Invoker(getattr(tools_module, "_FailureHandlingFunctionToolInvoker", object)):  # type: ignore[misc]
    """A function tool with hooks around it.

    It is of the class that the library makes itself, whose arguments it checks before it asks
    whether a call needs an approval.
    """

    def __init__(self, hooks: _Hooks, tool: FunctionTool) -> None:
        self._hooks, self._tool = hooks, tool
        self._formats = hasattr(tool.on_invoke_tool, "__agents_bind_function_tool__")
        # One that raises: hooks are to see that it failed.
        self._raising = tool
        if self._formats:
            self._raising = set_function_tool_failure_error_function(copy.copy(tool), None)

    def __agents_bind_function_tool__(self, tool: FunctionTool) -> _Invoker:
        return self

    def prepare_arguments(self, arguments: str, name: str) -> Any:
        prepare = getattr(self._tool.on_invoke_tool, "prepare_arguments", None)
        return prepare(arguments, name) if prepare is not None else None

    async def _formatted(self, context: Any, error: Exception) -> str:
        """Returns the library's text for a failure. Raises the error if it has none."""
        text = await maybe_invoke_function_tool_failure_error_function(
            function_tool=self._tool, context=context, error=error
        )
        if text is None:
            raise error
        return text

    async def __call__(self, context: Any, arguments: str) -> Any:
        tool, given = self._tool, _arguments(arguments)
        if given is None:  # Hooks cannot see what the tool would do with it.
            error = ModelBehaviorError(f"Invalid JSON input for tool {tool.name}")
            return await self._formatted(context, error)
        stops: list[RunStopped] = []
        returned, raised = list[Any](), list[BaseException]()

        async def call(tool_input: dict[str, Any]) -> ToolResult:
            _stops.set(None if tool._agent_instance is None else stops)
            raised.clear()
            # What hooks left as it was is given on as it was written.
            text, is_changed = arguments, not is_same(tool_input, given)
            if is_changed:
                wrong = unknown_arguments(tool.name, tool.params_json_schema, tool_input, given)
                if wrong is not None:
                    self._problem(wrong)
                    return ToolResult(wrong, error=wrong)
                text = json.dumps(tool_input)
                context._function_tool_arguments = None  # They were prepared for another text.
            try:
                value = await self._raising.on_invoke_tool(context, text)
            except BaseException as error:
                if is_changed:
                    self._problem(f"{tool.name} failed with arguments that hooks changed: {error}")
                raised.append(error)
                if not self._formats or not isinstance(error, Exception):
                    raise
                said = await self._formatted(context, error)
                raised.clear()
                return ToolResult(said, error=message_of(error))
            returned[:] = _snapshot(tool, value)
            return ToolResult(returned[1])

        tool_call = ToolCall(tool.name, given, getattr(context, "tool_call_id", None))
        outcome = self._hooks.user.tell(await execute_tool(self._hooks.client, tool_call, call))
        if stops:
            raise RunStopped(str(stops[0]))
        if isinstance(outcome, Stopped):
            raise RunStopped(outcome.reason)
        failure = left_failure(outcome, raised[0] if raised else None)
        if failure is not None:
            raise failure
        if isinstance(outcome, Ran) and not outcome.is_changed and not outcome.result.error:
            kept, sent = returned
            return kept if _form(tool, kept) == sent else _outputs(sent)
        return _outputs(outcome.result.content)

    def _problem(self, problem: str) -> None:
        self._hooks.client._session.on_problem(problem)


def _form(tool: FunctionTool, value: Any) -> Any:
    """Returns what the model gets of a tool's value: a text, or a list of parts."""
    call = ResponseFunctionToolCall(type="function_call", call_id="", name=tool.name, arguments="")
    schema, adapter = tool.output_json_schema, tool._output_type_adapter
    return ItemHelpers.tool_call_output_item(
        call, value, output_json_schema=schema, output_type_adapter=adapter
    )["output"]


def _snapshot(tool: FunctionTool, value: Any) -> tuple[Any, Any]:
    """Returns a value that its tool cannot change any more, if it can be copied, and its form."""
    form = _form(tool, value)
    try:
        copied = copy.deepcopy(value)
    except Exception:
        return value, form
    return (copied if _form(tool, copied) == form else value), form


_OUTPUTS: dict[str, Any] = {"input_image": ToolOutputImage, "input_file": ToolOutputFileContent}


def _outputs(content: str | list[Any]) -> Any:
    """Returns the value of a tool that has the model get this content."""
    if isinstance(content, str):
        return content
    made = []
    for part in content:
        fields = dict(part) if isinstance(part, dict) else {"text": str(part)}
        kind = _OUTPUTS.get(str(fields.pop("type", None)))
        made.append(kind(**fields) if kind else ToolOutputText(text=str(fields.get("text", ""))))
    return made


def _arguments(arguments: str) -> dict[str, Any] | None:
    try:
        given = json.loads(arguments or "{}", object_pairs_hook=_fields)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object. Raises ValueError for two of a name: each parser has its own of these."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has two fields of one name")
    return fields


def _install() -> None:
    """Has the runner put hooks around the model of a run, too, once for all copies of this module.

    It takes the place of an internal function, since nothing public sees the `model` of a
    RunConfig that is given to `Runner` itself: the runner prefers it to the agent's, RunHooks and
    AgentHooks are told of calls without it, and the default runner is anybody's to replace. The
    agent's own model has hooks without this.
    """
    get_model: Any = getattr(run_loop, "get_model", None)
    if get_model is None:
        raise HookError("this version of openai-agents has no place for hooks around its models")
    if hasattr(get_model, "_hook_sdk"):
        return

    def model_of_run(agent: Agent[Any], run_config: RunConfig) -> Model:
        of_run = getattr(agent.model, "_hook_sdk_of_run", None)
        model: Model = get_model(agent, run_config) if of_run is None else of_run(run_config)
        return model

    vars(model_of_run)["_hook_sdk"] = True
    run_loop.get_model = model_of_run


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

    def _hook_sdk_of_run(self, run_config: RunConfig) -> Model:
        """Returns the model of a run as the library does, with these hooks around it."""
        inner = getattr(self.model, "_hook_sdk_of_run", None)
        if inner is not None:
            return _Model(self._hooks, inner(run_config))
        model = self.model if run_config.model is None else run_config.model
        if not isinstance(model, Model):
            model = run_config.model_provider.get_model(model)
        return _Model(self._hooks, model)

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
        inner, call = self._inner, _Call(model_settings, tools, rest, named)
        self._hooks.user.without_turn("run(client, agent, …)")

        async def model(request: dict[str, Any]) -> dict[str, Any]:
            given, more = call.left(request)
            answer = await inner.get_response(*given, **more)
            answered.append(answer)
            output = [_json(item) for item in answer.output]
            call.check(output, request)
            return _response(output, answer.response_id)

        request = call.request(inner, system_instructions, input)
        answer = call_model(self._hooks.client, "openai-responses", request, model, **_context())
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
        inner, call = self._inner, _Call(model_settings, tools, rest, named)
        self._hooks.user.without_turn("agent_turn(client, prompt)")

        async def model(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            given, more = call.left(request)
            async for event in inner.stream_response(*given, **more):
                made = _json(event)
                if event.type in _LAST_EVENTS:
                    last.append(event)
                    call.check((made.get("response") or {}).get("output") or [], request)
                yield made

        request = call.request(inner, system_instructions, input)
        chunks = self._hooks.chunks
        async with call_model(
            self._hooks.client, "openai-responses", request, model, chunks=chunks, **_context()
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
    response = model_response(outcome, RunStopped)
    if outcome.for_model and (kept := _kept.get()) is not None:
        kept.append(outcome.for_model)
    return response


def _context() -> dict[str, Any]:
    """Returns the option with hooks' texts for this request, if there are any."""
    kept = _kept.get() or []
    texts, kept[:] = kept[:], []
    return {"context": "\n\n".join(texts)} if texts else {}


_ORDER = ("output_schema", "handoffs", "tracing")


class _Call:
    """What a model is called with, beside the messages."""

    def __init__(self, settings: Any, tools: Any, rest: Any, named: dict[str, Any]) -> None:
        self._settings, self._tools = settings, tools
        self._named = {**dict(zip(_ORDER, rest, strict=False)), **named}
        self._handoffs: list[Any] = self._named.get("handoffs") or []

    def request(self, model: Model, instructions: Any, input: Any) -> dict[str, Any]:
        """Returns the request for hooks. The instructions are its first message, by the system."""
        functions = [
            {
                "type": "function",
                "name": _name(tool),
                "description": getattr(tool, "description", getattr(tool, "tool_description", "")),
                "parameters": getattr(
                    tool, "params_json_schema", getattr(tool, "input_json_schema", {})
                ),
            }
            for tool in (*self._tools, *self._handoffs)
        ]
        given = [{"role": "system", "content": instructions}] if instructions else []
        given += [_json(item) for item in ItemHelpers.input_to_new_input_list(input)]
        request = {
            "model": str(getattr(model, "model", type(model).__name__)),
            "input": given,
            "tools": functions,
            "tool_choice": self._settings.tool_choice,
        }
        return {name: value for name, value in request.items() if value not in (None, [])}

    def left(self, request: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of the model's methods from a request as hooks left it."""
        choice, tools, named = request.get("tool_choice"), self._tools, dict(self._named)
        if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
            names = allowed_names(choice) or ()
            tools = [tool for tool in tools if _name(tool) in names]
            if self._handoffs:
                named["handoffs"] = [it for it in self._handoffs if _name(it) in names]
            choice = choice.get("mode")
        elif isinstance(choice, dict):
            choice = choice.get("name", choice)
        settings = dataclasses.replace(self._settings, tool_choice=choice)
        items: list[Any] = list(request.get("input", ()))
        is_instructed = bool(items) and items[0].get("role") == "system"
        instructions = _text(items.pop(0).get("content")) if is_instructed else None
        return (instructions, items, settings, tools), named

    def check(self, output: list[dict[str, Any]], request: dict[str, Any]) -> None:
        """Raises RunStopped for a call of a tool that hooks withhold."""
        called = (it.get("name") for it in output if it.get("type") == "function_call")
        choice = request.get("tool_choice")
        if choice != self._settings.tool_choice:
            refuse_withheld(called, choice, RunStopped)


def _name(tool: Any) -> Any:
    """Returns the name of a tool, or that of the tool by which the model hands off."""
    return getattr(tool, "tool_name", None) or tool.name


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
