"""The face without asyncio, with the engine itself."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, needs_engine, settings
from scripted import LIMIT_SECONDS
from test_agent_engine import FORBIDDEN, REDACTS, SECRET

from hook_sdk import HookClient as AsyncClient, HookClosedError, agent
from hook_sdk.agent import (
    Blocked,
    Called,
    Chunk,
    Done,
    Interrupted,
    Ran,
    SessionInfo,
    ToolCall,
)
from hook_sdk.sync import Caller, HookClient, agent_turn, call_model, execute_tool, session

pytestmark = [needs_engine, pytest.mark.usefixtures("private")]


def client_of(folder: Path, hooks: dict[str, Any], **options: Any) -> HookClient:
    path = settings(folder, hooks)
    command = [BINARY, "serve", "--stdio", "--project", str(folder), "--settings", str(path)]
    return HookClient(command=command, **options)


def test_five_hundred_calls_from_threads_run_on_those(tmp_path: Path) -> None:
    barrier = threading.Barrier(500)

    with client_of(tmp_path, {"BeforeTool": FORBIDDEN}) as client:

        def one(n: int) -> Any:
            thread = threading.get_ident()

            def run(tool_input: dict[str, Any]) -> str:
                assert threading.get_ident() == thread
                barrier.wait()  # All of them run at once.
                return str(tool_input["n"])

            return execute_tool(client, ToolCall("read_file", {"n": n}), run)

        with ThreadPoolExecutor(500) as pool:
            outcomes = list(pool.map(one, range(500)))
        assert [outcome.result.text for outcome in outcomes] == [str(n) for n in range(500)]
        assert all(isinstance(outcome, Ran) for outcome in outcomes)
        forbidden = execute_tool(client, ToolCall("forbidden", {}), lambda _: "x")
        assert isinstance(forbidden, Blocked) and not forbidden.started
    assert not [it for it in threading.enumerate() if it.name == "hook-client"]


def test_a_tool_that_raises_has_failed(tmp_path: Path) -> None:
    def run(_: dict[str, Any]) -> object:
        raise OSError("disk full")

    with client_of(tmp_path, {}) as client:
        outcome = execute_tool(client, ToolCall("a", {}), run)
        assert isinstance(outcome, Ran) and outcome.result.error == "disk full"
        assert client.fire("BeforeTool", {"tool_name": "a", "tool_input": {}}).proceeds


def test_a_model_is_read_on_the_thread_that_asks(tmp_path: Path) -> None:
    seen: list[Any] = []
    thread = threading.get_ident()

    def model(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        seen.append(request["messages"][0]["content"])
        for text in ("a", "b"):
            assert threading.get_ident() == thread
            yield {"choices": [{"index": 0, "delta": {"content": text}}]}

    request = {"model": "m", "messages": [{"role": "user", "content": SECRET}]}
    with client_of(tmp_path, {"BeforeModel": [{"hooks": [REDACTS]}]}) as client:
        with call_model(client, "openai-chat", request, model) as answer:
            assert sum(isinstance(part, Chunk) for part in answer) == 2
            outcome = answer.finish()
    assert isinstance(outcome, Called) and seen == ["my key is [redacted]"]


def test_a_model_call_that_is_left_closes_its_stream_on_the_same_thread(tmp_path: Path) -> None:
    closed: list[int] = []

    def endless() -> Iterator[dict[str, Any]]:
        try:
            while True:
                yield {"choices": [{"index": 0, "delta": {"content": "a"}}]}
        finally:
            closed.append(threading.get_ident())

    stream = endless()  # Which is not the last one that holds it.
    with client_of(tmp_path, {}) as client:
        with call_model(client, "openai-chat", {"messages": []}, lambda _: stream) as answer:
            assert isinstance(next(answer), Chunk)
        assert closed == [threading.get_ident()]
        assert isinstance(answer.finish(), Interrupted)


def test_turns_and_sessions(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = f"cat >> {log}; echo >> {log}"
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event in ("SessionStart", "BeforeAgent", "BeforeTool", "AfterAgent", "SessionEnd")
    }
    with client_of(tmp_path, hooks) as client:
        with session(client, session_id="s-7") as begun:
            assert begun.notify("hello").stop is None
            with agent_turn(client, "p") as turn:
                for prompt in turn:
                    execute_tool(client, ToolCall("a", {}), lambda _: "x")
                    turn.answer = f"did {prompt}"
            assert isinstance(turn.end, Done)
        execute_tool(client, ToolCall("a", {}), lambda _: "x", session=SessionInfo("other"))
    lines = log.read_text().splitlines()
    assert sum('"session_id":"s-7"' in line for line in lines) == 5 and len(lines) == 6


def test_a_handler_that_is_registered_answers(tmp_path: Path) -> None:
    with client_of(tmp_path, {}) as client:
        hook = client.register_hook("BeforeTool", lambda _: {"action": "block", "reason": "no"})
        outcome = execute_tool(client, ToolCall("a", {}), lambda _: "x")
        assert isinstance(outcome, Blocked) and outcome.reason == "no"
        assert [it.hook_id for it in client.wait(client.inner.list_hooks)] == [hook]
        assert client.wait(lambda: client.inner.unregister_hook(hook))


def test_a_client_that_is_closed_blocks_and_ends_what_runs(tmp_path: Path) -> None:
    client = client_of(tmp_path, {})
    begun, may_end = threading.Event(), threading.Event()

    def run(_: dict[str, Any]) -> str:
        begun.set()
        may_end.wait()
        return "x"

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(execute_tool, client, ToolCall("a", {}), run)
        begun.wait()
        client.close()
        may_end.set()
        outcome = asked.result()
        assert isinstance(outcome, Blocked) and outcome.started
        assert isinstance(execute_tool(client, ToolCall("a", {}), run), Blocked)
        with pytest.raises(HookClosedError):
            client.wait(client.inner.list_hooks)


INTERRUPTED = """
import signal, sys, time
from hook_sdk.agent import ToolCall
from hook_sdk.sync import HookClient, execute_tool

