"""Matchers and configurations, from Python's words into those of the wire."""

from __future__ import annotations

from .fields import camel_case, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypedDict

    FailBehavior = Literal["continue", "block"]
    Vocabulary = Literal["native", "a3s"]

    class MatcherFields(TypedDict, total=False):
        """The conditions of a matcher, which all must hold."""

        kind: str | list[str]
        tool: str | list[str]
        tool_pattern: str | list[str]
        path_pattern: str | list[str]
        command_pattern: str | list[str]

    class Config(TypedDict, total=False):
        """The configuration of a hook."""

        priority: int
        timeout: int
        async_: bool
        fail_behavior: FailBehavior

    Matcher = str | MatcherFields

MATCHER_KEYS = ("kind", "tool", "tool_pattern", "path_pattern", "command_pattern")
CONFIG_KEYS = ("priority", "timeout", "async_", "async", "fail_behavior")


def wire_matcher(matcher: Matcher | None) -> Any:
    """A matcher as the server reads it. Raises ValueError or TypeError for what is none."""
    if matcher is None or isinstance(matcher, str):
        return matcher
    translated = _translated(matcher, MATCHER_KEYS, "a matcher")
    for key, value in translated.items():
        is_list = isinstance(value, (list, tuple)) and all(isinstance(it, str) for it in value)
        if not isinstance(value, str) and not is_list:
            raise TypeError(f"{key} of a matcher is a string or a list of strings, not {value!r}")
    return translated


def wire_config(config: Config | None) -> dict[str, Any]:
    """A configuration as the server reads it. Raises ValueError or TypeError for what is none."""
    translated = _translated(config or {}, CONFIG_KEYS, "a config")
    for key, value in translated.items():
        if key in ("priority", "timeout") and type(value) is not int:
            raise TypeError(f"{key} is a whole number, not {value!r}")
        if key == "timeout" and value <= 0:
            raise ValueError(f"a timeout is above 0 milliseconds, not {value}")
        if key == "async" and type(value) is not bool:
            raise TypeError(f"async is True or False, not {value!r}")
        if key == "failBehavior" and value not in ("continue", "block"):
            raise ValueError(f"fail_behavior is 'continue' or 'block', not {value!r}")
    return translated


def _translated(given: Mapping[str, object], names: Sequence[str], of: str) -> dict[str, Any]:
    unknown = sorted(str(key) for key in given if key not in names)
    if unknown:
        known = ", ".join(name for name in names if not name.endswith("_"))
        raise ValueError(f"{of} has no {', '.join(unknown)}; it has {known}")
    return {camel_case(key): value for key, value in given.items()}


def registration_fields(
    hook_id: str, event: str, vocabulary: str, matcher: Any, config: dict[str, Any]
) -> dict[str, Any]:
    """What a registration says on the wire; matcher and config in the wire's words."""
    more = given(matcher=matcher, config=config or None)
    return {"hookId": hook_id, "eventName": event, "vocabulary": vocabulary, **more}
