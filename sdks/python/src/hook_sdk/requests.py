"""The requests, or triggers, of this client that are not answered yet."""

from __future__ import annotations

import asyncio
import collections
import contextvars
import itertools
import json
import os
import re
from collections.abc import Callable
from typing import Any

from .errors import HookConnectionError, HookError, HookProtocolError
from .threads import lent
from .waiting import settle

run_token: contextvars.ContextVar[str | None] = contextvars.ContextVar("run_token", default=None)
"""What tells the server that a request is part of another one."""

DOUBT_SECONDS = 30.0
"""How long requests may still wait after a line that was no message, and may have been theirs."""

LATE_SECONDS = 2.0
"""How long after a request's deadline its response may come: the server keeps the deadline."""


class Requests:
    """Requests of one kind by their ids, and their responses."""

    def __init__(
        self,
        send: Callable[[dict[str, Any]], None],
        kind: str = "hook-execution-request",
        cancel: str = "hook-cancel",
        id_field: str = "correlationId",
    ) -> None:
        """`kind` and `cancel` are types of messages, `id_field` is the id's name in all of them."""
        self._send = send
        self._kind, self._cancel, self._id_field = kind, cancel, id_field
        named = rb'"%s"\s*:\s*("(?:[^"\\]|\\.){0,2000}")' % id_field.encode()
        self._named = re.compile(named)
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        # Their responses come all the same.
        self._given_up: collections.deque[str] = collections.deque(maxlen=4096)
        self._doubts: set[asyncio.TimerHandle] = set()
        self.doubt_seconds = DOUBT_SECONDS
        self.late_seconds = LATE_SECONDS

    def __len__(self) -> int:
        return len(self._waiting)

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and waits for its response. Cancelled, it ends the request's hooks."""
        number = message.setdefault(self._id_field, f"py-{next(self._numbers)}")
        if number in self._waiting:
            raise ValueError(f"a request {number!r} is under way already")
        # Inside of a host service, or where this program is a hook itself (protocol, section 6).
        if token := run_token.get() or os.environ.get("HOOK_RUN_TOKEN"):
            message["runToken"] = token
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._send({"type": self._kind, **message})
            deadline = message.get("deadlineMs")
            with lent():
                if deadline is None:
                    return await answer
                await asyncio.wait((answer,), timeout=deadline / 1000 + self.late_seconds)
            if answer.done():
                return answer.result()
            self._give_up(number)
            raise HookConnectionError(f"the server did not answer within {deadline} ms")
        except asyncio.CancelledError:
            self._give_up(number)
            raise
        finally:
            del self._waiting[number]

    def _give_up(self, number: str) -> None:
        self._given_up.append(number)
        try:
            self._send({"type": self._cancel, self._id_field: number})
        except HookError:
            pass  # The server is gone, and its hooks with it.

    def answered(self, message: dict[str, Any]) -> None:
        """A response. Raises HookProtocolError for one that nothing waits for."""
        number = message.get(self._id_field)
        if not isinstance(number, str):
            # It may have been the answer of any of them.
            error = HookProtocolError("a response says not what it answers")
            self.doubt(error)
            raise error
        answer = self._waiting.get(number)
        if answer is not None and not answer.done():
            answer.set_result(message)
        elif answer is None and number in self._given_up:
            self._given_up.remove(number)
        else:
            raise HookProtocolError(f"a response came that nothing waits for: {_said(message)}")

    def broken(self, line: bytes, error: HookError) -> bool:
        """Fails the request that is named in a line that is no message. False if none is."""
        for found in reversed(self._named.findall(line)):
            try:
                answer = self._waiting.get(json.loads(found))
            except ValueError:
                continue
            if answer is not None and not answer.done():
                answer.set_exception(error)
                return True
        return False

    def doubt(self, error: HookError) -> None:
        """Fails all requests after a while: any of their responses may have been a lost one."""
        in_doubt = list(self._waiting.values())
        if not in_doubt:
            return

        def give_up() -> None:
            self._doubts.discard(timer)
            for answer in in_doubt:
                settle(answer, error=error)

        timer = asyncio.get_running_loop().call_later(self.doubt_seconds, give_up)
        self._doubts.add(timer)

    def lost(self, error: HookError) -> None:
        """The connection is gone: no response comes any more."""
        for timer in self._doubts:
            timer.cancel()
        self._doubts.clear()
        self._given_up.clear()
        for answer in self._waiting.values():
            settle(answer, error=error)


def _said(message: dict[str, Any]) -> str:
    error = message.get("error")
    return str(error.get("message"))[:300] if isinstance(error, dict) else "it is no error"
