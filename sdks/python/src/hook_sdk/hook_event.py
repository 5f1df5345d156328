"""One event, as a handler gets it."""

from __future__ import annotations

from .fields import Fields


class HookEvent(Fields):
    """One event. An attribute that is not there raises AttributeError; optional ones are None."""

    session_id: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"
