"""A fleet of engines behind a NATS broker. Needs the extra `nats` (nats-py).

It asks; to register handlers a program connects to an engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import ssl
import time
import uuid
from collections import deque
from collections.abc import Coroutine, Iterable
from typing import Any

try:
    import nats.errors
    import nkeys
    from nats.aio.client import Client
    from nats.aio.msg import Msg
except ImportError as error:
    raise ImportError(
        f"transport='nats' needs the extra: pip install 'hook-sdk[nats]' ({error})"
    ) from error

from ..consistent import contradiction
from ..errors import HookConnectionError, HookProtocolError
from ..fleet import Fleet
from ..lines import encode
from . import BadLine, Transport
from .hearing import Hearing
from .nats_connection import KeptConnection
from .places import Places

PROTOCOL = 1
"""The version of the messages."""

_ATTEMPTS = 2
_SILENCE_SECONDS = (0.06, 5.0)
"""How long an attempt may be without a word of an engine, at least and at most."""
_BUSY_SECONDS = (0.02, 0.5)
"""How long is waited before a fleet without room is asked again."""
_COMING_BACK_SECONDS = 5.0
"""How long after the connection came back nobody may be there who was before."""
_CLOSING_SECONDS = 0.5
"""How long the end waits until engines are told of requests that nobody waits for."""
_OVERHEAD = 1024
_IN_FLIGHT = 1024
"""How many requests are at the fleet at once; others wait."""


class Nats:
    """A broker with a fleet."""

    def __init__(self, fleet: Fleet | None) -> None:
        if fleet is None:
            raise ValueError("transport='nats' needs a fleet: Fleet('tls://HOST:PORT')")
        self._fleet = fleet

    async def open(self, _token: str | None) -> Transport:
        """Begins to connect: who asks waits for the broker until the request's deadline."""
        return NatsTransport(self._fleet, _options(self._fleet))


def _tls(fleet: Fleet) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if fleet.certificate_authority is not None:
        try:
            context.load_verify_locations(fleet.certificate_authority)
        except OSError as error:
            what = f"the certificates in {os.fspath(fleet.certificate_authority)} cannot be used"
            raise HookConnectionError(f"{what}: {error}") from None
    return context


def _options(fleet: Fleet) -> dict[str, Any]:
    options: dict[str, Any] = {}
    try:
        text = fleet.read_credentials()
    except (OSError, ValueError) as error:
        raise HookConnectionError(f"the credentials cannot be used: {error}") from None
    user = "_"
    if text is not None:
        seed = next((line.strip() for line in text.splitlines() if line.startswith("SU")), None)
        if seed is None:
            raise HookConnectionError(f"{fleet.credentials} holds no credentials of a user")
        public: bytes = nkeys.from_seed(bytearray(seed.encode())).public_key
        user = public.decode()
        if "-----BEGIN NATS USER JWT-----" in text:
            options["user_credentials"] = str(fleet.credentials)
        else:
            options["nkeys_seed_str"] = seed
    # No client reads another's replies, where the broker is set up so.
    options["inbox_prefix"] = f"{fleet.subject}.reply.{user}".encode()
    return options


