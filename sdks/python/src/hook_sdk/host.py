"""Host calls, both ways: handlers that ask the host, and this program as the host."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from .calls import invoke
from .errors import HookConnectionError, HostCallError, ValueNotSendable
from .lines import error_text, failure_text, text_of
from .requests import run_token
from .threads import Threads, lent
from .waiting import Tasks, settle
from .worker_calls import host_result

HostService = Callable[[dict[str, Any]], object]
"""A function, plain or async, that is told a host call's params and returns its result."""

MAX_SERVED = 256
"""How many host calls this program serves at once."""


class HostCalls:
    """What handlers of this client ask their host."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Any]] = {}

    async def ask(self, call_id: str, method: str, params: dict[str, Any]) -> Any:
        """Asks, and waits. Raises HostCallError, ValueNotSendable, HookConnectionError."""
        number = str(next(self._numbers))
        asked = {"hostCallId": number, "callId": call_id, "method": method, "params": params}
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._send({"type": "hook-host-call", **asked})
            with lent():
                return host_result(await answer)
        finally:
            self._waiting.pop(number, None)

    def answered(self, message: dict[str, Any]) -> None:
        """A `hook-host-result`. Raises HookProtocolError where it has no id."""
        answer = self._waiting.get(text_of(message, "hostCallId"))
        if answer is not None:
            settle(answer, message)

    def lost(self) -> None:
        """The connection is gone, and with it who would answer."""
        error = HookConnectionError("the connection was lost before the host answered")
        for answer in self._waiting.values():
            settle(answer, error=error)


class HostServices:
    """What this program does for the hooks of its own requests."""

    def __init__(
        self,
        services: Mapping[str, HostService],
        threads: Threads,
        send: Callable[[dict[str, Any]], None],
        report: Callable[[str], None],
    ) -> None:
        self._services, self._threads, self._send = dict(services), threads, send
        self._report = report
        self.tasks = Tasks()

    def serve(
        self,
        message: dict[str, Any],
        of_trigger: HostService | None = None,
        context: contextvars.Context | None = None,
    ) -> None:
        """A `hook-host-call` of the server's. Raises HookProtocolError where it has no id.

        `of_trigger` is the function of the trigger that the call is part of: triggers bound it.
        It runs in a copy of `context`, that of the trigger's caller: its session, for example.
        """
        number, method = text_of(message, "hostCallId"), text_of(message, "method")
        if of_trigger is None and len(self.tasks) >= MAX_SERVED:
            why = f"{MAX_SERVED} host calls are under way already"
            self._answer(number, _error("limit_exceeded", why))
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        # What the service asks is asked on behalf of the hook that waits for it.
        token = message.get("runToken")
        context = contextvars.copy_context() if context is None else context.copy()
        context.run(run_token.set, token if isinstance(token, str) else None)
        serving = self._serve(number, method, params, of_trigger)
        context.run(self.tasks.start, number, serving)

    def cancel(self, message: dict[str, Any]) -> None:
        """A `hook-host-call-cancelled`: nobody waits for that any more, and it is not answered.

        Raises HookProtocolError where it has no id.
        """
        self.tasks.drop(text_of(message, "hostCallId"))

    async def call(
        self, method: str, params: dict[str, Any], service: HostService | None = None
    ) -> Any:
        """Does it here, without a server. Raises HostCallError where it is not offered."""
        service = service or self._services.get(method)
        if service is None:
            raise HostCallError("unsupported", f"this program does not offer {method}")

        def late(_: object) -> None:
            self._report(f"the result of the host service {method} was dropped: it came too late")

        return await invoke(service, (params,), self._threads, late)

    def drop(self) -> None:
        """Nobody waits for these any more."""
        self.tasks.drop_all()

    async def _serve(
        self, number: str, method: str, params: dict[str, Any], service: HostService | None
    ) -> None:
        try:
            result = await self.call(method, params, service)
            answer = {"result": result}
            is_answer = isinstance(result, bool) or (
                isinstance(result, dict) and "refused" in result
            )
            if method == "user.approve" and not is_answer:
                self._report(f"{method} returned {result!r}, which is not True: it is a refusal")
        except asyncio.CancelledError as error:
            if not self.tasks.is_current(number):
                raise
            answer = _error("cancelled", error_text(error))  # The service did that by itself.
        except HostCallError as error:  # What it says by that is its answer.
            answer = _error(error.code, error.message)
        except BaseException as error:  # Else nobody would hear of its end.
            answer = self._failed(method, "failed", error)
        try:
            self._answer(number, answer)
        except ValueNotSendable as error:
            self._answer(number, self._failed(method, "invalid_result", error))

    def _failed(self, method: str, code: str, error: BaseException) -> dict[str, Any]:
        self._report(f"the host service {method} failed: {failure_text(error)}")
        return _error(code, error_text(error))

    def _answer(self, number: str, answer: dict[str, Any]) -> None:
        try:
            self._send({"type": "hook-host-result", "hostCallId": number, **answer})
        except HookConnectionError:
            pass  # Who asked is gone.


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
