"""Threads for handlers that are plain functions, so that they do not hold up the event loop."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator

from .errors import HookError
from .waiting import settle


@contextlib.contextmanager
def lent() -> Iterator[None]:
    """Does not count a function's thread while it waits here: the answer may need a thread, too."""
    function = _function.get()
    if function is not None:
        function.wait(1)
    try:
        yield
    finally:
        if function is not None:
            function.wait(-1)


class _Function:
    """A function on a thread, and the number of answers of the server that it waits for."""

    def __init__(self, change_limit: Callable[[int], None]) -> None:
        self._change_limit, self._lock, self._waits = change_limit, threading.Lock(), 0

    def wait(self, change: int) -> None:
        with self._lock:
            before, self._waits = self._waits, self._waits + change
            is_changed = (before == 0) != (self._waits == 0)
        if is_changed:
            self._change_limit(change)


_function: contextvars.ContextVar[_Function | None] = contextvars.ContextVar(
    "function", default=None
)


class Threads:
    """A bounded number of threads, which do not keep the program from ending.

    `concurrent.futures` would wait at the program's end for a handler that never returns.
    """

    def __init__(self, limit: int) -> None:
        """`limit`: how many run at once, not counting those that wait for hooks themselves."""
        self._limit = limit
        self._lock = threading.Condition()
        self._waiting: collections.deque[Callable[[], None]] = collections.deque()
        self._count = self._idle = 0
        self._abandoned = 0
        self._closed = False

    async def run(
        self, function: Callable[[], object], late: Callable[[object], None] | None = None
    ) -> object:
        """Runs a function on a thread, with the context of the task that calls.

        Cancelled, it leaves the function alone. What that returns or raises then is dropped, and
        `late` is told of it, on the event loop. Raises HookError where all threads are in functions
        that were left so.
        """
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        context.run(_function.set, _Function(self._change_limit))
        result: asyncio.Future[object] = loop.create_future()
        begun = left = finished = False

        def end(value: object, error: BaseException | None) -> None:
            if result.done() and late is not None:  # It was cancelled in this very moment.
                late(value if error is None else error)
            settle(result, value, error)

        def work() -> None:
            nonlocal begun, finished
            with self._lock:
                if left:
                    return
                begun = True
            value: object = None
            error: BaseException | None = None
            try:
                value = context.run(function)
            except BaseException as raised:
                error = raised
            with self._lock:
                finished = True
                if left:
                    self._abandoned -= 1
            try:
                if not left:
                    loop.call_soon_threadsafe(end, value, error)
                elif late is not None:
                    loop.call_soon_threadsafe(late, value if error is None else error)
            except RuntimeError:
                pass  # The loop is closed: nobody waits.

        self._start(work)
        try:
            return await result
        finally:
            with self._lock:
                if not result.done() or result.cancelled():
                    left = True
                    if begun and not finished:
                        self._abandoned += 1

    def close(self) -> None:
        """Lets idle threads end; those at work end when their function returns."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            self._lock.notify_all()

    def _start(self, work: Callable[[], None]) -> None:
        with self._lock:
            if self._abandoned >= self._limit:
                raise HookError(f"all {self._limit} threads are in handlers that did not return")
            self._waiting.append(work)
            self._grow()

    def _change_limit(self, change: int) -> None:
        with self._lock:
            self._limit += change
            self._grow()

    def _grow(self) -> None:
        """Wakes a thread for what waits, or starts one; called with the lock."""
        if self._idle >= len(self._waiting) or self._count >= self._limit:
            self._lock.notify()
            return
        threading.Thread(target=self._serve, name="hook-handler", daemon=True).start()
        self._count += 1

    def _serve(self) -> None:
        while True:
            with self._lock:
                if self._count > self._limit:
                    self._count -= 1
                    return
                self._idle += 1
                self._lock.wait_for(lambda: self._waiting or self._closed)
                self._idle -= 1
                if not self._waiting:
                    self._count -= 1
                    return
                work = self._waiting.popleft()
            work()
