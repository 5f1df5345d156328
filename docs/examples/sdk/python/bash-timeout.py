#!/usr/bin/env python3
"""Adds a timeout to all shell commands."""

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import BeforeToolEvent

client = HookClient()


@client.hook("BeforeTool", matcher={"kind": "shell"})
async def add_timeout(event: BeforeToolEvent) -> HookResponse:
    # What is given here is laid over the arguments that there are.
    return HookResponse.continue_with({"tool_input": {"timeout": 30000}})


client.run()
