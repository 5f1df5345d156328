#!/usr/bin/env python3
"""A hook that is in force for one block only."""

import asyncio

from hook_sdk import A3sClient, HookResponse, PreToolUseEvent


def no_shell(event: PreToolUseEvent) -> HookResponse:
    return HookResponse.block("no shell while this runs")


async def main() -> None:
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    async with A3sClient() as client:
        async with client.temporary_hook("PreToolUse", no_shell, matcher={"tool": "Bash"}):
            print("inside:", (await client.fire("BeforeTool", call)).decision)
        print("outside:", (await client.fire("BeforeTool", call)).decision)


asyncio.run(main())
