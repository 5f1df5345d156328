"""Waiting with a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def within(seconds: float, coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Waits for a coroutine so long. Raises asyncio.TimeoutError.

    `asyncio.wait_for` can swallow a cancel that comes just when the coroutine is done (before
    Python 3.12), after which a task that was to end goes on.
    """
    task = asyncio.get_running_loop().create_task(coroutine)
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
