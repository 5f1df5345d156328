#!/usr/bin/env python3
"""Prints what happens to the hooks of a server: who decided what, and what was changed."""

import asyncio

from hook_sdk import HookClient


async def main() -> None:
    async with HookClient() as client:
        await client.set_hook_audit_level("verbose", show)
        await client.serve_forever()


def show(entry: dict[str, object]) -> None:
    said = (entry.get(name) for name in ("kind", "eventName", "hook", "reason", "changes"))
    print(*(text for text in said if text is not None), flush=True)


asyncio.run(main())
