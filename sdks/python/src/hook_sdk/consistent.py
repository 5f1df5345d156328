"""Whether a response of a fleet is the one to its request, and says one thing.

One that lets go on what one of its hooks forbids is no consent.
"""

from __future__ import annotations

from typing import Any

_DECISIONS = ("proceed", "ask", "retry", "block", "stop")
"""From the weakest to the strongest."""


def contradiction(response: dict[str, Any], event: str) -> str | None:
    """What is wrong with a response to a request for an event; None of one that is consistent."""
    named = response.get("eventName")
    if not isinstance(named, str):
        return "it does not name its event"
    if _plain(named) != _plain(event):
        return f"it is about the event {named[:100]}"
    success, has_error = response.get("success"), response.get("error") is not None
    if (success is True) == has_error:
        return f"its success is {success}, and it has {'an' if has_error else 'no'} error"
    processed = response.get("processed")
    if not isinstance(processed, dict) or processed.get("decision") not in _DECISIONS:
        return "it does not say what was decided"
    decision = processed["decision"]
    if (processed.get("shouldStop") is True) != (decision == "stop"):
        return f"its decision is {decision}, and its shouldStop {processed.get('shouldStop')}"
    output = response.get("output")
    answers = _objects(output.get("allOutputs")) if isinstance(output, dict) else []
    wanted = [hook.get("decision") for hook in _objects(response.get("hooks"))]
    wanted += [word for answer in answers for word in _wants(answer, _plain(event))]
    for word in wanted:
        if word in _DECISIONS and _DECISIONS.index(word) > _DECISIONS.index(decision):
            return f"its decision is {decision}, and a hook of it wants {word}"
    return None


def _plain(event: str) -> str:
    """An event's other names differ from its own in case and underscores alone."""
    return event.replace("_", "").lower()


_DECIDING = frozenset(
    (
        "beforetool aftertool beforeagent afteragent sessionstart sessionend precompress "
        "beforemodel aftermodel beforetoolselection notification toolerror toolbatch "
        "permissionrequest permissiondenied promptexpansion subagentstart subagentstop "
        "compacting beforesessionswitch beforesessionbranch beforesessiontree command"
    ).split()
)
"""The events on which an answer decides (docs/reference/events.md). On others it changes nothing."""
_PERMITTING = ("beforetool", "permissionrequest")
"""Those of them that have `permissionDecision`."""
_CANCELLING = ("precompress", "beforesessionswitch", "beforesessionbranch", "beforesessiontree")
"""Those of them that have `cancel`, which is a block."""
_RETRYING = ("beforetool", "toolerror", "permissiondenied")
"""Those of them on which a retry means something (docs/reference/answers.md)."""


def _wants(answer: dict[str, Any], event: str) -> list[str]:
    """What an answer of a hook wants."""
    if event not in _DECIDING:
        return []
    words = [answer.get("decision")]
    specific = answer.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    if event in _PERMITTING:
        words.append(specific.get("permissionDecision"))
    cancels = event in _CANCELLING and specific.get("cancel") is True
    wanted = ["stop"] if answer.get("continue") is False else []
    wanted += ["block"] if cancels or "deny" in words or "block" in words else []
    wanted += ["retry"] if event in _RETRYING and "retry" in words else []
    return wanted + (["ask"] if "ask" in words else [])


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
