"""The event loop of an agent, beside that of a client that blocks."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from .. import sync
from ..errors import HookClosedError

Result = TypeVar("Result")
Given = ParamSpec("Given")


class Here:
    """The event loop of the agent, beside that of the client."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()

    async def there(self, client: sync.HookClient, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine on the client's loop; cancelled, it ends that."""
        try:
            loop = client.loop()
        except HookClosedError:
            work.close()
            raise
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    async def run(
        self,
        function: Callable[Given, Awaitable[Result]],
        *given: Given.args,
        **named: Given.kwargs,
    ) -> Result:
        """Runs a function on the agent's loop; called on the client's."""

        async def work() -> Result:
            awaited = _coroutine(function(*given, **named))
            return await self._context.copy().run(self._loop.create_task, awaited)

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._loop))


async def _coroutine(awaited: Awaitable[Result]) -> Result:
    return await awaited
