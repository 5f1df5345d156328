#!/usr/bin/env python3
"""Times one guard in several ways, by turns: a round has each of them, and seven rounds are run.

HOOK_BINARY names the engine; with LangChain installed, its ways are timed, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hook_sdk import HookClient, HookResponse, ToolCall, execute_tool
from hook_sdk.engine import find_engine
from hook_sdk.native_events import BeforeToolEvent

ROUNDS = 7
COMMAND = """import json, sys
if "rm -rf" in json.load(sys.stdin)["tool_input"].get("command", ""):
    sys.exit(2)
"""
WORKER = """from hook_sdk import worker
@worker.hook("BeforeTool")
def guard(event):
    if "rm -rf" in event.tool_input.get("command", ""):
        return worker.HookResponse.block("no")
worker.serve()
"""
INPUT = {"command": "ls"}
CALL = ToolCall("run_shell_command", INPUT)
Way = tuple[int, Callable[[], Awaitable[object]]]


async def tool(_: dict[str, Any]) -> str:
    return "x"


async def guard(event: BeforeToolEvent) -> HookResponse | None:
    return HookResponse.block("no") if "rm -rf" in event.tool_input.get("command", "") else None


def serve(folder: Path, name: str, hook: dict[str, Any] | None) -> list[str]:
    hooks = {"BeforeTool": [{"hooks": [{**hook, "failBehavior": "block"}]}]} if hook else {}
    settings = folder / f"{name}.json"
    settings.write_text(json.dumps({"hooks": hooks}))
    engine = find_engine(os.environ, print)
    return [engine, "serve", "--stdio", "--project", str(folder), "--settings", str(settings)]


async def langchain(folder: Path, command: list[str]) -> dict[str, Way]:
    from langchain_core.messages import ToolMessage
    from langgraph.prebuilt.tool_node import ToolCallRequest

    from hook_sdk.integrations.langchain import HookMiddleware
    from hook_sdk.sync import HookClient as SyncClient

    call: Any = {"name": CALL.tool_name, "args": INPUT, "id": "c", "type": "tool_call"}
    nothing: Any = None
    request = ToolCallRequest(tool_call=call, tool=None, state={}, runtime=nothing)
    middleware = HookMiddleware(SyncClient(command=command))

    async def handler(_: object) -> ToolMessage:
        return ToolMessage("x", tool_call_id="c")

    async def by_subprocess() -> ToolMessage:
        pipe = asyncio.subprocess.PIPE
        program = await asyncio.create_subprocess_exec(
            sys.executable, str(folder / "command.py"), stdin=pipe, stderr=pipe
        )
        _, error = await program.communicate(json.dumps({"tool_input": INPUT}).encode())
        if program.returncode:
            return ToolMessage(error.decode(), tool_call_id="c", status="error")
        return await handler(request)

    return {
        "LangChain: `HookMiddleware`, one worker": (
            200,
            lambda: middleware.awrap_tool_call(request, handler),
        ),
        "LangChain: middleware that starts the guard as a subprocess": (15, by_subprocess),
    }


async def main() -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "command.py").write_text(COMMAND)
        (folder / "worker.py").write_text(WORKER)
        python = f"{sys.executable} {folder}"
        worker_hook = {"type": "worker", "command": f"{python}/worker.py"}
        command_hook = {"type": "command", "command": f"{python}/command.py"}

        async def client(name: str, hook: dict[str, Any] | None = None) -> HookClient:
            return await stack.enter_async_context(HookClient(command=serve(folder, name, hook)))

        bare, worker = await client("bare"), await client("worker", worker_hook)
        command, handled = await client("command", command_hook), await client("handled")
        await handled.ready(handled.register_hook("BeforeTool", guard))
        payload: Any = {"tool_name": CALL.tool_name, "tool_input": INPUT}
        ways: dict[str, Way] = {
            "`fire`, without hooks": (500, lambda: bare.fire("BeforeTool", payload)),
            "`execute_tool`, without hooks": (500, lambda: execute_tool(bare, CALL, tool)),
            "a handler in the program": (300, lambda: execute_tool(handled, CALL, tool)),
            "one worker": (300, lambda: execute_tool(worker, CALL, tool)),
            "one command": (15, lambda: execute_tool(command, CALL, tool)),
        }
        with contextlib.suppress(ImportError):
            ways |= await langchain(folder, serve(folder, "langchain", worker_hook))
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, (count, way) in ways.items():
                await way()
                begun = time.perf_counter()
                for _ in range(count):
                    await way()
                times[name].append((time.perf_counter() - begun) / count * 1e3)
        print("| one call | minimum | median | maximum, ms |\n| --- | ---: | ---: | ---: |")
        for name, each in times.items():
            low, middle, high = min(each), statistics.median(each), max(each)
            print(f"| {name} | {low:.2f} | {middle:.2f} | {high:.2f} |")


asyncio.run(main())
