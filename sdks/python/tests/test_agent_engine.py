"""Triggers with the engine itself: many at once, and a server that is killed under them."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, child, needs_engine, settings
from scripted import run_async

from hook_sdk import A3sClient
from hook_sdk.agent import (
    Blocked,
    Called,
    Interrupted,
    Ran,
    ToolCall,
    Whole,
    call_model,
    execute_tool,
)

pytestmark = [needs_engine, pytest.mark.usefixtures("private")]

CALLS = 2000
GUARD = {"type": "command", "command": "exit 2", "failBehavior": "block"}
FORBIDDEN = [{"matcher": "forbidden", "hooks": [GUARD]}]


@contextlib.asynccontextmanager
async def serving(folder: Path, hooks: dict[str, Any]) -> AsyncIterator[Any]:
    """Starts servers at one socket, one after the other; gives a function that starts the next."""
    path, socket = settings(folder, hooks), folder / "s"
    running: list[asyncio.subprocess.Process] = []

    async def start() -> asyncio.subprocess.Process:
        server = await asyncio.create_subprocess_exec(
            *(BINARY, "serve", "--socket", str(socket), "--project", str(folder)),
            *("--settings", str(path)),
            stderr=asyncio.subprocess.PIPE,
        )
        running.append(server)
        assert server.stderr is not None
        while line := await server.stderr.readline():
            if b"listening on" in line:
                break
        return server

    try:
        yield start, socket
    finally:
        for server in running:
            with contextlib.suppress(ProcessLookupError):
                server.kill()
            await server.communicate()


@run_async
async def test_two_thousand_calls_at_once_have_one_outcome_each(tmp_path: Path) -> None:
    running = 0

    async def run(tool_input: dict[str, Any]) -> str:
        nonlocal running
        running += 1
        await asyncio.sleep(0)
        running -= 1
        return str(tool_input["n"])

    async with child(tmp_path, {"BeforeTool": FORBIDDEN}) as client:
        calls = [ToolCall("read_file", {"n": n}) for n in range(CALLS)]
        outcomes = await asyncio.gather(*(execute_tool(client, call, run) for call in calls))
        assert [outcome.result.text for outcome in outcomes] == [str(n) for n in range(CALLS)]
        assert all(isinstance(outcome, Ran) for outcome in outcomes) and running == 0
        forbidden = await execute_tool(client, ToolCall("forbidden", {"n": 0}), run)
        assert isinstance(forbidden, Blocked) and not forbidden.started


@run_async
async def test_a_server_that_is_killed_and_started_again_lets_no_call_pass(tmp_path: Path) -> None:
    ran: Counter[str] = Counter()
    running = 0
    killed = asyncio.Event()

    async def run(tool_input: dict[str, Any]) -> str:
        nonlocal running
        running += 1
        ran[tool_input["tool"]] += 1
        try:
            if len(ran) and sum(ran.values()) == 200:
                killed.set()
            await asyncio.sleep(0)
            return "done"
        finally:
            running -= 1

    async with serving(tmp_path, {"BeforeTool": FORBIDDEN}) as (start, socket):
        server = await start()
        async with A3sClient(socket=socket, on_problem=lambda _: None) as client:

            async def one(n: int) -> Any:
                tool = "forbidden" if n % 50 == 0 else "read_file"
                return await execute_tool(client, ToolCall(tool, {"tool": tool}), run)

            calling = [asyncio.ensure_future(one(n)) for n in range(CALLS)]
            await killed.wait()
            server.send_signal(signal.SIGKILL)
            outcomes = await asyncio.gather(*calling)
            assert running == 0 and ran["forbidden"] == 0
            kinds = Counter(type(outcome).__name__ for outcome in outcomes)
            assert kinds["Ran"] + kinds["Blocked"] == CALLS, kinds
            assert any(isinstance(it, Blocked) and it.error for it in outcomes)
            for n, outcome in enumerate(outcomes):
                assert not (n % 50 == 0 and isinstance(outcome, Ran))
            await start()
            again = await one(1)
            assert isinstance(again, Ran) and isinstance(await one(0), Blocked)


@run_async
async def test_a_hook_ends_with_the_task_that_asked(tmp_path: Path) -> None:
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    command = f"trap 'touch {ended}; exit' TERM; touch {begun}; sleep 60 & wait"
    hook = {"type": "command", "command": command}
    async with child(tmp_path, {"BeforeTool": [{"hooks": [hook]}]}) as client:
        asked = asyncio.ensure_future(execute_tool(client, ToolCall("a", {}), lambda _: "x"))
        while not begun.exists():
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        while not ended.exists():
            await asyncio.sleep(0.01)


SECRET = "my key is 1234"
REDACTS = {
    "type": "command",
    "command": """cat >/dev/null; echo '{"hookSpecificOutput": {"llm_request":
        {"messages": [{"role": "user", "content": "my key is [redacted]"}]}}}'""",
}


