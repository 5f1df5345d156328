"""Turns and sessions with hooks, as context managers."""

from __future__ import annotations

import contextlib
import contextvars
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .errors import HookError, HookProtocolError, HookStopped
from .outcomes import (
    Blocked,
    Continue,
    Done,
    Lifecycle,
    LimitReached,
    Proceed,
    SessionInfo,
    Stopped,
    TurnEnd,
    TurnStart,
    advice,
)
from .tool_calls import current_session, in_force, trigger_message

if TYPE_CHECKING:
    from .client import HookClient


in_turn: contextvars.ContextVar[bool] = contextvars.ContextVar("turn", default=False)
"""Whether this task is in a turn."""


@contextlib.asynccontextmanager
async def agent_turn(
    client: HookClient, prompt: str, *, session: SessionInfo | None = None, **more: Any
) -> AsyncIterator[Turn]:
    """A turn of an agent: hooks see the prompt at its begin, and the answer at its end.

        async with agent_turn(client, prompt) as turn:
            async for prompt in turn:  # None if hooks refuse it; again as often as they go on.
                turn.answer = await my_agent(prompt)
        print(turn.end)

    `more` are further fields of the event BeforeAgent.
    """
    turn = Turn(client, prompt, session)
    await turn.begin(more)
    with in_force(in_turn, True):
        yield turn
    await turn.close()


class Turn:
    """A turn that is under way."""

    def __init__(self, client: HookClient, prompt: str, session: SessionInfo | None) -> None:
        self._client, self._session, self._first = client, session, prompt
        self.prompt = prompt
        """The prompt that the agent works on, with the additions of hooks."""
        self.answer: str | None = None
        """The agent's answer to it; hooks see it when the turn ends."""
        self.start: TurnStart
        """What became of the prompt."""
        self.end: TurnEnd | None = None
        """What became of the last answer."""

    async def __aiter__(self) -> AsyncIterator[str]:
        """Iterates over the prompts to work on: the first one, and those with which hooks go on."""
        if not isinstance(self.start, Proceed):
            return
        yield self.prompt
        while isinstance(ended := await self.close(), Continue):
            self.prompt = ended.prompt
            yield self.prompt

    async def begin(self, more: Mapping[str, Any]) -> None:
        """Fires BeforeAgent."""
        try:
            fields = {**more, "prompt": self.prompt}
            result = await self._client.trigger(trigger_message("prompt", fields, self._session))
            self.start = _start(result, self.prompt)
        except HookError as error:
            self.start = _refused(error, "the prompt")
        if isinstance(self.start, Proceed):
            self.prompt = self.start.prompt

    async def close(self, **more: Any) -> TurnEnd | None:
        """Fires AfterAgent for the answer, if there is one that hooks have not seen.

        `on_problem` of the client is told of hooks that had the agent go on too often.
        """
        if self.answer is None:
            return None
        fields = {**more, "prompt": self._first, "prompt_response": self.answer}
        self.answer = None
        try:
            result = await self._client.trigger(trigger_message("turn-end", fields, self._session))
            self.end = _end(result)
        except HookError as error:
            self.end = _refused(error, "the end of the turn")
        if isinstance(self.end, LimitReached):
            times, why = self.end.continuations, self.end.reason
            self._client._session.on_problem(f"hooks had the agent go on {times} times: {why}")
        return self.end


@contextlib.asynccontextmanager
async def session(
    client: HookClient,
    *,
    session_id: str | None = None,
    cwd: str | None = None,
    transcript_path: str | None = None,
    max_continuations: int | None = None,
    source: Literal["startup", "resume", "clear", "compress"] = "startup",
    **more: Any,
) -> AsyncIterator[Session]:
    """A session: the triggers inside belong to it. `more` are fields of the event SessionStart.

    Raises HookStopped if hooks stop it at its begin, or cannot be asked.
    """
    session_id = session_id or str(uuid.uuid4())
    begun = Session(client, SessionInfo(session_id, cwd, transcript_path, max_continuations))
    await begun.begin(source=source, **more)
    try:
        with in_force(current_session, begun.info):
            yield begun
    finally:
        await begun.close()


class Session:
    """A session that is under way."""

    def __init__(self, client: HookClient, info: SessionInfo) -> None:
        self._client = client
        self.info = info
        self.start = Lifecycle()
        """The answer to its begin."""
        self.end: Lifecycle | None = None
        """The answer to its end."""
        self.reason: Literal["exit", "clear", "logout", "prompt_input_exit", "other"] = "exit"
        """The reason of its end."""

    async def begin(self, **fields: Any) -> None:
        """Fires SessionStart. Raises HookStopped if hooks stop it, or cannot be asked."""
        self.start = await self.fire("session-start", fields)
        if self.start.stop is not None:
            raise HookStopped(self.start.stop)

    async def close(self) -> None:
        """Fires SessionEnd."""
        self.end = await self.fire("session-end", {"reason": self.reason})

    async def pre_compress(
        self, trigger: Literal["manual", "auto"] = "auto", **more: Any
    ) -> Lifecycle:
        """Fires PreCompress: hooks may refuse to compress the conversation, or replace that."""
        return await self.fire("pre-compress", {**more, "trigger": trigger})

    async def notify(self, message: str, **more: Any) -> Lifecycle:
        """Fires Notification."""
        return await self.fire("notification", {**more, "message": message})

    async def fire(self, trigger: str, fields: Mapping[str, Any]) -> Lifecycle:
        """Runs a trigger of the session. Without an answer, it is refused and the agent stops."""
        try:
            message = trigger_message(trigger, dict(fields), self.info)
            result = await self._client.trigger(message)
        except HookError as error:
            reason = f"hooks could not be asked about {trigger}: {error}"
            return Lifecycle(stop=reason, refused=reason)
        return Lifecycle(
            stop=result.get("stop"),
            refused=result.get("refused"),
            compaction=result.get("compaction"),
            **advice(result),
        )


def _refused(error: HookError, of: str) -> Blocked[None]:
    return Blocked(result=None, reason=f"hooks could not be asked about {of}: {error}", error=error)


def _start(result: dict[str, Any], prompt: str) -> TurnStart:
    outcome, reason = result.get("outcome"), str(result.get("reason") or "")
    if outcome == "proceed":
        changed = result.get("prompt", prompt)
        if not isinstance(changed, str):
            raise HookProtocolError("the prompt of a turn is no text")
        return Proceed(prompt=changed, message=result.get("message"), **advice(result))
    if outcome == "refused":
        return Blocked(result=None, reason=reason, **advice(result))
    if outcome == "stopped":
        return Stopped(result=None, reason=reason, **advice(result))
    raise HookProtocolError(f"a prompt has no outcome {str(outcome)[:100]!r}")


def _end(result: dict[str, Any]) -> TurnEnd:
    outcome, reason = result.get("outcome"), str(result.get("reason") or "")
    clear = result.get("clearContext") is True
    if outcome == "done":
        return Done(clear_context=clear, **advice(result))
    if outcome == "continue":
        prompt = result.get("prompt")
        if not isinstance(prompt, str):
            raise HookProtocolError("a turn goes on without a prompt")
        return Continue(prompt=prompt, clear_context=clear, **advice(result))
    if outcome == "limit-reached":
        count = result.get("continuations")
        count = count if isinstance(count, int) else 0
        return LimitReached(reason=reason, continuations=count, **advice(result))
    if outcome == "stopped":
        return Stopped(result=None, reason=reason, **advice(result))
    raise HookProtocolError(f"a turn has no outcome {str(outcome)[:100]!r}")