class NatsTransport:
    """Requests to a fleet, and what became of them."""

    notice: str | None = None

    def __init__(self, fleet: Fleet, options: dict[str, Any]) -> None:
        self._fleet = fleet
        self._received: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()
        self._received.put_nowait({"type": "hook-hello", "engine": "hook", "protocol": PROTOCOL})
        self._replies = f"{options['inbox_prefix'].decode()}.{uuid.uuid4().hex}"
        self._asking: dict[str, _Asking] = {}
        self._requests: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = Places(_IN_FLIGHT)
        self.hearing = Hearing(f"{self._replies}.*", self._reply)
        self._over = False
        self.connection = KeptConnection(
            fleet.servers, options, _tls(fleet), self.hearing.begin, self._heard
        )

    def post(self, message: dict[str, Any]) -> None:
        if self._over:
            raise HookConnectionError("the client is closed")
        kind = message["type"]
        if kind == "hook-execution-request":
            encode(message)  # What cannot be sent is an error here.
            self._begin(message)
        elif kind == "hook-cancel":
            task = self._requests.get(message["correlationId"])
            if task is not None:
                task.cancel()
        elif kind != "hook-hello":
            raise HookProtocolError(f"a fleet has no {kind}; connect to an engine for it")

    async def drain(self) -> None:
        """Requests wait for their turns, each in its time."""

    async def receive(self) -> dict[str, Any]:
        message = await self._received.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def close(self) -> None:
        self._over = True
        await _end(self._requests.values())
        if self._tasks:  # They tell engines that nobody waits any more.
            await asyncio.wait(self._tasks, timeout=_CLOSING_SECONDS)
        await _end(self._tasks)
        await self.connection.close()

    # The connection.

    def _heard(self, text: str) -> None:
        """The broker says what is wrong. It names the subject that this client may not use."""
        said = text.lower()
        if "for subscription to" in said:
            if f'"{self.hearing.subject}"'.lower() in said:
                self.hearing.refused(text)
                for asking in self._asking.values():
                    asking.look()
            return
        for asking in self._asking.values():
            if f'"{asking.subject}"'.lower() in said:
                asking.denied(text)

    async def _reply(self, message: Msg) -> None:
        asking = self._asking.get(message.subject)
        if asking is not None:
            asking.said(message)

    # Requests.

    def _begin(self, message: dict[str, Any]) -> None:
        number = message["correlationId"]
        task = self._spawn(self._request(message))
        self._requests[number] = task
        task.add_done_callback(lambda _: self._requests.pop(number, None))

    async def _request(self, message: dict[str, Any]) -> None:
        number = message["correlationId"]
        reply = f"{self._replies}.{uuid.uuid4().hex}"
        subject = self._fleet.request_subject(message["eventName"])
        asking = self._asking[reply] = _Asking(self, message, subject, reply)
        is_placed = False
        try:
            is_placed = await self._places.take(asking.left)
            if not is_placed:
                raise asking.too_late(f"{_IN_FLIGHT} requests of this client were at the fleet")
            answer = await asking.answer()
        except _Failed as failed:
            answer = self._failure(number, failed.code, failed.message)
        except asyncio.CancelledError:
            await self._received.put(
                self._failure(number, "cancelled", "the request was cancelled")
            )
            raise
        except Exception as error:
            answer = self._failure(number, "unanswered", f"the request failed: {error!r}")
        finally:
            del self._asking[reply]
            if asking.is_open or asking.is_left:
                self._cancel(reply)
            if is_placed:
                self._places.give()
        await self._received.put(answer)

    def _cancel(self, reply: str) -> None:
        """Tells engines that nobody waits any more; one that does not hear it ends in time."""
        client = self.connection.client
        if client is not None:
            line = json.dumps({"type": "hook-cancel", "reply": reply}).encode()
            self._spawn(self._publish(client, f"{self._fleet.subject}.cancel", line))

    async def _publish(self, client: Client, subject: str, line: bytes) -> None:
        try:
            await client.publish(subject, line)
        except nats.errors.Error as error:
            await self._received.put(BadLine(f"an engine could not be told: {error}"))

    def _failure(self, number: str, code: str, message: str) -> dict[str, Any]:
        error = {"code": code, "message": message}
        response: dict[str, Any] = {
            "type": "hook-execution-response",
            "correlationId": number,
            "success": False,
            "error": error,
        }
        if self._fleet.fail_behavior == "block":
            why = f"hooks could not run, and one of them may be a guard: {message}"
            response["processed"] = {"decision": "block", "reason": why}
        return response

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class _Failed(Exception):
    """No engine answers."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class _Asking:
    """One request that is asked."""

    def __init__(
        self,
        transport: NatsTransport,
        message: dict[str, Any],
        subject: str,
        reply: str,
    ) -> None:
        self._transport, self.subject, self._reply = transport, subject, reply
        self._said: deque[Msg] = deque()
        self._woken = asyncio.Event()
        self._denied: str | None = None
        self._refusals = 0
        """What `refusals` of hearing was when it was sent."""
        # The same on both attempts; what is there may be another's.
        given = {**message["input"], "idempotencyKey": str(uuid.uuid4())}
        self._message = {**message, "input": given, "protocol": PROTOCOL, "version": _version()}
        self._expected = transport._fleet.expect_settings
        if self._expected is not None:
            self._message["expectSettings"] = self._expected
        self._others: tuple[str, float] | None = None
        """The settings of an engine that does not answer it, and until when it is asked on."""
        self._number = message["correlationId"]
        given_ms: float = message.get("deadlineMs", transport._fleet.deadline_ms)
        self._deadline: float = time.monotonic() + given_ms / 1000
        shortest, longest = _SILENCE_SECONDS
        self._silence = min(max(given_ms / 1000 / _ATTEMPTS, shortest), longest)
        self._wait = _BUSY_SECONDS[0]
        self.is_open = False
        """Whether an engine may be at work on it."""
        self.is_left = False
        """Whether one fell silent that may have it still."""

    @property
    def left(self) -> float:
        """How much time it has."""
        return self._deadline - time.monotonic()

    def said(self, message: Msg) -> None:
        """Something was said to it."""
        self._said.append(message)
        self._woken.set()

    def denied(self, why: str) -> None:
        """The broker does not let its subject be asked about."""
        # What is said of others is not about one that has not been sent.
        if self.is_open:
            self._denied = why
            self._woken.set()

    def look(self) -> None:
        """There is something to look at."""
        self._woken.set()

    async def answer(self) -> dict[str, Any]:
        """The response. Raises _Failed where there is none."""
        for _ in range(_ATTEMPTS):
            answer = await self._attempt()
            if answer is not None:
                return answer
            self.is_left = True
        raise _Failed(
            "unanswered",
            f"no engine of the fleet at {self._transport._fleet.url} said anything for "
            f"{self._silence * 1000:.0f} ms; it was asked again, and none said anything for as "
            "long",
        )

    async def _attempt(self) -> dict[str, Any] | None:
        """Sends it until an engine takes it. The response; None where nobody says anything."""
        while True:
            await self._send()
            heard = await self._hear()
            if not isinstance(heard, str):
                return heard

    async def _hear(self) -> dict[str, Any] | str | None:
        """Hears what is said to it, also while it waits to be sent again."""
        silent_at, is_at_work = time.monotonic() + self._silence, False
        send_at: float | None = None
        while True:
            until = min(silent_at if send_at is None else send_at, self._deadline)
            reply = await self._next(until, is_sent=send_at is None)
            if reply is None:
                if time.monotonic() < self._deadline:
                    return None if send_at is None else "not taken"
                if send_at is not None and self._others is not None:
                    raise self._others_only()
                what = "had answered it" if send_at is None else "had room for it"
                raise self.too_late(f"no engine {what}")
            said = self._read(reply)
            if said == "working":
                is_at_work = self.is_open = True
                silent_at, send_at = time.monotonic() + self._silence, None
            elif said == "other settings":
                if not is_at_work:
                    self.is_open = False
                    if self._others is not None and time.monotonic() >= self._others[1]:
                        raise self._others_only()
                    send_at = self._later() if send_at is None else send_at
            elif said == "not taken":
                # It is late, or of another engine, where one has the request.
                if not is_at_work:
                    self.is_open = False
                    send_at = self._later() if send_at is None else send_at
            else:
                self.is_open = False
                return said

    def _later(self) -> float:
        """When it is sent again that no engine had room for: later each time."""
        pause = self._wait * (0.5 + random.random() / 2)
        self._wait = min(self._wait * 2, _BUSY_SECONDS[1])
        return time.monotonic() + pause

    async def _next(self, until: float, is_sent: bool) -> Msg | None:
        """What is said next, if that is by then.

        Raises _Failed where it is sent, and cannot be answered.
        """
        while not self._said:
            if is_sent:
                self._refuse()
            left = until - time.monotonic()
            if left <= 0:
                return None
            self._woken.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._woken.wait(), left)
        return self._said.popleft()

    def _refuse(self) -> None:
        """Raises _Failed where the broker refuses to let it be asked, or answered."""
        if self._denied is not None:
            self.is_open = False
            raise _Failed("unanswered", f"the broker does not let this client ask: {self._denied}")
        if self._transport.hearing.refusals != self._refusals:
            raise self._unheard()

    async def _up(self) -> Client:
        connection, url = self._transport.connection, self._transport._fleet.url
        patience = self._transport._fleet.connect_timeout_ms
        connected_by = min(self._deadline, time.monotonic() + patience / 1000)
        while True:
            client = connection.client
            # One that has just closed says so in a moment.
            if client is not None and not client.is_closed:
                return client
            why = connection.why or "the connection is lost"
            if client is None and connection.is_refused:
                raise _Failed("unanswered", f"{url} refuses the connection: {why}")
            try:
                await connection.changed(max(connected_by - time.monotonic(), 0))
            except asyncio.TimeoutError:
                if connected_by < self._deadline:
                    raise _Failed(
                        "unanswered",
                        f"there was no connection to {url} within {patience} ms ({why})",
                    ) from None
                raise _Failed(
                    "deadline_exceeded",
                    f"the request's deadline passed before there was a connection to {url} ({why})",
                ) from None

    async def _send(self) -> None:
        client, hearing = await self._up(), self._transport.hearing
        try:
            is_heard = await hearing.is_possible(client)
        except nats.errors.Error as error:
            raise _Failed("unanswered", f"the answer could not be heard: {error}") from None
        if not is_heard:
            raise self._unheard()
        # Clocks differ: what travels is what is left.
        left = int((self._deadline - time.monotonic()) * 1000)
        if left <= 0:
            raise self.too_late("it could not be sent")
        line = encode({**self._message, "deadlineMs": left}).rstrip(b"\n")
        limit = client.max_payload
        if len(line) > limit - min(_OVERHEAD, limit // 16):
            raise _Failed(
                "invalid_request",
                f"the request has {len(line)} bytes, and a message of the broker has room for "
                f"{limit}; send less, or raise `max_payload` of the broker",
            )
        self.is_open, self._refusals = True, hearing.refusals
        try:
            await client.publish(self.subject, line, reply=self._reply)
        except nats.errors.Error as error:
            raise _Failed("unanswered", f"the request could not be sent: {error}") from None

    def _read(self, reply: Msg) -> dict[str, Any] | str:
        headers = reply.headers or {}
        if headers.get("Status") == "503":
            transport = self._transport
            if time.monotonic() - transport.connection.came_back < _COMING_BACK_SECONDS:
                return "not taken"
            self.is_open = False
            raise _Failed(
                "no_handler",
                f"nobody serves {self.subject} at {transport._fleet.url}; start an engine with "
                "`hook serve --nats`",
            )
        try:
            said = json.loads(reply.data)
        except (ValueError, RecursionError):
            raise _Failed("unanswered", "what was answered is no response: it is no JSON") from None
        kind = said.get("type") if isinstance(said, dict) else None
        if kind == "hook-working":
            return "working"
        if kind == "hook-busy":
            return "not taken"
        if kind == "hook-other-settings":
            until = time.monotonic() + self._silence if self._others is None else self._others[1]
            self._others = (str(said.get("settingsHash", "not known"))[:100], until)
            return "other settings"
        if kind == "hook-too-large":
            self.is_open = False
            raise _Failed(
                "unanswered",
                f"the response has {said.get('bytes')} bytes, and a message of the broker has "
                f"room for {said.get('maxPayload')}",
            )
        protocol = said.get("protocol") if isinstance(said, dict) else None
        if protocol is not None and protocol != PROTOCOL:
            raise _Failed(
                "unanswered",
                f"what was answered is no response: it speaks protocol {str(protocol)[:100]}, and "
                f"here is protocol {PROTOCOL}; use one version of hook for askers and engines",
            )
        if kind != "hook-execution-response" or said.get("correlationId") != self._number:
            raise _Failed(
                "unanswered", f"what was answered is no response: its type is {str(kind)[:100]!r}"
            )
        assert isinstance(said, dict)
        self._check_settings(said)
        is_whole = bool(said.get("processed") and said.get("eventName"))
        if said.get("success") is not True and not is_whole:
            # It does not say what that means for the event, and so it is the asker's to say.
            error = said.get("error")
            error = error if isinstance(error, dict) else {}
            raise _Failed(str(error.get("code", "unanswered")), str(error.get("message", "")))
        wrong = contradiction(said, str(self._message["eventName"]))
        if wrong is not None:
            raise _Failed("unanswered", f"what was answered is no response: {wrong}")
        return said

    def _check_settings(self, said: dict[str, Any]) -> None:
        """Raises _Failed where the engine has other settings: one of an earlier version answers."""
        if self._expected is None:
            return
        engine = said.get("engine")
        found = engine.get("settingsHash") if isinstance(engine, dict) else None
        if found != self._expected:
            self.is_open = False
            raise _Failed(
                "unanswered",
                f"an engine has answered whose settings are {str(found)[:100]}, and "
                f"{self._expected} was expected; its answer does not count",
            )

    def _others_only(self) -> _Failed:
        found = self._others[0] if self._others is not None else "not known"
        return _Failed(
            "unanswered",
            f"no engine with the expected settings ({self._expected}) answers; there is one with "
            f"{found}",
        )

    def _unheard(self) -> _Failed:
        why = self._transport.hearing.why
        return _Failed(
            "unanswered", f"the broker does not let this client hear what it is answered: {why}"
        )

    def too_late(self, what: str) -> _Failed:
        return _Failed("deadline_exceeded", f"the request's deadline passed and {what}")


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


def _version() -> str:
    from .. import __version__

    return __version__
