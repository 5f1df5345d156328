#!/usr/bin/env python3
"""Formats code after it was written, with the agent's own shell."""

import shlex
from pathlib import Path

from hook_sdk import A3sClient, HookResponse, PostToolUseEvent

client = A3sClient()

FORMATTERS = {
    ".rs": "rustfmt",
    ".py": "black",
    ".ts": "prettier --write",
    ".js": "prettier --write",
    ".go": "gofmt -w",
}


@client.hook("PostToolUse", matcher={"tool": "Write"})
async def format_code(event: PostToolUseEvent) -> HookResponse:
    path = event.args.get("file_path", "")
    formatter = FORMATTERS.get(Path(path).suffix)
    if formatter and event.result.success:
        command = f"{formatter} {shlex.quote(path)}"
        # It runs where the agent runs, and the hooks of that tool call run, too.
        await client.execute_tool(event.session_id, "Bash", {"command": command, "timeout": 10000})
    return HookResponse.continue_()


client.run()
