"""A connection that comes back by itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from typing import Any, Protocol

from .choice import Open
from .errors import HookClosedError, HookConnectionError, HookError, HookProtocolError
from .fields import given
from .lines import PROTOCOL
from .streams import BadLine, Stream
from .waiting import settle, within

FIRST_DELAY, LAST_DELAY = 0.1, 5.0
"""Seconds until the next attempt: doubled after each that failed."""

HELLO_SECONDS = 30.0
"""How long a server may take to greet, and to take the first registrations."""

LOOK_SECONDS = 10.0
"""The time between two looks whether a server that owes an answer says anything."""

MAX_SILENT = 4
"""The looks in a row that find nothing, though it was asked at the first: then it is stuck."""

STUCK = f"the hook server is stuck: it said nothing for {(MAX_SILENT - 1) * LOOK_SECONDS:g} s"


class Listener(Protocol):
    """What goes on over a connection, which is told of its messages, beginnings and ends."""

    async def on_connected(self, hello: dict[str, Any], is_second: bool) -> None:
        """The server has greeted; what is to be registered may be sent."""

    def on_message(self, message: dict[str, Any]) -> None:
        """A message came. May raise HookError, which is reported."""

    def on_bad_line(self, line: bytes, problem: str) -> None:
        """A line came that is no message."""

    def on_lost(self, error: HookConnectionError) -> None:
        """The connection is gone."""

    def owes_answers(self) -> bool:
        """Whether the server is waited for."""
        ...

    def ask_for_a_sign(self) -> None:
        """Asks the server for what it answers at once, however long hooks run."""


async def look(reading: asyncio.Task[HookError]) -> None:
    """Waits until it is time to look at a server, or nothing is read from it any more."""
    await asyncio.wait((reading,), timeout=LOOK_SECONDS)


class Connection:
    """Keeps one connection to a server, and makes a new one when it is lost."""

    def __init__(
        self,
        open_transport: Open,
        listener: Listener,
        offers: dict[str, Any],
        report: Callable[[str], None],
    ) -> None:
        """`offers` are the fields with which this client introduces itself, but for its token."""
        self._open, self._listener = open_transport, listener
        self._offers, self._report = offers, report
        self._transport: Stream | None = None
        self.token: str | None = None
        self._silent = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = os.getpid()
        self._task: asyncio.Task[None] | None = None
        self._attempt: asyncio.Future[None] | None = None
        self._hurry = asyncio.Event()
        self.is_connected = False
        """Whether messages can be sent now."""
        self._closed = False
        self._problem = ""

    @property
    def notice(self) -> str | None:
        """What it means that the present server is a private one; None of any other."""
        return self._transport.notice if self._transport is not None else None

    def start(self) -> None:
        """Begins to connect, if that has not begun. Needs a running event loop."""
        if self._closed:
            raise HookClosedError("the client was closed")
        if self._task is None:
            self._loop = asyncio.get_running_loop()
            self._task = self._loop.create_task(self._run())

    def is_left(self) -> bool:
        """Whether it began in another event loop, which does not run, or before a fork.

        It is ended, then. Raises HookConnectionError if that loop runs: it alone could wait here.
        """
        loop, task, is_mine = self._loop, self._task, not self.is_forked
        if self._closed or loop is None or task is None or loop is asyncio.get_running_loop():
            return False
        if is_mine and loop.is_running():
            here = "make one for each, or use `hook_sdk.sync`, which any thread may"
            raise HookConnectionError(f"this client is in use on another event loop: {here}")
        if is_mine and not task.done():
            if self._transport is not None:
                self._transport.kill()
            if not loop.is_closed():
                task.cancel()  # Should that loop go on.
        return True

    @property
    def is_forked(self) -> bool:
        """Whether it is that of the process from which this one was forked."""
        return self._process != os.getpid()

    async def connected(self) -> None:
        """Waits for the connection: the present one, or the outcome of one attempt.

        Raises HookConnectionError where that fails; attempts go on in the background.
        """
        self.start()
        if self.is_connected:
            return
        if self._attempt is None:
            self._attempt = asyncio.get_running_loop().create_future()
        self._hurry.set()
        await asyncio.shield(self._attempt)

    def send(self, message: dict[str, Any]) -> None:
        """Sends a message. Raises ValueNotSendable at once, HookConnectionError without one."""
        if self._closed:
            raise HookClosedError("the client was closed")
        if self._transport is None:
            raise HookConnectionError("there is no connection to a hook server")
        self._transport.post(message)

    async def drain(self) -> None:
        """Waits while much of what was sent has not left."""
        if self._transport is not None:
            await self._transport.drain()

    async def close(self) -> None:
        """Ends the connection for good."""
        self._closed = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._settle(HookClosedError("the client was closed"))

    async def _run(self) -> None:
        delay = FIRST_DELAY
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            try:
                problem = await self._one()  # Who waits by now waits for the next one.
            except Exception as error:  # Of any kind: else who waits would wait for ever.
                other = HookConnectionError(f"there is no way to a hook server: {error!r}")
                problem = error if isinstance(error, HookError) else other
                self._settle(problem)
            if self._problem != str(problem):  # The same once is enough.
                self._problem = str(problem)
                self._report(f"{problem}; trying again")
            if loop.time() - begun > LAST_DELAY:
                delay = FIRST_DELAY
            self._hurry.clear()
            if self._attempt is None:
                with contextlib.suppress(asyncio.TimeoutError):
                    await within(delay, self._hurry.wait())
            delay = min(2 * delay, LAST_DELAY)

    async def _one(self) -> HookError:
        """One connection, from its beginning to its end. Raises HookError if it did not begin."""
        transport = await self._open(self.token)
        reading: asyncio.Task[HookError] | None = None
        lost = HookConnectionError("the connection was lost before an answer came")
        try:
            try:
                hello = await within(HELLO_SECONDS, self._hello(transport))
            except asyncio.TimeoutError:
                raise HookConnectionError(
                    f"the hook server did not greet within {HELLO_SECONDS:g} s"
                ) from None
            is_second = self.token is not None
            token = hello.get("clientToken")
            if isinstance(token, str):  # Without one it is of a version that takes no hello.
                known = given(clientToken=self.token)
                said = {"type": "hook-hello", "protocol": PROTOCOL, **self._offers, **known}
                transport.post(said)
            self.token = token if isinstance(token, str) else None
            self._transport = transport
            reading = asyncio.get_running_loop().create_task(self._read(transport))
            await self._greet(hello, is_second, reading)
            self._problem = ""
            self.is_connected = True
            self._settle(None)
            end = await self._watched(reading)
            if end is None:
                transport.kill()
                end = lost = HookConnectionError(STUCK)
            return end
        finally:
            self.is_connected = False
            self._transport = None
            if reading is not None:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
                closed = HookClosedError("the client was closed")
                self._listener.on_lost(closed if self._closed else lost)
            await transport.close()

    async def _watched(self, reading: asyncio.Task[HookError]) -> HookError | None:
        """Waits for the end of a connection; None where the server holds it, and is stuck.

        Looks are counted, and not time, in which this program may have been asleep or busy.
        """
        while not reading.done():
            await look(reading)
            self._silent = self._silent + 1 if self._listener.owes_answers() else 0
            if self._silent == 1 and not reading.done():
                self._listener.ask_for_a_sign()
            if self._silent == MAX_SILENT:
                return None
        return reading.result()

    async def _greet(
        self, hello: dict[str, Any], is_second: bool, reading: asyncio.Task[HookError]
    ) -> None:
        """Registers what there is, while the answers are read."""
        greeting = asyncio.ensure_future(self._listener.on_connected(hello, is_second))
        try:
            await asyncio.wait(
                (greeting, reading), timeout=HELLO_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if greeting.done():
                return greeting.result()
            if reading.done():
                raise reading.result()
            raise HookConnectionError("the hook server does not answer")
        finally:
            greeting.cancel()
            await asyncio.gather(greeting, return_exceptions=True)

    async def _hello(self, transport: Stream) -> dict[str, Any]:
        try:
            hello = await transport.receive()
        except BadLine as error:
            raise HookProtocolError(f"this is no hook server: {error}") from None
        if hello["type"] == "hook-refused":
            raise HookConnectionError(f"the hook server refused: {hello.get('message')}")
        if hello["type"] != "hook-hello":
            raise HookProtocolError(f"this is no hook server: it said {hello['type'][:100]!r}")
        if hello.get("protocol") != PROTOCOL:
            theirs = hello.get("protocol")
            raise HookProtocolError(f"the server speaks protocol {theirs!r}, this is {PROTOCOL}")
        return hello

    async def _read(self, transport: Stream) -> HookError:
        """Reads messages until the connection ends, and returns why."""
        while True:
            try:
                message = await transport.receive()
                self._silent = 0
                if message["type"] == "hook-resumed" and self.token is not None:
                    # The token of before goes on, in place of the one in the greeting.
                    self.token = str(message.get("clientToken", self.token))
                self._listener.on_message(message)
            except BadLine as error:
                self._report(f"the server sent a line that is no message: {error}")
                self._listener.on_bad_line(error.line, str(error))
            except HookConnectionError as error:
                return error
            except HookError as error:
                self._report(str(error))

    def _settle(self, error: HookError | None) -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            settle(attempt, error=error)
            attempt.exception()  # Who waited may be gone by now.
