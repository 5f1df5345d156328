#!/usr/bin/env python3
"""Prints how many tokens each call of the model took."""

from hook_sdk import HookClient, HookEvent, HookResponse

client = HookClient()


async def log_generation(event: HookEvent) -> HookResponse:
    print(f"Generated {event.usage.total_tokens} tokens", flush=True)
    return HookResponse.continue_()


client.register_hook("AfterModel", log_generation)
client.run()
