"""A connection to a broker that is kept: made again and again, and again when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import nats.errors
from nats.aio.client import Client

_PATIENCE_SECONDS = (0.1, 2.0)
"""How long is waited between two rounds of attempts, at least and at most."""
_STEP_SECONDS = 5
"""How long each step of one attempt may take."""
_CLOSING_SECONDS = 0.5
"""How long the library may wait for the end of a socket; it never hears of one without trust."""


class PlaintextError(nats.errors.Error):
    """The server offers no TLS, and was named with tls://."""


class _Client(Client):
    """The library's client, which would go on in plain text where a server offers no TLS."""

    def __init__(self, is_encrypted: bool) -> None:
        super().__init__()
        self._is_encrypted = is_encrypted
        self.is_checked = False

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if self._is_encrypted and not info.get("tls_required"):
            raise PlaintextError("the server offers no TLS, and was named with tls://")
        self.is_checked = True
        if self._is_encrypted:
            transport: Any = self._transport
            transport.connect_tls = functools.partial(
                _connect_tls, transport, transport.connect_tls
            )
        await super()._process_info(info, initial_connection)


async def _connect_tls(transport: Any, connect: Any, *args: Any, **named: Any) -> None:
    """Begins TLS. The library's reader is not told, for which asyncio would log a warning."""
    await connect(*args, **named)
    with contextlib.suppress(AttributeError):
        transport._io_writer.transport.get_protocol()._over_ssl = True


class KeptConnection:
    """The library is told to connect to one named server, once.

    It would go on by itself, and could then neither be ended without leaving sockets behind, nor
    held to the servers that were named.
    """

    def __init__(
        self,
        servers: list[str],
        options: dict[str, Any],
        tls: ssl.SSLContext | None,
        opened: Callable[[Client], Awaitable[None]],
        said: Callable[[str], None],
    ) -> None:
        self._servers, self._options, self._tls = servers, options, tls
        self._opened, self._said = opened, said
        self._changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.client: Client | None = None
        """The connection, while it is there."""
        self.why = "it is being made"
        """Why it is not there."""
        self.is_refused = False
        """Whether the broker does not want this client, or is not the one that it should be."""
        self.came_back = float("-inf")
        """When it came back, if it was lost."""
        self._end = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._keep())

    async def changed(self, seconds: float) -> None:
        """Returns when it is there, or is not, or not for another reason. Raises TimeoutError."""
        await asyncio.wait_for(asyncio.shield(self._changed), seconds)

    async def close(self) -> None:
        """Ends it. Returns when nothing is left of it."""
        self._end.set()
        await self._task

    async def _keep(self) -> None:
        wait, was_up = _PATIENCE_SECONDS[0], False
        while not self._end.is_set():
            errors: list[Exception] = []
            for server in self._servers:
                client = _Client(server.startswith("tls://"))
                lost = asyncio.Event()
                try:
                    await self._unless_ended(self._connect(client, server, lost))
                    if self._end.is_set():
                        return
                    if was_up:
                        self.came_back = time.monotonic()
                    wait, was_up = _PATIENCE_SECONDS[0], True
                    self._become(client, "", False)
                    await self._unless_ended(lost.wait())
                    self._become(None, "the connection is lost", False)
                    break
                except (nats.errors.Error, OSError, asyncio.TimeoutError) as error:
                    errors.append(error)
                finally:
                    await _close(client)
            else:
                why = str(errors[-1]) or type(errors[-1]).__name__
                self._become(None, why, all(map(_is_refusal, errors)))
            await self._unless_ended(asyncio.sleep(wait * (0.5 + random.random() / 2)))
            wait = min(wait * 2, _PATIENCE_SECONDS[1])

    async def _unless_ended(self, what: Coroutine[Any, Any, object]) -> None:
        """Does that, or a part of it. What follows is done in any case: the library is closed."""
        doing, end = asyncio.ensure_future(what), asyncio.ensure_future(self._end.wait())
        await asyncio.wait({doing, end}, return_when=asyncio.FIRST_COMPLETED)
        end.cancel()
        doing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await doing

    async def _connect(self, client: _Client, server: str, lost: asyncio.Event) -> None:
        first: list[Exception] = []

        async def failed(error: Exception) -> None:
            first.append(error)
            self._said(str(error) or type(error).__name__)

        async def closed() -> None:
            lost.set()

        try:
            await client.connect(
                server,
                **self._options,
                tls=self._tls if server.startswith("tls://") else None,
                name="hook-asker",
                allow_reconnect=False,
                # Less than one of them is taken for no end of them.
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=_STEP_SECONDS,
                error_cb=failed,
                closed_cb=closed,
            )
        except nats.errors.NoServersError as error:
            raise (first[-1] if first else error) from None
        if not client.is_checked:
            raise nats.errors.Error("this version of nats-py cannot be held to TLS")
        await self._opened(client)

    def _become(self, client: Client | None, why: str, is_refused: bool) -> None:
        self.client, self.why, self.is_refused = client, why, is_refused
        self._changed.set_result(None)
        self._changed = asyncio.get_running_loop().create_future()


def _is_refusal(error: Exception) -> bool:
    """Whether to try again is of no use."""
    text = str(error).lower()
    return isinstance(error, ssl.SSLError | PlaintextError) or "authorization violation" in text


async def _close(client: Client) -> None:
    try:
        await asyncio.wait_for(client.close(), _CLOSING_SECONDS)
    except (nats.errors.Error, asyncio.TimeoutError, OSError):
        pass
