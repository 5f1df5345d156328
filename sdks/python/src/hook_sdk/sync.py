"""The same without asyncio: a client that blocks, for programs with threads or none.

    from hook_sdk.agent import ToolCall
    from hook_sdk.sync import HookClient, execute_tool

    with HookClient() as client:
        outcome = execute_tool(client, ToolCall("write_file", {"path": "a"}), write_file)

Any number of threads may use one client. A tool and a model run on the thread that calls, however
many those are; handlers, host services and the connection on one thread of the client's own, which
`close` ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from . import agent, client
from .errors import HookClosedError
from .events import CustomEvent
from .model_calls import Sdk
from .outcome import Outcome
from .outcomes import Chunk, ModelOutcome, SessionInfo, ToolCall, ToolOutcome, Whole
from .tool_calls import current_session, in_force, unasked_tool
from .turns import Session, Turn, in_turn
from .waiting import settle

if TYPE_CHECKING:
    from typing_extensions import Self

    from .registry import Handler
    from .typed import SyncFire
    from .types import AnyEventName, EventName

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def _with_arguments_of(
    _: Callable[Arguments, object],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, Arguments], None]]:
    return lambda function: function


class HookClient:
    """A client of `hook serve` that blocks. Its arguments are those of `hook_sdk.HookClient`."""

    @_with_arguments_of(client.HookClient)
    def __init__(self, **options: Any) -> None:
        self.inner = client.HookClient(**options)
        """The client that this one drives, on its own thread."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None
        """The thread of that, once it has begun."""
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._is_closed = False

    def _fire(
        self, event: EventName | CustomEvent, payload: Mapping[str, Any], **more: Any
    ) -> Outcome:
        return self.wait(lambda: self.inner._fire(event, payload, **more))

    if TYPE_CHECKING:
        fire: SyncFire
        """Runs the hooks of an event of the engine's, and returns what they came to."""
    else:
        fire = _fire

    def register_hook(self, event: AnyEventName, handler: Handler, **more: Any) -> str:
        """Registers a handler, and waits until the server has taken it."""

        async def register() -> str:
            hook_id = self.inner.register_hook(event, handler, **more)
            await self.inner.ready(hook_id)
            return hook_id

        return self.wait(register)

    def wait(self, make: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Waits for a method of `inner`: `client.wait(client.inner.list_hooks)`."""
        return Caller(self).wait(make)

    def close(self) -> None:
        """Ends the connection and the client's thread. A second call does nothing."""
        refuse_own_thread(self.thread)
        self._leave_parent()
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
            loop, thread = self._loop, self.thread
        if was_closed or loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self.inner.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of the client's thread, which begins with the first use."""
        self._leave_parent()
        with self._lock:
            if self._is_closed:
                raise HookClosedError("the client was closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self.thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="hook-client", daemon=True
                )
                self.thread.start()
            return self._loop

    def begin(self, start: Callable[[], None], context: contextvars.Context) -> None:
        """Has the client's thread call something, unless it is about to end, and never would."""
        with self._lock:
            if self._is_closed or self._loop is None:
                raise HookClosedError("the client was closed")
            self._loop.call_soon_threadsafe(start, context=context)

    def _leave_parent(self) -> None:
        """Leaves thread and lock to the process from which this one was forked."""
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), threading.Lock()
            self._loop = self.thread = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        async def end() -> None:
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            await loop.shutdown_asyncgens()

        try:
            loop.run_forever()
            loop.run_until_complete(end())
        finally:
            loop.close()


def refuse_own_thread(thread: threading.Thread | None) -> None:
    """Raises RuntimeError on a client's own thread, which would wait for itself for ever."""
    if threading.current_thread() is thread:
        raise RuntimeError(
            "an async handler cannot wait for its own client's thread: make it a plain function"
        )


