#!/usr/bin/env python3
"""A hook that is in force for one block only."""

import asyncio

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import BeforeToolEvent
from hook_sdk.types import BeforeToolPayload


def no_shell(event: BeforeToolEvent) -> HookResponse:
    return HookResponse.block("no shell while this runs")


async def main() -> None:
    call: BeforeToolPayload = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    async with HookClient() as client:
        async with client.temporary_hook("BeforeTool", no_shell, matcher={"kind": "shell"}):
            print("inside:", (await client.fire("BeforeTool", call)).decision)
        print("outside:", (await client.fire("BeforeTool", call)).decision)


asyncio.run(main())
