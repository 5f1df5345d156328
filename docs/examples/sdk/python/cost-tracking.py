#!/usr/bin/env python3
"""Adds up tokens and costs, and warns above a threshold."""

import sys

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import AfterModelEvent

client = HookClient()

DOLLARS_PER_MILLION = {"large": 15.0, "small": 0.5}
THRESHOLD = 10.00
total_tokens = 0
total_cost = 0.0


# An async handler runs on the event loop, so these sums need no lock.
@client.hook("AfterModel")
async def track(event: AfterModelEvent) -> HookResponse:
    global total_tokens, total_cost
    tokens = event.usage.get("total_tokens", 0) if event.usage else 0
    total_tokens += tokens
    model = str(event.llm_request.get("model"))
    total_cost += tokens / 1_000_000 * DOLLARS_PER_MILLION.get(model, 15.0)
    if total_cost > THRESHOLD:
        said = f"Session cost exceeded ${THRESHOLD:.0f}: ${total_cost:.2f} ({total_tokens} tokens)"
        print(said, file=sys.stderr, flush=True)
    return HookResponse.continue_()


client.run()
