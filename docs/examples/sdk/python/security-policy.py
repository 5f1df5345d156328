#!/usr/bin/env python3
"""Blocks shell commands that destroy a machine."""

import re

from hook_sdk import A3sClient, HookResponse, PreToolUseEvent

client = A3sClient()

DANGEROUS = [
    r"rm\s+-rf\s+/",
    r"mkfs\.",
    r"dd\s+if=.*of=/dev",
    r">\s*/dev/sd",
    r":\(\)\{ :\|:& \};:",
]


@client.hook("PreToolUse", matcher={"tool": "Bash"}, config={"fail_behavior": "block"})
async def validate_bash(event: PreToolUseEvent) -> HookResponse:
    command = event.args.get("command", "")
    for pattern in DANGEROUS:
        if re.search(pattern, command):
            return HookResponse.block(f"Blocked dangerous command matching {pattern}")
    return HookResponse.continue_()


client.run()
