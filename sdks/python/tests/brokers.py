"""A real nats-server, and engines of a fleet that are driven by the test."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hook_sdk import A3sClient, Fleet

nats = pytest.importorskip("nats", reason="SKIPPED NATS: install the extra `nats`")
PROGRAM = shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_broker = pytest.mark.skipif(PROGRAM is None, reason="SKIPPED NATS: there is no nats-server")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def broker(folder: Path, port: int | None = None, more: str = "") -> AsyncIterator[str]:
    settings = folder / "broker.conf"
    settings.write_text(more)
    port = port or free_port()
    command = [str(PROGRAM), "-a", "127.0.0.1", "-p", str(port), "-c", str(settings)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
    try:
        for _ in range(1000):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            await asyncio.sleep(0.01)
        yield f"nats://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


Serve = Callable[[Any, dict[str, Any]], Awaitable[None]]


@contextlib.asynccontextmanager
async def engine(url: str, serve: Serve) -> AsyncIterator[list[dict[str, Any]]]:
    """An engine that hands each request to `serve`; with all that it was asked."""
    seen: list[dict[str, Any]] = []
    client = await nats.connect(url)

    async def asked(message: Any) -> None:
        request = json.loads(message.data)
        seen.append(request)
        await serve(message, request)

    await client.subscribe("hooks.request.*", queue="engines", cb=asked)
    await client.flush()
    try:
        yield seen
    finally:
        await client.close()


def response(request: dict[str, Any], decision: str) -> bytes:
    return json.dumps(
        {
            "type": "hook-execution-response",
            "correlationId": request["correlationId"],
            "eventName": request["eventName"],
            "success": True,
            "protocol": 1,
            "output": {},
            "processed": {"decision": decision, "reason": "as the fleet says"},
        }
    ).encode()


async def deny(message: Any, request: dict[str, Any]) -> None:
    await message.respond(response(request, "block"))


def asker(url: str, **more: Any) -> A3sClient:
    return A3sClient(transport="nats", fleet=Fleet(url, **more))


TOOL = {"tool_name": "edit", "tool_input": {}, "idempotencyKey": "forged"}
