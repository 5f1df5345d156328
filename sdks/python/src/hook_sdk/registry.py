"""The hooks that this client wants to be registered, and what the server says of each."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import HookClosedError, HookError, HookProtocolError, RegistrationError, coded
from .registering import registration_fields, wire_config, wire_matcher
from .waiting import settle

if TYPE_CHECKING:
    from .registering import Config, Matcher

Handler = Callable[[Any], object]
"""A function, plain or async, that is told an event and returns an answer."""


class Registration:
    """One hook of this client's."""

    def __init__(self, handler: Handler, fields: dict[str, Any]) -> None:
        self.handler = handler
        self.fields = fields
        self.id: str = fields["hookId"]
        self.event: str = fields["eventName"]
        self.vocabulary: str = fields["vocabulary"]
        self.announced = False
        """Whether it was sent over the present connection, or is known there."""
        self.outcome: HookError | bool | None = None
        """True when the server has taken it, an error when it refused, None before."""
        self.waiting: list[asyncio.Future[None]] = []

    @property
    def is_guard(self) -> bool:
        """Whether its failure blocks."""
        return bool(self.fields.get("config", {}).get("failBehavior") == "block")

    def settle(self, outcome: HookError | bool) -> None:
        """The server, or the end, has decided."""
        self.outcome = outcome
        waiting, self.waiting = self.waiting, []
        for future in waiting:
            settle(future, error=outcome if isinstance(outcome, HookError) else None)

    async def ready(self) -> None:
        """Waits until the server has taken it. Raises RegistrationError where it refused."""
        if isinstance(self.outcome, HookError):
            raise self.outcome
        if self.outcome is None:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiting.append(future)
            await future


class Registry:
    """All hooks of a client, by id."""

    def __init__(self, on_refused: Callable[[Registration, RegistrationError], None]) -> None:
        """`on_refused` hears of every refusal, `ready` or not."""
        self.was_used = False
        """Whether a hook was ever registered."""
        self._hooks: dict[str, Registration] = {}
        self._numbers = itertools.count(1)
        self._on_refused = on_refused

    def add(
        self,
        event: str,
        handler: Handler,
        matcher: Matcher | None,
        config: Config | None,
        hook_id: str | None,
        vocabulary: str,
    ) -> Registration:
        """Notes a hook. Raises ValueError or TypeError for what no server would take."""
        if not callable(handler):
            raise TypeError(f"the handler of {event} is {handler!r}, which cannot be called")
        hook_id = hook_id or f"h-{next(self._numbers)}"
        if hook_id in self._hooks:
            raise ValueError(f"this client has a hook {hook_id!r} already")
        on_wire, settings = wire_matcher(matcher), wire_config(config)
        fields = registration_fields(hook_id, event, vocabulary, on_wire, settings)
        registration = self._hooks[hook_id] = Registration(handler, fields)
        self.was_used = True
        return registration

    def get(self, hook_id: object) -> Registration | None:
        """The hook of an id."""
        return self._hooks.get(hook_id) if isinstance(hook_id, str) else None

    def remove(self, hook_id: str) -> Registration | None:
        """Forgets a hook."""
        return self._hooks.pop(hook_id, None)

    def all(self) -> list[Registration]:
        """All hooks, in their order, but for those that were refused."""
        return [it for it in self._hooks.values() if not isinstance(it.outcome, HookError)]

    def go_on(self, before: Registry) -> None:
        """Takes over the hooks of the registry of another event loop, which keeps none."""
        self.was_used, self._numbers = before.was_used, before._numbers
        self._hooks, before._hooks = before._hooks, {}
        for registration in self._hooks.values():
            registration.waiting.clear()
        self.lost()

    def lost(self) -> None:
        """The connection is gone: what was taken is to be registered, or found, again."""
        for registration in self.all():
            registration.announced = False
            registration.outcome = None

    def close(self) -> None:
        """Nothing will be registered any more."""
        for registration in self.all():
            if registration.outcome is None:
                registration.settle(HookClosedError("the client was closed"))

    def registered(self, message: dict[str, Any]) -> None:
        """The server has taken a hook."""
        registration = self.get(message.get("hookId"))
        if registration is not None:
            registration.settle(True)

    def refused(self, message: dict[str, Any]) -> None:
        """The server has refused a hook. Raises HookProtocolError where it does not say which."""
        error = read_refusal(message)
        registration = self.get(message.get("hookId"))
        if registration is None:
            raise HookProtocolError(f"a registration was refused that is not there: {error}")
        registration.settle(error)
        self._on_refused(registration, error)


def read_refusal(message: dict[str, Any]) -> RegistrationError:
    """The error in a `hook-error`."""
    hook_id, event = message.get("hookId"), message.get("eventName")
    return RegistrationError(
        *coded(message.get("error"), "refused", "the server refused"),
        hook_id if isinstance(hook_id, str) else None,
        event if isinstance(event, str) else None,
    )
