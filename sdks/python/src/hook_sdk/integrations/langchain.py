"""Hooks for agents of LangChain and LangGraph (the extra `langchain`).

    from langchain.agents import create_agent
    from hook_sdk.integrations.langchain import HookMiddleware

    agent = create_agent(model, tools, middleware=[HookMiddleware()])

It asks about each tool call, each model call with its stream, and the end of a turn, from `invoke`,
`ainvoke`, `stream` and `astream` alike.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ModelRequest, ToolCallRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
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

from .. import agent, sync
from ..errors import HookStopped
from ..outcomes import (
    Called,
    Chunk,
    Continue,
    Done,
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
from ._common import OnMessage, Teller, check_version, left, model_response, prompt_of
from ._loops import Here, Result

check_version("langchain", "1.5", "2")

Chunks = Literal["complete", "each"]
_ALONE: RunnableConfig = {"callbacks": []}
"""The inner model tells nobody: what it says has not been seen by hooks yet."""


class HookMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts hooks around the tools, the model and the turns of an agent.

    With `chunks="each"` hooks see each chunk of a stream before it is shown, else the whole answer
    after it. `on_message` takes hooks' texts for the user, by default `on_problem` of the client.
    HookStopped ends the agent. Put it last, next to the tools and the model.
    """

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

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        returned: list[Any] = []

        def run(tool_input: dict[str, Any]) -> ToolResult:
            try:
                returned[:] = [handler(_with_args(request, tool_input))]
            except GraphBubbleUp as interrupt:
                returned[:] = [interrupt]
                raise
            return _result(returned[0])

        outcome = sync.execute_tool(self._hooks.client, _call(request), run)
        return _message(request, self._hooks.user.tell(outcome), returned)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        returned: list[Any] = []
        here = Here()

        async def run(tool_input: dict[str, Any]) -> ToolResult:
            try:
                returned[:] = [await here.run(handler, _with_args(request, tool_input))]
            except GraphBubbleUp as interrupt:
                returned[:] = [interrupt]
                raise
            return _result(returned[0])

        client = self._hooks.client
        outcome = await here.there(client, agent.execute_tool(client.inner, _call(request), run))
        return _message(request, self._hooks.user.tell(outcome), returned)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        return handler(request.override(model=hooked_model(self._hooks, request.model)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        return await handler(request.override(model=hooked_model(self._hooks, request.model)))

    def before_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state)
        sync.Caller(self._hooks.client).wait(lambda: turn.begin({}))
        return _begun(self._hooks.user.tell(turn.start), state)

    async def abefore_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state)
        await Here().there(self._hooks.client, turn.begin({}))
        return _begun(self._hooks.user.tell(turn.start), state)

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state, is_over=True)
        sync.Caller(self._hooks.client).wait(turn.close)
        return _ended(self._hooks.user.tell(turn.end))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        turn = self._hooks.turn(state, is_over=True)
        await Here().there(self._hooks.client, turn.close())
        return _ended(self._hooks.user.tell(turn.end))


class _Hooks:
    def __init__(
        self, client: sync.HookClient, chunks: Chunks, on_message: OnMessage | None
    ) -> None:
        self.client, self.user = client, Teller(client.inner, on_message)
        self.chunks: Chunks = chunks

    def turn(self, state: AgentState[Any], is_over: bool = False) -> Turn:
        asked = [it for it in state["messages"] if isinstance(it, HumanMessage)]
        turn = Turn(self.client.inner, asked[-1].text if asked else "", None)
        if is_over:
            turn.answer = state["messages"][-1].text
        return turn


def _call(request: ToolCallRequest) -> ToolCall:
    call = request.tool_call
    return ToolCall(call["name"], call["args"], call.get("id"))


