"""JSON objects with attributes: `event.args.get("command")`, `event.response.text`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def camel_case(name: str) -> str:
    """`total_tokens` as `totalTokens`."""
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


def snake_case(name: str) -> str:
    """`totalTokens` as `total_tokens`."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


if TYPE_CHECKING:
    _Object = dict[str, Any]
else:
    _Object = dict


class Fields(_Object):
    """A JSON object: a dict whose keys are attributes, too, in snake_case or camelCase.

    An attribute is looked for as it is written, then in the other case. Keys that are names of
    dict's own methods (`items`, `keys`, …) are reached by `fields["items"]` only. Objects inside
    become Fields when they are reached by attribute, and stay so: a change to one is kept.
    """

    _optional: frozenset[str] = frozenset()
    """The attributes that are None if they are not there: those that are declared with `| None`."""

    def __init_subclass__(cls) -> None:
        own = cls.__annotations__.items()
        cls._optional |= {name for name, kind in own if str(kind).endswith("| None")}

    if not TYPE_CHECKING:  # An attribute that a class does not have is a mistake.

        def __getattr__(self, name: str) -> Any:
            return self._attribute(name)

    def _attribute(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own protocols look for these.
            raise AttributeError(name)
        key = name
        if key not in self:
            key = camel_case(name) if "_" in name else snake_case(name)
            if key not in self:
                if name in self._optional:
                    return None
                there = ", ".join(map(str, list(self)[:20])) or "nothing"
                raise AttributeError(f"there is no {name!r} here, but: {there}")
        value = self[key]
        if type(value) is dict:
            value = self[key] = Fields(value)
        elif type(value) is list:
            for index, item in enumerate(value):
                if type(item) is dict:
                    value[index] = Fields(item)
        return value


class HookEvent(Fields):
    """One event. An attribute that is not there raises AttributeError; optional ones are None."""

    session_id: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"


def given(**fields: Any) -> dict[str, Any]:
    """Returns the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
