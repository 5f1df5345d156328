#!/usr/bin/env python3
"""Asks the user before tools that change things."""

import json

from hook_sdk import HookClient, HookResponse, HostCallError
from hook_sdk.native_events import PermissionRequestEvent

client = HookClient()


@client.hook(
    "PermissionRequest",
    matcher={"kind": ["shell", "file_write"]},
    config={"fail_behavior": "block"},
    vocabulary="native",  # A3S has an event of this name, too.
)
async def confirm(event: PermissionRequestEvent) -> HookResponse:
    message = f"The agent wants to execute: {json.dumps(event.tool_input)}"
    try:
        question = {"title": f"Allow {event.tool_name}?", "message": message}
        confirmed = await client.host_call("ui.confirm", question)
    except HostCallError:
        confirmed = False  # There is nobody to ask.
    return (
        HookResponse.continue_()
        if confirmed is True
        else HookResponse.block("User denied permission")
    )


client.run()
