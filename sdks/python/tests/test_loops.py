"""Clients in several event loops, threads and processes, one after another and at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, needs_engine, settings
from scripted import LIMIT_SECONDS
from test_shared_server import fires, guard, project as project, served

from hook_sdk import HookClient, sync
from hook_sdk.agent import Blocked, Ran, ToolCall, ToolOutcome, execute_tool
from hook_sdk.integrations._loops import Here

pytestmark = [needs_engine, pytest.mark.usefixtures("private")]

REFUSED = [{"matcher": "refused", "hooks": [{"type": "command", "command": "exit 2"}]}]
MANY = 10


def command(folder: Path) -> list[str]:
    path = settings(folder, {"BeforeTool": REFUSED})
    return [BINARY, "serve", "--stdio", "--project", str(folder), "--settings", str(path)]


async def calls(client: HookClient, name: str) -> ToolOutcome:
    return await execute_tool(client, ToolCall(name, {}), lambda _: "did it")


async def both(client: HookClient) -> None:
    assert isinstance(await calls(client, "plain"), Ran)
    refused = await calls(client, "refused")
    assert isinstance(refused, Blocked) and refused.error is None


def test_a_client_goes_on_in_another_event_loop(tmp_path: Path) -> None:
    client = HookClient(command=command(tmp_path))
    for _ in range(3):
        asyncio.run(both(client))
    asyncio.run(client.close())
    outcome = asyncio.run(calls(client, "plain"))
    assert isinstance(outcome, Blocked) and "closed" in outcome.reason


def test_a_client_goes_on_where_another_loop_stands_still(tmp_path: Path) -> None:
    client = HookClient(command=command(tmp_path))
    here = asyncio.new_event_loop()
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            here.run_until_complete(both(client))
            pool.submit(asyncio.run, both(client)).result()
    here.run_until_complete(client.close())
    left = asyncio.all_tasks(here)
    here.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    here.close()


def test_a_client_in_use_in_another_thread_says_so_and_allows_nothing(tmp_path: Path) -> None:
    client = HookClient(command=command(tmp_path))

    async def first() -> None:
        await both(client)
        with ThreadPoolExecutor(1) as pool:
            other = asyncio.wrap_future(pool.submit(asyncio.run, calls(client, "plain")))
            outcome = await other
        assert isinstance(outcome, Blocked) and "another event loop" in outcome.reason
        await both(client)
        await client.close()

    asyncio.run(first())


def test_registered_hooks_go_on_in_another_event_loop(project: Path) -> None:
    """As those of the client that it was: a guard that was left behind would block."""
    client = HookClient(project=project)
    hook_id = "guard"

    async def first() -> None:
        async with HookClient(project=project) as asker:
            client.register_hook("BeforeTool", guard, matcher={"kind": "shell"}, hook_id=hook_id)
            await client.ready(hook_id)
            assert (await fires(asker)).reason == "guarded"

    async def second() -> None:
        async with HookClient(project=project) as asker:
            await client.connect()
            await client.ready(hook_id)
            outcome = await fires(asker)
            assert (outcome.reason, outcome.warnings) == ("guarded", [])
            assert [it.hook_id for it in await asker.list_hooks()] == [hook_id]
        await client.close()

    loop = asyncio.new_event_loop()  # That of the server.
    serving, ended = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with served(project):
            serving.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert serving.wait(LIMIT_SECONDS)
        asyncio.run(first())
        asyncio.run(second())
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def blocking(client: sync.HookClient, name: str) -> ToolOutcome:
    return sync.execute_tool(client, ToolCall(name, {}), lambda _: "did it")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_asks_with_an_engine_of_its_own(tmp_path: Path) -> None:
    forking = multiprocessing.get_context("fork")
    client = sync.HookClient(command=command(tmp_path))
    assert isinstance(blocking(client, "plain"), Ran)
    told: Any = forking.Queue()

    def child() -> None:
        names = [type(blocking(client, name)).__name__ for name in ("plain", "refused")]
        client.close()
        told.put(names)

    process = forking.Process(target=child, daemon=True)
    process.start()
    assert told.get(timeout=LIMIT_SECONDS) == ["Ran", "Blocked"]
    process.join()
    assert process.exitcode == 0 and process.pid != os.getpid()
    assert isinstance(blocking(client, "refused"), Blocked)
    client.close()


def test_a_client_ends_where_the_loop_of_an_agent_stands_still(tmp_path: Path) -> None:
    client, loop = sync.HookClient(command=command(tmp_path)), asyncio.new_event_loop()
    left: list[asyncio.Task[ToolOutcome]] = []

    async def agent() -> None:
        here, begun = Here(), asyncio.Event()

        async def tool() -> None:
            begun.set()
            await asyncio.sleep(3600)

        asked = execute_tool(client.inner, ToolCall("plain", {}), lambda _: here.run(tool))
        left.append(asyncio.ensure_future(here.there(client, asked)))
        await begun.wait()

    loop.run_until_complete(agent())
    client.close()
    assert client.thread is not None and not client.thread.is_alive()
    outcome = loop.run_until_complete(asyncio.wait_for(left[0], LIMIT_SECONDS))
    assert isinstance(outcome, Blocked) and outcome.started and "closed" in outcome.reason
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
