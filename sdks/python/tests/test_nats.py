"""What is asked of a fleet behind a broker, and what is answered."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from brokers import TOOL, asker, broker, deny, engine, free_port, nats, needs_broker, response
from scripted import run_async

from hook_sdk import A3sClient, Fleet, HookClosedError, HookProtocolError

pytestmark = needs_broker


@run_async
async def test_an_engine_of_the_fleet_answers(tmp_path: Path) -> None:
    async with broker(tmp_path) as url, engine(url, deny) as seen, asker(url) as client:
        outcome = await client.fire("BeforeTool", TOOL)
        assert (outcome.decision, outcome.reason) == ("block", "as the fleet says")
        [request] = seen
        assert request["protocol"] == 1 and request["deadlineMs"] <= 60_000
        assert request["input"]["idempotencyKey"] not in ("forged", "")


@run_async
async def test_nobody_is_no_consent(tmp_path: Path) -> None:
    async with broker(tmp_path) as url:
        async with asker(url) as client:
            answer = await client.request("BeforeTool", TOOL)
            assert answer["error"]["code"] == "no_handler"
            assert answer["processed"]["decision"] == "block"
        async with asker(url, fail_behavior="continue") as client:
            answer = await client.request("BeforeTool", TOOL)
            assert "processed" not in answer


@run_async
async def test_a_broker_that_comes_later_is_waited_for(tmp_path: Path) -> None:
    port = free_port()
    async with asker(f"nats://127.0.0.1:{port}") as client:
        answer = await client.request("BeforeTool", TOOL, deadline_ms=200)
        assert answer["error"]["code"] == "deadline_exceeded"
        assert answer["processed"]["decision"] == "block"
        async with broker(tmp_path, port) as url, engine(url, deny):
            outcome = await client.fire("BeforeTool", TOOL)
            # The engine may be there after the request; either blocks.
            assert outcome.decision == "block"


@run_async
async def test_an_engine_that_is_lost_is_followed_by_another(tmp_path: Path) -> None:
    attempts = 0

    async def late(message: Any, request: dict[str, Any]) -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 2:
            await deny(message, request)

    async with broker(tmp_path) as url, engine(url, late) as seen, asker(url) as client:
        listener = await nats.connect(url)
        cancels = await listener.subscribe("hooks.cancel")
        await listener.flush()
        outcome = await client.fire("BeforeTool", TOOL, deadline_ms=20_000)
        assert outcome.reason == "as the fleet says"
        # The one that fell silent may have it still.
        assert json.loads((await cancels.next_msg(timeout=20)).data)["type"] == "hook-cancel"
        await listener.close()
        first, second = seen
        assert first["correlationId"] == second["correlationId"]
        assert first["input"]["idempotencyKey"] == second["input"]["idempotencyKey"]
        assert second["deadlineMs"] <= 15_000


async def tools_asked(client: A3sClient, seen: list[dict[str, Any]]) -> list[str]:
    """The tools that an engine was asked about until now: what is asked here comes after them."""
    await client.request("Notification", {"message": "the last"})
    asked = (request for request in seen if request["eventName"] == "BeforeTool")
    return [request["input"]["tool_name"] for request in asked]


async def silent(message: Any, request: dict[str, Any]) -> None:
    """Answers nothing but what comes last."""
    if request["eventName"] == "Notification":
        await deny(message, request)


@run_async
async def test_silence_is_asked_again_once(tmp_path: Path) -> None:
    async with broker(tmp_path) as url, engine(url, silent) as seen, asker(url) as client:
        answer = await client.request("BeforeTool", TOOL, deadline_ms=20_000)
        assert answer["error"]["code"] == "unanswered"
        assert "said anything for 5000 ms; it was asked again" in answer["error"]["message"]
        assert answer["processed"]["decision"] == "block"
        assert await tools_asked(client, seen) == ["edit", "edit"]


@run_async
async def test_what_has_little_time_is_asked_once(tmp_path: Path) -> None:
    async with broker(tmp_path) as url, engine(url, silent) as seen, asker(url) as client:
        # An engine says after 20 ms, and no sooner, that it is at work.
        for number in itertools.count():
            tool = {**TOOL, "tool_name": f"edit_{number}"}
            answer = await client.request("BeforeTool", tool, deadline_ms=40)
            assert answer["error"]["code"] == "deadline_exceeded"
            assert answer["processed"]["decision"] == "block"
            # On a machine that has no time for it, it may not have been sent.
            if "no engine had answered it" in answer["error"]["message"]:
                break
        assert (await tools_asked(client, seen)).count(f"edit_{number}") == 1


@run_async
async def test_an_engine_that_has_a_request_keeps_it_whoever_is_busy(tmp_path: Path) -> None:
    async def working(message: Any, request: dict[str, Any]) -> None:
        if request["eventName"] == "BeforeTool":
            await message.respond(b'{"type":"hook-working"}')
            await message.respond(b'{"type":"hook-busy"}')
        await deny(message, request)

    async with broker(tmp_path) as url, engine(url, working) as seen, asker(url) as client:
        outcome = await client.fire("BeforeTool", TOOL)
        assert outcome.reason == "as the fleet says"
        assert await tools_asked(client, seen) == ["edit"]


@contextlib.asynccontextmanager
async def scripted_broker(*turns: list[str]) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """A broker that says to each request what its turn is; with those requests.

    `refused` lets the asker hear no more, `end` ends the connection, and `response` answers.
    """
    seen: list[dict[str, Any]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b'INFO {"server_id":"x","version":"2.9.0","proto":1,"headers":true,'
            b'"max_payload":1048576}\r\n'
        )
        subscribed, number = "", ""
        while line := (await reader.readline()).decode().split():
            if line[0] == "PING":
                writer.write(b"PONG\r\n")
            elif line[0] == "SUB":
                subscribed, number = line[1], line[-1]
            elif line[0] == "PUB":
                payload = await reader.readexactly(int(line[-1]) + 2)
                if len(line) < 4:
                    continue
                seen.append(json.loads(payload))
                for say in turns[len(seen) - 1]:
                    if say == "end":
                        writer.close()
                        return
                    if say == "refused":
                        what = f"Permissions Violation for Subscription to {json.dumps(subscribed)}"
                        writer.write(f"-ERR '{what}'\r\n".encode())
                        continue
                    said = json.dumps({"type": say}).encode()
                    if say == "response":
                        said = response(seen[-1], "block")
                    writer.write(f"MSG {line[2]} {number} {len(said)}\r\n".encode())
                    writer.write(said + b"\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen


@run_async
async def test_a_refusal_that_is_over_is_none() -> None:
    turns = [["hook-busy", "refused", "end"], ["hook-working", "response"]]
    async with scripted_broker(*turns) as (url, seen), asker(url) as client:
        outcome = await client.fire("BeforeTool", TOOL, deadline_ms=20_000)
        assert outcome.reason == "as the fleet says" and len(seen) == 2


@run_async
async def test_so_many_are_at_the_fleet_and_others_wait_in_their_time(tmp_path: Path) -> None:
    held: list[tuple[Any, dict[str, Any]]] = []
    full = asyncio.Event()

    async def hold(message: Any, request: dict[str, Any]) -> None:
        held.append((message, request))
        if len(held) == 1024:
            full.set()

    async with broker(tmp_path) as url, engine(url, hold), asker(url) as client:
        tasks = [asyncio.ensure_future(client.fire("BeforeTool", TOOL)) for _ in range(1100)]
        await asyncio.wait_for(full.wait(), 30)
        late = await client.request("BeforeTool", TOOL, deadline_ms=200)
        assert late["error"]["code"] == "deadline_exceeded"
        assert "1024 requests of this client" in late["error"]["message"]
        assert len(held) == 1024
        tasks.pop().cancel()  # One that waits gives its turn up.
        answered = 0
        while answered < 1099:
            while answered < len(held):
                await deny(*held[answered])
                answered += 1
            await asyncio.sleep(0.01)
        outcomes = await asyncio.gather(*tasks)
        assert all(outcome.decision == "block" for outcome in outcomes)
        assert len(held) == 1099


NO_REPLIES = """authorization { users = [
  { user: all, password: all },
  { user: a, password: a, permissions: { publish: ">", subscribe: "other.>" } },
] }
no_auth_user: a
"""


@run_async
async def test_one_that_may_not_hear_is_told_so_at_once(tmp_path: Path) -> None:
    async with broker(tmp_path, more=NO_REPLIES) as url:
        everything = url.replace("://", "://all:all@")
        async with engine(everything, deny), asker(url) as client:
            for _ in range(2):
                answer = await client.request("BeforeTool", TOOL)
                assert answer["error"]["code"] == "unanswered"
                assert "does not let this client hear" in answer["error"]["message"]
                assert (
                    "permissions violation for subscription" in answer["error"]["message"].lower()
                )
                assert answer["processed"]["decision"] == "block"


@run_async
async def test_what_the_library_fails_at_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with broker(tmp_path, more=NO_REPLIES) as url, asker(url) as client:
        answer = await client.request("BeforeTool", TOOL)
        assert "does not let this client hear" in answer["error"]["message"]
        # It is tried again to hear.
        monkeypatch.setattr("hook_sdk.transports.hearing._AGAIN_SECONDS", 0)
        for error in (RuntimeError("not this time"), nats.errors.Error("not this time")):
            monkeypatch.setattr("nats.aio.client.Client.subscribe", AsyncMock(side_effect=error))
            answer = await asyncio.wait_for(client.request("BeforeTool", TOOL), 20)
            assert answer["error"]["code"] == "unanswered"
            assert "not this time" in answer["error"]["message"]
            assert answer["processed"]["decision"] == "block"


@run_async
async def test_work_and_want_of_room_are_waited_for(tmp_path: Path) -> None:
    asked = 0

    async def slow(message: Any, request: dict[str, Any]) -> None:
        nonlocal asked
        asked += 1
        if asked < 3:
            await message.respond(b'{"type":"hook-busy"}')
            return
        for _ in range(12):  # Longer than an engine may be silent.
            await asyncio.sleep(0.5)
            await message.respond(b'{"type":"hook-working"}')
        await deny(message, request)

    async with broker(tmp_path) as url, engine(url, slow) as seen, asker(url) as client:
        outcome = await client.fire("BeforeTool", TOOL, deadline_ms=20_000)
        assert outcome.reason == "as the fleet says" and len(seen) == 3


STRANGE = [b"nonsense", b"[]", b'{"type":"hook-hello"}', b'{"type":"hook-hello","protocol":2}']


@pytest.mark.parametrize("said", STRANGE)
@run_async
async def test_what_is_no_response_blocks(tmp_path: Path, said: bytes) -> None:
    async def strange(message: Any, _: dict[str, Any]) -> None:
        await message.respond(said)

    async with broker(tmp_path) as url, engine(url, strange), asker(url) as client:
        answer = await client.request("BeforeTool", TOOL)
        assert answer["error"]["code"] == "unanswered"
        assert "no response" in answer["error"]["message"]
        assert answer["processed"]["decision"] == "block"


def answered(**answer: Any) -> dict[str, Any]:
    """The output of hooks of which one answered that."""
    return {"allOutputs": [{"decision": "allow"}, answer]}


CONTRADICTIONS: list[dict[str, Any]] = [
    {"success": True},
    {"success": True, "processed": {"decision": "fine"}},
    {"success": True, "processed": {"decision": "proceed", "shouldStop": True}},
    {"success": True, "processed": {"decision": "proceed"}, "hooks": [{"decision": "block"}]},
    {"eventName": None, "success": False, "error": {"code": "unanswered", "message": ""}},
    {"eventName": None, "success": True, "processed": {"decision": "proceed"}},
    {"eventName": "AfterTool", "success": True, "processed": {"decision": "proceed"}},
    {"success": True, "error": {"code": "lost"}, "processed": {"decision": "proceed"}},
    {"success": False, "processed": {"decision": "proceed"}},
    {"success": True, "processed": {"decision": "proceed"}, "output": answered(decision="deny")},
    {"success": True, "processed": {"decision": "ask"}, "output": answered(decision="block")},
    {"success": True, "processed": {"decision": "proceed"}, "output": answered(decision="ask")},
    {
        "success": True,
        "processed": {"decision": "proceed"},
        "output": answered(hookSpecificOutput={"permissionDecision": "deny"}),
    },
    {
        "success": True,
        "processed": {"decision": "block"},
        "output": answered(**{"continue": False}),
    },
    {"success": True, "processed": {"decision": "ask"}, "output": answered(decision="retry")},
    {
        "success": True,
        "processed": {"decision": "proceed"},
        "output": answered(hookSpecificOutput={"permissionDecision": "retry"}),
    },
]


@pytest.mark.parametrize("said", CONTRADICTIONS)
@run_async
async def test_a_response_that_contradicts_itself_blocks(
    tmp_path: Path, said: dict[str, Any]
) -> None:
    async def strange(message: Any, request: dict[str, Any]) -> None:
        named = {key: request[key] for key in ("correlationId", "eventName")}
        whole = {"type": "hook-execution-response", "output": {}, **named, **said}
        await message.respond(json.dumps(whole).encode())

    async with broker(tmp_path) as url, engine(url, strange), asker(url) as client:
        answer = await client.request("BeforeTool", TOOL)
        assert answer["error"]["code"] == "unanswered"
        assert answer["processed"]["decision"] == "block"


CANCELLED = ["PreCompress", "BeforeSessionSwitch", "BeforeSessionBranch", "BeforeSessionTree"]


@pytest.mark.parametrize("event", CANCELLED)
@run_async
async def test_a_response_that_does_not_heed_a_cancel_blocks(tmp_path: Path, event: str) -> None:
    async def cancelled(message: Any, request: dict[str, Any]) -> None:
        said = json.loads(response(request, "ask"))
        output = answered(hookSpecificOutput={"cancel": True})
        await message.respond(json.dumps({**said, "output": output}).encode())

    async with broker(tmp_path) as url, engine(url, cancelled), asker(url) as client:
        answer = await client.request(event, {})
        assert answer["error"]["code"] == "unanswered"
        assert "wants block" in answer["error"]["message"]
        assert answer["processed"]["decision"] == "block"


OTHER_NAMES = [
    ("before_tool", "BeforeTool", answered(decision="allow")),
    ("Deployed", "Deployed", answered(decision="deny")),
    ("TurnEnd", "TurnEnd", answered(decision="deny")),
    ("AfterTool", "AfterTool", answered(decision="retry", hookSpecificOutput={"cancel": True})),
    ("PreCompress", "PreCompress", answered(decision="retry")),
]


@pytest.mark.parametrize(("asked", "named", "output"), OTHER_NAMES)
@run_async
async def test_other_names_and_what_changes_nothing_are_no_contradiction(
    tmp_path: Path, asked: str, named: str, output: dict[str, Any]
) -> None:
    async def consistent(message: Any, request: dict[str, Any]) -> None:
        said = json.loads(response(request, "proceed"))
        await message.respond(json.dumps({**said, "eventName": named, "output": output}).encode())

    async with broker(tmp_path) as url, engine(url, consistent), asker(url) as client:
        answer = await client.request(asked, TOOL)
        assert answer["success"] is True and answer["processed"]["decision"] == "proceed"


@run_async
async def test_what_is_too_large_is_refused(tmp_path: Path) -> None:
    async with (
        broker(tmp_path, more="max_payload: 64KB\n") as url,
        engine(url, deny) as seen,
        asker(url) as client,
    ):
        large = {"tool_name": "edit", "tool_input": {"text": "x" * 70_000}}
        answer = await client.request("BeforeTool", large)
        assert answer["error"]["code"] == "invalid_request"
        assert "room for 65536" in answer["error"]["message"]
        assert answer["processed"]["decision"] == "block" and not seen


@run_async
async def test_who_waits_no_more_ends_the_hooks(tmp_path: Path) -> None:
    begun = asyncio.Event()
    reply = ""

    async def never(message: Any, _: dict[str, Any]) -> None:
        nonlocal reply
        reply = message.reply
        begun.set()

    async with broker(tmp_path) as url, engine(url, never), asker(url) as client:
        listener = await nats.connect(url)
        cancels = await listener.subscribe("hooks.cancel")
        await listener.flush()
        task = asyncio.ensure_future(client.fire("BeforeTool", TOOL))
        await begun.wait()
        task.cancel()
        message = await cancels.next_msg(timeout=20)
        assert json.loads(message.data) == {"type": "hook-cancel", "reply": reply}
        await listener.close()


@run_async
async def test_who_closes_in_mid_request_ends_the_hooks(tmp_path: Path) -> None:
    begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def never(message: Any, _: dict[str, Any]) -> None:
        begun.set_result(message.reply)

    async with broker(tmp_path) as url, engine(url, never), asker(url) as client:
        listener = await nats.connect(url)
        cancels = await listener.subscribe("hooks.cancel")
        await listener.flush()
        task = asyncio.ensure_future(client.request("BeforeTool", TOOL))
        reply = await begun
        await client.close()
        message = await cancels.next_msg(timeout=20)
        assert json.loads(message.data) == {"type": "hook-cancel", "reply": reply}
        with pytest.raises(HookClosedError):
            await task
        await listener.close()


@run_async
async def test_a_fleet_takes_no_handlers(tmp_path: Path) -> None:
    async with broker(tmp_path) as url, asker(url) as client:
        with pytest.raises(HookProtocolError):
            await client.reload()


def test_brokers_are_named_safely(tmp_path: Path) -> None:
    for url in ["nats://192.0.2.1", "broker.example", "ftp://x", "tls://a:b@broker.example", ""]:
        with pytest.raises(ValueError):
            Fleet(url)
    assert Fleet("nats://broker.example", insecure=True).servers == ["nats://broker.example"]
    assert Fleet("tls://broker.example").servers == ["tls://broker.example"]
    with pytest.raises(ValueError):
        Fleet("localhost", subject="a.>")
    seed = tmp_path / "agent.nk"
    seed.write_text("SUxxx")
    seed.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        Fleet("localhost", credentials=seed).read_credentials()
    seed.chmod(0o600)
    assert Fleet("localhost", credentials=seed).read_credentials() == "SUxxx"
