#!/usr/bin/env python3
"""Prints how many tokens each call of the model took."""

from hook_sdk import A3sClient, GenerateEndEvent, HookResponse

client = A3sClient()


async def log_generation(event: GenerateEndEvent) -> HookResponse:
    print(f"Generated {event.response.usage.total_tokens} tokens", flush=True)
    return HookResponse.continue_()


client.register_hook("GenerateEnd", log_generation)
client.run()
