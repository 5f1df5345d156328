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

from .errors import HookStopped as HookStopped
from .model_calls import ModelCall as ModelCall, Sdk as Sdk, call_model as call_model
from .outcomes import (
    Advice as Advice,
    Answered as Answered,
    Blocked as Blocked,
    Called as Called,
    Chunk as Chunk,
    Continue as Continue,
    Done as Done,
    Interrupted as Interrupted,
    Lifecycle as Lifecycle,
    LimitReached as LimitReached,
    ModelOutcome as ModelOutcome,
    Proceed as Proceed,
    Ran as Ran,
    Replaced as Replaced,
    SessionInfo as SessionInfo,
    Stopped as Stopped,
    ToolCall as ToolCall,
    ToolOutcome as ToolOutcome,
    ToolResult as ToolResult,
    TurnEnd as TurnEnd,
    TurnStart as TurnStart,
    Whole as Whole,
)
from .tool_calls import execute_tool as execute_tool
from .turns import Session as Session, Turn as Turn, agent_turn as agent_turn, session as session
