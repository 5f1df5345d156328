"""Hooks for the Claude Agent SDK (the extra `claude-agent-sdk`).

    from hook_sdk.integrations.claude_agent_sdk import hooks

    async with HookClient() as client:
        options = ClaudeAgentOptions(hooks=hooks(client))

Claude Code runs the tools and calls the model itself, so hooks see what it shows to its hooks: tool
calls, prompts, the end of turns and others, each answered in its own words by the engine.
"""

from __future__ import annotations

import json
from typing import Any, get_args

from claude_agent_sdk import HookMatcher
from claude_agent_sdk.types import HookEvent

from ..client import HookClient
from ..errors import HookError
from ..outcomes import advice
from ._common import check_version

check_version("claude-agent-sdk", "0.2.189", "0.3")


def hooks(client: HookClient, *, timeout: float = 60.0) -> dict[Any, list[HookMatcher]]:
    """Returns the value of `ClaudeAgentOptions.hooks`: all events, asked with `client`.

    If hooks cannot be asked within `timeout` seconds, it is a refusal. Claude Code shows hooks'
    texts for the user; warnings go to `on_problem` of the client.
    """
    names = [name for literal in get_args(HookEvent) for name in get_args(literal) or (literal,)]
    return {name: [_matcher(client, name, timeout)] for name in names}


def _matcher(client: HookClient, event: str, timeout: float) -> HookMatcher:
    async def asked(given: Any, tool_use_id: str | None, context: Any) -> Any:
        try:
            deadline = int(timeout * 1000)
            answer = await client.bridge("claude", event, json.dumps(given), deadline_ms=deadline)
            client._session.report_warnings(advice(answer)["warnings"])
            if answer.get("exitCode") == 0 and answer.get("stderr"):
                client._session.on_problem(str(answer["stderr"]).strip())
            return _output(event, answer)
        except (HookError, ValueError) as error:
            return _refusal(event, f"hooks could not be asked: {error}")

    more: dict[str, Any] = {}
    if "on_failure" in HookMatcher.__dataclass_fields__:
        more["on_failure"] = "block"
    # The engine answers first: what Claude Code gives up on, it goes on with.
    return HookMatcher(hooks=[asked], timeout=timeout + 5.0, **more)


def _output(event: str, answer: dict[str, Any]) -> dict[str, Any]:
    if answer.get("exitCode") == 2:
        return _refusal(event, str(answer.get("stderr") or "a hook refuses it"))
    if answer.get("exitCode") != 0:
        raise HookError(str(answer.get("stderr") or f"exit code {answer.get('exitCode')}"))
    text = str(answer.get("stdout") or "")
    output = json.loads(text) if text.strip() else {}
    if not isinstance(output, dict):
        raise HookError("the answer is no object")
    if "continue" in output:
        output["continue_"] = output.pop("continue")
    return output


def _refusal(event: str, reason: str) -> dict[str, Any]:
    specific: dict[str, Any] = {"hookEventName": event}
    if event == "PreToolUse":
        specific |= {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": specific}
    if event == "PermissionRequest":
        specific["decision"] = {"behavior": "deny", "message": reason}
        return {"hookSpecificOutput": specific}
    if event in ("UserPromptSubmit", "PostToolUse", "PreCompact"):
        return {"decision": "block", "reason": reason}
    return {"continue_": False, "stopReason": reason}
