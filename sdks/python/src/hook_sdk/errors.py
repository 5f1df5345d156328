"""What can go wrong, as a small tree below `HookError`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class HookError(Exception):
    """The base of all errors of this package."""


class ValueNotSendable(HookError, ValueError):
    """A value has no form on the wire: NaN, an infinity, too deep, too large, or no JSON at all."""


class HookConnectionError(HookError, ConnectionError):
    """There is no server, or it is gone. A request that was on its way has no answer."""


class HookClosedError(HookConnectionError):
    """The client was closed by its own program."""


class HookProtocolError(HookError):
    """The other side sent something that this version does not speak."""


class _Coded(HookError):
    """An error that the other side has given a code."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.details = details


def coded(error: object, code: str = "failed", message: str = "it failed") -> tuple[str, str, Any]:
    """Returns code, message and details of an `error` of the other side, by default these."""
    said = error if isinstance(error, dict) else {"message": str(error)}
    return str(said.get("code", code)), str(said.get("message", message)), said.get("details")


class RegistrationError(_Coded):
    """The server refused a registration, for example with `limit_exceeded`."""

    def __init__(
        self, code: str, message: str, details: Any, hook_id: str | None, event: str | None
    ) -> None:
        super().__init__(code, message, details)
        self.hook_id = hook_id
        self.event = event


class RequestFailed(_Coded):
    """A request failed in the server, and no hook said what that is to mean.

    `response` is the whole response, `code` one of those in the protocol's table.
    """

    def __init__(self, code: str, message: str, details: Any, response: dict[str, Any]) -> None:
        super().__init__(code, message, details)
        self.response = response


class HostCallError(_Coded):
    """The host did not do what a handler asked for; `unsupported` where it does not offer it."""


class HookStopped(HookError):
    """Hooks stop the agent, or could not be asked whether it may begin."""


class CallCancelled(HostCallError):
    """The call that the handler answers was cancelled while it waited for its host."""

    def __init__(self) -> None:
        super().__init__("cancelled", "the call that this handler answers was cancelled")
