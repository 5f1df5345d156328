"""The integration of the Claude Agent SDK, with the library itself; this plays Claude Code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import SAYING, hooked, says
from scripted import run_async

pytest.importorskip("claude_agent_sdk", reason="SKIPPED: claude-agent-sdk is not installed")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport

from hook_sdk.integrations.claude_agent_sdk import hooks

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]

HOOKS = {
    "BeforeTool": [
        {
            "matcher": "write_file",
            "hooks": [says({"decision": "block", "reason": "not that one"})],
        },
        {
            "matcher": "run_shell_command",
            "hooks": [says({"hookSpecificOutput": {"tool_input": {"command": "ls -l"}}})],
        },
    ],
    "BeforeAgent": [{"hooks": [says({"hookSpecificOutput": {"additionalContext": "mind"}})]}],
    "AfterAgent": [{"hooks": [says({"decision": "block", "reason": "do the rest"})]}],
}


class Code(Transport):
    """Claude Code, as far as hooks see it."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.callbacks: dict[str, str] = {}

    async def connect(self) -> None: ...

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_request":
            request = message["request"]
            if request["subtype"] == "initialize":
                for event, matchers in request["hooks"].items():
                    self.callbacks[event] = matchers[0]["hookCallbackIds"][0]
            number = message["request_id"]
            answer = {"hook_on_failure_supported": True}
            response = {"subtype": "success", "request_id": number, "response": answer}
            await self.lines.put({"type": "control_response", "response": response})
        elif message["type"] == "control_response":
            await self.answers.put(message["response"]["response"])

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (line := await self.lines.get()) is not None:
            yield line

    async def close(self) -> None:
        await self.lines.put(None)

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None: ...

    async def asks(self, event: str, folder: Path, **fields: Any) -> dict[str, Any]:
        base = {"session_id": "s", "transcript_path": "", "cwd": str(folder)}
        given = {**base, "hook_event_name": event, **fields}
        request = {
            "subtype": "hook_callback",
            "callback_id": self.callbacks[event],
            "input": given,
            "tool_use_id": "t",
        }
        await self.lines.put({"type": "control_request", "request_id": "r", "request": request})
        return await self.answers.get()


@run_async
async def test_claude_code_is_answered_in_its_own_words(tmp_path: Path) -> None:
    code = Code()
    async with hooked(tmp_path, HOOKS) as client:
        options = ClaudeAgentOptions(hooks=hooks(client))
        async with ClaudeSDKClient(options, transport=code):
            write = {"tool_name": "Write", "tool_input": {"file_path": "/a", "content": ""}}
            answer = await code.asks("PreToolUse", tmp_path, **write)
            specific = answer["hookSpecificOutput"]
            assert specific["permissionDecision"] == "deny"
            assert specific["permissionDecisionReason"] == "not that one"
            bash = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
            answer = await code.asks("PreToolUse", tmp_path, **bash)
            assert answer["hookSpecificOutput"]["updatedInput"] == {"command": "ls -l"}
            answer = await code.asks("UserPromptSubmit", tmp_path, prompt="hi")
            assert answer["hookSpecificOutput"]["additionalContext"] == "mind"
            answer = await code.asks("Stop", tmp_path, stop_hook_active=False)
            assert answer == {"decision": "block", "reason": "do the rest"}
            read = {"tool_name": "Read", "tool_input": {"file_path": "/a"}}
            assert await code.asks("PreToolUse", tmp_path, **read) == {}
            await client.close()
            answer = await code.asks("PreToolUse", tmp_path, **read)
            assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
            answer = await code.asks("Notification", tmp_path, message="x")
            assert answer["continue"] is False


@run_async
async def test_claude_code_has_hooks_texts_and_the_client_their_warnings(tmp_path: Path) -> None:
    code, problems = Code(), list[str]()
    async with hooked(tmp_path, SAYING, on_problem=problems.append) as client:
        options = ClaudeAgentOptions(hooks=hooks(client))
        async with ClaudeSDKClient(options, transport=code):
            read = {"tool_name": "Read", "tool_input": {"file_path": "/a"}}
            answer = await code.asks("PreToolUse", tmp_path, **read)
    assert answer["systemMessage"] == "said BeforeTool"
    assert problems == ["hook BeforeTool broke: Hook exited with code 1"]
