"""Waiting with a limit, and the ends of what is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from .errors import HookError

Result = TypeVar("Result")


def settle(
    future: asyncio.Future[Any], value: object = None, error: BaseException | None = None
) -> None:
    """Gives a future its value, or the error. One that is done, or cancelled, stays as it is."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):  # A future takes none.
        future.set_exception(HookError("StopIteration"))
    else:
        future.set_exception(error)


async def within(seconds: float, awaited: Awaitable[Result]) -> Result:
    """Waits for something so long. Raises asyncio.TimeoutError.

    `asyncio.wait_for` can swallow a cancel that comes just when the coroutine is done (before
    Python 3.12), after which a task that was to end goes on.
    """
    task = asyncio.ensure_future(awaited)
    try:
        await asyncio.wait((task,), timeout=seconds)
        if task.done():
            return task.result()
        raise asyncio.TimeoutError
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
        if not task.cancelled():
            task.exception()  # It is known, whoever looks at it.


class Tasks(dict[str, "asyncio.Task[None]"]):
    """Tasks by the ids of what they answer, as long as that is waited for."""

    def start(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Starts a task, which is one of these until it ends or is dropped."""
        task = self[key] = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda _: self.pop(key) if self.get(key) is task else None)

    def is_current(self, key: str) -> bool:
        """Whether the running task is that of an id: it may go on although it was dropped."""
        return self.get(key) is asyncio.current_task()

    def drop(self, key: str) -> None:
        """Cancels the task of an id, if there is one."""
        task = self.pop(key, None)
        if task is not None:
            task.cancel()

    def drop_all(self) -> None:
        """Cancels all tasks."""
        for key in list(self):
            self.drop(key)
