"""The hooks that are registered with a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .errors import HookProtocolError


@dataclass(frozen=True, slots=True)
class RegisteredHook:
    """One registered hook, of any client of the server."""

    hook_id: str
    event: str
    vocabulary: str
    matcher: Any = None
    """In the words of the wire, such as `pathPattern`."""
    config: dict[str, Any] = field(default_factory=dict)
    """In the words of the wire, such as `failBehavior`."""
    own: bool = False
    """Whether this client has registered it."""


def read_list(message: dict[str, Any]) -> list[RegisteredHook]:
    """Reads a `hook-hooks`. Raises HookProtocolError for one that is none."""
    hooks = message.get("hooks")
    if not isinstance(hooks, list):
        raise HookProtocolError("a hook-hooks has no hooks")
    return [_read(hook) for hook in hooks]


def _read(hook: object) -> RegisteredHook:
    if not isinstance(hook, dict) or not isinstance(hook.get("hookId"), str):
        raise HookProtocolError("a hook of a hook-hooks has no hookId")
    config = hook.get("config")
    return RegisteredHook(
        hook_id=hook["hookId"],
        event=str(hook.get("eventName", "")),
        vocabulary=str(hook.get("vocabulary", "native")),
        matcher=hook.get("matcher"),
        config=config if isinstance(config, dict) else {},
        own=hook.get("own") is True,
    )
