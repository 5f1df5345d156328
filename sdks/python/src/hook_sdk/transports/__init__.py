"""Ways to a server, behind one small interface."""

from __future__ import annotations

from typing import Any, Protocol


class Transport(Protocol):
    """One connection. Messages are those of the protocol, whatever carries them."""

    notice: str | None
    """Set for a private server that was started for want of a shared one: what that means."""

    def post(self, message: dict[str, Any]) -> None:
        """Sends a message behind those posted before. Does not wait.

        Raises ValueNotSendable at once for what has no form on the wire, HookConnectionError where
        the connection is over.
        """

    async def drain(self) -> None:
        """Waits while much of what was posted has not left."""

    async def receive(self) -> dict[str, Any]:
        """The next message.

        Raises BadLine for something that is none, after which the next one may be received, and
        HookConnectionError when the connection is over.
        """
        ...

    async def close(self) -> None:
        """Ends the connection. Never raises."""


class BadLine(Exception):
    """Something came that is no message. `line` is its beginning and end, if it had any."""

    def __init__(self, problem: str, line: bytes = b"") -> None:
        super().__init__(problem)
        self.line = line
