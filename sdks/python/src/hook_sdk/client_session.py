"""What goes on over a client's connection: who a message is for, and what a new one begins with."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .calls import Calls
from .choice import Open
from .connection import Connection
from .errors import HookConnectionError, HookProtocolError, RegistrationError, ValueNotSendable
from .fields import given
from .host import HostCalls, HostService, HostServices
from .listing import RegisteredHook, read_list
from .registry import Registration, Registry, read_refusal
from .requests import Requests
from .threads import Threads
from .triggers import Triggers
from .waiting import settle, within

CLOSING_SECONDS = 2.0
"""How long a server may take to forget the hooks of a client that ends."""

TOO_OLD = "this server takes no registrations: it is of an earlier version"

Callback = Callable[[dict[str, Any]], object]
Asked = tuple[str, str | None]
"""The type of a message that is replied to, and the id of the hook that it is about."""


class ClientSession:
    """The parts of a client, and the messages between them and the server."""

    def __init__(
        self,
        open_transport: Open,
        host_services: Mapping[str, HostService],
        max_threads: int,
        report: Callable[[str], None],
        on_refused: Callable[[RegistrationError], None],
        before: ClientSession | None = None,
    ) -> None:
        """`before` is the session that this one goes on with in another event loop."""
        offers = {"hostServices": sorted(host_services)} if host_services else {}
        self.connection: Connection = Connection(open_transport, self, offers, report)
        self.on_problem = report
        self.threads = Threads(max_threads)
        self.registry = Registry(self._refused)
        self.calls = Calls(self.registry, self.threads, self.connection.send, self.on_problem)
        self.host_calls = HostCalls(self.calls.send)
        self.host_services = HostServices(
            host_services, self.threads, self.connection.send, self.on_problem
        )
        self.requests = Requests(self.connection.send)
        self.triggers = Triggers(
            self.connection.send, self.connection.drain, self.host_services.tasks.drop
        )
        self.on_progress: Callback | None = None
        self.on_audit: Callback | None = None
        self.audit_level = "off"
        self._on_refused = on_refused
        self._replies: dict[Asked, collections.deque[asyncio.Future[dict[str, Any]]]] = {}
        """What is waited for. Replies come in the order of what they reply to."""
        self.over = asyncio.Event()
        """Set when the client is closed, or the server has refused one of its guards."""
        self.refused_guard: RegistrationError | None = None
        self.asks = False
        """Whether this program has asked the engine, so that a private server is of use to it."""
        self.warning: str | None = None
        """What the next response warns of."""
        self._notice: str | None = None
        self._told: set[str] = set()
        self._is_synced = False
        self._registers = False
        self._resumed: asyncio.Future[list[str]] | None = None
        if before is not None:
            self._go_on(before)

    def _go_on(self, before: ClientSession) -> None:
        before.threads.close()
        self.connection.token = before.connection.token
        self.registry.go_on(before.registry)
        self.asks, self._told, self.refused_guard = before.asks, before._told, before.refused_guard
        self.on_progress, self.on_audit = before.on_progress, before.on_audit
        self.audit_level = before.audit_level
        if self.refused_guard is not None:
            self.over.set()

    # What the client does.

    def announce(self, registration: Registration) -> None:
        """Registers one more hook, now or when there is a connection."""
        if self._is_synced and not registration.announced:
            with contextlib.suppress(HookConnectionError):  # It is announced by the next one.
                self._announce(registration)

    async def unregister(self, hook_id: str) -> bool:
        """Takes a hook back; False where this client had none of that id."""
        registration = self.registry.remove(hook_id)
        if registration is None:
            return False
        was_refused = isinstance(registration.outcome, RegistrationError)
        if registration.outcome is None:
            registration.settle(
                RegistrationError("unregistered", "it was taken back", None, hook_id, None)
            )
        if registration.announced and not was_refused:
            with contextlib.suppress(HookConnectionError):  # The next one does not have it.
                await self._ask("hook-unregister", hook_id)
        return True

    async def list_hooks(self) -> list[RegisteredHook]:
        """All hooks that are registered with the server."""
        if not self._registers:
            raise RegistrationError("unsupported", TOO_OLD, None, None, None)
        return read_list(await self._ask("hook-list"))

    async def reload(self) -> dict[str, Any]:
        """Makes the server read its settings again."""
        return await self._ask("hook-reload")

    async def close(self) -> None:
        """Ends everything. The server forgets the hooks at once, and waits for nobody."""
        self.calls.drop()
        self.host_services.drop()
        hooks = self.registry.all()
        self.registry.close()
        # Also where the connection has only just begun.
        taken_back = (self.unregister(hook.id) for hook in hooks)
        with contextlib.suppress(asyncio.TimeoutError):
            await within(CLOSING_SECONDS, asyncio.gather(*taken_back, return_exceptions=True))
        await self.connection.close()
        self.threads.close()
        self.over.set()

    # What the connection tells.

    async def on_connected(self, hello: dict[str, Any], is_second: bool) -> None:
        self._registers = isinstance(hello.get("clientToken"), str)
        self.warning = self.connection.notice
        self._notice = self.warning or self._notice
        if self.on_progress is not None:
            self.connection.send({"type": "hook-subscribe"})
        if self.audit_level != "off":
            self.connection.send({"type": "hook-audit", "level": self.audit_level})
        known = await self._resume() if is_second and self._registers else []
        if known:
            self.calls.resume()
        else:
            self.calls.drop()
        for hook_id in known:
            registration = self.registry.get(hook_id)
            if registration is None:
                self.connection.send({"type": "hook-unregister", "hookId": hook_id})
            else:
                registration.announced = True
                registration.settle(True)
        for registration in self.registry.all():
            if not registration.announced:
                self._announce(registration)
        self._is_synced = True

    async def _resume(self) -> list[str]:
        """The ids of this client's hooks that the server still has, if it knows the token."""
        self._resumed = asyncio.get_running_loop().create_future()
        try:
            return await self._resumed
        finally:
            self._resumed = None

    def on_message(self, message: dict[str, Any]) -> None:
        # Others are passed over, as is `hook-close`: the server still takes answers, and then ends.
        take = _TAKES.get(message["type"])
        if take is not None:
            take(self, message)

    def on_bad_line(self, line: bytes, problem: str) -> None:
        if self.calls.refuse_broken(line, problem):
            return
        error = HookProtocolError(f"the server sent a line that is no message: {problem}")
        if not self.requests.broken(line, error) and not self.triggers.broken(line, error):
            self.requests.doubt(error)
            self.triggers.doubt(error)

    def on_lost(self, error: HookConnectionError) -> None:
        self._is_synced = False
        self.calls.hold()
        self.requests.lost(error)
        self.triggers.lost(error)
        self.host_calls.lost()
        self.host_services.drop()
        self.registry.lost()
        for reply in itertools.chain(*self._replies.values()):
            settle(reply, error=error)
        self._replies.clear()

    def report_warnings(self, warnings: Iterable[str]) -> None:
        """Reports an outcome's warnings, but for that of a private server: its start was.

        What is no failure of one hook is a state, of the settings for example: once is enough.
        """
        for warning in warnings:
            if warning != self._notice:
                self.report_once(warning, warning.startswith("hook "))

    def report_once(self, problem: str, again: bool = False) -> None:
        """Reports a problem that was not reported before, or that is to be said `again`."""
        if again or problem not in self._told:
            self._told.add(problem)
            self.on_problem(problem)

    def owes_answers(self) -> bool:
        # One that takes no registrations could give no sign.
        return self._registers and any((self.requests, self.triggers, self._replies))

    def ask_for_a_sign(self) -> None:
        sign = asyncio.ensure_future(self._ask("hook-list"))
        sign.add_done_callback(lambda _: sign.cancelled() or sign.exception())

    # Parts of these.

    def _refused(self, registration: Registration, error: RegistrationError) -> None:
        self._tell(self._on_refused, error)
        if registration.is_guard:
            self.refused_guard = self.refused_guard or error
            self.over.set()

    def _announce(self, registration: Registration) -> None:
        """Raises HookConnectionError without a connection."""
        notice = self.connection.notice
        if not self._registers:
            code, why = "unsupported", TOO_OLD
        elif notice is not None:
            code, why = "no_server", f"nobody else asks the private server of this client: {notice}"
        else:
            try:
                self.connection.send({"type": "hook-register", **registration.fields})
                registration.announced = True
                return
            except ValueNotSendable as error:
                code, why = "invalid_request", str(error)
        self.registry.refused({**registration.fields, "error": {"code": code, "message": why}})

    async def _ask(self, kind: str, hook_id: str | None = None) -> dict[str, Any]:
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.connection.send({"type": kind, **given(hookId=hook_id)})
        self._replies.setdefault((kind, hook_id), collections.deque()).append(reply)
        return await reply

    def _replied(self, message: dict[str, Any], kind: str, hook_id: str | None = None) -> None:
        replies = self._replies.get((kind, hook_id))
        if not replies:
            raise HookProtocolError(f"a {message['type']} came that nothing waits for")
        is_error = message["type"] == "hook-error"
        settle(replies.popleft(), message, read_refusal(message) if is_error else None)
        if not replies:
            del self._replies[kind, hook_id]

    def _take_response(self, message: dict[str, Any]) -> None:
        error = message.get("error")
        if isinstance(error, dict) and 'no message "hook-trigger"' in str(error.get("message")):
            error = HookProtocolError("the hook server is of a version that has no triggers")
            self.triggers.lost(error)
            raise error
        self.requests.answered(message)

    def _take_unregistered(self, message: dict[str, Any]) -> None:
        hook_id = str(message.get("hookId"))
        if ("hook-unregister", hook_id) in self._replies:
            self._replied(message, "hook-unregister", hook_id)

    def _take_error(self, message: dict[str, Any]) -> None:
        request = message.get("request")
        if request == "hook-hello" and read_refusal(message).code == "unknown_token":
            self._take_resumed({"hookIds": []})
        elif request == "hook-register":
            self.registry.refused(message)
        elif request == "hook-unregister":
            self._take_unregistered(message)
        elif request == "hook-list":
            self._replied(message, "hook-list")
        else:
            raise HookProtocolError(f"the server refused {request}: {read_refusal(message)}")

    def _take_resumed(self, message: dict[str, Any]) -> None:
        ids = message.get("hookIds")
        if self._resumed is None or self._resumed.done() or not isinstance(ids, list):
            raise HookProtocolError("a hook-resumed came that nothing waits for")
        self._resumed.set_result([each for each in ids if isinstance(each, str)])

    def _take_refused(self, message: dict[str, Any]) -> None:
        """The server serves this client no more."""
        error = HookConnectionError(f"the hook server refused: {message.get('message')}")
        self.requests.lost(error)
        self.triggers.lost(error)
        raise error

    def _tell(self, callback: Callable[[Any], object] | None, told: object) -> None:
        if callback is None:
            return
        try:
            callback(told)
        except Exception as error:
            self.on_problem(f"a callback failed: {error!r}")


