#!/usr/bin/env python3
"""Prints how many tokens each call of the model took."""

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import AfterModelEvent

client = HookClient()


async def log_generation(event: AfterModelEvent) -> HookResponse:
    tokens = event.usage["total_tokens"] if event.usage else "unknown"
    print(f"Generated {tokens} tokens", flush=True)
    return HookResponse.continue_()


client.register_hook("AfterModel", log_generation)
client.run()
