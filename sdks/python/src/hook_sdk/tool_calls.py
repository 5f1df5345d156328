"""Tool calls with hooks: the server decides, this runs the tool when it is asked to."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import dataclasses
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import HookError, HookProtocolError, HostCallError
from .fields import given
from .lines import message_of
from .outcomes import (
    Blocked,
    Ran,
    Replaced,
    SessionInfo,
    Stopped,
    ToolCall,
    ToolOutcome,
    ToolResult,
    advice,
)

if TYPE_CHECKING:
    from .client import HookClient

current_session: contextvars.ContextVar[SessionInfo | None] = contextvars.ContextVar(
    "session", default=None
)
"""The session of this task, as `session` sets it."""

Value = TypeVar("Value")


@contextlib.contextmanager
def in_force(variable: contextvars.ContextVar[Value], value: Value) -> Iterator[None]:
    """Sets a variable for a block, whose end may be in another context: that of a generator is."""
    token = variable.set(value)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            variable.reset(token)


Run = Callable[[dict[str, Any]], Awaitable[object] | object]
"""A tool: gets its arguments, returns a text, a ToolResult, or any JSON. It may raise."""


async def execute_tool(
    client: HookClient,
    call: ToolCall,
    run: Run,
    *,
    session: SessionInfo | None = None,
    deadline_ms: int | None = None,
) -> ToolOutcome:
    """Calls a tool with hooks around it, and returns what is for the model.

    `run` gets the arguments as hooks changed them: never if they forbid the call, more than once
    if they want a retry after a failure. A plain function runs on a thread. If there is no answer
    (the server is lost, for example), the outcome is `Blocked` with an `error`. Cancelled, it
    ends the hooks and the tool, and returns when both have ended.
    """
    started, value, sent = False, None, None
    raised: BaseException | None = None

    async def tool_run(params: dict[str, Any]) -> object:
        nonlocal started, value, sent, raised
        tool_input = params.get("tool_input")
        if not isinstance(tool_input, dict):
            raise HookProtocolError("the server sent no arguments for the tool")
        started = True
        value = sent = raised = None
        try:
            value = await client.invoke(run, tool_input, f"the result of the tool {call.tool_name}")
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            raised = error
            raise HostCallError("failed", message_of(error)) from error
        sent = tool_result(value)
        return sent.to_wire()

    message = trigger_message("tool", given(**vars(call)), session, deadline_ms)
    try:
        result = await client.trigger(message, {"tool.run": tool_run})
        outcome = _outcome(result, value, sent)
        if isinstance(outcome, Ran) and raised is not None:
            text = message_of(raised)
            if outcome.result == ToolResult(text, error=text):
                return dataclasses.replace(outcome, raised=raised)
        return outcome
    except HookError as error:
        return unasked_tool(call, started, error)


def unasked_tool(call: ToolCall, started: bool, error: HookError) -> Blocked[ToolResult]:
    """Returns the outcome of a call about which there is no answer: it is not allowed."""
    reason = f"hooks could not be asked about {call.tool_name}: {error}"
    failed = ToolResult(reason, error=reason)
    return Blocked(result=failed, started=started, reason=reason, error=error)


def trigger_message(
    trigger: str,
    call: dict[str, Any],
    session: SessionInfo | None,
    deadline_ms: int | None = None,
) -> dict[str, Any]:
    """Returns the message of a trigger."""
    session = session or current_session.get()
    wire = session.to_wire() if session is not None else None
    return given(trigger=trigger, call=call, session=wire, deadlineMs=deadline_ms)


def tool_result(value: object) -> ToolResult:
    """Returns a tool's value as a result: a text is itself, None is no text, all else is JSON."""
    if isinstance(value, ToolResult):
        return value
    if value is None or isinstance(value, str):
        return ToolResult(value or "")
    try:
        return ToolResult(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return ToolResult(str(value))


def _outcome(result: dict[str, Any], value: object, sent: ToolResult | None) -> ToolOutcome:
    """Reads the result. Raises HookProtocolError for one that has no known outcome."""
    for_model = ToolResult.of_wire(result.get("result"))
    outcome, reason = result.get("outcome"), str(result.get("reason") or "")
    started = result.get("ran") is True
    common: dict[str, Any] = {"result": for_model, "started": started, **advice(result)}
    if outcome == "ran":
        return Ran(value=value, is_changed=for_model != sent, **common)
    if outcome == "blocked":
        return Blocked(reason=reason, **common)
    if outcome == "replaced":
        return Replaced(reason=reason, **common)
    if outcome == "stopped":
        return Stopped(reason=reason, **common)
    raise HookProtocolError(f"a tool call has no outcome {str(outcome)[:100]!r}")
