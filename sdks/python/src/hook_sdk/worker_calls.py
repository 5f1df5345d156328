"""The calls of a worker that is served: their answers, and what their handlers ask the host."""

from __future__ import annotations

import itertools
import sys
import threading

from .errors import CallCancelled, HookError, HostCallError, ValueNotSendable, coded
from .events import event_of
from .lines import error_text, failure_text, text_of
from .responses import answer_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from .events import HookEvent

MAX_CALLS = 64
"""How many handlers run at once."""


class WorkerHook:
    """A handler, and what is declared of it."""

    __slots__ = ("declared", "event", "handler", "vocabulary")

    def __init__(self, handler: Callable[[Any], object], declared: dict[str, Any]) -> None:
        self.handler = handler
        self.declared = declared
        self.event: str = declared["eventName"]
        self.vocabulary: str = declared["vocabulary"]


class WorkerCall:
    """One call that a handler answers."""

    __slots__ = ("cancelled", "id", "waits")

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.cancelled = False
        self.waits: set[_HostWait] = set()


class _HostWait:
    """A handler's thread that waits for its host."""

    __slots__ = ("call", "reply", "wake")

    def __init__(self, call: WorkerCall) -> None:
        self.call = call
        self.reply: dict[str, Any] | None = None
        self.wake = threading.Lock()
        self.wake.acquire()

    def answer(self, reply: dict[str, Any] | None) -> None:
        self.reply = reply
        self.wake.release()


class WorkerCalls:
    """What goes on between a served worker and its engine."""

    def __init__(
        self, hooks: dict[str, WorkerHook], send: Callable[[dict[str, Any]], None]
    ) -> None:
        """`send` raises ValueNotSendable."""
        self._hooks, self.send = hooks, send
        self._calls: dict[str, WorkerCall] = {}
        self._host_waits: dict[str, _HostWait] = {}
        self._numbers = itertools.count(1)
        self._local = threading.local()
        # Guards the tables of calls and of waits.
        self._lock = threading.Lock()

    def current(self) -> WorkerCall:
        """The call that this thread's handler answers."""
        call: WorkerCall | None = getattr(self._local, "call", None)
        if call is None:
            raise HookError("this is possible only inside of a handler, on its own thread")
        return call

    def host_call(self, method: str, params: dict[str, Any]) -> Any:
        """Asks the host, and waits for its answer."""
        call = self.current()
        number = str(next(self._numbers))
        wait = _HostWait(call)
        with self._lock:
            if call.cancelled:
                raise CallCancelled()
            self._host_waits[number] = wait
            call.waits.add(wait)
        try:
            asked = {"hostCallId": number, "callId": call.id, "method": method, "params": params}
            self.send({"type": "hook-host-call", **asked})
            wait.wake.acquire()
        finally:
            with self._lock:
                self._host_waits.pop(number, None)
                call.waits.discard(wait)
        if wait.reply is None:
            raise CallCancelled()
        return host_result(wait.reply)

    def take(self, message: dict[str, Any]) -> WorkerCall | None:
        """What a message does at once; the call, where it is one to answer.

        Told by one thread at a time. Raises EOFError where the engine says that it ends.
        """
        kind = message["type"]
        if kind == "hook-call":
            call = WorkerCall(text_of(message, "callId"))
            with self._lock:
                self._calls[call.id] = call
            return call
        if kind == "hook-call-cancelled":
            with self._lock:
                cancelled = self._calls.get(text_of(message, "callId"))
                if cancelled is not None:
                    self._cancel(cancelled)
        elif kind == "hook-host-result":
            with self._lock:
                wait = self._host_waits.pop(text_of(message, "hostCallId"), None)
                if wait is not None:
                    wait.call.waits.discard(wait)
                    wait.answer(message)
        elif kind == "hook-close":
            raise EOFError
        return None

    def answer(self, call: WorkerCall, message: dict[str, Any]) -> dict[str, Any]:
        """Runs the handler of a call; what is to be answered."""
        self._local.call = call
        try:
            answer = self._answered(call, message)
        except BaseException as error:  # An exit of a handler's, too, ends only its answer.
            if not call.cancelled:
                sys.excepthook(type(error), error, error.__traceback__)
            answer = {"error": failure_text(error)}
        self._local.call = None
        return answer

    def refuse(self, call: WorkerCall, why: str) -> None:
        """Answers a call that there is no thread for."""
        self.reply(call, {"error": why})

    def end(self) -> None:
        """Everything is over: what still runs is answered no more."""
        with self._lock:
            for call in self._calls.values():
                self._cancel(call)

    def _cancel(self, call: WorkerCall) -> None:
        """With the lock held."""
        call.cancelled = True
        for wait in call.waits:
            wait.answer(None)
        call.waits.clear()
        for number in [number for number, it in self._host_waits.items() if it.call is call]:
            del self._host_waits[number]

    def reply(self, call: WorkerCall, answer: dict[str, Any]) -> None:
        """Answers a call, unless nobody waits for it any more."""
        with self._lock:
            if self._calls.get(call.id) is call:
                del self._calls[call.id]
            if call.cancelled:
                return  # Nobody waits for it.
        said = {"type": "hook-answer", "callId": call.id}
        try:
            self.send({**said, **answer})
        except ValueNotSendable as error:
            sys.stderr.write(f"hook_sdk: the answer cannot be sent: {error}\n")
            self.send({**said, "error": error_text(error)})

    def _answered(self, call: WorkerCall, message: dict[str, Any]) -> dict[str, Any]:
        event_name = text_of(message, "eventName")
        hook = self._hook_for(message.get("hookId"), event_name)
        told = message.get("input")
        if not isinstance(told, dict):
            raise HookError("the call has no input")
        event: HookEvent = event_of(hook.vocabulary, event_name, told)
        returned = hook.handler(event)
        if hasattr(returned, "__await__"):
            awaited: Any = returned
            returned = _run(awaited)
        # That a handler has nothing to say then is no news.
        if call.cancelled and returned is not None:
            dropped = f"the answer to {event_name} was dropped"
            sys.stderr.write(f"hook_sdk: {dropped}: nobody waited for it any more\n")
        return answer_fields(returned, hook.vocabulary)

    def _hook_for(self, hook_id: object, event: str) -> WorkerHook:
        hook = self._hooks.get(hook_id) if isinstance(hook_id, str) else None
        if hook is not None and hook.event in (event, "*"):
            return hook
        # A settings entry that names its event calls by an id of its own.
        fitting = [hook for hook in self._hooks.values() if hook.event in (event, "*")]
        if len(fitting) == 1:
            return fitting[0]
        many = "several handlers" if fitting else "no handler"
        raise HookError(f"this worker has {many} for {event}, and none is called {hook_id}")


def host_result(reply: dict[str, Any]) -> Any:
    """What a `hook-host-result` brought. Raises HostCallError for an error."""
    error = reply.get("error")
    if error is None:
        return reply.get("result")
    raise HostCallError(*coded(error))


def _run(returned: Awaitable[object]) -> object:
    # Only a worker with asynchronous handlers pays for asyncio.
    import asyncio

    async def wait() -> object:
        return await returned

    return asyncio.run(wait())
