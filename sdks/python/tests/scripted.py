"""A server that speaks exactly the lines that a test wants, on a Unix socket."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from hook_sdk import A3sClient

LIMIT_SECONDS = 200.0
"""Longer than any test takes, however busy the machine is: nothing here waits for time to pass."""


def run_async(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that is a coroutine, with an end."""

    @functools.wraps(test)
    def run(*args: Any, **named: Any) -> None:
        async def limited() -> None:
            await asyncio.wait_for(test(*args, **named), LIMIT_SECONDS)

        asyncio.run(limited())

    return run


class Peer:
    """One connection, seen from the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.gone = asyncio.Event()

    def say(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self.say_bytes(json.dumps(message).encode() + b"\n")

    def say_bytes(self, line: bytes) -> None:
        self.writer.write(line)

    async def hear(self, kind: str | None = None) -> dict[str, Any]:
        """The next message, which is of that type."""
        line = await self.reader.readline()
        assert line, "the client is gone"
        message = json.loads(line)
        assert kind is None or message["type"] == kind, message
        return message

    async def hears_the_end(self) -> None:
        assert await self.reader.read() == b""

    def greet(self, token: str | None = "token-1", **more: Any) -> None:
        hello = {"type": "hook-hello", "engine": "hook", "version": "0", "protocol": 1, **more}
        self.say({**hello, "clientToken": token} if token else hello)

    async def registers(self) -> dict[str, Any]:
        """Takes a registration."""
        message = await self.hear("hook-register")
        self.say({"type": "hook-registered", "hookId": message["hookId"]})
        return message

    def call(self, hook_id: str, event: str, told: dict[str, Any], call_id: str = "1") -> None:
        call = {"type": "hook-call", "callId": call_id, "hookId": hook_id, "eventName": event}
        self.say({**call, "input": told, "deadlineMs": 5000})

    def close(self) -> None:
        self.writer.close()


class Scripted:
    """The server. Each connection is waited for by the test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._peers: asyncio.Queue[Peer] = asyncio.Queue()
        self._all: list[Peer] = []
        self._server: asyncio.AbstractServer | None = None

    async def start(self) -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer = Peer(reader, writer)
            self._all.append(peer)
            await self._peers.put(peer)

        self._server = await asyncio.start_unix_server(connected, self.path, limit=1 << 24)

    async def peer(self, token: str | None = "token-1") -> Peer:
        """The next connection, greeted; its hello is heard."""
        peer = await self._peers.get()
        peer.greet(token)
        if token is not None:
            peer.hello = await peer.hear("hook-hello")  # type: ignore[attr-defined]
        return peer

    async def raw_peer(self) -> Peer:
        return await self._peers.get()

    def stop(self) -> None:
        """Listens no more."""
        assert self._server is not None
        self._server.close()
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        for peer in self._all:
            peer.close()
        self.stop()


@contextlib.asynccontextmanager
async def scripted(
    **options: Any,
) -> AsyncIterator[tuple[A3sClient, Scripted, list[str]]]:
    """A server, a client of it that has not connected yet, and what that client complains of."""
    with tempfile.TemporaryDirectory() as folder:
        server = Scripted(Path(folder) / "s")
        await server.start()
        problems: list[str] = []
        options.setdefault("on_problem", problems.append)
        client = A3sClient(socket=server.path, **options)
        try:
            yield client, server, problems
        finally:
            # First, since a client that ends waits for the server to forget its hooks.
            server.close()
            await client.close()
