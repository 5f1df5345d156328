#!/usr/bin/env python3
"""Keeps API keys out of .env files."""

from hook_sdk import A3sClient, HookResponse, PreToolUseEvent

client = A3sClient()


@client.hook("PreToolUse", matcher={"tool": "Write", "path_pattern": "*.env"})
async def guard_env(event: PreToolUseEvent) -> HookResponse:
    if "API_KEY=" in event.args.get("content", ""):
        return HookResponse.block("Cannot write API keys to .env files")
    return HookResponse.continue_()


client.run()
