#!/usr/bin/env python3
"""Registers a hook, lists all there are, and takes it back."""

import asyncio

from hook_sdk import HookClient, HookResponse, RegistrationError


async def main() -> None:
    async with HookClient() as client:
        hook_id = client.register_hook("BeforeTool", lambda event: HookResponse.continue_())
        try:
            await client.ready(hook_id)
        except RegistrationError as error:
            print(f"refused: {error}")
            return
        for hook in await client.list_hooks():
            print(hook.hook_id, hook.event, "mine" if hook.own else "another client's")
        print("taken back:", await client.unregister_hook(hook_id))
        print("still there:", [hook.hook_id for hook in await client.list_hooks() if hook.own])


asyncio.run(main())
