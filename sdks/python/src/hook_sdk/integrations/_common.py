"""What integrations share: the tested versions, and what an outcome means to user and library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any, TypeVar

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..lines import message_of
from ..outcomes import (
    Advice,
    Interrupted,
    ModelOutcome,
    Proceed,
    Ran,
    Stopped,
    ToolOutcome,
    TurnStart,
)
from ..turns import in_turn

Message = dict[str, Any]
OnMessage = Callable[[str], object]
"""Takes hooks' texts for the user; without it `on_problem` of the client does."""
Outcome = TypeVar("Outcome", bound=Advice | None)
_warned: set[str] = set()


class Teller:
    """Tells the user what hooks have to say: their texts, and the warnings about them."""

    def __init__(self, client: HookClient, on_message: OnMessage | None) -> None:
        self._client = client
        self.on_message = on_message

    def tell(self, outcome: Outcome) -> Outcome:
        """Returns the outcome that it tells of. Each is to be told once."""
        if outcome is None:
            return outcome
        session = self._client._session
        session.report_warnings(outcome.warnings)
        text = outcome.for_user
        if text is not None:
            try:
                (self.on_message or session.on_problem)(text)
            except Exception as error:  # The outcome counts, shown or not.
                session.on_problem(f"{text} (`on_message` failed: {error!r})")
        return outcome

    def without_turn(self, around: str) -> None:
        """Reports, once, that a model is called in no turn; `around` is what makes one."""
        if not in_turn.get():
            self.report_once(
                f"this run is no turn: BeforeAgent and AfterAgent hooks are not asked; use {around}"
            )

    def report_once(self, problem: str) -> None:
        """Reports a problem that was not reported before."""
        self._client._session.report_once(problem)


def check_version(distribution: str, first: str, before: str) -> None:
    """Warns, once, of a version of a library that is out of the tested range."""
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return
    if _numbers(first) <= _numbers(version) < _numbers(before) or distribution in _warned:
        return
    _warned.add(distribution)
    tested = f"hook-sdk was tested with {first} and later below {before}"
    warnings.warn(f"{distribution} {version}: {tested}; check that hooks are asked", stacklevel=3)


def _numbers(version: str) -> tuple[int, ...]:
    parts = []
    for part in version.split("."):
        if not part.isdigit():
            break
        parts.append(int(part))
    return tuple(parts)


def prompt_of(start: TurnStart) -> str:
    """Returns the prompt that hooks left, behind the message that they put before it.

    Raises HookStopped for a prompt that they refuse, and HookError for a message that is no text.
    """
    if not isinstance(start, Proceed):
        raise HookStopped(start.reason)
    content: Any = (start.message or {}).get("content") or []
    texts = [
        part.get("text") if isinstance(part, dict) else part
        for part in (content if isinstance(content, list) else [content])
    ]
    if not all(isinstance(text, str) for text in texts):
        raise HookError("a hook's message before the prompt is no text")
    return "\n\n".join(it for it in (*texts, start.prompt) if it)


def tool_text(outcome: ToolOutcome) -> str:
    """Returns the text for the model. Raises HookStopped if the agent is to stop."""
    if isinstance(outcome, Stopped):
        raise HookStopped(outcome.reason)
    return outcome.result.text


def left_failure(outcome: ToolOutcome, raised: BaseException | None) -> BaseException | None:
    """Returns what a tool raised, if hooks left it; what they add to it is a note of it."""
    if raised is None or not isinstance(outcome, Ran) or outcome.result.error is None:
        return None
    said, text = outcome.result.text, message_of(raised)
    if not said.startswith(text):
        return None
    if added := said[len(text) :].strip():
        vars(raised)["__notes__"] = [*getattr(raised, "__notes__", ()), added]
    return raised


def unknown_arguments(
    tool: str, schema: Mapping[str, Any], changed: Mapping[str, Any], given: Mapping[str, Any]
) -> str | None:
    """Returns what is wrong with arguments of hooks: names that a tool's schema would drop."""
    known = schema.get("properties", {})
    is_open = schema.get("additionalProperties") or schema.get("patternProperties")
    names = [name for name in changed if name not in known and name not in given]
    if is_open or not names:
        return None
    return f"hooks gave {tool} arguments that it does not have: {', '.join(names)}"


def allowed_names(choice: Any) -> set[Any] | None:
    """Returns the names of the tools that a `tool_choice` of OpenAI's allows; None if all."""
    if choice == "none":
        return set()
    if not isinstance(choice, dict):
        return None
    listed = choice.get("allowed_tools", choice).get("tools", [choice])
    return {it.get("function", it).get("name") for it in listed}


def refuse_withheld(
    called: Iterable[Any], choice: Any, stop: Callable[[str], HookStopped] = HookStopped
) -> None:
    """Raises `stop` for a call of a tool that hooks, which left this choice, withhold."""
    allowed = allowed_names(choice)
    for name in called:
        if allowed is not None and name not in allowed:
            raise stop(f"the model calls {name}, which hooks withhold")


def model_response(
    outcome: ModelOutcome, stop: Callable[[str], HookStopped] = HookStopped
) -> dict[str, Any]:
    """Returns the response to use: of a model that is blocked, one with the reason.

    Raises `stop` if the agent is to stop, the error of the stream if that broke off, and
    HookError if hooks could not be asked.
    """
    if isinstance(outcome, Stopped):
        raise stop(outcome.reason)
    if isinstance(outcome, Interrupted):
        raise outcome.error or HookError("the model's stream broke off")
    if outcome.result is None:
        error: HookError | None = getattr(outcome, "error", None)
        raise error or HookError("hooks block the model call, and there is no response")
    return outcome.result


def left(changed: list[Message], before: list[Message]) -> Iterator[tuple[Message, int | None]]:
    """Yields the messages that hooks left, with the number of the library's own, if it is one."""
    following = 0
    for place, message in enumerate(changed):
        same = [it for it in range(following, len(before)) if before[it] == message]
        number = same[0] if same else None
        is_in_place = len(changed) == len(before)
        if not same and is_in_place and before[place].get("role") == message.get("role"):
            number = place
        if number is not None:
            following = number + 1
        yield message, number
