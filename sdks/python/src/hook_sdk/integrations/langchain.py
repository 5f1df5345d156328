"""Hooks for agents of LangChain and LangGraph (the extra `langchain`).

    from langchain.agents import create_agent
    from hook_sdk.integrations.langchain import HookMiddleware

    agent = create_agent(model, tools, middleware=[HookMiddleware()])

It asks about each tool call, each model call with its stream, and the end of a turn, from `invoke`,
`ainvoke`, `stream` and `astream` alike.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ModelRequest, PrivateStateAttr, ToolCallRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command
from pydantic import PrivateAttr
from typing_extensions import NotRequired

from .. import agent, sync
from ..errors import HookError, HookStopped
from ..outcomes import (
    Called,
    Chunk,
    Continue,
    ModelOutcome,
    Ran,
    Stopped,
    ToolCall,
    ToolOutcome,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from ..turns import Turn
from ._common import (
    OnMessage,
    Teller,
    allowed_names,
    check_version,
    left,
    left_failure,
    model_response,
    prompt_of,
    refuse_withheld,
    unknown_arguments,
)
from ._loops import Here, Result

check_version("langchain", "1.5", "2")

Chunks = Literal["complete", "each"]
Message = TypeVar("Message", bound=BaseMessage)
_ALONE: RunnableConfig = {"callbacks": []}
"""The inner model tells nobody: what it says has not been seen by hooks yet."""


class _State(AgentState[Any]):
    hook_refusal: NotRequired[Annotated[str | None, PrivateStateAttr]]
    """Why hooks refused the prompt, which is taken out of the thread before the run ends."""


class RunStopped(HookStopped, GraphBubbleUp):
    """Hooks stop the agent: control flow of the library, which no other middleware handles."""


class HookMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts hooks around the tools, the model and the turns of an agent.

    With `chunks="each"` hooks see each chunk of a stream before it is shown, else the whole answer
    after it. `on_message` takes hooks' texts for the user, by default `on_problem` of the client.
    RunStopped ends the agent. Put it last, next to the tools and the model.
    """

    state_schema = _State

    def __init__(
        self,
        client: sync.HookClient | None = None,
        *,
        chunks: Chunks = "complete",
        on_message: OnMessage | None = None,
    ) -> None:
        """`client` is one with options of yours; else it makes one with the project's hooks."""
        super().__init__()
        self._hooks = _Hooks(client or sync.HookClient(), chunks, on_message)

    def model(self, model: BaseChatModel) -> BaseChatModel:
        """Returns a model with these hooks around its calls, for another middleware's own ones."""
        return hooked_model(self._hooks, model)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        made = _ToolCall(self._hooks, request)

        def run(tool_input: dict[str, Any]) -> ToolResult:
            with made.running(tool_input) as given:
                return made.result(handler(given))

        return made.message(sync.execute_tool(self._hooks.client, made.call, run))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        made, here = _ToolCall(self._hooks, request), Here()

        async def run(tool_input: dict[str, Any]) -> ToolResult:
            with made.running(tool_input) as given:
                return made.result(await here.run(handler, given))

        client = self._hooks.client
        return made.message(
            await here.there(client, agent.execute_tool(client.inner, made.call, run))
        )

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        _check_turn(request.state)
        return handler(request.override(model=self.model(request.model)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        _check_turn(request.state)
        return await handler(request.override(model=self.model(request.model)))

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state)
        sync.Caller(self._hooks.client).wait(lambda: turn.begin({}))
        return _begun(self._hooks.user.tell(turn.start), state)

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state)
        await Here().there(self._hooks.client, turn.begin({}))
        return _begun(self._hooks.user.tell(turn.start), state)

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state, is_over=True)
        sync.Caller(self._hooks.client).wait(turn.close)
        return _ended(self._hooks.user.tell(turn.end), state)

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state, is_over=True)
        await Here().there(self._hooks.client, turn.close())
        return _ended(self._hooks.user.tell(turn.end), state)


