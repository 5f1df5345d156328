"""The protocol's messages in those of the gRPC services, and back."""

from __future__ import annotations

import json
from typing import Any

from ..errors import HookProtocolError, RegistrationError, ValueNotSendable
from ..lines import PROTOCOL, decode, encode
from .generated import hook_bus_pb2 as bus_pb2
from .generated import hooks_pb2

_ACTIONS = {
    "continue": hooks_pb2.CONTINUE,
    "block": hooks_pb2.BLOCK,
    "retry": hooks_pb2.RETRY,
    "skip": hooks_pb2.SKIP,
}
_MATCHER = {"tool": "tool", "pathPattern": "path_pattern", "commandPattern": "command_pattern"}
_INT32 = 2**31 - 1


def json_bytes(value: object) -> bytes:
    """A value as JSON. Raises ValueNotSendable for what has no form there, or is too large."""
    # The envelope makes a message of it, with the message's limits.
    return encode({"value": value})[len('{"value":') : -len("}\n")]


def registration(message: dict[str, Any]) -> Any:
    """A `hook-register`. Raises RegistrationError for what the service has no words for."""
    matcher, config = message.get("matcher"), message.get("config", {})

    def refuse(why: str) -> RegistrationError:
        said = f"{why}; over a socket it is possible"
        return RegistrationError("unsupported", said, None, message["hookId"], message["eventName"])

    request = hooks_pb2.RegisterHookRequest(
        event_type=message["eventName"],
        hook_id=message["hookId"],
        vocabulary=message["vocabulary"],
    )
    if isinstance(matcher, str):
        raise refuse("gRPC has no matchers that are patterns of the tool's name")
    for key, value in (matcher or {}).items():
        if key not in _MATCHER or not isinstance(value, str):
            raise refuse(f"gRPC has no matcher {key} = {value!r}")
        setattr(request.matcher, _MATCHER[key], value)
    numbers = {"priority": "priority", "timeout": "timeout_ms"}
    for key, name in numbers.items():
        value = config.get(key, 0)
        # Zero stands for the default there.
        if (key in config and value == 0) or not -_INT32 <= value <= _INT32:
            raise refuse(f"gRPC has no {key} {value}")
        setattr(request.config, name, value)
    # `async` is a word of Python's.
    setattr(request.config, "async", config.get("async", False))
    request.config.fail_behavior = config.get("failBehavior", "")
    return request


def listed(response: Any) -> dict[str, Any]:
    """A ListHooksResponse as a `hook-hooks`."""
    hooks = []
    for hook in response.hooks:
        matcher = {
            wire: getattr(hook.matcher, name)
            for wire, name in _MATCHER.items()
            if hook.HasField("matcher") and hook.matcher.HasField(name)
        }
        config: dict[str, Any] = {
            "priority": hook.config.priority or 100,
            "async": getattr(hook.config, "async"),
            "failBehavior": hook.config.fail_behavior or "continue",
        }
        if hook.config.timeout_ms:
            config["timeout"] = hook.config.timeout_ms
        fields = {"hookId": hook.hook_id, "eventName": hook.event_type, "config": config}
        fields |= {"vocabulary": hook.vocabulary or "a3s", "own": hook.own}
        hooks.append({**fields, **({"matcher": matcher} if matcher else {})})
    return {"type": "hook-hooks", "hooks": hooks}


def hook_response(message: dict[str, Any], hook_id: str) -> Any:
    """A `hook-answer`, or a `hook-host-call`. Raises ValueNotSendable."""
    if message["type"] == "hook-host-call":
        return hooks_pb2.HookResponse(hook_id=hook_id, host_call=encode(message)[:-1])
    response = hooks_pb2.HookResponse(hook_id=hook_id, call_id=message["callId"])
    if "error" in message:
        response.error = _text(message["error"])
    elif "output" in message:
        response.output = json_bytes(message["output"])
    else:
        response.action = _ACTIONS[message["action"]]
        if "reason" in message:
            response.reason = _text(message["reason"])
        if "modified" in message:
            response.modified = json_bytes(message["modified"])
        if "delay" in message:
            if message["delay"] > 2**63 - 1:
                raise ValueNotSendable(f"a delay of {message['delay']} ms is too long")
            response.retry_delay_ms = message["delay"]
    return response


def received(event: Any) -> dict[str, Any]:
    """A HookEvent as the message that it stands for. Raises HookProtocolError."""
    if event.HasField("host_result"):
        return {**_object(event.host_result, "host_result"), "type": "hook-host-result"}
    if event.cancelled:
        return {"type": "hook-call-cancelled", "callId": event.call_id}
    told = {"eventType": event.event_type, "sessionId": event.session_id}
    told["timestamp"] = event.timestamp
    if event.metadata:
        told["metadata"] = _object(event.metadata, "metadata")
    told.update(_object(event.payload, "payload") if event.payload else {})
    return {
        "type": "hook-call",
        "callId": event.call_id,
        "hookId": event.hook_id,
        "eventName": event.event_type,
        "input": told,
        "deadlineMs": event.deadline_ms,
    }


def execution_request(message: dict[str, Any]) -> Any:
    """A `hook-execution-request`. Raises ValueNotSendable."""
    return bus_pb2.HookExecutionRequest(json=encode(message)[:-1])


def bus_message(message: Any) -> dict[str, Any]:
    """A message of the bus. Raises HookProtocolError."""
    return decode(message.json)


def hello(token: str | None) -> dict[str, Any]:
    """What a server over lines would greet with."""
    return {"type": "hook-hello", "protocol": PROTOCOL, "clientToken": token or ""}


def _object(text: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookProtocolError(f"the {name} of an event is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise HookProtocolError(f"the {name} of an event is no object")
    return value


def _text(text: str) -> str:
    """A text that has a form in UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
