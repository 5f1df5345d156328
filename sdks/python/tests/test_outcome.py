"""What a tool is to run with, by what hooks came to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine import SHELL, child, needs_engine
from scripted import run_async

from hook_sdk import HookProtocolError, Outcome

ORIGINAL = {"command": "ls", "sudo": True}


@pytest.mark.parametrize(
    ("modified", "expected"),
    [
        (None, ORIGINAL),
        ({}, ORIGINAL),
        ({"tool_input": {"command": "ls -l"}}, {"command": "ls -l", "sudo": True}),
        ({"tool_input": {"command": "ls -l"}, "toolInputReplaces": True}, {"command": "ls -l"}),
        ({"tool_input": {}, "toolInputReplaces": True}, {}),
        ({"tool_input": {"x": 1}, "toolInputReplaces": False}, {**ORIGINAL, "x": 1}),
    ],
)
def test_a_change_is_laid_over_the_arguments_or_replaces_them(
    modified: Any, expected: dict[str, Any]
) -> None:
    original = dict(ORIGINAL)
    outcome = Outcome({"decision": "proceed", "modified": modified})
    assert outcome.tool_input(original) == expected
    assert original == ORIGINAL
    with pytest.raises(HookProtocolError):
        Outcome({"modified": {"tool_input": "ls"}}).tool_input(original)


@needs_engine
@pytest.mark.usefixtures("private")
@run_async
async def test_an_argument_that_a_hook_removes_does_not_reach_the_tool(tmp_path: Path) -> None:
    specific = {"tool_input": {"command": "ls"}, "toolInputReplaces": True}
    answer = json.dumps({"hookSpecificOutput": specific})
    hook = {"type": "command", "command": f"echo '{answer}'"}
    async with child(tmp_path, {"BeforeTool": [{"hooks": [hook]}]}) as client:
        call = {"tool_name": SHELL, "tool_input": ORIGINAL}
        outcome = await client.fire("BeforeTool", call)
        assert outcome.proceeds and outcome.tool_input(ORIGINAL) == {"command": "ls"}
