#!/usr/bin/env python3
"""Asks the user before tools that change things."""

import json

from hook_sdk import A3sClient, HookResponse, HostCallError, PermissionRequestEvent

client = A3sClient()

SENSITIVE = ("Bash", "Write", "Edit")


@client.hook("PermissionRequest", config={"fail_behavior": "block"})
async def confirm(event: PermissionRequestEvent) -> HookResponse:
    if event.tool not in SENSITIVE:
        return HookResponse.continue_()
    message = f"The agent wants to execute: {json.dumps(event.args)}"
    try:
        question = {"title": f"Allow {event.tool}?", "message": message}
        confirmed = await client.host_call("ui.confirm", question)
    except HostCallError:
        confirmed = False  # There is nobody to ask.
    return (
        HookResponse.continue_()
        if confirmed is True
        else HookResponse.block("User denied permission")
    )


client.run()
