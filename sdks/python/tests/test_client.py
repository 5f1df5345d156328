"""What a client says to its server, and what it makes of what it is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted, run_async, scripted

from hook_sdk import (
    A3sClient,
    HookClient,
    HookClosedError,
    HookResponse,
    PreToolUseEvent,
    RegistrationError,
    RequestFailed,
)

TOOL = {
    "eventType": "PreToolUse",
    "sessionId": "s-1",
    "tool": "Bash",
    "args": {"command": "rm -rf / --no-preserve-root"},
}


@pytest.mark.parametrize(
    ("kind", "event", "expected"),
    [
        (HookClient, "SessionStart", "native"),
        (HookClient, "PreToolUse", "a3s"),
        (A3sClient, "SessionStart", "a3s"),
        (A3sClient, "BeforeTool", "native"),
    ],
)
def test_a_name_of_both_is_the_engines_or_a3ss(kind: Any, event: Any, expected: str) -> None:
    client = kind()
    registration = client._session.registry.get(client.register_hook(event, print))
    assert registration is not None and registration.vocabulary == expected


@run_async
async def test_the_seeds_first_guard_works_as_it_stands() -> None:
    async with scripted() as (client, server, problems):

        @client.hook("PreToolUse")
        async def validate_bash(event: PreToolUseEvent) -> HookResponse:
            if event.tool == "Bash":
                command = event.args.get("command", "")
                if "rm -rf /" in command:
                    return HookResponse.block("Dangerous command blocked")
            return HookResponse.continue_()

        peer = await server.peer()
        assert peer.hello == {"type": "hook-hello", "protocol": 1}
        message = await peer.registers()
        assert message == {
            "type": "hook-register",
            "hookId": "h-1",
            "eventName": "PreToolUse",
            "vocabulary": "a3s",
        }
        peer.call("h-1", "PreToolUse", TOOL)
        answer = {"type": "hook-answer", "callId": "1", "action": "block"}
        assert await peer.hear() == {**answer, "reason": "Dangerous command blocked"}
        peer.call("h-1", "PreToolUse", {**TOOL, "args": {}}, "2")
        assert await peer.hear() == {"type": "hook-answer", "callId": "2", "action": "continue"}
        assert problems == []


@run_async
async def test_matcher_and_config_are_said_in_the_words_of_the_wire() -> None:
    async with scripted() as (client, server, _):
        hook_id = client.register_hook(
            "PreToolUse",
            lambda event: None,
            matcher={"tool": "Write", "path_pattern": "*.py", "command_pattern": "^ls"},
            config={"priority": 10, "timeout": 3000, "async": False, "fail_behavior": "block"},
        )
        peer = await server.peer()
        message = await peer.registers()
        await client.ready(hook_id)
        assert message["matcher"] == {
            "tool": "Write",
            "pathPattern": "*.py",
            "commandPattern": "^ls",
        }
        assert message["config"] == {
            "priority": 10,
            "timeout": 3000,
            "async": False,
            "failBehavior": "block",
        }


@pytest.mark.parametrize(
    ("named", "error"),
    [
        ({"matcher": {"pathPattern": "*"}}, ValueError),
        ({"matcher": {"tool": 1}}, TypeError),
        ({"matcher": {"tool": "x" * (4 << 20)}}, ValueError),
        ({"config": {"timeout": 0}}, ValueError),
        ({"config": {"timeout": "1s"}}, TypeError),
        ({"config": {"failBehavior": "block"}}, ValueError),
        ({"config": {"fail_behavior": "explode"}}, ValueError),
        ({"config": {"async_": 1}}, TypeError),
        ({"hook_id": "there"}, ValueError),
    ],
)
def test_what_no_server_takes_is_an_error_at_once(named: dict[str, Any], error: type) -> None:
    client = A3sClient()
    client.register_hook("PreToolUse", print, hook_id="there")
    with pytest.raises(error):
        client.register_hook("PreToolUse", print, **named)
    with pytest.raises(TypeError):
        client.register_hook("PreToolUse", "print")  # type: ignore[arg-type]


@run_async
async def test_a_refusal_reaches_who_waits_and_who_listens() -> None:
    heard: list[RegistrationError] = []
    async with scripted(on_registration_error=heard.append) as (client, server, _):
        hook_id = client.register_hook("PreToolUse", print)
        peer = await server.peer()
        message = await peer.hear("hook-register")
        peer.say(
            {
                "type": "hook-error",
                "request": "hook-register",
                "hookId": message["hookId"],
                "eventName": "PreToolUse",
                "error": {
                    "code": "limit_exceeded",
                    "message": "10 are enough",
                    "details": {"n": 1},
                },
            }
        )
        with pytest.raises(RegistrationError) as raised:
            await client.ready(hook_id)
        assert (raised.value.code, raised.value.details) == ("limit_exceeded", {"n": 1})
        assert (raised.value.hook_id, raised.value.event) == (hook_id, "PreToolUse")
        assert heard == [raised.value]
        with pytest.raises(KeyError):
            await client.ready("nobody's")


@run_async
async def test_a_server_that_takes_no_registrations_is_said_to_be_one() -> None:
    async with scripted() as (client, server, problems):
        hook_id = client.register_hook("PreToolUse", print)
        await server.peer(token=None)
        with pytest.raises(RegistrationError, match="unsupported"):
            await client.ready(hook_id)
        assert len(problems) == 1 and "h-1" in problems[0]
        with pytest.raises(RegistrationError, match="earlier version"):
            await client.list_hooks()


@run_async
async def test_unregistering_listing_and_temporary_hooks() -> None:
    async with scripted() as (client, server, _):
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        await connecting

        async def use() -> None:
            matcher = {"tool": "Bash"}
            async with client.temporary_hook("PreToolUse", print, matcher=matcher) as hook_id:
                hooks = await client.list_hooks()
                assert [(hook.hook_id, hook.own) for hook in hooks] == [
                    (hook_id, True),
                    ("other", False),
                ]
                assert hooks[0].config == {"priority": 10}
            assert await client.unregister_hook(hook_id) is False

        using = asyncio.ensure_future(use())
        message = await peer.registers()
        await peer.hear("hook-list")
        own = {**message, "own": True, "config": {"priority": 10}}
        other = {"hookId": "other", "eventName": "BeforeTool", "own": False}
        peer.say({"type": "hook-hooks", "hooks": [own, other]})
        message = await peer.hear("hook-unregister")
        peer.say({"type": "hook-unregistered", "hookId": message["hookId"]})
        await using


@run_async
async def test_a_hook_that_is_taken_back_before_the_server_spoke_does_not_stay() -> None:
    async with scripted() as (client, server, problems):
        hook_id = client.register_hook("PreToolUse", print)
        peer = await server.peer()
        await peer.hear("hook-register")
        waiting = asyncio.ensure_future(client.ready(hook_id))
        await asyncio.sleep(0)
        removing = asyncio.ensure_future(client.unregister_hook(hook_id))
        assert (await peer.hear("hook-unregister"))["hookId"] == hook_id
        peer.say({"type": "hook-registered", "hookId": hook_id})
        peer.say({"type": "hook-unregistered", "hookId": hook_id})
        assert await removing is True
        with pytest.raises(RegistrationError, match="taken back"):
            await waiting
        assert problems == []


def test_handlers_that_are_registered_before_there_is_a_loop(tmp_path: Path) -> None:
    client = A3sClient(socket=tmp_path / "s")
    client.register_hook("PreToolUse", print)

    @run_async
    async def use() -> None:
        server = Scripted(tmp_path / "s")
        await server.start()
        async with client:
            peer = await server.peer()
            await peer.registers()
            server.close()

    use()


@run_async
async def test_another_agents_format_is_asked_with_a_deadline() -> None:
    async with scripted() as (client, server, _):
        asking = asyncio.ensure_future(client.bridge("claude", "PreToolUse", "{}", deadline_ms=7))
        peer = await server.peer()
        asked = await peer.hear("hook-bridge")
        number = asked.pop("correlationId")
        said = {"agent": "claude", "event": "PreToolUse", "said": "{}"}
        assert asked == {"type": "hook-bridge", **said, "deadlineMs": 7}
        answer = {"type": "hook-bridged", "correlationId": number, "stdout": "", "exitCode": 0}
        peer.say(answer)
        assert await asking == answer


@run_async
async def test_fire_gives_what_the_hooks_came_to() -> None:
    async with scripted() as (client, server, _):
        told = {"tool_name": "write_file", "tool_input": {"file_path": "a"}}
        firing = asyncio.ensure_future(client.fire("BeforeTool", told, deadline_ms=2000))
        peer = await server.peer()
        asked = await peer.hear("hook-execution-request")
        number = asked.pop("correlationId")
        assert asked == {
            "type": "hook-execution-request",
            "eventName": "BeforeTool",
            "input": told,
            "deadlineMs": 2000,
        }
        peer.say(
            {
                "type": "hook-execution-response",
                "correlationId": number,
                "success": True,
                "output": {"finalOutput": {"reason": "no"}},
                "processed": {
                    "decision": "block",
                    "reason": "no",
                    "shouldStop": False,
                    "modified": {"tool_input": {"file_path": "b"}},
                },
                "warnings": ["careful"],
            }
        )
        outcome = await firing
        assert (outcome.decision, outcome.reason, outcome.proceeds) == ("block", "no", False)
        assert outcome.modified.tool_input.file_path == "b"
        assert outcome.should_stop is False and outcome.warnings == ["careful"]
        assert outcome.final_output.reason == "no" and outcome.error is None


@run_async
async def test_a_request_that_failed_is_no_permission() -> None:
    async with scripted() as (client, server, _):
        firing = asyncio.ensure_future(client.fire("PreToolUse", {}))
        peer = await server.peer()
        asked = await peer.hear("hook-execution-request")
        error = {"code": "unsupported_event", "message": "no such event"}
        response = {"type": "hook-execution-response", "correlationId": asked["correlationId"]}
        peer.say({**response, "success": False, "error": error})
        with pytest.raises(RequestFailed) as raised:
            await firing
        assert raised.value.code == "unsupported_event"
        # With a guard that blocks on failure there is a decision beside it.
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}, correlation_id="mine"))
        asked = await peer.hear("hook-execution-request")
        assert asked["correlationId"] == "mine"
        processed = {"decision": "block", "reason": "a guard"}
        response["correlationId"] = "mine"
        peer.say({**response, "success": False, "error": error, "processed": processed})
        outcome = await firing
        assert outcome.decision == "block" and outcome.error.code == "unsupported_event"


@run_async
async def test_a_request_that_is_cancelled_ends_its_hooks_and_its_response_is_no_surprise() -> None:
    async with scripted() as (client, server, problems):
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        peer = await server.peer()
        asked = await peer.hear("hook-execution-request")
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing
        cancel = await peer.hear("hook-cancel")
        assert cancel["correlationId"] == asked["correlationId"]
        response = {"type": "hook-execution-response", "correlationId": asked["correlationId"]}
        peer.say({**response, "success": False, "error": {"code": "cancelled"}})
        reloading = asyncio.ensure_future(client.reload())
        await peer.hear("hook-reload")
        peer.say({"type": "hook-reloaded", "success": True, "totalHooks": 3})
        assert (await reloading)["totalHooks"] == 3
        assert problems == []


@run_async
async def test_progress_and_the_audit_are_told() -> None:
    async with scripted() as (client, server, _):
        told: list[str] = []
        audited: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        subscribing = asyncio.ensure_future(client.subscribe(lambda it: told.append(it["type"])))
        peer = await server.peer()
        await subscribing
        await peer.hear("hook-subscribe")
        await client.set_hook_audit_level("verbose", audited.put_nowait)
        assert await peer.hear() == {"type": "hook-audit", "level": "verbose"}
        peer.say({"type": "hook-started"}, {"type": "hook-finished"})
        peer.say({"type": "hook-audit", "kind": "registered"})
        assert (await audited.get())["kind"] == "registered"
        assert told == ["hook-started", "hook-finished"]
        with pytest.raises(ValueError):
            await client.set_hook_audit_level("loud")


@run_async
async def test_closing_ends_what_is_asked_and_what_is_to_be_ready() -> None:
    async with scripted() as (client, server, _):
        hook_id = client.register_hook("PreToolUse", print)
        firing = asyncio.ensure_future(client.fire("BeforeTool", {}))
        ready = asyncio.ensure_future(client.ready(hook_id))
        peer = await server.peer()
        await peer.hear("hook-register")
        await peer.hear("hook-execution-request")
        closing = asyncio.ensure_future(client.close())
        # The server is to forget the hook, and not to wait for this client.
        assert (await peer.hear("hook-unregister"))["hookId"] == hook_id
        peer.say({"type": "hook-unregistered", "hookId": hook_id})
        await peer.hears_the_end()
        await closing
        for ended in await asyncio.gather(firing, ready, return_exceptions=True):
            assert isinstance(ended, HookClosedError)
        with pytest.raises(HookClosedError):
            client.register_hook("PreToolUse", print)
        with pytest.raises(HookClosedError):
            await client.fire("BeforeTool", {})
