#!/usr/bin/env python3
"""The same kind of guard as a worker: settings name it, and the engine runs it."""

from hook_sdk import worker
from hook_sdk.native_events import BeforeToolEvent


@worker.hook("BeforeTool", matcher="run_shell_command", fail_behavior="block")
def guard(event: BeforeToolEvent) -> worker.HookResponse | None:
    if event.tool_input["command"].startswith("sudo "):
        return worker.HookResponse.block("not as root")
    return None


worker.serve()