def _with_args(request: ToolCallRequest, args: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": args})


def _result(returned: Any) -> ToolResult:
    if not isinstance(returned, ToolMessage):
        return ToolResult("")  # A Command changes the state; it has no text.
    failure = returned.text if returned.status == "error" else None
    content: Any = returned.content
    return ToolResult(content, error=failure)


def _message(request: ToolCallRequest, outcome: ToolOutcome, returned: list[Any]) -> Any:
    if isinstance(outcome, Stopped):
        raise HookStopped(outcome.reason)
    if returned and isinstance(returned[0], GraphBubbleUp):
        raise returned[0]  # It is no failure, whatever hooks add to it.
    if isinstance(outcome, Ran) and outcome.raised is not None:
        raise outcome.raised
    if isinstance(outcome, Ran) and not outcome.is_changed and returned:
        return returned[0]
    content, failed = outcome.result.content, outcome.result.error is not None
    status: Literal["success", "error"] = "error" if failed else "success"
    if isinstance(outcome, Ran) and returned:
        if isinstance(returned[0], Command):
            return returned[0]
        update = {"content": content, "status": status, "artifact": None}
        return returned[0].model_copy(update=update)
    call = request.tool_call
    return ToolMessage(
        content=content, tool_call_id=call.get("id") or "", name=call["name"], status=status
    )


def _begun(start: TurnStart, state: AgentState[Any]) -> dict[str, Any] | None:
    prompt = prompt_of(start)
    asked = [it for it in state["messages"] if isinstance(it, HumanMessage)]
    last = asked[-1] if asked else HumanMessage("")
    if prompt == last.text:
        return None
    content: Any = prompt
    if isinstance(last.content, list):  # Images stay.
        others = [it for it in last.content if isinstance(it, dict) and it.get("type") != "text"]
        content = [{"type": "text", "text": prompt}, *others]
    return {"messages": [last.model_copy(update={"content": content})]}


def _ended(end: TurnEnd | None) -> dict[str, Any] | None:
    match end:
        case Continue(prompt=prompt):
            return {"messages": [HumanMessage(prompt)], "jump_to": "model"}
        case agent.Blocked(reason=reason) | Stopped(reason=reason):
            raise HookStopped(reason)
        case Done() | _:
            return None


def hooked_model(hooks: _Hooks, model: BaseChatModel) -> BaseChatModel:
    """Returns a model with hooks around each of its calls."""
    if isinstance(model, _HookedModel):
        return model
    made = _HookedModel(profile=getattr(model, "profile", None))
    made._hooks, made._inner = hooks, model
    return made


class _HookedModel(BaseChatModel):
    _hooks: Any = PrivateAttr(default=None)
    _inner: Any = PrivateAttr(default=None)

    @property
    def _llm_type(self) -> str:
        return f"hooked {self._inner._llm_type}"

    def bind_tools(self, tools: Sequence[Any], **named: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools), **named)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **named: Any,
    ) -> ChatResult:
        given = _Given(self._inner, messages, stop, named)
        answered: list[AIMessage] = []

        def call(request: dict[str, Any]) -> dict[str, Any]:
            model, changed = given.left(request)
            answered.append(model.invoke(changed, _ALONE))
            return _response(answered[-1])

        answer = sync.call_model(self._hooks.client, "openai-chat", given.request, call)
        return _generation(self._hooks.user.tell(answer.finish()), answered)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **named: Any,
    ) -> ChatResult:
        given = _Given(self._inner, messages, stop, named)
        answered: list[AIMessage] = []
        here = Here()

        async def call(request: dict[str, Any]) -> dict[str, Any]:
            model, changed = given.left(request)
            answered.append(await here.run(model.ainvoke, changed, _ALONE))
            return _response(answered[-1])

        client = self._hooks.client
        answer = agent.call_model(client.inner, "openai-chat", given.request, call)
        outcome = await here.there(client, answer.finish())
        return _generation(self._hooks.user.tell(outcome), answered)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **named: Any,
    ) -> Iterator[ChatGenerationChunk]:
        given = _Given(self._inner, messages, stop, named)
        parts = _Parts()

        def call(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
            model, changed = given.left(request)
            for chunk in model.stream(changed, _ALONE):
                yield parts.sent(chunk)
            yield parts.last()

        with sync.call_model(
            self._hooks.client, "openai-chat", given.request, call, chunks=self._hooks.chunks
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
        given = _Given(self._inner, messages, stop, named)
        parts, here, client = _Parts(), Here(), self._hooks.client

        async def call(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            model, changed = given.left(request)
            stream = model.astream(changed, _ALONE)
            try:
                while (chunk := await here.run(_following, stream)) is not None:
                    yield parts.sent(chunk)
                yield parts.last()
            finally:
                await here.run(stream.aclose)  # type: ignore[attr-defined]

        answer = agent.call_model(
            client.inner, "openai-chat", given.request, call, chunks=self._hooks.chunks
        )
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
        self, model: Any, messages: list[BaseMessage], stop: list[str] | None, named: dict[str, Any]
    ) -> None:
        self._model, self._messages = model, messages
        self._tools, choice = named.pop("tools", []), named.pop("tool_choice", None)
        self._named = {**named, "stop": stop} if stop else named
        name = getattr(model, "model_name", None) or getattr(model, "model", None)
        request = {
            "model": str(name or model._llm_type),
            "messages": convert_to_openai_messages(messages),
            "tools": [convert_to_openai_tool(tool) for tool in self._tools],
            "tool_choice": choice,
        }
        self.request = {key: value for key, value in request.items() if value not in (None, [])}

    def left(self, request: dict[str, Any]) -> tuple[Runnable[Any, Any], list[BaseMessage]]:
        """Returns the model and the messages for the request as hooks left it."""
        tools, choice = self._tools, request.get("tool_choice")
        if isinstance(choice, dict) and "allowed_tools" in choice:
            allowed = choice["allowed_tools"]
            names = {it.get("function", it).get("name") for it in allowed.get("tools", ())}
            tools = [it for it in tools if convert_to_openai_tool(it)["function"]["name"] in names]
            choice = allowed.get("mode")
        if choice == "none":
            tools, choice = [], None
        more = self._named if choice is None else {**self._named, "tool_choice": choice}
        bound = self._model.bind_tools(tools, **more) if tools else self._model.bind(**self._named)
        return bound, _messages(request.get("messages", []), self._messages)


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
        """Yields the end of a stream. Raises HookStopped if hooks replaced what was shown."""
        whole = model_response(outcome)["choices"][0]["message"]
        text, held = whole.get("content") or "", self._held
        is_models = isinstance(outcome, Called)
        if not (text.startswith(self._text) if is_models else not self._is_any):
            raise HookStopped(f"hooks replaced an answer that was being shown: {text}")
        if not is_models or not whole.get("tool_calls"):
            held = []
        if text != self._text + "".join(it.text for it in held):
            held = [it.model_copy(update={"content": ""}) for it in held]
            held.insert(0, AIMessageChunk(content=text[len(self._text) :]))
        for message in held or [AIMessageChunk(content="")]:
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
    message: dict[str, Any] = model_response(outcome)["choices"][0]["message"]
    text, made = message.get("content") or "", AIMessage(content=message.get("content") or "")
    if answered and isinstance(outcome, Called):
        before = convert_to_openai_messages(answered)[-1]
        made = answered[-1]
        if (before["content"] or "") != text:
            made = made.model_copy(update={"content": text})
        if made.tool_calls and not message.get("tool_calls"):
            made = made.model_copy(update={"tool_calls": []})
    return ChatResult(generations=[ChatGeneration(message=made)])
