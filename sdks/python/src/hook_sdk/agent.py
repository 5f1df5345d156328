"""The agent's half: tool calls, model calls, turns and sessions with hooks around them.

    from hook_sdk import HookClient
    from hook_sdk.agent import Ran, ToolCall, execute_tool

    async with HookClient() as client:
        call = ToolCall("run_shell_command", {"command": "ls"})
        outcome = await execute_tool(client, call, run_shell_command)
        tell_the_model(outcome.result.text)

The server applies what hooks answer: asking the user, changed arguments, retries, replaced
results. A client offers `HookClient(host_services={"user.approve": …})` to be asked; it gets
`eventName`, `subject`, `input` and `reason`, and returns True or `{"refused": "why"}`.
"""

from __future__ import annotations

from .errors import HookStopped
from .model_calls import ModelCall, Sdk, call_model
from .outcomes import (
    Advice,
    Answered,
    Blocked,
    Called,
    Chunk,
    Continue,
    Done,
    Interrupted,
    Lifecycle,
    LimitReached,
    ModelOutcome,
    Proceed,
    Ran,
    Replaced,
    SessionInfo,
    Stopped,
    ToolCall,
    ToolOutcome,
    ToolResult,
    TurnEnd,
    TurnStart,
    Whole,
)
from .tool_calls import execute_tool
from .turns import Session, Turn, agent_turn, session

__all__ = [
    "Advice",
    "Answered",
    "Blocked",
    "Called",
    "Chunk",
    "Continue",
    "Done",
    "HookStopped",
    "Interrupted",
    "Lifecycle",
    "LimitReached",
    "ModelCall",
    "ModelOutcome",
    "Proceed",
    "Ran",
    "Replaced",
    "Sdk",
    "Session",
    "SessionInfo",
    "Stopped",
    "ToolCall",
    "ToolOutcome",
    "ToolResult",
    "Turn",
    "TurnEnd",
    "TurnStart",
    "Whole",
    "agent_turn",
    "call_model",
    "execute_tool",
    "session",
]
