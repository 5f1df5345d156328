"""The events that handlers are told, with attributes in snake_case.

A handler of one of A3S's events gets the class of that name; one of any other event, in the
engine's own words, gets a plain `HookEvent`, whose attributes are the event's fields.
"""

from __future__ import annotations

from .fields import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class HookEvent(Fields):
    """One event. An attribute that is not there raises AttributeError; optional ones are None."""

    event_type: str
    session_id: str
    timestamp: int
    """Milliseconds since 1970; a text in ISO 8601 in the engine's own words."""
    metadata: Fields

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"


class _ToolEvent(HookEvent):
    tool: str
    args: Fields


class PreToolUseEvent(_ToolEvent):
    """Before a tool runs. `context` has `working_directory`, `recent_tools`, `token_usage`."""

    _optional = frozenset(("context",))
    context: Fields


class PostToolUseEvent(_ToolEvent):
    """After a tool ran. `result` has `success`, `output`, maybe `exit_code`, `duration` (ms)."""

    result: Fields


class ToolErrorEvent(_ToolEvent):
    """A tool failed."""

    _optional = frozenset(("exit_code",))
    error: str
    exit_code: int | None


class PermissionRequestEvent(_ToolEvent):
    """A tool needs permission. `continue` grants nothing; `block` denies."""


class PermissionGrantedEvent(_ToolEvent):
    """A permission was given."""

    _optional = frozenset(("by",))
    by: str | None


class PermissionDeniedEvent(_ToolEvent):
    """A permission was denied."""

    _optional = frozenset(("by", "reason"))
    by: str | None
    reason: str | None


class GenerateStartEvent(HookEvent):
    """Before the model is called. `model` has `name` and the settings of the call; `tools` are
    names."""

    _optional = frozenset(("prompt", "system_prompt", "model", "tools"))
    prompt: str | None
    system_prompt: str | None
    model: Any
    tools: list[str] | None


class GenerateEndEvent(HookEvent):
    """After the model answered. `response` has `text`, `tool_calls`, `usage`, `duration` (ms)."""

    _optional = frozenset(("prompt", "model"))
    prompt: str | None
    response: Fields
    model: Any


class SessionStartEvent(HookEvent):
    """A session began."""

    _optional = frozenset(("source", "model", "system_prompt"))
    source: str | None
    model: Any
    system_prompt: str | None


class SessionEndEvent(HookEvent):
    """A session ended."""

    _optional = frozenset(("reason", "total_tokens", "total_tool_calls", "duration"))
    reason: str | None
    total_tokens: int | None
    total_tool_calls: int | None
    duration: float | None


class PreCompactEvent(HookEvent):
    """Before the context is compacted. `messages` are the agent's own."""

    _optional = frozenset(("trigger", "messages", "used_tokens", "max_tokens"))
    trigger: str | None
    messages: list[Any] | None
    used_tokens: int | None
    max_tokens: int | None


class PostCompactEvent(HookEvent):
    """After the context was compacted."""

    _optional = frozenset(
        ("trigger", "summary", "message_count_before", "message_count_after")
    )
    trigger: str | None
    summary: str | None
    message_count_before: int | None
    message_count_after: int | None


class ContextWarningEvent(HookEvent):
    """The context is used up to a threshold."""

    _optional = frozenset(("used_tokens", "max_tokens", "threshold"))
    used_tokens: int | None
    max_tokens: int | None
    threshold: float | None


_A3S = {
    "PreToolUse": PreToolUseEvent,
    "PostToolUse": PostToolUseEvent,
    "ToolError": ToolErrorEvent,
    "PermissionRequest": PermissionRequestEvent,
    "PermissionGranted": PermissionGrantedEvent,
    "PermissionDenied": PermissionDeniedEvent,
    "GenerateStart": GenerateStartEvent,
    "GenerateEnd": GenerateEndEvent,
    "SessionStart": SessionStartEvent,
    "SessionEnd": SessionEndEvent,
    "PreCompact": PreCompactEvent,
    "PostCompact": PostCompactEvent,
    "ContextWarning": ContextWarningEvent,
}


def vocabulary_of(name: str) -> str:
    """Whose words an event is told in where nothing else is said: A3S's where it has the event."""
    return "a3s" if name in _A3S else "native"


def event_of(vocabulary: str, name: str, told: dict[str, Any]) -> HookEvent:
    """What was told of an event, as the class for it."""
    kind = _A3S.get(name, HookEvent) if vocabulary == "a3s" else HookEvent
    event: HookEvent = kind(told)
    return event