class _Hooks:
    def __init__(
        self, client: sync.HookClient, chunks: Chunks, on_message: OnMessage | None
    ) -> None:
        self.client, self.user = client, Teller(client.inner, on_message)
        self.chunks: Chunks = chunks

    def turn(self, state: AgentState[Any], is_over: bool = False) -> Turn:
        turn = Turn(self.client.inner, _last_human(state).text, None)
        if is_over:
            _check_turn(state)
            turn.answer = state["messages"][-1].text
        return turn

    def report(self, problem: str) -> None:
        self.client.inner._session.on_problem(problem)


class _ToolCall:
    """A call of a tool: what hooks see of it, and what the library gets."""

    def __init__(self, hooks: _Hooks, request: ToolCallRequest) -> None:
        self._hooks, self._request = hooks, request
        call = request.tool_call
        self.call = ToolCall(call["name"], call["args"], call.get("id"))
        self._returned: Any = None
        self._raised: BaseException | None = None

    @contextlib.contextmanager
    def running(self, tool_input: dict[str, Any]) -> Iterator[ToolCallRequest]:
        """Gives the request with the arguments that hooks left, and keeps what it raises."""
        call, tool = self._request.tool_call, self._request.tool
        self._returned = self._raised = None
        self._is_changed = tool_input != call["args"]
        if self._is_changed and tool is not None:
            schema: Any = tool.tool_call_schema
            fields = schema if isinstance(schema, dict) else schema.model_json_schema()
            wrong = unknown_arguments(call["name"], fields, tool_input, call["args"])
            if wrong is not None:
                self._hooks.report(wrong)
                raise HookError(wrong)
        try:
            yield self._request.override(tool_call={**call, "args": tool_input})
        except BaseException as error:
            self._raised = error
            self._failed(error)
            raise

    def _failed(self, why: object) -> None:
        if self._is_changed and not isinstance(why, GraphBubbleUp):
            name = self.call.tool_name
            self._hooks.report(f"{name} failed with arguments that hooks changed: {why}")

    def result(self, returned: Any) -> ToolResult:
        """Returns what hooks see of what a tool returned: the content of its messages."""
        if isinstance(returned, ToolMessage):  # The tool may still have a list of parts.
            content = copy.deepcopy(returned.content)
            returned = returned.model_copy(update={"content": content})
        self._returned = returned
        messages = _messages_in(returned)
        if len(messages) != 1:
            return ToolResult([{"type": "text", "text": it.text} for it in messages] or "")
        only: Any = messages[0]
        failure = only.text if getattr(only, "status", None) == "error" else None
        if failure is not None:
            self._failed(failure)
        return ToolResult(only.content, error=failure)

    def message(self, outcome: ToolOutcome) -> Any:
        """Returns what the library gets. Raises what the tool raised, if hooks left that."""
        self._hooks.user.tell(outcome)
        if isinstance(outcome, Stopped):
            raise RunStopped(outcome.reason)
        if isinstance(self._raised, GraphBubbleUp):
            raise self._raised  # It is no failure, whatever hooks add to it.
        failure = left_failure(outcome, self._raised)
        if failure is not None:
            raise failure
        call, content, failed = (
            self._request.tool_call,
            outcome.result.content,
            outcome.result.error,
        )
        call_id, status = call.get("id") or "", "success" if failed is None else "error"
        if isinstance(outcome, Ran) and self._returned is not None:
            if not outcome.is_changed:
                return self._returned
            if any(
                getattr(it, "tool_call_id", "") == call_id for it in _messages_in(self._returned)
            ):
                update = {"content": content, "status": status, "artifact": None}
                return _with_answer(self._returned, call_id, update)
            self._hooks.report(f"{call['name']} returned no message to which hooks could add")
            return self._returned
        made: Any = {"content": content, "tool_call_id": call_id, "name": call["name"]}
        return ToolMessage(**made, status=status)


