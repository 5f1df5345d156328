"""Servers that misbehave, lines that are none, connections that are lost."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted import run_async, scripted

from hook_sdk import (
    A3sClient,
    HookConnectionError,
    HookProtocolError,
    HookResponse,
    RegistrationError,
    ValueNotSendable,
    lines,
)
from hook_sdk.agent import Blocked, ToolCall, execute_tool
from hook_sdk.lines import encode

TOLD = {"tool": "Bash", "args": {}}


def response(number: str, **more: Any) -> dict[str, Any]:
    base = {"type": "hook-execution-response", "correlationId": number, "success": True}
    return {**base, "processed": {"decision": "block"}, **more}


BAD_LINES = [
    b"Segmentation fault\n",
    b"\n",
    b"[1, 2]\n",
    b'{"no": "type"}\n',
    b'{"type": 7}\n',
    b'{"type": "hook-answer", "x": NaN}\n',
    b"\xff\xfe\n",
    b"[" * 200_000 + b"]" * 200_000 + b"\n",
    b'{"type": "hook-call"}\n',
    b'{"type": "hook-call", "callId": 7}\n',
    b'{"type": "hook-call-cancelled"}\n',
    b'{"type": "hook-host-result"}\n',
    b'{"type": "hook-execution-response", "correlationId": ["py-1"]}\n',
    b'{"type": "hook-execution-response", "correlationId": "nobody"}\n',
    b'{"type": "hook-hooks"}\n',
    b'{"type": "hook-unregistered", "hookId": "nobody"}\n',
    b'{"type": "hook-error"}\n',
    b'{"type": "hook-error", "request": "hook-register", "hookId": "nobody", "error": 1}\n',
    b'{"type": "of a later version"}\n',
]


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: line[:40].decode("latin1"))
@run_async
async def test_a_bad_line_ends_nothing_but_itself(line: bytes) -> None:
    async with scripted() as (client, server, problems):
        client.register_hook("PreToolUse", lambda _: HookResponse.skip())
        peer = await server.peer()
        await peer.registers()
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        asked = await peer.hear("hook-execution-request")
        peer.say_bytes(line)
        peer.call("h-1", "PreToolUse", TOLD)
        assert (await peer.hear("hook-answer"))["action"] == "skip"
        peer.say(response(asked["correlationId"]))
        assert (await firing).decision == "block"
        is_silent = b"later version" in line or b"unregistered" in line
        assert len(problems) == (0 if is_silent else 1), problems


@run_async
async def test_a_broken_answer_is_the_answer_of_the_request_that_it_names() -> None:
    async with scripted() as (client, server, _):
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        other = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer()
        first = await peer.hear("hook-execution-request")
        second = await peer.hear("hook-execution-request")
        peer.say_bytes(json.dumps(response(first["correlationId"]))[:-1].encode() + b",NaN}\n")
        with pytest.raises(HookProtocolError):
            await firing
        peer.say(response(second["correlationId"]))
        assert (await other).decision == "block"


@run_async
async def test_a_call_that_is_no_message_is_refused() -> None:
    async with scripted() as (client, server, problems):
        client.register_hook("PreToolUse", lambda event: None)
        peer = await server.peer()
        await peer.registers()
        peer.say_bytes(
            b'{"type": "hook-call", "callId": "half", "hookId": "h-1", "input": {"x": NaN}}\n'
        )
        answer = await peer.hear("hook-answer")
        assert answer["callId"] == "half" and "no message" in answer["error"]
        assert len(problems) == 1, problems
        # Whose call this is is not certain.
        peer.say_bytes(
            b'{"type": "hook-call", "callId": "a", "input": {"callId": "b", "x": NaN}}\n'
        )
        peer.call("h-1", "PreToolUse", {"tool": "Bash", "args": {}}, call_id="whole")
        assert (await peer.hear("hook-answer"))["callId"] == "whole"


@run_async
async def test_a_line_that_may_have_been_an_answer_is_not_waited_for_without_end() -> None:
    async with scripted() as (client, server, _):
        client._session.requests.doubt_seconds = 0.0
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer()
        await peer.hear("hook-execution-request")
        peer.say_bytes(b"Segmentation fault\n")
        with pytest.raises(HookProtocolError, match="no message"):
            await firing


@run_async
async def test_a_deadline_is_kept_without_the_server() -> None:
    async with scripted() as (client, server, problems):
        client._session.requests.late_seconds = client._session.triggers.late_seconds = 0.0
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}, deadline_ms=1))
        peer = await server.peer()
        number = (await peer.hear("hook-execution-request"))["correlationId"]
        assert (await peer.hear("hook-cancel"))["correlationId"] == number
        with pytest.raises(HookConnectionError, match="within 1 ms"):
            await firing
        peer.say(response(number))  # It comes too late, which is no error.
        call = ToolCall("a", {})
        running = asyncio.ensure_future(execute_tool(client, call, lambda _: "x", deadline_ms=1))
        await peer.hear("hook-trigger")
        await peer.hear("hook-trigger-cancel")
        outcome = await running
        assert isinstance(outcome, Blocked) and "within 1 ms" in outcome.reason
        assert problems == []


@run_async
async def test_a_response_to_nobody_may_have_been_anybodys() -> None:
    async with scripted() as (client, server, problems):
        client._session.requests.doubt_seconds = 0.0
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer()
        await peer.hear("hook-execution-request")
        peer.say(response(["py-1"]))  # type: ignore[arg-type]
        with pytest.raises(HookProtocolError, match="not what it answers"):
            await firing
        assert len(problems) == 1


@run_async
async def test_a_server_that_refuses_leaves_nobody_waiting() -> None:
    async with scripted() as (client, server, _):
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer()
        await peer.hear("hook-execution-request")
        peer.say({"type": "hook-refused", "message": "no more"})
        with pytest.raises(HookConnectionError, match="no more"):
            await firing
        assert (await server.peer("two")).hello["clientToken"]


@run_async
async def test_a_line_without_an_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    from hook_sdk import streams

    monkeypatch.setattr(streams, "MAX_READ", 1 << 20)
    async with scripted() as (client, server, problems):
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer()
        asked = await peer.hear("hook-execution-request")
        peer.say({"type": "of a later version", "x": "x" * (1 << 19)})
        peer.say(response(asked["correlationId"]))
        assert (await firing).decision == "block"
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        await peer.hear("hook-execution-request")
        peer.say_bytes(b"x" * (2 << 20))
        with pytest.raises(HookConnectionError):
            await firing
        assert (await server.peer("two")).hello["clientToken"]
        assert "without an end" in problems[0]


def test_a_value_that_is_shared_again_and_again_is_refused_before_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "MAX_SENT", 1 << 12)
    value: list[Any] = []
    for _ in range(13):
        value = [value, value]
    with pytest.raises(ValueNotSendable, match="more parts than fit"):
        encode({"x": value})


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "x" * (4 << 20), b"bytes", {1: 2}, object()]
)
@run_async
async def test_what_cannot_be_sent_is_raised_at_once(value: Any) -> None:
    # Also where there is no server to ask.
    client = A3sClient(socket="/no/such/socket")
    for _ in range(2):
        with pytest.raises(ValueNotSendable):
            await client.fire("BeforeTool", {"x": value})
    async with scripted() as (connected, server, _):
        connecting = asyncio.ensure_future(connected.connect())
        peer = await server.peer()
        await connecting
        with pytest.raises(ValueNotSendable):
            await connected.fire("BeforeTool", {"x": value})
        firing = asyncio.ensure_future(connected.fire("BeforeTool", {"x": "\ud800 \u2028"}))
        asked = await peer.hear("hook-execution-request")
        assert asked["input"] == {"x": "\ud800 \u2028"}
        peer.say(response(asked["correlationId"]))
        await firing


@run_async
async def test_no_server_is_an_error_and_not_a_wait() -> None:
    problems: list[str] = []
    async with A3sClient(socket="/no/such/socket", on_problem=problems.append) as client:
        hook_id = client.register_hook("PreToolUse", print)
        for asking in (client.fire("SessionEnd", {}), client.ready(hook_id), client.list_hooks()):
            with pytest.raises(HookConnectionError, match="/no/such/socket"):
                await asking
        assert len(problems) == 1  # The same is said once.


@run_async
async def test_whatever_fails_about_connecting_is_an_error_and_not_a_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private: None
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    problems: list[str] = []
    async with A3sClient(on_problem=problems.append) as client:
        for _ in range(2):
            outcome = await execute_tool(client, ToolCall("shell", {}), lambda _: "x")
            assert isinstance(outcome, Blocked) and "no way to a hook server" in outcome.reason
    assert len(problems) == 1


@run_async
async def test_a_callback_that_raises_ends_no_connection() -> None:
    def raises(_: object) -> None:
        raise RuntimeError("mine")

    async with scripted(on_registration_error=raises) as (client, server, problems):
        client.register_hook("PreToolUse", print, config={"fail_behavior": "block"})
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        hook_id = (await peer.hear("hook-register"))["hookId"]
        peer.say({"type": "hook-error", "request": "hook-register", "hookId": hook_id})
        await connecting
        with pytest.raises(RegistrationError):
            await client.serve_forever()
        firing = asyncio.ensure_future(client.fire("SessionEnd", {}))
        number = (await peer.hear("hook-execution-request"))["correlationId"]
        peer.say(response(number))
        assert (await firing).decision == "block"
        assert problems == ["a callback failed: RuntimeError('mine')"]


@pytest.mark.parametrize(
    ("greeting", "said"),
    [
        (b"Welcome!\n", "no hook server"),
        (b'{"type":"hello"}\n', "no hook server"),
        (b'{"type":"hook-hello","protocol":2}\n', "protocol 2, this is 1"),
        (b'{"type":"hook-refused","message":"64 clients"}\n', "64 clients"),
        (b"", "ended the connection"),
    ],
)
@run_async
async def test_what_greets_wrongly_is_not_talked_to(greeting: bytes, said: str) -> None:
    async with scripted() as (client, server, _):
        firing = asyncio.ensure_future(client.fire("SessionEnd", {}))
        peer = await server.raw_peer()
        peer.say_bytes(greeting)
        peer.close()
        with pytest.raises((HookConnectionError, HookProtocolError), match=said):
            await firing


@run_async
async def test_a_lost_connection_ends_requests_and_registers_again_with_a_new_server() -> None:
    async with scripted() as (client, server, _):
        cancelled = asyncio.Event()

        async def handler(_: object) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        client.register_hook("PreToolUse", handler)
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer("one")
        await peer.registers()
        await peer.hear("hook-execution-request")
        peer.call("h-1", "PreToolUse", TOLD)
        peer.close()
        with pytest.raises(HookConnectionError):
            await firing
        peer = await server.peer("two")
        assert peer.hello["clientToken"] == "one"
        # This server knows nothing of it: its calls are nobody's.
        error = {"code": "unknown_token", "message": "no client has this token"}
        peer.say({"type": "hook-error", "request": "hook-hello", "error": error})
        assert (await peer.registers())["hookId"] == "h-1"
        await cancelled.wait()
        await client.ready("h-1")
        peer.close()
        assert (await server.peer("three")).hello["clientToken"] == "two"


@run_async
async def test_within_the_grace_hooks_and_waiting_calls_come_back() -> None:
    async with scripted() as (client, server, _):
        go_on = asyncio.Event()
        runs = 0

        async def handler(_: object) -> HookResponse:
            nonlocal runs
            runs += 1
            await go_on.wait()
            return HookResponse.block("late, but here")

        client.register_hook("PreToolUse", handler)
        taken_back = client.register_hook("PreToolUse", print)
        peer = await server.peer("one")
        for _ in range(2):
            await peer.registers()
        peer.call("h-1", "PreToolUse", TOLD, "7")
        await client.ready(taken_back)
        peer.close()
        peer = await server.peer("two")
        assert peer.hello["clientToken"] == "one"
        # What was answered, and what was taken back, meanwhile.
        go_on.set()
        assert await client.unregister_hook(taken_back)
        peer.call("h-1", "PreToolUse", TOLD, "7")
        ids = ["h-1", taken_back]
        peer.say({"type": "hook-resumed", "clientToken": "one", "hookIds": ids})
        heard = [await peer.hear(), await peer.hear()]
        types = {message["type"]: message for message in heard}
        assert types["hook-answer"]["reason"] == "late, but here"
        assert types["hook-unregister"]["hookId"] == taken_back
        await client.ready("h-1")
        assert runs == 1
        # The token goes on to be that of before.
        peer.close()
        assert (await server.peer("three")).hello["clientToken"] == "one"


@run_async
async def test_a_server_that_ends_still_gets_its_answers() -> None:
    async with scripted() as (client, server, _):
        client.register_hook("PreToolUse", lambda _: HookResponse.skip())
        peer = await server.peer()
        await peer.registers()
        peer.say({"type": "hook-close", "reason": "shutdown"})
        peer.call("h-1", "PreToolUse", TOLD)
        assert (await peer.hear("hook-answer"))["action"] == "skip"


@run_async
async def test_a_server_that_comes_later_is_found() -> None:
    async with scripted() as (client, server, problems):
        server.stop()
        hook_id = client.register_hook("PreToolUse", print)
        with pytest.raises(HookConnectionError):
            await client.ready(hook_id)
        await server.start()
        ready = asyncio.ensure_future(client.ready(hook_id))
        peer = await server.peer()
        await peer.registers()
        await ready
        assert len(problems) == 1


@run_async
async def test_a_server_is_started_where_there_is_none(tmp_path: Path) -> None:
    server = tmp_path / "hook"
    server.write_text(
        f"#!{sys.executable}\n"
        "import json, sys\n"
        "print(json.dumps({'type': 'hook-hello', 'protocol': 1, 'argv': sys.argv}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    print(json.dumps({'type': 'hook-execution-response', 'processed':\n"
        "        {'decision': 'proceed'}, 'warnings': sys.argv[1:],\n"
        "        'correlationId': asked['correlationId']}), flush=True)\n"
    )
    server.chmod(0o755)
    (tmp_path / ".hooks").mkdir()
    (tmp_path / ".hooks/settings.json").write_text("{}")
    environment = {"PATH": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    old = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        async with A3sClient(project=tmp_path, on_problem=lambda _: None) as client:
            outcome = await client.fire("SessionEnd", {"reason": "exit"})
            assert outcome.warnings[1:] == ["serve", "--stdio", "--project", str(tmp_path)]
        (tmp_path / "hook").unlink()
        async with A3sClient(project=tmp_path, on_problem=lambda _: None) as client:
            with pytest.raises(HookConnectionError, match="no `hook` to start"):
                await client.fire("SessionEnd", {})
        command = [sys.executable, "-c", "raise SystemExit(7)"]
        async with A3sClient(command=command, on_problem=lambda _: None) as client:
            with pytest.raises(HookConnectionError):
                await client.fire("SessionEnd", {})
    finally:
        os.environ.update(old)