class Caller:
    """A thread that waits for the client's, and meanwhile runs what is to run on it."""

    def __init__(self, of: HookClient) -> None:
        self._of, self._loop, self._thread = of, of.loop(), of.thread
        self._work: queue.SimpleQueue[Callable[[], bool]] = queue.SimpleQueue()

    def wait(self, make: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Runs a coroutine on the client's thread; its result. An interrupt cancels it first."""
        refuse_own_thread(self._thread)
        tasks: list[asyncio.Task[Result]] = []

        def start() -> None:
            task = self._loop.create_task(make())
            tasks.append(task)
            task.add_done_callback(lambda _: self._work.put(lambda: True))

        # In the caller's context: `session` is in force there.
        self._of.begin(start, contextvars.copy_context())
        interrupt: BaseException | None = None
        while True:
            try:
                while not self._work.get()():
                    pass
                break
            except BaseException as error:
                interrupt = error
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
        if interrupt is not None:
            raise interrupt
        try:
            return tasks[0].result()
        except asyncio.CancelledError:
            raise HookClosedError("the client was closed") from None

    async def run(self, function: Callable[..., object], *given: object) -> Any:
        """Runs a function on the thread that waits; called on the client's thread."""
        result: asyncio.Future[object] = self._loop.create_future()

        def work() -> bool:
            value, failure = None, None
            if not result.done():
                try:
                    value = function(*given)
                except Exception as error:
                    failure = error
            with contextlib.suppress(RuntimeError):  # The client was closed meanwhile.
                self._loop.call_soon_threadsafe(settle, result, value, failure)
            return False

        self._work.put(work)
        return await result


def execute_tool(
    client: HookClient,
    call: ToolCall,
    run: Callable[[dict[str, Any]], object],
    *,
    session: SessionInfo | None = None,
    deadline_ms: int | None = None,
) -> ToolOutcome:
    """Calls a tool with hooks around it; see `hook_sdk.agent`. It runs on this thread."""
    started = False
    more: Any = {"session": session, "deadline_ms": deadline_ms}

    async def on_this_thread(tool_input: dict[str, Any]) -> object:
        nonlocal started
        started = True
        return await caller.run(run, tool_input)

    try:
        caller = Caller(client)
        return caller.wait(lambda: agent.execute_tool(client.inner, call, on_this_thread, **more))
    except HookClosedError as error:
        return unasked_tool(call, started, error)


_END = object()


class ModelCall:
    """A model's answer that is being received: an iterator of the parts for the display."""

    def __init__(self, caller: Caller, inner: agent.ModelCall) -> None:
        self._caller, self._inner = caller, inner

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Chunk | Whole:
        async def following() -> Chunk | Whole | None:
            return await anext(self._inner, None)

        part = self._caller.wait(following)
        if part is None:
            raise StopIteration
        return part

    def finish(self) -> ModelOutcome:
        """Reads the rest of the answer, and returns the outcome. Never raises HookError."""
        return self._caller.wait(self._inner.finish)

    def cancel(self) -> None:
        """Ends the call, its hooks and the model's stream, if they have not ended."""
        self._caller.wait(self._inner.cancel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


def call_model(
    client: HookClient,
    sdk: Sdk | None,
    request: Mapping[str, Any],
    call: Callable[[dict[str, Any]], Iterator[Mapping[str, Any]] | Mapping[str, Any]],
    *,
    chunks: Literal["complete", "each"] = "complete",
    session: SessionInfo | None = None,
    deadline_ms: int | None = None,
    **more: Any,
) -> ModelCall:
    """Calls a model with hooks around it; see `hook_sdk.agent`. The reading thread runs it."""
    caller = Caller(client)

    async def on_the_reader(request: dict[str, Any]) -> Any:
        answer = await caller.run(call, request)
        return answer if isinstance(answer, Mapping) else stream(answer)

    async def stream(answer: Iterator[Mapping[str, Any]]) -> AsyncIterator[Mapping[str, Any]]:
        try:
            while (chunk := await caller.run(next, answer, _END)) is not _END:
                yield chunk
        finally:
            if close := getattr(answer, "close", None):
                await caller.run(close)

    more.update(chunks=chunks, session=session, deadline_ms=deadline_ms)
    return ModelCall(caller, agent.call_model(client.inner, sdk, request, on_the_reader, **more))


class SyncTurn(Turn):
    """A turn that is under way; see `hook_sdk.agent.Turn`."""

    def __init__(self, client: HookClient, prompt: str, session: SessionInfo | None) -> None:
        super().__init__(client.inner, prompt, session)
        self.caller = Caller(client)

    def __iter__(self) -> Iterator[str]:
        """Iterates over the prompts to work on: the first one, and those with which hooks go on."""
        prompts = aiter(self)

        async def following() -> str | None:
            return await anext(prompts, None)

        while (prompt := self.caller.wait(following)) is not None:
            yield prompt


@contextlib.contextmanager
def agent_turn(
    client: HookClient, prompt: str, *, session: SessionInfo | None = None, **more: Any
) -> Iterator[SyncTurn]:
    """A turn of an agent; see `hook_sdk.agent`."""
    turn = SyncTurn(client, prompt, session)
    turn.caller.wait(lambda: turn.begin(more))
    with in_force(in_turn, True):
        yield turn
    turn.caller.wait(turn.close)


@contextlib.contextmanager
def session(
    client: HookClient,
    *,
    session_id: str | None = None,
    cwd: str | None = None,
    transcript_path: str | None = None,
    max_continuations: int | None = None,
    source: Literal["startup", "resume", "clear", "compress"] = "startup",
    **more: Any,
) -> Iterator[SyncSession]:
    """A session; see `hook_sdk.agent`. The triggers of this thread belong to it."""
    session_id = session_id or str(uuid.uuid4())
    info = SessionInfo(session_id, cwd, transcript_path, max_continuations)
    begun = SyncSession(Caller(client), Session(client.inner, info))
    begun.caller.wait(lambda: begun.inner.begin(source=source, **more))
    try:
        with in_force(current_session, info):
            yield begun
    finally:
        begun.caller.wait(begun.inner.close)


class SyncSession:
    """A session that is under way; see `hook_sdk.agent.Session`, which `inner` is."""

    def __init__(self, caller: Caller, inner: Session) -> None:
        self.caller, self.inner = caller, inner

    def pre_compress(
        self, trigger: Literal["manual", "auto"] = "auto", **more: Any
    ) -> agent.Lifecycle:
        """Fires PreCompress: hooks may refuse to compress the conversation, or replace that."""
        return self.caller.wait(lambda: self.inner.pre_compress(trigger, **more))

    def notify(self, message: str, **more: Any) -> agent.Lifecycle:
        """Fires Notification."""
        return self.caller.wait(lambda: self.inner.notify(message, **more))