def _messages_in(returned: Any) -> list[BaseMessage]:
    """Returns the messages of what a tool returned: one, a Command with some, a list of both."""
    if isinstance(returned, list):
        return [message for it in returned for message in _messages_in(it)]
    if not isinstance(returned, Command):
        return [returned]
    update: Any = returned.update
    messages = (update.get("messages") or []) if isinstance(update, dict) else []
    found = convert_to_messages(messages if isinstance(messages, list) else [messages])
    return [it for it in found if not isinstance(it, RemoveMessage)]


def _with_answer(returned: Any, call_id: str, update: dict[str, Any]) -> Any:
    """Returns the same with one changed answer to the call, in which all other texts are."""
    if isinstance(returned, list):
        return [_with_answer(it, call_id, update) for it in returned]
    if isinstance(returned, ToolMessage):
        is_answer = returned.tool_call_id == call_id
        return returned.model_copy(
            update=update if is_answer else {"content": "", "artifact": None}
        )
    kept: list[Any] = []
    given: Any = returned.update.get("messages") or [] if isinstance(returned.update, dict) else []
    for message in convert_to_messages(given if isinstance(given, list) else [given]):
        if isinstance(message, ToolMessage):
            kept.append(_with_answer(message, call_id, update))
        elif isinstance(message, RemoveMessage):
            kept.append(message)
    if not isinstance(returned.update, dict):
        return returned
    return dataclasses.replace(returned, update={**returned.update, "messages": kept})


def _last_human(state: AgentState[Any]) -> HumanMessage:
    asked = [it for it in state["messages"] if isinstance(it, HumanMessage)]
    return asked[-1] if asked else HumanMessage("")


def _check_turn(state: Any) -> None:
    """Raises RunStopped in a turn whose prompt hooks refused."""
    if refusal := state.get("hook_refusal"):
        raise RunStopped(refusal)


def _begun(start: TurnStart, state: AgentState[Any]) -> dict[str, Any] | None:
    last = _last_human(state)
    try:
        prompt = prompt_of(start)
    except HookStopped as refusal:
        # The thread must not keep it for the next turn. What a node that raises does is not kept.
        gone = [RemoveMessage(id=last.id)] if last.id else []
        return {"messages": gone, "hook_refusal": str(refusal), "jump_to": "end"}
    update: dict[str, Any] = {"hook_refusal": None} if state.get("hook_refusal") else {}
    if prompt == last.text:
        return update or None
    content: Any = prompt
    if isinstance(last.content, list):  # Images stay.
        others = [it for it in last.content if isinstance(it, dict) and it.get("type") != "text"]
        content = [{"type": "text", "text": prompt}, *others]
    return {**update, "messages": [last.model_copy(update={"content": content})]}


def _ended(end: TurnEnd | None, state: AgentState[Any]) -> dict[str, Any] | None:
    if isinstance(end, agent.Blocked | Stopped):
        raise RunStopped(end.reason)
    said = end.for_model if end is not None else None
    if isinstance(end, Continue):
        return {"messages": [_with_context(HumanMessage(end.prompt), said)], "jump_to": "model"}
    return {"messages": [_with_context(state["messages"][-1], said)]} if said else None


_CONTEXT = "hook_sdk_context"
"""The field of a message's metadata with hooks' texts for the next request."""


def _with_context(message: Message, text: str | None) -> Message:
    if not text:
        return message
    metadata: dict[str, Any] = message.response_metadata
    texts = [it for it in (metadata.get(_CONTEXT), text) if it]
    return message.model_copy(
        update={"response_metadata": {**metadata, _CONTEXT: "\n\n".join(texts)}}
    )


def _context(messages: list[BaseMessage]) -> dict[str, str]:
    """Returns the option with hooks' texts for a request with these messages, if there are any."""
    texts: list[str] = []
    for message in reversed(messages):
        if text := message.response_metadata.get(_CONTEXT):
            texts.insert(0, text)
        if isinstance(message, AIMessage):
            break
    return {"context": "\n\n".join(texts)} if texts else {}


