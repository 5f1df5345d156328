"""The event loop of an agent, beside that of a client that blocks."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from .. import sync
from ..errors import HookClosedError
from ..waiting import settle

Result = TypeVar("Result")
Given = ParamSpec("Given")

LOOK_SECONDS = 1.0
"""The time between two looks whether a loop that is to end something still runs."""


class Here:
    """The event loop of the agent, beside that of the client."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()

    async def there(self, client: sync.HookClient, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine on the client's loop. Cancelled, it returns when that has ended."""
        try:
            loop = client.loop()
        except HookClosedError:
            work.close()
            raise
        task = await _on(loop, work, contextvars.copy_context())
        if task.cancelled():
            raise HookClosedError("the client was closed")
        return task.result()

    async def run(
        self,
        function: Callable[Given, Awaitable[Result]],
        *given: Given.args,
        **named: Given.kwargs,
    ) -> Result:
        """Runs a function on the agent's loop; called on the client's, and cancelled as `there`."""

        async def work() -> Result:
            return await function(*given, **named)

        return (await _on(self._loop, work(), self._context.copy())).result()


async def _on(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, Result],
    context: contextvars.Context,
) -> asyncio.Task[Result]:
    """Runs a coroutine on a loop, and returns its task when that has ended, cancelled or not."""
    here = asyncio.get_running_loop()
    ended: asyncio.Future[None] = here.create_future()
    tasks: list[asyncio.Task[Result]] = []

    def begin() -> None:
        tasks.append(loop.create_task(work))
        tasks[0].add_done_callback(tell)

    def tell(task: asyncio.Task[Result]) -> None:
        _ = task.cancelled() or task.exception()  # It is known, whoever looks at it.
        with contextlib.suppress(RuntimeError):  # Nobody is left who waits.
            here.call_soon_threadsafe(settle, ended)

    try:
        loop.call_soon_threadsafe(begin, context=context)
    except RuntimeError:
        work.close()
        raise HookClosedError("the event loop of the other side is closed") from None
    try:
        await asyncio.wait((ended,))
    except asyncio.CancelledError:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
        while not ended.done() and loop.is_running():  # One that stands still ends nothing.
            await asyncio.wait((ended,), timeout=LOOK_SECONDS)
        raise
    return tasks[0]
