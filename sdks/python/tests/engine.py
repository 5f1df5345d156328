"""The engine itself, for tests: HOOK_BINARY names it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hook_sdk import A3sClient

BINARY = os.environ.get("HOOK_BINARY", "")
EXAMPLES = Path(__file__).resolve().parents[3] / "docs/examples/sdk/python"
needs_engine = pytest.mark.skipif(
    not BINARY, reason="SKIPPED the real engine: HOOK_BINARY names no binary"
)

SHELL = "run_shell_command"


def tool(command: str | list[str], name: str = SHELL) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": {"command": command}}


def settings(folder: Path, hooks: dict[str, Any]) -> Path:
    path = folder / "settings.json"
    path.write_text(json.dumps({"hooks": hooks}))
    return path


def child(folder: Path, hooks: dict[str, Any], **options: Any) -> A3sClient:
    """A client with a server of its own."""
    path = settings(folder, hooks)
    command = [BINARY, "serve", "--stdio", "--project", str(folder), "--settings", str(path)]
    return A3sClient(command=command, **options)


@asynccontextmanager
async def listening(folder: Path, hooks: dict[str, Any]) -> AsyncIterator[Path]:
    """A server for many clients; its socket."""
    socket, path = folder / "s", settings(folder, hooks)
    server = await asyncio.create_subprocess_exec(
        *(BINARY, "serve", "--socket", str(socket), "--project", str(folder)),
        *("--settings", str(path)),
        stderr=asyncio.subprocess.PIPE,
    )
    assert server.stderr is not None
    try:
        while line := await server.stderr.readline():
            if b"listening on" in line:
                break
        yield socket
    finally:
        server.terminate()
        await server.communicate()
