"""What nobody can catch on standard error is not written there, but told to `on_problem`."""

from __future__ import annotations

import asyncio
import gc
import sys

import pytest
from scripted import run_async, scripted

from hook_sdk import HookClient, HookConnectionError, HookResponse

SERVER = """
import json, sys
sys.stderr.write("careful\\n" + "x" * 100_000 + "\\n")
print(json.dumps({"type": "hook-hello", "protocol": 1}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"type": "hook-execution-response", "processed": {"decision": "proceed"},
                      "correlationId": asked["correlationId"]}), flush=True)
sys.stderr.write("without an end")
"""


@run_async
async def test_standard_error_of_a_server_that_was_started_is_told(
    capfd: pytest.CaptureFixture[str],
) -> None:
    problems: list[str] = []
    command = [sys.executable, "-c", SERVER]
    async with HookClient(command=command, on_problem=problems.append) as client:
        assert (await client.fire("SessionEnd", {"reason": "exit"})).proceeds
    first, long, last = problems
    assert first == "the hook server says: careful"
    assert len(long) < 20_000
    assert last == "the hook server says: without an end"
    assert capfd.readouterr().err == ""


@run_async
async def test_a_hook_that_is_taken_back_leaves_no_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with scripted() as (client, server, problems):
        begun, cleaned = asyncio.Event(), asyncio.Event()

        async def handler(_: object) -> HookResponse:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.set()
                raise OSError("in its cleanup")

        hook_id = client.register_hook("BeforeTool", handler)
        peer = await server.peer()
        await peer.registers()
        peer.call(hook_id, "BeforeTool", {"tool_name": "t"}, "1")
        await begun.wait()
        taking = asyncio.ensure_future(client.unregister_hook(hook_id))
        await peer.hear("hook-unregister")
        # Calls that were on their way.
        peer.call(hook_id, "BeforeTool", {"tool_name": "t"}, "2")
        answer = await peer.hear("hook-answer")
        assert answer["callId"] == "2" and "no hook 'h-1' any more" in answer["error"]
        peer.say({"type": "hook-unregistered", "hookId": hook_id})
        assert await taking
        peer.say({"type": "hook-call-cancelled", "callId": "1"})
        await cleaned.wait()
        reloading = asyncio.ensure_future(client.reload())
        await peer.hear("hook-reload")
        peer.say({"type": "hook-reloaded", "success": True, "totalHooks": 0})
        await reloading
        gc.collect()
        assert len(problems) == 1 and "OSError: in its cleanup" in problems[0], problems
    assert capfd.readouterr().err == ""


@run_async
async def test_a_handler_that_raises_is_told_with_its_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with scripted() as (client, server, problems):

        def handler(_: object) -> None:
            raise LookupError("nothing there")

        client.register_hook("BeforeTool", handler)
        peer = await server.peer()
        await peer.registers()
        peer.call("h-1", "BeforeTool", {"tool_name": "t"})
        assert "LookupError" in (await peer.hear("hook-answer"))["error"]
        (problem,) = problems
        assert problem.startswith("hook h-1 failed on BeforeTool: Traceback")
        assert "test_quiet.py" in problem and problem.endswith("LookupError: nothing there")
    assert capfd.readouterr().err == ""


@run_async
async def test_a_callback_for_problems_that_raises_ends_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fails(_: str) -> None:
        raise RuntimeError("the callback's own")

    async with HookClient(socket="/no/such/socket", on_problem=fails) as client:
        for _ in range(2):
            with pytest.raises(HookConnectionError):
                await client.connect()
    said = capfd.readouterr().err
    assert "no hook server at /no/such/socket" in said and "the callback's own" in said


@run_async
async def test_a_state_of_the_settings_is_told_once_and_a_failure_each_time() -> None:
    async with scripted() as (client, _, problems):
        for _ in range(2):
            client._session.report_warnings(["3 hooks are not trusted", "hook guard: it failed"])
        assert problems == [
            "3 hooks are not trusted",
            "hook guard: it failed",
            "hook guard: it failed",
        ]
