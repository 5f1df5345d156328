"""The triggers of this client that are under way, and the functions that they call back."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .errors import HookProtocolError, HostCallError, RequestFailed, coded
from .requests import Requests

Service = Callable[[dict[str, Any]], Awaitable[object]]
"""A function for one method of host calls: gets the params, returns the result."""

Part = Callable[[dict[str, Any]], None]
"""A function that gets each `hook-trigger-chunk`: a part of a model's answer for the display."""


class Triggers(Requests):
    """Triggers by their ids. The policy is the server's: this runs what it asks for."""

    def __init__(
        self,
        send: Callable[[dict[str, Any]], None],
        drain: Callable[[], Awaitable[None]],
        drop: Callable[[str], None],
    ) -> None:
        """`drop` cancels the host call of an id, unless that has been done: a second time would cut
        short what a tool does at its end."""
        super().__init__(send, "hook-trigger", "hook-trigger-cancel", "triggerId")
        self._drain, self._drop = drain, drop
        self._under_way: dict[str, _Trigger] = {}

    async def run(
        self,
        message: dict[str, Any],
        services: Mapping[str, Service],
        on_part: Part | None = None,
    ) -> dict[str, Any]:
        """Sends a trigger, serves its host calls, and returns its result.

        None of them runs when this ends, however it ends. Raises HookError without a result.
        """
        number = message["triggerId"] = f"t-{next(self._numbers)}"
        trigger = self._under_way[number] = _Trigger(services, on_part)
        try:
            answer = await self.ask(message)
        finally:
            del self._under_way[number]
            await trigger.end(self._drop)
        error, result = answer.get("error"), answer.get("result")
        if isinstance(error, dict):
            raise RequestFailed(*coded(error), answer)
        if not isinstance(result, dict):
            raise HookProtocolError("the result of a trigger is no object")
        return result

    def service(self, message: dict[str, Any]) -> tuple[Service | None, contextvars.Context | None]:
        """The function for a host call of a trigger, and the context of the trigger's caller."""
        trigger = self._under_way.get(str(message.get("triggerId")))
        if trigger is None:
            return None, None
        return trigger.service(message), trigger.context

    def chunk(self, message: dict[str, Any]) -> None:
        """A part of a model's answer. One that comes after its trigger's end is dropped."""
        trigger = self._under_way.get(str(message.get("triggerId")))
        if trigger is not None and trigger.on_part is not None:
            trigger.on_part(message)

    async def send_chunk(self, number: str, chunk: dict[str, Any]) -> None:
        """Sends a chunk of the model's stream, and waits while much has not left."""
        self._send({"type": "hook-trigger-chunk", "triggerId": number, "chunk": chunk})
        await self._drain()


class _Trigger:
    """One trigger, and the tasks of its host calls."""

    def __init__(self, services: Mapping[str, Service], on_part: Part | None) -> None:
        self._services, self.on_part = services, on_part
        self.context = contextvars.copy_context()
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._is_over = False

    def service(self, message: dict[str, Any]) -> Service | None:
        """The function for a host call, as one whose task ends with this trigger."""
        function = self._services.get(str(message.get("method")))
        number = str(message.get("hostCallId"))
        if function is None:
            return None

        async def served(params: dict[str, Any]) -> object:
            if self._is_over:  # The task began after the trigger's end.
                raise HostCallError("cancelled", "the trigger is over")
            task = asyncio.current_task()
            assert task is not None
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number, None))
            return await function(params)

        return served

    async def end(self, drop: Callable[[str], None]) -> None:
        """Drops what still runs, and waits for its end."""
        self._is_over = True
        for number in self._tasks:
            drop(number)
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()))