def model(seen: list[Any], *texts: str) -> Any:
    async def stream(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        seen.append(request)
        for text in texts:
            yield {"choices": [{"index": 0, "delta": {"content": text}}]}

    return stream


@run_async
async def test_the_model_never_sees_what_a_hook_redacts(tmp_path: Path) -> None:
    seen: list[Any] = []
    request = {"model": "m", "messages": [{"role": "user", "content": SECRET}]}
    async with child(tmp_path, {"BeforeModel": [{"hooks": [REDACTS]}]}) as client:
        answer = call_model(client, "openai-chat", request, model(seen, "ok"))
        outcome = await answer.finish()
    assert isinstance(outcome, Called), outcome
    assert seen == [
        {"model": "m", "messages": [{"role": "user", "content": "my key is [redacted]"}]}
    ]
    assert outcome.result["choices"][0]["message"]["content"] == "ok"


@run_async
async def test_a_stream_that_is_left_ends_its_trigger(tmp_path: Path) -> None:
    closed = asyncio.Event()

    async def endless(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        try:
            while True:
                yield {"choices": [{"index": 0, "delta": {"content": "x" * 1000}}]}
                await asyncio.sleep(0)
        finally:
            closed.set()

    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    async with child(tmp_path, {}) as client:
        async with call_model(client, "openai-chat", request, endless) as answer:
            parts = 0
            async for part in answer:
                assert not isinstance(part, Whole)
                parts += 1
                if parts == 100:
                    break
        assert closed.is_set()
        assert isinstance(await execute_tool(client, ToolCall("a", {}), lambda _: "x"), Ran)


class Odd(BaseException):
    """No Exception, as what some libraries raise to leave everything."""


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("error", [Odd("odd"), Speechless(), StopIteration()])
@pytest.mark.parametrize("is_plain", [False, True])
@run_async
async def test_whatever_a_tool_raises_is_its_failure(
    tmp_path: Path, error: BaseException, is_plain: bool
) -> None:
    def plain(_: dict[str, Any]) -> str:
        raise error

    async def waited_for(_: dict[str, Any]) -> str:
        raise error

    async with child(tmp_path, {}) as client:
        outcome = await execute_tool(client, ToolCall("a", {}), plain if is_plain else waited_for)
    assert isinstance(outcome, Ran) and outcome.result.error and outcome.raised is not None
    if not isinstance(error, StopIteration):
        assert outcome.raised is error


@run_async
async def test_whatever_a_model_raises_breaks_its_answer_off(tmp_path: Path) -> None:
    async def model(_: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        yield {"choices": [{"index": 0, "delta": {"content": "a"}}]}
        raise Odd("odd")

    request = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    async with child(tmp_path, {}) as client:
        outcome = await call_model(client, "openai-chat", request, model).finish()
    assert isinstance(outcome, Interrupted) and isinstance(outcome.error, Odd)


@run_async
async def test_whatever_a_host_service_raises_is_an_answer(tmp_path: Path) -> None:
    async def approve(_: dict[str, Any]) -> bool:
        raise Odd("odd")

    ask = {"type": "command", "command": """echo '{"decision": "ask", "reason": "sure?"}'"""}
    options: Any = {"host_services": {"user.approve": approve}, "on_problem": lambda _: None}
    async with child(tmp_path, {"BeforeTool": [{"hooks": [ask]}]}, **options) as client:
        outcome = await execute_tool(client, ToolCall("a", {}), lambda _: "x")
    assert isinstance(outcome, Blocked) and not outcome.started


@pytest.mark.parametrize(("at_once", "depth"), [(1, 5), (32, 1), (32, 3)])
@run_async
async def test_more_plain_tools_inside_of_others_than_threads_do_not_wait_for_ever(
    tmp_path: Path, at_once: int, depth: int
) -> None:
    loop = asyncio.get_running_loop()
    barrier = threading.Barrier(at_once)

    async with child(tmp_path, {}, max_threads=at_once) as client:

        def tool(tool_input: dict[str, Any]) -> str:
            left = tool_input["left"]
            if left == depth:
                barrier.wait()  # All threads are in one of them.
            if left == 0:
                return "inner"
            inner = execute_tool(client, ToolCall("inner", {"left": left - 1}), tool)
            return asyncio.run_coroutine_threadsafe(inner, loop).result().result.text

        calls = [execute_tool(client, ToolCall("a", {"left": depth}), tool) for _ in range(at_once)]
        outcomes = await asyncio.gather(*calls)
        threads = client._session.threads
        assert {it.result.text for it in outcomes} == {"inner"} and threads._limit == at_once
        await execute_tool(client, ToolCall("a", {"left": 0}), lambda _: "x")


@pytest.mark.parametrize("answer", ["yes", 1, None, {}])
@run_async
async def test_an_approval_that_is_no_bool_is_a_refusal_and_said(
    tmp_path: Path, answer: object
) -> None:
    ask = {"type": "command", "command": 'echo \'{"decision": "ask", "reason": "sure?"}\''}
    problems: list[str] = []
    options: dict[str, Any] = {
        "host_services": {"user.approve": lambda _: answer},
        "on_problem": problems.append,
    }
    async with child(tmp_path, {"BeforeTool": [{"hooks": [ask]}]}, **options) as client:
        outcome = await execute_tool(client, ToolCall("a", {}), lambda _: "did it")
    assert isinstance(outcome, Blocked) and outcome.error is None
    assert [it for it in problems if f"returned {answer!r}" in it and "refusal" in it], problems
