"""The calls that this client's handlers answer."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from .errors import HookConnectionError, HookError, ValueNotSendable
from .events import event_of
from .lines import broken_call, error_text, failure_text, text_of
from .registry import Registration, Registry
from .responses import answer_fields
from .threads import Threads
from .waiting import Tasks

MAX_CALLS = 1024
"""How many calls are under way at once; the server has at most 64 of them in flight."""

MAX_SENT = 64
"""How many answers are kept behind their sending."""

current_call: contextvars.ContextVar[str | None] = contextvars.ContextVar("call", default=None)
"""The id of the call that this task, or thread, answers."""


class Calls:
    """Runs handlers, and sends their answers."""

    def __init__(
        self,
        registry: Registry,
        threads: Threads,
        send: Callable[[dict[str, Any]], None],
        report: Callable[[str], None],
    ) -> None:
        """`send` raises ValueNotSendable, or HookConnectionError where there is no connection.
        `report` hears of answers that are dropped."""
        self._registry, self._threads, self._send = registry, threads, send
        self._report = report
        self._running = Tasks()
        self._kept: dict[str, dict[str, Any]] = {}
        self._sent: dict[str, dict[str, Any]] = {}
        self._is_held = False

    def start(self, message: dict[str, Any]) -> None:
        """A `hook-call`. Raises HookProtocolError where it has no id."""
        call_id = text_of(message, "callId")
        # After a lost connection the server says again what it has no answer to.
        if call_id in self._running or call_id in self._kept:
            return
        if call_id in self._sent:
            self._say(self._sent.pop(call_id))
            return
        if len(self._running) >= MAX_CALLS:
            self._reply(call_id, {"error": f"{MAX_CALLS} calls are under way already"})
            return
        registration = self._registry.get(message.get("hookId"))
        if registration is None:  # It was taken back while the call was on its way.
            why = f"this client has no hook {message.get('hookId')!r} any more"
            self._reply(call_id, {"error": why})
            return
        self._running.start(call_id, self._run(call_id, registration, message))

    def refuse_broken(self, line: bytes, problem: str) -> bool:
        """Answers the call that a line was which is no message; False if it was none."""
        call_id = broken_call(line)
        if call_id is None:
            return False
        # One that runs is answered by its handler: this was said again after a lost connection.
        if call_id not in self._running and call_id not in self._kept:
            self._reply(call_id, {"error": f"the server sent a line that is no message: {problem}"})
        return True

    def cancel(self, message: dict[str, Any]) -> None:
        """A `hook-call-cancelled`: the task is cancelled, and its answer is not sent."""
        self._running.drop(text_of(message, "callId"))

    def send(self, message: dict[str, Any]) -> None:
        """Sends what is about a call. Raises HookConnectionError where the call is not known."""
        if self._is_held:
            raise HookConnectionError("the connection was lost")
        self._send(message)

    def hold(self) -> None:
        """The connection is lost. The next may be to a server that has other calls of these ids."""
        self._is_held = True

    def resume(self) -> None:
        """The server is the one of before, and waits for what was answered meanwhile."""
        self._is_held = False
        kept, self._kept = self._kept, {}
        for answer in kept.values():
            self._say(answer)

    def drop(self) -> None:
        """Nobody waits for these calls any more."""
        self._is_held = False
        self._kept.clear()
        self._sent.clear()
        self._running.drop_all()

    async def _run(self, call_id: str, registration: Registration, message: dict[str, Any]) -> None:
        current_call.set(call_id)
        try:
            answer = await self._answered(registration, message)
        except asyncio.CancelledError as error:
            if not self._running.is_current(call_id):
                raise  # Others may wait for that.
            answer = {"error": failure_text(error)}
        except BaseException as error:
            how = "".join(traceback.format_exception(error)).rstrip()
            hook, event = message.get("hookId"), message.get("eventName")
            self._report(f"hook {hook} failed on {event}: {how}")
            answer = {"error": failure_text(error)}
        if self._running.is_current(call_id):
            self._reply(call_id, answer)

    async def _answered(
        self, registration: Registration, message: dict[str, Any]
    ) -> dict[str, Any]:
        event_name, told = text_of(message, "eventName"), message.get("input")
        if not isinstance(told, dict):
            raise HookError("the call has no input")
        event = event_of(registration.vocabulary, event_name, told)

        def late(returned: object) -> None:
            # That a handler has nothing to say then is no news.
            if returned is not None:
                what = f"the answer of hook {registration.id} to {event_name} was dropped"
                self._report(f"{what}: nobody waited for it any more")

        returned = await invoke(registration.handler, (event,), self._threads, late)
        if not self._running.is_current(text_of(message, "callId")):  # It swallowed its cancel.
            late(returned)
            return {}
        return answer_fields(returned, registration.vocabulary)

    def _reply(self, call_id: str, answer: dict[str, Any]) -> None:
        message = {"type": "hook-answer", "callId": call_id, **answer}
        try:
            self._say(message)
        except ValueNotSendable as error:
            self._report(f"the answer cannot be sent: {error}")
            self._reply(call_id, {"error": error_text(error)})

    def _say(self, answer: dict[str, Any]) -> None:
        """Sends an answer, or keeps it for the next connection."""
        call_id = answer["callId"]
        try:
            self.send(answer)
        except HookConnectionError:
            self._kept[call_id] = answer
            return
        # It may be lost on its way.
        self._sent[call_id] = answer
        if len(self._sent) > MAX_SENT:
            del self._sent[next(iter(self._sent))]


async def invoke(
    function: Callable[..., object],
    args: tuple[object, ...],
    on: Threads,
    late: Callable[[object], None] | None = None,
) -> object:
    """Calls a function: an async one here, a plain one on a thread.

    A plain one goes on where this is cancelled; `late` is told what it returns then.
    """
    if is_async(function):
        returned = function(*args)
    else:
        returned = await on.run(functools.partial(function, *args), late)
    # A plain function may return something to wait for.
    if isinstance(returned, Awaitable):
        return await returned
    return returned


def is_async(function: Callable[..., object]) -> bool:
    """Whether it is an `async def`, also as the method `__call__`, or inside of a partial."""
    while isinstance(function, functools.partial):
        function = function.func
    called = getattr(function, "__call__", None)  # noqa: B004  # It is looked at, not asked for.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)
