"""The results of triggers: unions of frozen dataclasses, to `match` on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .errors import HookError, HookProtocolError

Result = TypeVar("Result", covariant=True)
_RESULT_FIELDS = ("returnDisplay", "error", "exitCode", "metadata")


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool, as hooks and the model see it. A tool may return one."""

    content: str | list[Any]
    """For the model: a text, or parts."""
    display: Any = None
    """For the user."""
    error: str | None = None
    """The failure; None of a tool that succeeded."""
    exit_code: int | None = None
    metadata: Any = None

    @property
    def text(self) -> str:
        """The content as a text: parts are joined by line ends."""
        if isinstance(self.content, str):
            return self.content
        texts = (part.get("text") if isinstance(part, dict) else part for part in self.content)
        return "\n".join(text for text in texts if isinstance(text, str))

    def to_wire(self) -> dict[str, Any]:
        """Returns the message's form."""
        values = (self.display, self.error, self.exit_code, self.metadata)
        fields = zip(_RESULT_FIELDS, values, strict=True)
        return {"llmContent": self.content, **{name: it for name, it in fields if it is not None}}

    @classmethod
    def of_wire(cls, fields: object) -> ToolResult:
        """Reads the message's form. Raises HookProtocolError for anything else."""
        content = fields.get("llmContent") if isinstance(fields, dict) else None
        if not isinstance(fields, dict) or not isinstance(content, str | list):
            raise HookProtocolError("the result of a tool has no llmContent")
        return cls(content, *(fields.get(name) for name in _RESULT_FIELDS))


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The hooks' texts other than their decision."""

    warnings: tuple[str, ...] = ()
    """For the user: hooks that failed, answers that could not be used."""
    for_model: str | None = None
    """A text that belongs into the next request of the model."""
    for_user: str | None = None
    suppress_output: bool = False
    """Whether to hide it from the display."""


@dataclass(frozen=True, kw_only=True)
class _Outcome(Advice, Generic[Result]):
    result: Result
    """Of a tool, the result for the model; of a model, the response to use, in its SDK's form."""
    started: bool = False
    """Whether the tool, or the model, had been called."""


@dataclass(frozen=True, kw_only=True)
class Blocked(_Outcome[Result]):
    """Hooks forbid it, or nothing could ask them: then `error` is why, and it is not allowed."""

    reason: str
    error: HookError | None = None


@dataclass(frozen=True, kw_only=True)
class Stopped(_Outcome[Result]):
    """The agent is to stop."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Ran(_Outcome[ToolResult]):
    """The tool ran; maybe with other arguments, maybe it failed (`result.error`)."""

    value: object = None
    """The value that the function returned."""
    is_changed: bool = False
    """Whether `result` is another than the function's: then `value` is not for the model."""
    raised: BaseException | None = None
    """What the function raised, where hooks left its failure as it is."""


@dataclass(frozen=True, kw_only=True)
class Replaced(_Outcome[ToolResult]):
    """The tool ran; its result is withheld, and the reason is the result for the model."""

    reason: str


ToolOutcome = Ran | Blocked[ToolResult] | Replaced | Stopped[ToolResult]
"""What became of a tool call. Each has the `result` for the model."""


@dataclass(frozen=True, kw_only=True)
class _ModelOutcome(_Outcome[Result]):
    tools_withheld: str | None = None
    """The reason to allow no tool, if a hook withheld them."""


@dataclass(frozen=True, kw_only=True)
class Called(_ModelOutcome[dict[str, Any]]):
    """The model was called; its response may be changed."""


@dataclass(frozen=True, kw_only=True)
class Answered(_ModelOutcome[dict[str, Any]]):
    """A hook answered instead of the model."""


@dataclass(frozen=True, kw_only=True)
class Interrupted(_ModelOutcome[None]):
    """The stream broke off, or its chunks made no response: no hook saw a complete one."""

    error: BaseException | None = None
    """The error of the model's stream."""


ModelResponse = dict[str, Any] | None
ModelOutcome = Called | Answered | Blocked[ModelResponse] | Stopped[ModelResponse] | Interrupted
"""What became of a model call."""


@dataclass(frozen=True, kw_only=True)
class Proceed(Advice):
    """The agent works on the prompt."""

    prompt: str
    """The prompt, with the additions of hooks."""
    message: dict[str, Any] | None = None
    """A hook's message to put before the prompt."""


TurnStart = Proceed | Blocked[None] | Stopped[None]
"""What became of a prompt."""


@dataclass(frozen=True, kw_only=True)
class Done(Advice):
    """The turn is over."""

    clear_context: bool = False


@dataclass(frozen=True, kw_only=True)
class Continue(Advice):
    """The agent goes on with another prompt."""

    prompt: str
    clear_context: bool = False


@dataclass(frozen=True, kw_only=True)
class LimitReached(Advice):
    """A hook wants to go on beyond the limit of continuations: the turn is over."""

    reason: str
    continuations: int


TurnEnd = Done | Continue | LimitReached | Blocked[None] | Stopped[None]
"""What became of a turn."""


@dataclass(frozen=True, kw_only=True)
class Lifecycle(Advice):
    """The answer to an event of a session."""

    stop: str | None = None
    """The reason to stop the agent."""
    refused: str | None = None
    """The reason not to do what the event announced."""
    compaction: dict[str, Any] | None = None
    """A hook's replacement for the agent's own compression."""


@dataclass(frozen=True)
class Chunk:
    """A chunk of a model's stream, for the display."""

    chunk: dict[str, Any]


@dataclass(frozen=True)
class Whole:
    """A hook's whole response for the display, instead of the call or of the rest of the stream."""

    response: dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool that an agent is about to make."""

    tool_name: str
    tool_input: Mapping[str, Any]
    tool_call_id: str | None = None
    mcp_context: Mapping[str, Any] | None = None
    recent_tools: list[str] | None = None
    token_usage: Mapping[str, Any] | None = None
    suggestions: list[Any] | None = None


@dataclass(frozen=True)
class SessionInfo:
    """The session that a trigger belongs to."""

    session_id: str
    cwd: str | None = None
    transcript_path: str | None = None
    max_continuations: int | None = None
    """The number of times in a row that hooks may make the agent go on; the server's by default."""

    def to_wire(self) -> dict[str, Any]:
        """Returns the message's form."""
        wire = {"max_continuations": "maxContinuations"}
        return {wire.get(key, key): it for key, it in vars(self).items() if it is not None}


def advice(result: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of `Advice` from a result's message."""
    warnings = result.get("warnings")
    return {
        "warnings": tuple(str(it) for it in warnings) if isinstance(warnings, list) else (),
        "for_model": result.get("forModel") or result.get("forNextRequest"),
        "for_user": result.get("forUser") or result.get("messageForUser"),
        "suppress_output": bool(result.get("suppressOutput") or result.get("suppressDisplay")),
    }
