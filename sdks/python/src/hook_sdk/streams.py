"""Lines over a socket, or over the pipes of a server that this client has started."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from .errors import HookConnectionError, HookProtocolError
from .lines import MAX_READ, decode, encode
from .waiting import within

_CHUNK = 1 << 16
_KEPT = 1 << 12
"""How much is told of either end of a line that is no message."""

_KEPT_OPEN_SECONDS = 0.5
"""How long standard error of a server that has ended is read on."""

_ENDING_SECONDS = 10.0
"""How long a server that this client has started may take to end."""

_LONGEST_PROBLEM = 1 << 14
"""How much of a line on its standard error is told."""


class BadLine(Exception):
    """Something came that is no message. `line` is its beginning and end."""

    def __init__(self, problem: str, line: bytes) -> None:
        super().__init__(problem)
        self.line = line


class Stream:
    """One connection to a server."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        child: Child | None = None,
        notice: str | None = None,
    ) -> None:
        self._reader, self._writer, self._child = reader, writer, child
        self.notice = notice
        """Set for a private server that was started for want of a shared one: what that means."""
        self._over = False

    def post(self, message: dict[str, Any]) -> None:
        """Sends a message behind those posted before. Does not wait.

        Raises ValueNotSendable at once for what has no form on the wire, HookConnectionError where
        the connection is over.
        """
        line = encode(message)
        if self._over or self._writer.is_closing():
            raise HookConnectionError("the connection to the hook server is over")
        self._writer.write(line)

    async def drain(self) -> None:
        """Waits while much of what was posted has not left."""
        try:
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            raise HookConnectionError(f"the hook server is gone: {error}") from error

    async def receive(self) -> dict[str, Any]:
        """The next message.

        Raises BadLine for something that is none, after which the next one may be received, and
        HookConnectionError when the connection is over.
        """
        try:
            line = await self._reader.readuntil()
        except asyncio.IncompleteReadError:
            raise HookConnectionError("the hook server ended the connection") from None
        except asyncio.LimitOverrunError:
            self.kill()  # It would not see the end of its input while it writes.
            raise HookConnectionError("the hook server sent a line without an end") from None
        except OSError as error:
            raise HookConnectionError(f"the hook server is gone: {error}") from error
        try:
            return decode(line)
        except HookProtocolError as error:
            raise BadLine(str(error), line[:_KEPT] + line[_KEPT:][-_KEPT:]) from None

    def kill(self) -> None:
        """Kills the server, if this client has started it."""
        if self._child is not None:
            self._child.kill()

    async def close(self) -> None:
        """Ends the connection. Never raises."""
        self._over = True
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            await within(_ENDING_SECONDS, self._writer.wait_closed())
        if self._child is not None:
            await self._child.end()


class Child:
    """A server that this client has started. What it writes to standard error is reported."""

    def __init__(self, process: asyncio.subprocess.Process, report: Callable[[str], None]) -> None:
        self._process, self._report = process, report
        self._reading = asyncio.get_running_loop().create_task(self._read())

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """Its input has ended, so it ends by itself; else it is made to."""
        for stop in (None, self._process.terminate, self._process.kill):
            with contextlib.suppress(ProcessLookupError):
                if stop is not None:
                    stop()
            try:
                await within(_ENDING_SECONDS, self._process.wait())
                break
            except asyncio.TimeoutError:
                continue
        # What it has started may hold it open.
        await asyncio.wait((self._reading,), timeout=_KEPT_OPEN_SECONDS)
        self._reading.cancel()

    async def _read(self) -> None:
        assert self._process.stderr is not None
        line = b""
        while chunk := await self._process.stderr.read(_CHUNK):
            *lines, line = (line + chunk).split(b"\n")
            for each in lines:
                self._tell(each)
            line = line[:_LONGEST_PROBLEM]
        self._tell(line)

    def _tell(self, line: bytes) -> None:
        text = line[:_LONGEST_PROBLEM].decode(errors="replace").rstrip()
        if text:
            self._report(f"the hook server says: {text}")


async def connect_socket(path: str | os.PathLike[str]) -> Stream:
    """Connects to a server that listens. Raises HookConnectionError where none does."""
    try:
        reader, writer = await asyncio.open_unix_connection(os.fspath(path), limit=MAX_READ)
    except (OSError, ValueError) as error:
        raise HookConnectionError(
            f"there is no hook server at {os.fspath(path)}: {error}"
        ) from error
    return Stream(reader, writer)


async def start_child(
    command: Sequence[str], report: Callable[[str], None], notice: str | None = None
) -> Stream:
    """Starts a server, which ends with the connection. Raises HookConnectionError."""
    pipe = asyncio.subprocess.PIPE
    try:
        # In a group of its own, so that Ctrl-C reaches it through this program alone.
        child = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, limit=MAX_READ
        )
    except (OSError, ValueError) as error:
        raise HookConnectionError(f"the hook server cannot be started: {error}") from error
    assert child.stdin is not None and child.stdout is not None
    return Stream(child.stdout, child.stdin, Child(child, report), notice)