_TAKES: dict[str, Callable[[ClientSession, dict[str, Any]], None]] = {
    "hook-call": lambda self, message: self.calls.start(message),
    "hook-call-cancelled": lambda self, message: self.calls.cancel(message),
    "hook-host-result": lambda self, message: self.host_calls.answered(message),
    "hook-host-call": lambda self, message: self.host_services.serve(
        message, *self.triggers.service(message)
    ),
    "hook-host-call-cancelled": lambda self, message: self.host_services.cancel(message),
    "hook-execution-response": ClientSession._take_response,
    "hook-bridged": lambda self, message: self.requests.answered(message),
    "hook-trigger-result": lambda self, message: self.triggers.answered(message),
    "hook-trigger-chunk": lambda self, message: self.triggers.chunk(message),
    "hook-registered": lambda self, message: self.registry.registered(message),
    "hook-unregistered": ClientSession._take_unregistered,
    "hook-hooks": lambda self, message: self._replied(message, "hook-list"),
    "hook-reloaded": lambda self, message: self._replied(message, "hook-reload"),
    "hook-error": ClientSession._take_error,
    "hook-resumed": ClientSession._take_resumed,
    "hook-refused": ClientSession._take_refused,
    "hook-started": lambda self, message: self._tell(self.on_progress, message),
    "hook-finished": lambda self, message: self._tell(self.on_progress, message),
    "hook-audit": lambda self, message: self._tell(self.on_audit, message),
    "hook-lagged": lambda self, message: self.on_problem(
        f"progress was lost: {message.get('missed')} messages"
    ),
}
