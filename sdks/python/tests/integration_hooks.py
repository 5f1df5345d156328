"""Hooks that the tests of all integrations have, and a client with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, settings

from hook_sdk import HookClient, sync


def says(answer: dict[str, Any], unless: str = "true") -> dict[str, Any]:
    """A hook with one answer, if the shell's condition holds."""
    text = json.dumps(answer).replace("'", "'\\''")
    return {"type": "command", "command": f"given=$(cat); {unless} && printf '%s' '{text}' || true"}


def group(matcher: str, answer: dict[str, Any]) -> dict[str, Any]:
    return {"matcher": matcher, "hooks": [says(answer)]}


SECRET = "my key is 1234"
REDACT = """python3 -I -S -c '
import json, sys
given = json.load(sys.stdin)
request, response = given["llm_request"], given.get("llm_response")
def clean(text): return text.replace("1234", "[redacted]")
specific = {}
if response is None:
    messages = [{**it, "content": clean(it["content"])} for it in request["messages"]]
    specific["llm_request"] = {"messages": messages}
elif "1234" in json.dumps(response):
    specific["llm_response"] = {"text": clean(response.get("text", ""))}
print(json.dumps({"hookSpecificOutput": specific}))
'"""

HOOKS: dict[str, Any] = {
    "BeforeTool": [
        group("refused|.*__refused", {"decision": "block", "reason": "not that one"}),
        group("asked|.*__asked", {"decision": "ask", "reason": "sure?"}),
        group(
            "rewritten|.*__rewritten", {"hookSpecificOutput": {"tool_input": {"path": "safe.txt"}}}
        ),
        group("wrong|.*__wrong", {"hookSpecificOutput": {"tool_input": {"path": ["no", "text"]}}}),
        group("stopped|.*__stopped", {"continue": False, "stopReason": "enough"}),
    ],
    "AfterTool": [
        group("context|.*__context", {"hookSpecificOutput": {"additionalContext": "mind the gap"}})
    ],
    "BeforeModel": [{"hooks": [{"type": "command", "command": REDACT}]}],
    "AfterModel": [{"hooks": [{"type": "command", "command": REDACT}]}],
    "AfterAgent": [
        {
            "hooks": [
                says(
                    {"decision": "block", "reason": "do the rest"},
                    """case "$given" in *'"stop_hook_active":true'*) false;; esac""",
                )
            ]
        }
    ],
}

ADDING: dict[str, Any] = {
    "BeforeAgent": [
        group("", {"hookSpecificOutput": {"additionalContext": "mind the gap"}}),
        group("", {"hookSpecificOutput": {"message": {"customType": "x", "content": "first"}}}),
    ]
}

SAID = ("BeforeAgent", "BeforeModel", "BeforeTool", "AfterAgent")
SAYING: dict[str, Any] = {
    event: [
        {
            "hooks": [
                says({"systemMessage": f"said {event}"}),
                {"type": "command", "command": "exit 1", "name": f"{event} broke"},
            ]
        }
    ]
    for event in SAID
}
"""A text for the user, and a warning, at each event."""


def _choosing(config: dict[str, Any]) -> dict[str, Any]:
    return {"BeforeToolSelection": [group("", {"hookSpecificOutput": {"toolConfig": config}})]}


_FAILS = {"type": "command", "command": "exit 3", "failBehavior": "block"}
WITHHOLDING: dict[str, Any] = {
    "none": _choosing({"mode": "NONE"}),
    "another": _choosing({"mode": "ANY", "allowedFunctionNames": ["another"]}),
    "others": _choosing({"mode": "AUTO", "allowedFunctionNames": ["another", "third"]}),
    "fails": {"BeforeToolSelection": [{"hooks": [_FAILS]}]},
}
"""Hooks that leave the model no tool `plain`."""


class Told:
    """What a program is told of `SAYING`: texts by `options` of an integration, or its client."""

    def __init__(self, has_own: bool) -> None:
        self.messages: list[str] = []
        self.problems: list[str] = []
        self.options: dict[str, Any] = {"on_message": self.messages.append} if has_own else {}

    def check(self, *events: str) -> None:
        """Checks that each text came once for each of these events, and nothing else."""
        texts = self.messages
        if not self.options:
            texts = [it for it in self.problems if it.startswith("said ")]
        warned = [it.split(" broke")[0] for it in self.problems if " broke: " in it]
        assert texts == [f"said {event}" for event in events]
        assert warned == [f"hook {event}" for event in events]
        more = 0 if self.options else len(texts)
        assert len(self.problems) == len(warned) + more, self.problems


both_ways = pytest.mark.parametrize("has_own", [True, False])


def command(folder: Path, hooks: dict[str, Any]) -> list[str]:
    path = settings(folder, hooks)
    return [BINARY, "serve", "--stdio", "--project", str(folder), "--settings", str(path)]


def hooked(folder: Path, hooks: dict[str, Any] = HOOKS, **options: Any) -> HookClient:
    return HookClient(command=command(folder, hooks), **options)


def hooked_sync(folder: Path, hooks: dict[str, Any] = HOOKS, **options: Any) -> sync.HookClient:
    return sync.HookClient(command=command(folder, hooks), **options)


def approving(answer: object, asked: list[Any]) -> dict[str, Any]:
    async def approve(params: dict[str, Any]) -> object:
        asked.append(params["reason"])
        return answer

    return {"user.approve": approve}
