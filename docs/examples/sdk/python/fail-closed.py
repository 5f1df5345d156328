#!/usr/bin/env python3
"""A guard that blocks where it cannot decide: when it raises, is too slow, or is gone."""

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import BeforeToolEvent

client = HookClient()


@client.hook(
    "BeforeTool",
    matcher={"kind": "shell"},
    config={"priority": 10, "timeout": 3000, "fail_behavior": "block"},
)
async def guard(event: BeforeToolEvent) -> HookResponse:
    # Without a command this raises KeyError, which blocks.
    if event.tool_input["command"].startswith("sudo "):
        return HookResponse.block("not as root")
    return HookResponse.continue_()


client.run()
