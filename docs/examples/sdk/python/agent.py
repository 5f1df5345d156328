#!/usr/bin/env python3
"""An agent that asks the hooks of docs/examples/agent-session before it runs a tool."""

import argparse
import asyncio
import sys
from pathlib import Path

HERE = Path(__file__).resolve()
try:
    from hook_sdk import HookClient, HookError
except ImportError:  # Not installed: the one of this repository.
    sys.path.insert(0, str(HERE.parents[4] / "sdks/python/src"))
    from hook_sdk import HookClient, HookError

EXAMPLE = HERE.parents[2] / "agent-session"
CALLS = [
    ("read_file", {"file_path": "README.md"}),
    ("run_shell_command", {"command": "sudo rm -rf /"}),
    ("write_file", {"file_path": "./notes//a/../plan.txt", "content": "x"}),
    ("write_file", {"file_path": "/etc/motd", "content": "x"}),
]


async def run(client: HookClient) -> None:
    async with client:
        for tool, args in CALLS:
            outcome = await client.fire("BeforeTool", {"tool_name": tool, "tool_input": args})
            for warning in outcome.warnings:
                print(f"agent: {warning}", file=sys.stderr)
            reason = f" ({outcome.reason})" if outcome.reason else ""
            print(f"{tool}: {outcome.decision}{reason}")
            if outcome.proceeds:
                args = outcome.tool_input(args)
                # Here the tool would run, with what hooks have changed.


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--hook", default="hook", help="the hook command, to start a server")
    arguments.add_argument("--socket", help="the socket of a server that runs")
    given = arguments.parse_args()
    serve = [given.hook, "serve", "--stdio", "--project", str(EXAMPLE)]
    serve += ["--settings", str(EXAMPLE / ".hooks/settings.json")]
    client = HookClient(socket=given.socket) if given.socket else HookClient(command=serve)
    try:
        asyncio.run(run(client))
    except HookError as error:  # No answer is no permission.
        sys.exit(f"agent: {error}")


if __name__ == "__main__":
    main()
