"""Calls with hooks around them that the library makes itself, in its own task and its own way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from ..client import HookClient
from ..outcomes import ToolCall, ToolOutcome
from ..tool_calls import execute_tool

Outcome = TypeVar("Outcome")
Make = Callable[[dict[str, Any]], Awaitable[Any]]


class OpenCall(Generic[Outcome]):
    """A call that hooks see before and after the library makes it.

    `await wanted()` are the arguments with which hooks have it made, and after `made` or `failed`
    those with which they have it made again; None when there is an `outcome`. A call whose end is
    the library's control flow, which goes past hooks, has its `end`, as has one that is cancelled.
    """

    def __init__(self, begin: Callable[[Make], Coroutine[Any, Any, Outcome]]) -> None:
        self._wanted: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._result: asyncio.Future[tuple[object, BaseException | None]] | None = None
        self._task = asyncio.create_task(begin(self._make))

    async def _make(self, given: dict[str, Any]) -> object:
        self._result = asyncio.get_running_loop().create_future()
        self._wanted.put_nowait(given)
        value, error = await self._result
        if error is not None:
            raise error
        return value

    async def wanted(self) -> dict[str, Any] | None:
        arguments = asyncio.ensure_future(self._wanted.get())
        try:
            await asyncio.wait((arguments, self._task), return_when=asyncio.FIRST_COMPLETED)
            return arguments.result() if arguments.done() and not self._task.done() else None
        except asyncio.CancelledError:
            await self.end()
            raise
        finally:
            arguments.cancel()

    def made(self, value: object) -> None:
        self._answer(value, None)

    def failed(self, error: BaseException) -> None:
        self._answer(None, error)

    def _answer(self, value: object, error: BaseException | None) -> None:
        if self._result is not None and not self._result.done():
            self._result.set_result((value, error))

    async def outcome(self) -> Outcome:
        return await self._task

    async def end(self) -> None:
        """Ends the hooks that still run; of an outcome that is there, nothing."""
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait((self._task,))

    def end_with_task(self) -> None:
        """Ends the hooks when this task ends, however that is."""
        owner = asyncio.current_task()
        assert owner is not None

        def ended(_: object) -> None:
            self._task.cancel()

        owner.add_done_callback(ended)
        self._task.add_done_callback(lambda _: owner.remove_done_callback(ended))

    async def __aenter__(self) -> OpenCall[Outcome]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()


def open_tool(client: HookClient, call: ToolCall) -> OpenCall[ToolOutcome]:
    """A tool call that the library makes."""
    return OpenCall(lambda make: execute_tool(client, call, make))


def is_same(left: object, right: object) -> bool:
    """Whether two values are the same JSON: in Python, True is 1 and 1 is 1.0."""
    return _json(left) == _json(right)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
