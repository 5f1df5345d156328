#!/usr/bin/env python3
"""Blocks shell commands that destroy a machine."""

import re

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import BeforeToolEvent

client = HookClient()

DANGEROUS = [
    r"rm\s+-rf\s+/",
    r"mkfs\.",
    r"dd\s+if=.*of=/dev",
    r">\s*/dev/sd",
    r":\(\)\{ :\|:& \};:",
]


@client.hook("BeforeTool", matcher={"kind": "shell"}, config={"fail_behavior": "block"})
async def validate_bash(event: BeforeToolEvent) -> HookResponse:
    command = event.tool_input["command"]  # Without one this guard fails, and so blocks.
    if isinstance(command, list):  # Some agents send words.
        command = " ".join(command)
    for pattern in DANGEROUS:
        if re.search(pattern, command):
            return HookResponse.block(f"Blocked dangerous command matching {pattern}")
    return HookResponse.continue_()


client.run()
