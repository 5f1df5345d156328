"""What the hooks of an event came to, for who asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .errors import HookProtocolError, RequestFailed, coded
from .fields import Fields


class Outcome(Fields):
    """The processed answer of an event's hooks.

    `decision` is `proceed`, `ask`, `retry`, `block` or `stop`; one that is not known is no
    permission to go on. All fields of the protocol's `processed` are attributes, too.
    """

    decision: Literal["proceed", "ask", "retry", "block", "stop"]
    reason: str | None
    stop_reason: str | None
    system_message: str | None
    """For the user."""
    additional_context: str | None
    """For the model."""
    modified: Fields | None
    """What hooks changed; of a tool's arguments `tool_input(original)` makes what is to run."""
    error: Fields | None
    """Why the request failed, where hooks that block on failure have decided."""
    warnings: list[str]
    """For the user: hooks that failed, settings that cannot be read, hooks that are not trusted."""
    final_output: Fields | None
    """The merged answer as it is; `modified` is what counts."""

    def tool_input(self, original: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that the tool is to run with: the original ones, as hooks changed them.

        Raises HookProtocolError for a change that is none.
        """
        modified = self.get("modified") or {}
        changed = modified.get("tool_input")
        if changed is None:
            return dict(original)
        if not isinstance(changed, dict):
            raise HookProtocolError(f"changed arguments are {type(changed).__name__}, no object")
        replaces = modified.get("toolInputReplaces") is True
        return dict(changed) if replaces else {**original, **changed}

    @property
    def proceeds(self) -> bool:
        """Whether the agent may go on without asking or waiting."""
        return self.get("decision") == "proceed"


def outcome_of(response: dict[str, Any]) -> Outcome:
    """Reads a response. Raises RequestFailed where it says no decision, but why it failed."""
    processed, error = response.get("processed"), response.get("error")
    if processed is None and isinstance(error, dict):
        raise RequestFailed(*coded(error), response)
    if not isinstance(processed, dict) or not isinstance(processed.get("decision"), str):
        raise HookProtocolError("the response has no decision")
    output = response.get("output")
    outcome = Outcome(processed)
    outcome["warnings"] = response.get("warnings") or []
    outcome["final_output"] = output.get("finalOutput") if isinstance(output, dict) else None
    if error is not None:
        outcome["error"] = error
    return outcome