# A shell has what it starts in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

def run(_):
    print("runs", flush=True)
    time.sleep(60)

with HookClient(command=sys.argv[1:]) as client:
    try:
        execute_tool(client, ToolCall("a", {}), run)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_a_call_in_the_last_moment_of_a_client_has_an_end(tmp_path: Path) -> None:
    client = client_of(tmp_path, {})
    caller, loop = Caller(client), client.loop()
    close, calling = loop.close, list[Any]()

    def closing() -> None:
        calling.append(pool.submit(caller.wait, client.inner.list_hooks))
        while not calling[0].done() and not loop._ready:  # type: ignore[attr-defined]
            pass
        close()

    loop.close = closing  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as pool:
        client.close()
        with pytest.raises(HookClosedError):
            calling[0].result(LIMIT_SECONDS)


def test_an_interrupt_ends_the_call(tmp_path: Path) -> None:
    command = [BINARY, "serve", "--stdio", "--project", str(tmp_path)]
    program = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *command], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None and program.stdout.readline() == "runs\n"
    program.send_signal(signal.SIGINT)
    assert program.communicate(timeout=LIMIT_SECONDS)[0] == "interrupted\n"
    assert program.returncode == 0


def test_a_forgotten_await_is_a_warning() -> None:
    client = AsyncClient(command=["hook"])
    with pytest.warns(RuntimeWarning, match="never awaited"):
        agent.execute_tool(client, ToolCall("a", {}), lambda _: "x")  # type: ignore[unused-coroutine]
        gc.collect()
    with pytest.warns(RuntimeWarning, match="never read"):
        agent.call_model(client, "stable", {}, lambda request: request)
        gc.collect()
    asyncio.run(client.close())


def test_a_stop_iteration_is_an_error_as_others_are(tmp_path: Path) -> None:
    def stops(_: dict[str, Any]) -> Any:
        return next(iter([]))

    request = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    with client_of(tmp_path, {}) as client:
        outcome = execute_tool(client, ToolCall("a", {}), stops)
        assert isinstance(outcome, Ran) and outcome.result.error == "StopIteration"
        broken = call_model(client, "openai-chat", request, stops).finish()
        assert isinstance(broken, Interrupted) and broken.error is not None


def test_an_async_handler_cannot_wait_for_its_own_thread(tmp_path: Path) -> None:
    raised: list[BaseException] = []

    with client_of(tmp_path, {}, on_problem=lambda _: None) as client:

        async def asks(_: Any) -> None:
            for wait in (lambda: client.fire("Notification", {"message": "x"}), client.close):
                try:
                    wait()
                except RuntimeError as error:
                    raised.append(error)

        client.register_hook("BeforeTool", asks)
        assert isinstance(execute_tool(client, ToolCall("a", {}), lambda _: "x"), Ran)
    assert len(raised) == 2 and all("plain function" in str(it) for it in raised)


def test_a_plain_handler_may_fire_what_a_plain_handler_answers(tmp_path: Path) -> None:
    with client_of(tmp_path, {}, max_threads=1) as client:
        inner: list[str] = []
        client.register_hook("AfterTool", lambda event: inner.append(event.tool_name))

        def fires(event: Any) -> None:
            client.fire("AfterTool", {"tool_name": "inner", "tool_input": {}, "tool_response": {}})

        client.register_hook("BeforeTool", fires)
        client.fire("BeforeTool", {"tool_name": "a", "tool_input": {}})
    assert inner == ["inner"]
