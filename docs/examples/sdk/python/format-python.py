#!/usr/bin/env python3
"""Runs for Python files only, by its matcher: ends each with a line end."""

from hook_sdk import A3sClient, HookResponse, PreToolUseEvent

client = A3sClient()


@client.hook("PreToolUse", matcher={"tool": "Write", "path_pattern": "*.py"})
async def format_python(event: PreToolUseEvent) -> HookResponse:
    # Will run only for Write operations on .py files
    content = event.args.get("content", "")
    if content.endswith("\n"):
        return HookResponse.continue_()
    return HookResponse.continue_with({"args": {**event.args, "content": content + "\n"}})


client.run()
