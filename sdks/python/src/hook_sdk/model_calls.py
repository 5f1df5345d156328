"""Model calls with hooks: the server decides and translates, this calls the model."""

from __future__ import annotations

import asyncio
import collections
import inspect
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .errors import HookError, HookProtocolError, HostCallError
from .lines import message_of
from .outcomes import (
    Answered,
    Blocked,
    Called,
    Chunk,
    Interrupted,
    ModelOutcome,
    SessionInfo,
    Stopped,
    Whole,
    advice,
)
from .tool_calls import trigger_message

if TYPE_CHECKING:
    from typing_extensions import Self

    from .client import HookClient

Sdk = Literal["genai", "openai-chat", "openai-responses", "anthropic", "stable"]
"""The form of a request and its response (docs/model-sdks.md)."""

Answer = AsyncIterator[Mapping[str, Any]] | Mapping[str, Any]
CallModel = Callable[[dict[str, Any]], Awaitable[Answer] | Answer]
"""A model: gets the request as hooks left it, returns its response or the chunks of it."""

MAX_WAITING = 64
"""The number of parts for the display at which the model's stream waits for their reader."""


def call_model(
    client: HookClient,
    sdk: Sdk | None,
    request: Mapping[str, Any],
    call: CallModel,
    *,
    chunks: Literal["complete", "each"] = "complete",
    session: SessionInfo | None = None,
    deadline_ms: int | None = None,
    **more: Any,
) -> ModelCall:
    """Calls a model with hooks around it: tool selection, the request, the answer.

    The result is an async iterator of the parts for the display; `finish()` reads the rest and
    returns the outcome with the whole response. Use `async with` where it may be left before.
    With `chunks="each"` hooks see each chunk before it is shown. `more` is `available_tools`,
    `messages`, `prompt`, `system_prompt`, and `context`: a text to add for the model.
    """
    fields = {"request": dict(request), "chunks": chunks, **more}
    if sdk is not None:
        fields["sdk"] = sdk
    return ModelCall(client, trigger_message("model", fields, session, deadline_ms), call)


class ModelCall:
    """A model's answer that is being received. It begins with the first use."""

    def __init__(self, client: HookClient, message: dict[str, Any], call: CallModel) -> None:
        self._client, self._message, self._call = client, message, call
        self._task: asyncio.Task[ModelOutcome] | None = None
        self._parts: collections.deque[Chunk | Whole] = collections.deque()
        self._arrived, self._room = asyncio.Event(), asyncio.Event()
        self._room.set()
        self._is_shown = True
        self._started = False
        self._error: BaseException | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk | Whole:
        """The next part for the display. Cancelled, it ends the whole call."""
        task = self._begun()
        while not self._parts:
            if task.done():
                raise StopAsyncIteration
            self._arrived.clear()
            try:
                await self._arrived.wait()
            except asyncio.CancelledError:
                await self.cancel()
                raise
        part = self._parts.popleft()
        if len(self._parts) < MAX_WAITING:
            self._room.set()
        return part

    async def finish(self) -> ModelOutcome:
        """Reads the rest of the answer, and returns the outcome. Never raises HookError."""
        task = self._begun()
        self._is_shown = False
        self._parts.clear()
        self._room.set()
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self.cancel()
            raise

    def __del__(self) -> None:
        if self._task is None:
            warnings.warn("a model call was never read or finished", RuntimeWarning, 2)

    async def cancel(self) -> None:
        """Ends the call, its hooks and the model's stream, if they have not ended."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def __aenter__(self) -> Self:
        _ = self._begun()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cancel()

    def _begun(self) -> asyncio.Task[ModelOutcome]:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
            self._task.add_done_callback(lambda _: self._arrived.set())
        return self._task

    async def _run(self) -> ModelOutcome:
        try:
            result = await self._client.trigger(
                self._message, {"model.call": self._model_call}, self._on_part
            )
            return self._outcome(result)
        except HookError as error:
            reason = f"hooks could not be asked about the model call: {error}"
            return Blocked(result=None, started=self._started, reason=reason, error=error)
        except asyncio.CancelledError:  # By `cancel`, after which it may be asked how it ended.
            return Interrupted(result=None, started=self._started)

    async def _model_call(self, params: dict[str, Any]) -> object:
        request = params.get("request")
        if not isinstance(request, dict):
            raise HookProtocolError("the server sent no request for the model")
        # No hook looks at chunks: they are shown as they come.
        is_inspected = params.get("inspected") is not False
        self._started = True
        try:
            answer = self._call(request)
            if inspect.isawaitable(answer):
                answer = await answer
            async for chunk in _chunks(answer):
                await self._room.wait()
                if not is_inspected:
                    self._show(Chunk(chunk))
                await self._client.send_chunk(self._message["triggerId"], chunk)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._error = error
            raise HostCallError("failed", message_of(error)) from error
        return {}

    def _on_part(self, message: dict[str, Any]) -> None:
        chunk, response = message.get("chunk"), message.get("complete")
        if isinstance(chunk, dict):
            self._show(Chunk(chunk))
        elif isinstance(response, dict):
            self._show(Whole(response))
        else:
            raise HookProtocolError("a hook-trigger-chunk has neither a chunk nor a response")

    def _show(self, part: Chunk | Whole) -> None:
        if not self._is_shown:
            return
        self._parts.append(part)
        if len(self._parts) >= MAX_WAITING:
            self._room.clear()
        self._arrived.set()

    def _outcome(self, result: dict[str, Any]) -> ModelOutcome:
        """Reads the result. Raises HookProtocolError for one that has no known outcome."""
        outcome, reason = result.get("outcome"), str(result.get("reason") or "")
        response = result.get("response")
        common: dict[str, Any] = {"started": result.get("called") is True, **advice(result)}
        more: dict[str, Any] = {"tools_withheld": result.get("toolsWithheld")}
        if outcome == "interrupted":
            return Interrupted(result=None, error=self._error, **common, **more)
        if response is not None and not isinstance(response, dict):
            raise HookProtocolError("the response of a model call is no object")
        if outcome in ("blocked", "stopped"):
            refused = Blocked if outcome == "blocked" else Stopped
            return refused(result=response, reason=reason, **common)
        if response is None:
            raise HookProtocolError("a model call has no response")
        if outcome not in ("called", "answered"):
            raise HookProtocolError(f"a model call has no outcome {str(outcome)[:100]!r}")
        answered = Called if outcome == "called" else Answered
        return answered(result=response, **common, **more)


async def _chunks(answer: object) -> AsyncIterator[dict[str, Any]]:
    """Iterates over the chunks of an answer, and closes its stream: a response is one chunk."""
    if isinstance(answer, Mapping):
        yield dict(answer)
        return
    if not isinstance(answer, AsyncIterator):
        raise TypeError(f"a model returned {type(answer).__name__}, no response and no stream")
    try:
        async for chunk in answer:
            yield dict(chunk)
    finally:
        if close := getattr(answer, "aclose", None):
            await close()