def hooked_model(hooks: _Hooks, model: BaseChatModel) -> BaseChatModel:
    """Returns a model with hooks around each of its calls."""
    if isinstance(model, _HookedModel) and model._hooks is hooks:
        return model
    # An answer in the library's cache would be one that other hooks have seen, or none.
    made = _HookedModel(profile=getattr(model, "profile", None), cache=False)
    made._hooks, made._inner = hooks, model
    return made


class _HookedModel(BaseChatModel):
    _hooks: Any = PrivateAttr(default=None)
    _inner: Any = PrivateAttr(default=None)

    @property
    def _llm_type(self) -> str:
        return f"hooked {self._inner._llm_type}"

    @property
    def model_name(self) -> Any:
        """The inner model's, by which the library knows what that can do."""
        return _model_name(self._inner)

    def bind_tools(self, tools: Sequence[Any], **named: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools), **named)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **named: Any,
    ) -> ChatResult:
        given = _Given(self._hooks, self._inner, messages, stop, named)
        answered: list[AIMessage] = []

        def call(request: dict[str, Any]) -> dict[str, Any]:
            model, changed = given.left(request)
            answered.append(model.invoke(changed, _ALONE))
            given.check(answered[-1].tool_calls)
            return _response(answered[-1])

        client = self._hooks.client
        answer = sync.call_model(client, "openai-chat", given.request, call, **given.context)
        return _generation(self._hooks.user.tell(answer.finish()), answered)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **named: Any,
    ) -> ChatResult:
        given = _Given(self._hooks, self._inner, messages, stop, named)
        answered: list[AIMessage] = []
        here = Here()

        async def call(request: dict[str, Any]) -> dict[str, Any]:
            model, changed = given.left(request)
            answered.append(await here.run(model.ainvoke, changed, _ALONE))
            given.check(answered[-1].tool_calls)
            return _response(answered[-1])

        client = self._hooks.client
        answer = agent.call_model(client.inner, "openai-chat", given.request, call, **given.context)
        outcome = await here.there(client, answer.finish())
        return _generation(self._hooks.user.tell(outcome), answered)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **named: Any,
    ) -> Iterator[ChatGenerationChunk]:
        given = _Given(self._hooks, self._inner, messages, stop, named)
        parts = _Parts()

        def call(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
            model, changed = given.left(request)
            for chunk in model.stream(changed, _ALONE):
                given.check(chunk.tool_call_chunks)
                yield parts.sent(chunk)
            yield parts.last()

        more: Any = {"chunks": self._hooks.chunks, **given.context}
        with sync.call_model(
            self._hooks.client, "openai-chat", given.request, call, **more
        ) as answer:
            for part in answer:
                if isinstance(part, Chunk):
                    yield from parts.shown(part.chunk, run_manager)
            outcome = answer.finish()
        yield from parts.rest(self._hooks.user.tell(outcome))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **named: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        given = _Given(self._hooks, self._inner, messages, stop, named)
        parts, here, client = _Parts(), Here(), self._hooks.client

        async def call(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            model, changed = given.left(request)
            stream = model.astream(changed, _ALONE)
            try:
                while (chunk := await here.run(_following, stream)) is not None:
                    given.check(chunk.tool_call_chunks)
                    yield parts.sent(chunk)
                yield parts.last()
            finally:
                await here.run(stream.aclose)  # type: ignore[attr-defined]

        more: Any = {"chunks": self._hooks.chunks, **given.context}
        answer = agent.call_model(client.inner, "openai-chat", given.request, call, **more)
        try:
            while (part := await here.there(client, _following(answer))) is not None:
                if isinstance(part, Chunk):
                    for each in parts.shown(part.chunk, None):
                        if run_manager is not None:
                            await run_manager.on_llm_new_token(each.text, chunk=each)
                        yield each
            outcome = await here.there(client, answer.finish())
        finally:
            await here.there(client, answer.cancel())
        for each in parts.rest(self._hooks.user.tell(outcome)):
            yield each


class _Given:
    """What the library calls a model with."""

    def __init__(
        self,
        hooks: _Hooks,
        model: Any,
        messages: list[BaseMessage],
        stop: list[str] | None,
        named: dict[str, Any],
    ) -> None:
        self._model, self._messages = model, messages
        self._is_bound = "tools" in named
        self._tools, choice = named.pop("tools", []), named.pop("tool_choice", None)
        self._named = {**named, "stop": stop} if stop else named
        request: dict[str, Any] = {
            "model": str(_model_name(model) or model._llm_type),
            "messages": convert_to_openai_messages(messages),
            "tools": [convert_to_openai_tool(tool) for tool in self._tools],
            "tool_choice": choice,
        }
        self.request = {key: value for key, value in request.items() if value not in (None, [])}
        self.context: Any = _context(messages)
        self._choice: Any = choice
        for tool in request["tools"]:
            if "function" not in tool:
                name = _name_of(tool)
                hooks.user.report_once(
                    f"the model's provider runs {name} itself: hooks do not see it"
                )

    def left(self, request: dict[str, Any]) -> tuple[Runnable[Any, Any], list[BaseMessage]]:
        """Returns the model and the messages for the request as hooks left it."""
        tools, choice = self._tools, request.get("tool_choice")
        self._choice = choice
        if isinstance(choice, dict) and "allowed_tools" in choice:
            names = allowed_names(choice) or ()
            tools = [it for it in tools if _name_of(convert_to_openai_tool(it)) in names]
            choice = choice["allowed_tools"].get("mode")
        if choice == "none":
            tools, choice = [], None
        more = self._named if choice is None else {**self._named, "tool_choice": choice}
        # A form of the answer is bound without tools, too, unless hooks withhold these.
        if self._is_bound and bool(tools) == bool(self._tools):
            bound = self._model.bind_tools(tools, **more)
        else:
            bound = self._model.bind(**self._named)
        return bound, _messages(request.get("messages", []), self._messages)

    def check(self, calls: Iterable[Any]) -> None:
        """Raises RunStopped for a call of a tool that hooks withhold."""
        if self._choice != self.request.get("tool_choice"):
            called = (it["name"] for it in calls if it.get("name"))
            refuse_withheld(called, self._choice, RunStopped)


def _model_name(model: Any) -> Any:
    names = (getattr(model, name, None) for name in ("model_name", "model", "model_id"))
    return next(filter(None, names), None)


def _name_of(tool: dict[str, Any]) -> Any:
    return tool.get("function", tool).get("name", tool.get("type"))


async def _following(iterator: AsyncIterator[Result]) -> Result | None:
    return await anext(iterator, None)


class _Parts:
    """The chunks of a stream: as the model gave them, and as hooks left them."""

    def __init__(self) -> None:
        self._sent: list[tuple[dict[str, Any], AIMessageChunk]] = []
        self._text = ""
        self._is_any = False
        self._calls = False
        self._held: list[AIMessageChunk] = []
        """From the first with a tool call on: that may not run before the outcome is known."""

    def sent(self, chunk: AIMessageChunk) -> dict[str, Any]:
        delta: dict[str, Any] = {"role": "assistant", "content": chunk.text}
        if chunk.tool_call_chunks:
            self._calls = True
            delta["tool_calls"] = [
                {
                    "index": it.get("index") or 0,
                    "id": it.get("id"),
                    "type": "function",
                    "function": {"name": it.get("name"), "arguments": it.get("args") or ""},
                }
                for it in chunk.tool_call_chunks
            ]
        made = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
        self._sent.append((made, chunk))
        return made

    def last(self) -> dict[str, Any]:
        """Returns the chunk of the form that ends a stream; the library has none."""
        reason = "tool_calls" if self._calls else "stop"
        choice = {"index": 0, "delta": {}, "finish_reason": reason}
        return {"object": "chat.completion.chunk", "choices": [choice]}

    def shown(self, made: dict[str, Any], run_manager: Any) -> Iterator[ChatGenerationChunk]:
        """Yields a chunk as the library has it: with its own fields, and the text of hooks."""
        choices = made.get("choices") or [{}]
        delta = choices[0].get("delta") or {}
        text = delta.get("content") or ""
        if choices[0].get("finish_reason") and not text and not delta.get("tool_calls"):
            return
        message = AIMessageChunk(content=text)
        for number, (sent, original) in enumerate(self._sent):
            if _skeleton(sent) == _skeleton(made):
                del self._sent[: number + 1]
                update = {} if original.text == text else {"content": text}
                message = original.model_copy(update=update)
                break
        if self._held or _has_calls(message):
            self._held.append(message)
            return
        self._text += text
        self._is_any = self._is_any or bool(message.content or message.additional_kwargs)
        chunk = ChatGenerationChunk(message=message)
        if run_manager is not None:
            run_manager.on_llm_new_token(text, chunk=chunk)
        yield chunk

    def rest(self, outcome: ModelOutcome) -> Iterator[ChatGenerationChunk]:
        """Yields the end of a stream. Raises RunStopped if hooks replaced what was shown."""
        whole = model_response(outcome, RunStopped)["choices"][0]["message"]
        text, held = whole.get("content") or "", self._held
        is_models = isinstance(outcome, Called)
        if not (text.startswith(self._text) if is_models else not self._is_any):
            raise RunStopped(f"hooks replaced an answer that was being shown: {text}")
        if not is_models or not whole.get("tool_calls"):
            held = []
        if text != self._text + "".join(it.text for it in held):
            held = [it.model_copy(update={"content": ""}) for it in held]
            held.insert(0, AIMessageChunk(content=text[len(self._text) :]))
        *first, last = held or [AIMessageChunk(content="")]
        for message in (*first, _with_context(last, outcome.for_model)):
            yield ChatGenerationChunk(message=message)


def _has_calls(message: AIMessageChunk) -> bool:
    return bool(message.tool_call_chunks or message.tool_calls or message.invalid_tool_calls)


def _skeleton(made: dict[str, Any]) -> Any:
    delta = (made.get("choices") or [{}])[0].get("delta") or {}
    return {key: value for key, value in delta.items() if key != "content"}


def _messages(changed: list[dict[str, Any]], messages: list[BaseMessage]) -> list[BaseMessage]:
    """Returns the messages that hooks left: the library's own where they are the same."""
    before: list[Any] = [convert_to_openai_messages([it])[0] for it in messages]
    if changed == before:
        return messages
    made: list[BaseMessage] = []
    for message, number in left(changed, before):
        if number is None:
            made += convert_to_messages([message])
        elif before[number] == message:
            made.append(messages[number])
        else:
            update = {"content": message.get("content") or ""}
            made.append(messages[number].model_copy(update=update))
    return made


def _response(message: AIMessage) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": convert_to_openai_messages([message])[0],
                "finish_reason": "tool_calls" if message.tool_calls else "stop",
            }
        ],
    }


def _generation(outcome: ModelOutcome, answered: list[AIMessage]) -> ChatResult:
    """Returns the answer that hooks left: of one that they refused, nothing is."""
    message: dict[str, Any] = model_response(outcome, RunStopped)["choices"][0]["message"]
    text, made = message.get("content") or "", AIMessage(content=message.get("content") or "")
    if answered and isinstance(outcome, Called):
        before = convert_to_openai_messages(answered)[-1]
        made = answered[-1]
        if (before["content"] or "") != text:
            made = made.model_copy(update={"content": text})
        if made.tool_calls and not message.get("tool_calls"):
            made = made.model_copy(update={"tool_calls": []})
    made = _with_context(made, outcome.for_model)
    return ChatResult(generations=[ChatGeneration(message=made)])
