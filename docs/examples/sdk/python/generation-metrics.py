#!/usr/bin/env python3
"""Sends the usage of each model call to a metrics service, without holding up the agent."""

import json
import os
import urllib.request

from hook_sdk import HookClient
from hook_sdk.native_events import AfterModelEvent

client = HookClient()
URL = os.environ.get("METRICS_URL", "https://metrics.example.com/log")


# A plain function: it may block, since it runs on a thread. Nothing waits for it.
@client.hook("AfterModel", config={"async_": True})
def send_usage(event: AfterModelEvent) -> None:
    body = json.dumps({"session": event.session_id, "usage": event.usage})
    request = urllib.request.Request(URL, body.encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=3).close()


client.run()
