"""Hooks for AI agents, in Python.

An agent asks: `execute_tool`, `call_model`, `agent_turn`, `session` (the module `agent`), without
asyncio the same in `sync`, and for other libraries' agents `integrations`. Two ways to answer:

- `worker`: a file that the engine runs as a child (`from hook_sdk import worker`).
- `HookClient` (also `A3sClient`): a program of yours that connects to `hook serve`, registers
  handlers there, and may ask it as well (`from hook_sdk import HookClient`).

Names are loaded when they are first used, so that a worker does not pay for asyncio.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import worker
    from .agent import ToolCall, agent_turn, call_model, execute_tool, session
    from .client import A3sClient, HookClient
    from .errors import (
        CallCancelled,
        HookClosedError,
        HookConnectionError,
        HookError,
        HookProtocolError,
        HookStopped,
        HostCallError,
        RegistrationError,
        RequestFailed,
        ValueNotSendable,
    )
    from .events import (
        ContextWarningEvent,
        GenerateEndEvent,
        GenerateStartEvent,
        HookEvent,
        PermissionDeniedEvent,
        PermissionGrantedEvent,
        PermissionRequestEvent,
        PostCompactEvent,
        PostToolUseEvent,
        PreCompactEvent,
        PreToolUseEvent,
        SessionEndEvent,
        SessionStartEvent,
        ToolErrorEvent,
    )
    from .fields import Fields
    from .listing import RegisteredHook
    from .outcome import Outcome
    from .responses import HookResponse
    from .worker_api import Worker

__version__ = "0.1.0"

_WHERE = {
    "worker": ("worker",),
    "agent": ("ToolCall", "agent_turn", "call_model", "execute_tool", "session"),
    "worker_api": ("Worker",),
    "client": ("A3sClient", "HookClient"),
    "errors": (
        "CallCancelled",
        "HookClosedError",
        "HookConnectionError",
        "HookError",
        "HookProtocolError",
        "HookStopped",
        "HostCallError",
        "RegistrationError",
        "RequestFailed",
        "ValueNotSendable",
    ),
    "events": (
        "ContextWarningEvent",
        "GenerateEndEvent",
        "GenerateStartEvent",
        "HookEvent",
        "PermissionDeniedEvent",
        "PermissionGrantedEvent",
        "PermissionRequestEvent",
        "PostCompactEvent",
        "PostToolUseEvent",
        "PreCompactEvent",
        "PreToolUseEvent",
        "SessionEndEvent",
        "SessionStartEvent",
        "ToolErrorEvent",
    ),
    "fields": ("Fields",),
    "listing": ("RegisteredHook",),
    "outcome": ("Outcome",),
    "responses": ("HookResponse",),
}

__all__ = [
    "A3sClient",
    "CallCancelled",
    "ContextWarningEvent",
    "Fields",
    "GenerateEndEvent",
    "GenerateStartEvent",
    "HookClient",
    "HookClosedError",
    "HookConnectionError",
    "HookError",
    "HookEvent",
    "HookProtocolError",
    "HookResponse",
    "HookStopped",
    "HostCallError",
    "Outcome",
    "PermissionDeniedEvent",
    "PermissionGrantedEvent",
    "PermissionRequestEvent",
    "PostCompactEvent",
    "PostToolUseEvent",
    "PreCompactEvent",
    "PreToolUseEvent",
    "RegisteredHook",
    "RegistrationError",
    "RequestFailed",
    "SessionEndEvent",
    "SessionStartEvent",
    "ToolCall",
    "ToolErrorEvent",
    "ValueNotSendable",
    "Worker",
    "agent_turn",
    "call_model",
    "execute_tool",
    "session",
    "worker",
]


def __getattr__(name: str) -> object:
    # `import_module` would load importlib; `__import__` with a name is as good and loads nothing.
    for module, names in _WHERE.items():
        if name in names:
            loaded = __import__(f"{__name__}.{module}", fromlist=[name])
            value = loaded if name == module else getattr(loaded, name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
