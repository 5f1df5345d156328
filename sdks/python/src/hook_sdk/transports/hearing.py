"""Whether an asker hears what it is answered: it subscribes to that, and a broker may refuse it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

_AGAIN_SECONDS = 5.0
"""How long after the broker has refused it is tried again."""


class Hearing:
    """Whether answers under a subject are heard."""

    def __init__(self, subject: str, heard: Callable[[Msg], Awaitable[None]]) -> None:
        self.subject = subject
        self.refusals = 0
        """How often the broker has refused it: who asked before the last may miss its answer."""
        self.why = ""
        """What the broker said then."""
        self._heard = heard
        self._refused_at: float | None = None
        self._subscription: Subscription | None = None

    async def begin(self, client: Client) -> None:
        """Subscribes. What is asked afterwards is heard, as far as is known."""
        self._refused_at, self._subscription = None, None
        try:
            # What is sent for it is there before anything else is: the library waits later.
            self._subscription = await client.subscribe(self.subject, cb=self._heard)
        except Exception as error:
            self.refused(str(error) or type(error).__name__)
            raise

    def refused(self, why: str) -> None:
        """The broker refuses it."""
        self.why, self._refused_at = why, time.monotonic()
        self.refusals += 1

    async def is_possible(self, client: Client) -> bool:
        """Whether answers are heard, as far as is known.

        Tries it again where the broker has refused it a while ago.
        """
        if self._refused_at is None:
            return True
        if time.monotonic() - self._refused_at < _AGAIN_SECONDS:
            return False
        refused = self._subscription
        await self.begin(client)
        if refused is not None:
            await refused.unsubscribe()
        return True
