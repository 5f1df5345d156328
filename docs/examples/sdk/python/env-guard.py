#!/usr/bin/env python3
"""Keeps API keys out of .env files."""

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import BeforeToolEvent

client = HookClient()


@client.hook(
    "BeforeTool",
    matcher={"kind": "file_write", "path_pattern": "*.env"},
    config={"fail_behavior": "block"},
)
async def guard_env(event: BeforeToolEvent) -> HookResponse:
    # Whatever the tool calls the text that it writes.
    if "API_KEY=" in str(event.tool_input):
        return HookResponse.block("Cannot write API keys to .env files")
    return HookResponse.continue_()


client.run()
