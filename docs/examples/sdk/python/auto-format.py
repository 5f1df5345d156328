#!/usr/bin/env python3
"""Formats code after it was written, with the agent's own shell."""

import shlex
from pathlib import Path

from hook_sdk import HookClient, HookResponse
from hook_sdk.native_events import AfterToolEvent

client = HookClient()

FORMATTERS = {
    ".rs": "rustfmt",
    ".py": "black",
    ".ts": "prettier --write",
    ".js": "prettier --write",
    ".go": "gofmt -w",
}


@client.hook("AfterTool", matcher={"kind": "file_write"})
async def format_code(event: AfterToolEvent) -> HookResponse:
    for file in event.get("files", []):
        path = file["path"]
        formatter = FORMATTERS.get(Path(path).suffix)
        if formatter and file["access"] == "write" and not event.get("is_error"):
            command = {"command": f"{formatter} {shlex.quote(path)}", "timeout": 10000}
            # It runs where the agent runs, and the hooks of that tool call run, too.
            await client.execute_tool(event.session_id, "run_shell_command", command)
    return HookResponse.continue_()


client.run()
