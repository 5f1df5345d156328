#!/usr/bin/env python3
"""A guard that blocks where it cannot decide: when it raises, is too slow, or is gone."""

from hook_sdk import A3sClient, HookResponse, PreToolUseEvent

client = A3sClient()


@client.hook(
    "PreToolUse",
    matcher={"tool": "Bash"},
    config={"priority": 10, "timeout": 3000, "fail_behavior": "block"},
)
async def guard(event: PreToolUseEvent) -> HookResponse:
    # Without a command this raises KeyError, which blocks.
    if event.args["command"].startswith("sudo "):
        return HookResponse.block("not as root")
    return HookResponse.continue_()


client.run()
