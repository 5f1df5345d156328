"""What a handler answers."""

from __future__ import annotations

from .fields import given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypedDict

    ActionName = Literal["continue", "block", "retry", "skip"]

    class _Action(TypedDict):
        action: ActionName

    class Action(_Action, total=False):
        """An answer as a dict, in the words of both vocabularies."""

        reason: str | None
        delay: int | None
        modified: dict[str, Any] | None


_ACTIONS = ("continue", "block", "retry", "skip")
_KEYS = frozenset(("action", "reason", "delay", "modified"))


class HookResponse:
    """A handler's answer: made by one of its five class methods.

    A handler may also return None (go on), or a dict: `{"action": "block", "reason": …}`, or, with
    the engine's own event names, any answer of the protocol such as `{"decision": "deny"}`.
    """

    __slots__ = ("action", "delay_ms", "modified", "reason")

    def __init__(
        self,
        action: ActionName,
        *,
        reason: str | None = None,
        delay_ms: int | None = None,
        modified: Mapping[str, Any] | None = None,
    ) -> None:
        if action not in _ACTIONS:
            raise ValueError(f"the action {action!r} is none of {', '.join(_ACTIONS)}")
        if not isinstance(reason, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a reason is a string, not {reason!r}")
        if delay_ms is not None and (type(delay_ms) is not int or delay_ms < 0):
            raise ValueError(f"a delay is a whole number of milliseconds, not {delay_ms!r}")
        if modified is not None and not isinstance(modified, dict):
            modified = dict(modified)
        self.action = action
        self.reason = reason
        self.delay_ms = delay_ms
        self.modified = modified

    @classmethod
    def continue_(cls) -> HookResponse:
        """Go on as if this hook were not there."""
        return cls("continue")

    @classmethod
    def continue_with(cls, modified: Mapping[str, Any]) -> HookResponse:
        """Go on with a change, such as `{"args": {…}}`, which replaces all arguments."""
        return cls("continue", modified=modified)

    @classmethod
    def block(cls, reason: str) -> HookResponse:
        """Do not do it; the agent is told the reason."""
        return cls("block", reason=reason)

    @classmethod
    def retry(cls, delay_ms: int = 0, reason: str | None = None) -> HookResponse:
        """Do it again after so many milliseconds (at most 600,000)."""
        return cls("retry", delay_ms=delay_ms, reason=reason)

    @classmethod
    def skip(cls) -> HookResponse:
        """Go on, and leave out the hooks of later priorities."""
        return cls("skip")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HookResponse):
            return NotImplemented
        return self._action_fields() == other._action_fields()

    __hash__ = None  # type: ignore[assignment]  # what is modified can be changed

    def __repr__(self) -> str:
        return f"HookResponse({self._action_fields()})"

    def _action_fields(self) -> dict[str, Any]:
        return given(
            action=self.action, reason=self.reason, delay=self.delay_ms, modified=self.modified
        )

    def _output(self) -> dict[str, Any]:
        """The same in the engine's own words."""
        output: dict[str, Any] = {}
        if self.action == "block":
            output["decision"] = "deny"
        elif self.action == "retry":
            output["decision"] = "retry"
            output["retryAfterMs"] = self.delay_ms or 0
        elif self.action == "skip":
            output["skipRemaining"] = True
        if self.reason is not None:
            output["reason"] = self.reason
        if self.modified is not None:
            specific = dict(self.modified)
            if "args" in specific:
                specific["tool_input"] = specific.pop("args")
                specific["toolInputReplaces"] = True
            output["hookSpecificOutput"] = specific
        return output


if TYPE_CHECKING:
    AnyAnswer = HookResponse | Mapping[str, Any]
    """An answer to an event that this package does not know: its fields are the event's own."""


def answer_fields(returned: object, vocabulary: str) -> dict[str, Any]:
    """The fields of a `hook-answer` for what a handler returned.

    Raises TypeError or ValueError for what is no answer.
    """
    if isinstance(returned, dict) and "action" in returned:
        returned = _from_mapping(returned)
    elif returned is None:
        returned = HookResponse.continue_()
    native = vocabulary == "native"
    if isinstance(returned, HookResponse):
        return {"output": returned._output()} if native else returned._action_fields()
    if isinstance(returned, dict):
        if native:
            return {"output": returned}
        raise TypeError("an answer that is a dict needs an `action`")
    raise TypeError(f"a handler answered {type(returned).__name__}, which is no HookResponse")


def _from_mapping(said: dict[str, Any]) -> HookResponse:
    unknown = sorted(str(key) for key in said if key not in _KEYS)
    if unknown:
        raise ValueError(f"an answer with an `action` has no {', '.join(unknown)}")
    return HookResponse(
        said["action"],
        reason=said.get("reason"),
        delay_ms=said.get("delay"),
        modified=said.get("modified"),
    )
