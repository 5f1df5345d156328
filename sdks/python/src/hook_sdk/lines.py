"""Messages as lines of JSON, and the limits of what is sent and read."""

from __future__ import annotations

import json
import os
import re

from .errors import HookProtocolError, ValueNotSendable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

PROTOCOL = 1
"""The version of the protocol that this package speaks."""

MAX_SENT = 4 << 20
"""The longest line that is sent, in bytes."""

MAX_READ = 256 << 20
"""The longest line that is read, in bytes; a server that sends a longer one is broken."""

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_PYTHON = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")

MAX_DEPTH = 100
"""How deep a message may nest, its own braces included."""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


# The depth is looked at before, so that a circle cannot reach the encoder.
_encode = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def check_shape(message: object) -> None:
    """Raises ValueNotSendable for a value that nests too deep, or has keys that are no strings."""
    level: list[object] = [message]
    for _ in range(MAX_DEPTH):
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                for key in value:
                    if not isinstance(key, str):
                        # Two keys such as 1 and "1" would become the same.
                        raise ValueNotSendable(f"the key {key!r} is no string")
                inner += [each for each in value.values() if isinstance(each, (dict, list, tuple))]
            elif isinstance(value, (list, tuple)):
                inner += [each for each in value if isinstance(each, (dict, list, tuple))]
        if not inner:
            return
        # The same objects again and again are a circle, or the blow-up of a shared value.
        if len(inner) > MAX_SENT:
            raise ValueNotSendable(f"the value has more parts than fit into {MAX_SENT} bytes")
        level = inner
    raise ValueNotSendable(f"the value nests more than {MAX_DEPTH} levels deep")


def encode(message: dict[str, Any]) -> bytes:
    """One line, with its end. Raises ValueNotSendable for what has no form on the wire."""
    check_shape(message)
    try:
        text = _encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueNotSendable(f"the value has no form in JSON: {error}") from error
    if len(text) >= MAX_SENT:
        raise ValueNotSendable(f"the message has {len(text)} bytes, at most {MAX_SENT} are sent")
    return text.encode("ascii") + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """One message. Raises HookProtocolError for anything else."""
    try:
        message = _decode(line.decode("utf-8"))
    except RecursionError:
        raise HookProtocolError("a line nests too deep") from None
    except ValueError as error:
        raise HookProtocolError(f"a line is no JSON: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise HookProtocolError("a line is no message")
    return message


def broken_call(line: bytes) -> str | None:
    """Which call a line wanted that is no message; None where that is not certain."""
    if not re.search(rb'"type"\s*:\s*"hook-call"', line):
        return None
    ids = set(re.findall(rb'"callId"\s*:\s*("(?:[^"\\]|\\.){0,2000}")', line))
    try:
        named = [_decode(found.decode("utf-8")) for found in ids]
    except ValueError:
        return None
    return named[0] if len(named) == 1 else None


def text_of(message: dict[str, Any], name: str) -> str:
    """A field that has to be a string. Raises HookProtocolError where it is not."""
    value = message.get(name)
    if not isinstance(value, str):
        raise HookProtocolError(f"a {message['type']} has no {name}")
    return value


def error_text(error: BaseException) -> str:
    """An exception in one line, as an answer's `error` says it."""
    name, said = type(error).__name__, message_of(error)
    return (name if said == name else f"{name}: {said}")[:2000]


def message_of(error: BaseException) -> str:
    """The text of an exception; its type's name where it has none, or cannot say it."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def failure_text(error: BaseException) -> str:
    """What a handler raised, and where."""
    return error_text(error) + _place(error)


def _place(error: BaseException) -> str:
    """Where it was raised: the last place that is neither this package's nor Python's own."""
    found, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((_PACKAGE, _PYTHON, "<")):
            found = f" ({os.path.basename(file)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return found
