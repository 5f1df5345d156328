"""Hooks for AI agents, in Python.

An agent asks: `execute_tool`, `call_model`, `agent_turn`, `session` (the module `agent`), without
asyncio the same in `sync`, and for other libraries' agents `integrations`. Two ways to answer:

- `worker`: a file that the engine runs as a child (`from hook_sdk import worker`).
- `HookClient` (also `A3sClient`): a program of yours that connects to `hook serve`, registers
  handlers there, and may ask it as well (`from hook_sdk import HookClient`).

What a worker does without is loaded when it is first used, so that none pays for asyncio.
"""

from __future__ import annotations

from .errors import (
    CallCancelled as CallCancelled,
    HookClosedError as HookClosedError,
    HookConnectionError as HookConnectionError,
    HookError as HookError,
    HookProtocolError as HookProtocolError,
    HookStopped as HookStopped,
    HostCallError as HostCallError,
    RegistrationError as RegistrationError,
    RequestFailed as RequestFailed,
    ValueNotSendable as ValueNotSendable,
)
from .events import (
    ContextWarningEvent as ContextWarningEvent,
    GenerateEndEvent as GenerateEndEvent,
    GenerateStartEvent as GenerateStartEvent,
    HookEvent as HookEvent,
    PermissionDeniedEvent as PermissionDeniedEvent,
    PermissionGrantedEvent as PermissionGrantedEvent,
    PermissionRequestEvent as PermissionRequestEvent,
    PostCompactEvent as PostCompactEvent,
    PostToolUseEvent as PostToolUseEvent,
    PreCompactEvent as PreCompactEvent,
    PreToolUseEvent as PreToolUseEvent,
    SessionEndEvent as SessionEndEvent,
    SessionStartEvent as SessionStartEvent,
    ToolErrorEvent as ToolErrorEvent,
)
from .fields import Fields as Fields
from .responses import HookResponse as HookResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import worker as worker
    from .agent import (
        ToolCall as ToolCall,
        agent_turn as agent_turn,
        call_model as call_model,
        execute_tool as execute_tool,
        session as session,
    )
    from .client import A3sClient as A3sClient, HookClient as HookClient
    from .listing import RegisteredHook as RegisteredHook
    from .outcome import Outcome as Outcome
    from .worker_api import Worker as Worker

__version__ = "0.1.0"

_LATER = {
    "worker": "worker",
    "agent": "ToolCall agent_turn call_model execute_tool session",
    "worker_api": "Worker",
    "client": "A3sClient HookClient",
    "listing": "RegisteredHook",
    "outcome": "Outcome",
}


def __getattr__(name: str) -> object:
    # `import_module` would load importlib; `__import__` with a name is as good and loads nothing.
    for module, names in _LATER.items():
        if name in names.split():
            loaded = __import__(f"{__name__}.{module}", fromlist=[name])
            value = loaded if name == module else getattr(loaded, name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *" ".join(_LATER.values()).split()})
