"""The events that handlers are told, with attributes in snake_case.

A handler of one of A3S's events gets the class of that name from here, one of an event in the
engine's own words the class from `native_events`, and one of any other event a `HookEvent`.
"""

from __future__ import annotations

from .fields import Fields, HookEvent as HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .registering import Vocabulary


class A3sEvent(HookEvent):
    """An event of A3S."""

    event_type: str
    timestamp: int
    """Milliseconds since 1970."""
    metadata: Fields


class _ToolEvent(A3sEvent):
    tool: str
    args: Fields


class PreToolUseEvent(_ToolEvent):
    """Before a tool runs. `context` has `working_directory`, `recent_tools`, `token_usage`."""

    context: Fields | None


class A3sToolResult(Fields):
    """The result of a tool."""

    success: bool
    output: str
    exit_code: int | None
    duration: float | None
    """Milliseconds."""


class PostToolUseEvent(_ToolEvent):
    """After a tool ran."""

    result: A3sToolResult


class ToolErrorEvent(_ToolEvent):
    """A tool failed."""

    error: str
    exit_code: int | None


class PermissionRequestEvent(_ToolEvent):
    """A tool needs permission. `continue` grants nothing; `block` denies."""


class PermissionGrantedEvent(_ToolEvent):
    """A permission was given."""

    by: str | None


class PermissionDeniedEvent(_ToolEvent):
    """A permission was denied."""

    by: str | None
    reason: str | None


class GenerateStartEvent(A3sEvent):
    """Before the model is called. `model` has `name` and the settings of the call; `tools` are
    names."""

    prompt: str | None
    system_prompt: str | None
    model: Any | None
    tools: list[str] | None


class A3sUsage(Fields):
    """The tokens of a call of the model."""

    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None


class A3sGeneration(Fields):
    """A model's answer."""

    text: str | None
    tool_calls: list[Any] | None
    usage: A3sUsage | None
    duration: float | None
    """Milliseconds."""


class GenerateEndEvent(A3sEvent):
    """After the model answered."""

    prompt: str | None
    response: A3sGeneration
    model: Any | None


class SessionStartEvent(A3sEvent):
    """A session began."""

    source: str | None
    model: Any | None
    system_prompt: str | None


class SessionEndEvent(A3sEvent):
    """A session ended."""

    reason: str | None
    total_tokens: int | None
    total_tool_calls: int | None
    duration: float | None


class PreCompactEvent(A3sEvent):
    """Before the context is compacted. `messages` are the agent's own."""

    trigger: str | None
    messages: list[Any] | None
    used_tokens: int | None
    max_tokens: int | None


class PostCompactEvent(A3sEvent):
    """After the context was compacted."""

    trigger: str | None
    summary: str | None
    message_count_before: int | None
    message_count_after: int | None


class ContextWarningEvent(A3sEvent):
    """The context is used up to a threshold."""

    used_tokens: int | None
    max_tokens: int | None
    threshold: float | None


_A3S: dict[str, type[HookEvent]] = {
    name.removesuffix("Event"): kind
    for name, kind in list(globals().items())
    if isinstance(kind, type) and issubclass(kind, A3sEvent) and not name.startswith(("_", "A3s"))
}
"""The classes above by the names of their events."""


class CustomEvent:
    """The name of an event that settings, a host or a client declare."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def name_of(event: str | CustomEvent) -> str:
    """Returns the name of an event."""
    return event if isinstance(event, str) else event.name


def vocabulary_of(name: str, prefers_a3s: bool = False) -> Vocabulary:
    """Returns the vocabulary of an event by default: the engine's own, if it has the event.

    With `prefers_a3s` it is A3S's, if that has it.
    """
    from .native_events import NATIVE

    return "a3s" if name in _A3S and (prefers_a3s or name not in NATIVE) else "native"


def event_of(vocabulary: str, name: str, told: dict[str, Any]) -> HookEvent:
    """What was told of an event, as the class for it."""
    from .native_events import NATIVE

    event: HookEvent = (_A3S if vocabulary == "a3s" else NATIVE).get(name, HookEvent)(told)
    return event
