"""Servers that hold their connection and say nothing more; the tests say when it is looked."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, needs_engine, settings
from scripted import run_async, scripted

from hook_sdk import HookClient, HookConnectionError, connection
from hook_sdk.agent import Blocked, Ran, ToolCall, execute_tool

Look = Callable[[], None]


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Look:
    """Has the client look once at its server."""
    looks: list[asyncio.Event] = []

    async def waits(reading: asyncio.Task[Any]) -> None:
        looks.append(asyncio.Event())
        now = asyncio.ensure_future(looks[-1].wait())
        await asyncio.wait((reading, now), return_when=asyncio.FIRST_COMPLETED)
        now.cancel()

    monkeypatch.setattr(connection, "look", waits)
    return lambda: looks[-1].set()


async def looked(look: Look, times: int) -> None:
    for _ in range(times):
        look()
        for _ in range(10):
            await asyncio.sleep(0)


@run_async
async def test_a_stuck_server_is_given_up_and_the_next_call_has_another_connection(
    look: Look,
) -> None:
    async with scripted() as (client, server, problems):
        begun, ended = asyncio.Event(), asyncio.Event()

        async def tool(_: dict[str, Any]) -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return "never"

        calling = asyncio.ensure_future(execute_tool(client, ToolCall("a", {}), tool))
        peer = await server.peer()
        number = (await peer.hear("hook-trigger"))["triggerId"]
        call = {"type": "hook-host-call", "hostCallId": "1", "triggerId": number}
        peer.say({**call, "method": "tool.run", "params": {"tool_input": {}}})
        await begun.wait()
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        await peer.hear("hook-execution-request")
        await looked(look, 1)
        await peer.hear("hook-list")
        assert not calling.done()
        await looked(look, 3)
        outcome = await calling
        assert isinstance(outcome, Blocked) and outcome.started and ended.is_set()
        assert "is stuck: it said nothing for 30 s" in outcome.reason
        with pytest.raises(HookConnectionError, match="is stuck"):
            await firing
        assert "is stuck" in problems[-1]
        again = asyncio.ensure_future(execute_tool(client, ToolCall("a", {}), lambda _: "x"))
        peer = await server.peer()
        peer.say({"type": "hook-resumed", "clientToken": "token-1", "hookIds": []})
        assert (await peer.hear("hook-trigger"))["triggerId"] != number
        again.cancel()


@run_async
async def test_a_server_that_answers_is_waited_for_however_long_its_hooks_run(look: Look) -> None:
    async with scripted() as (client, server, _):
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer()
        number = (await peer.hear("hook-execution-request"))["correlationId"]
        for _ in range(20):
            await looked(look, 1)
            await peer.hear("hook-list")
            peer.say({"type": "hook-hooks", "hooks": []})
            assert await answered(client, peer) == []
        processed = {"decision": "proceed"}
        response = {"type": "hook-execution-response", "correlationId": number}
        peer.say({**response, "processed": processed})
        assert (await firing).proceeds
        await looked(look, 5)  # Nothing is waited for, and nothing asked.
        assert client._session.connection.is_connected


async def answered(client: HookClient, peer: Any) -> list[Any]:
    listing = asyncio.ensure_future(client.list_hooks())
    await peer.hear("hook-list")
    peer.say({"type": "hook-hooks", "hooks": []})
    return list(await listing)


@needs_engine
@pytest.mark.usefixtures("private")
@run_async
async def test_an_engine_that_is_frozen_while_a_tool_runs_is_ended(
    tmp_path: Path, look: Look
) -> None:
    refused = [{"matcher": "refused", "hooks": [{"type": "command", "command": "exit 2"}]}]
    path, pid = settings(tmp_path, {"BeforeTool": refused}), tmp_path / "pid"
    serve = f"echo $$ >{pid}; exec {BINARY} serve --stdio --project {tmp_path} --settings {path}"
    frozen = asyncio.Event()

    async def tool(_: dict[str, Any]) -> str:
        number = int(pid.read_text())
        os.kill(number, signal.SIGSTOP)
        await asyncio.to_thread(os.waitid, os.P_PID, number, os.WSTOPPED)
        frozen.set()
        return "did it"

    async with HookClient(command=["sh", "-c", serve], on_problem=lambda _: None) as client:
        calling = asyncio.ensure_future(execute_tool(client, ToolCall("plain", {}), tool))
        await frozen.wait()
        await looked(look, 4)
        outcome = await calling
        assert isinstance(outcome, Blocked) and outcome.started and "is stuck" in outcome.reason
        outcome = await execute_tool(client, ToolCall("refused", {}), lambda _: "did it")
        assert isinstance(outcome, Blocked) and outcome.error is None
        outcome = await execute_tool(client, ToolCall("plain", {}), lambda _: "did it")
        assert isinstance(outcome, Ran)
