#!/usr/bin/env python3
"""Runs for Python files only, by its matcher: ends each with a line end."""

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import BeforeToolEvent

client = HookClient()


@client.hook("BeforeTool", matcher={"tool": "write_file", "path_pattern": "*.py"})
async def format_python(event: BeforeToolEvent) -> HookResponse:
    # Will run only where a whole .py file is written.
    content = event.tool_input.get("content", "")
    if content.endswith("\n"):
        return HookResponse.continue_()
    return HookResponse.continue_with({"tool_input": {"content": content + "\n"}})


client.run()
