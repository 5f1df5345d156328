"""Workers: a file with handlers that the engine runs as a child and keeps running.

    from hook_sdk import worker

    @worker.hook("BeforeTool", matcher="run_shell_command")
    def guard(event):
        if "rm -rf" in event.tool_input.get("command", ""):
            return worker.HookResponse.block("not with rm -rf")

    worker.serve()

Settings name it: `{"type": "worker", "command": "python3 $HOOK_PROJECT_DIR/.hooks/policy.py"}`.

Handlers run on threads, up to 64 at once, so they may be slow; what they share needs a lock. A
handler may be an `async def`, which gets an event loop of its own. While `serve` runs, what the
program prints goes to standard error, where the engine logs it.

The functions here belong to one worker, which is the whole of most files. `Worker` is the same as
a value.
"""

from __future__ import annotations

from .events import HookEvent as HookEvent
from .responses import HookResponse as HookResponse
from .worker_api import Worker as Worker

_worker = Worker()

hook = _worker.hook
serve = _worker.serve
host_call = _worker.host_call
confirm = _worker.confirm
execute_tool = _worker.execute_tool
generate = _worker.generate
cancelled = _worker.cancelled
log = _worker.log
