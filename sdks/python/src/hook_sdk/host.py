"""Host calls, both ways: handlers that ask the host, and this program as the host."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from .calls import invoke
from .errors import HookConnectionError, HostCallError, ValueNotSendable
from .lines import error_text, text_of
from .requests import run_token
from .threads import Threads
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
            return host_result(await answer)
        finally:
            self._waiting.pop(number, None)

    def answered(self, message: dict[str, Any]) -> None:
        """A `hook-host-result`. Raises HookProtocolError where it has no id."""
        answer = self._waiting.get(text_of(message, "hostCallId"))
        if answer is not None and not answer.done():
            answer.set_result(message)

    def lost(self) -> None:
        """The connection is gone, and with it who would answer."""
        for answer in self._waiting.values():
            if not answer.done():
                error = HookConnectionError("the connection was lost before the host answered")
                answer.set_exception(error)


class HostServices:
    """What this program does for the hooks of its own requests."""

    def __init__(
        self,
        services: Mapping[str, HostService],
        threads: Threads,
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        self._services, self._threads, self._send = dict(services), threads, send
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def names(self) -> list[str]:
        """The methods that are offered."""
        return sorted(self._services)

    def serve(self, message: dict[str, Any]) -> None:
        """A `hook-host-call` of the server's. Raises HookProtocolError where it has no id."""
        number, method = text_of(message, "hostCallId"), text_of(message, "method")
        if len(self._tasks) >= MAX_SERVED:
            self._fail(number, "limit_exceeded", f"{MAX_SERVED} host calls are under way already")
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        # What the service asks is asked on behalf of the hook that waits for it.
        token = message.get("runToken")
        context = contextvars.copy_context()
        context.run(run_token.set, token if isinstance(token, str) else None)
        serving = self._serve(number, method, params)
        task = context.run(asyncio.get_running_loop().create_task, serving)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Does it here, without a server. Raises HostCallError where it is not offered."""
        service = self._services.get(method)
        if service is None:
            raise HostCallError("unsupported", f"this program does not offer {method}")
        return await invoke(service, (params,), self._threads)

    def drop(self) -> None:
        """Nobody waits for these any more."""
        for task in self._tasks:
            task.cancel()

    async def _serve(self, number: str, method: str, params: dict[str, Any]) -> None:
        try:
            result = await self.call(method, params)
            self._send({"type": "hook-host-result", "hostCallId": number, "result": result})
        except HostCallError as error:
            self._fail(number, error.code, error.message)
        except HookConnectionError:
            pass  # Who asked is gone.
        except Exception as error:
            code = "invalid_result" if isinstance(error, ValueNotSendable) else "failed"
            self._fail(number, code, error_text(error))

    def _fail(self, number: str, code: str, message: str) -> None:
        error = {"code": code, "message": message}
        try:
            self._send({"type": "hook-host-result", "hostCallId": number, "error": error})
        except HookConnectionError:
            pass  # Who asked is gone.
