#!/usr/bin/env python3
"""Adds a timeout to all shell commands."""

from hook_sdk import A3sClient, HookResponse, PreToolUseEvent

client = A3sClient()


@client.hook("PreToolUse", matcher={"tool": "Bash"})
async def add_timeout(event: PreToolUseEvent) -> HookResponse:
    # What is given here replaces all arguments, so the others are repeated.
    return HookResponse.continue_with({"args": {**event.args, "timeout": 30000}})


client.run()
