"""Host calls, both ways."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scripted import run_async, scripted

from hook_sdk import HookConnectionError, HookResponse, HostCallError, host

TOLD = {"sessionId": "s-1", "tool": "Write", "args": {"file_path": "a.py"}}


@run_async
async def test_a_handler_asks_the_host_of_its_call() -> None:
    async with scripted() as (client, server, _):

        @client.hook("PostToolUse")
        async def format_code(event: Any) -> HookResponse:
            args = {"command": f"black {event.args.file_path}"}
            output = await client.execute_tool(event.session_id, "Bash", args)
            text = await client.generate(event.session_id, "Is it nice?")
            return HookResponse.block(f"{output} {text}")

        peer = await server.peer()
        await peer.registers()
        peer.call("h-1", "PostToolUse", TOLD)
        asked = await peer.hear("hook-host-call")
        number = asked.pop("hostCallId")
        assert asked == {
            "type": "hook-host-call",
            "callId": "1",
            "method": "tool.execute",
            "params": {"sessionId": "s-1", "tool": "Bash", "args": {"command": "black a.py"}},
        }
        peer.say({"type": "hook-host-result", "hostCallId": number, "result": "done"})
        asked = await peer.hear("hook-host-call")
        assert asked["method"] == "model.ask"
        assert asked["params"] == {"sessionId": "s-1", "prompt": "Is it nice?"}
        number = asked["hostCallId"]
        peer.say({"type": "hook-host-result", "hostCallId": number, "result": "yes"})
        assert (await peer.hear("hook-answer"))["reason"] == "done yes"


@run_async
async def test_a_host_that_does_not_do_it_is_an_error_that_a_handler_can_catch() -> None:
    async with scripted() as (client, server, _):

        @client.hook("PermissionRequest")
        async def ask(event: Any) -> HookResponse:
            try:
                await client.host_call("ui.confirm", {"x": float("nan")})
            except ValueError:
                pass
            try:
                await client.host_call("ui.confirm", {"title": "?"})
            except HostCallError as error:
                return HookResponse.block(error.code)
            return HookResponse.continue_()

        peer = await server.peer()
        await peer.registers()
        peer.call("h-1", "PermissionRequest", TOLD)
        asked = await peer.hear("hook-host-call")
        error = {"code": "unsupported", "message": "no UI"}
        peer.say({"type": "hook-host-result", "hostCallId": asked["hostCallId"], "error": error})
        assert (await peer.hear("hook-answer"))["reason"] == "unsupported"


@run_async
async def test_outside_of_a_handler_this_program_is_the_host() -> None:
    async def answer(params: dict[str, Any]) -> str:
        return f"about {params['prompt']}"

    async with scripted(host_services={"model.ask": answer}) as (client, _, _problems):
        assert await client.generate("s-1", "cats") == "about cats"
        with pytest.raises(HostCallError, match=r"does not offer tool.execute \(unsupported\)"):
            await client.execute_tool("s-1", "Bash", {})


@run_async
async def test_this_program_serves_the_hooks_of_its_requests() -> None:
    def broken(_: object) -> None:
        raise RuntimeError("out of order")

    services: dict[str, Any] = {
        "ui.confirm": lambda params: params["title"] == "ok?",
        "ui.input": broken,
        "ui.select": lambda _: float("nan"),
    }
    async with scripted(host_services=services) as (client, server, problems):
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        await connecting
        assert peer.hello["hostServices"] == ["ui.confirm", "ui.input", "ui.select"]
        results: dict[str, Any] = {}
        for method in ("ui.confirm", "ui.input", "ui.select", "ui.editor"):
            asked = {"type": "hook-host-call", "hostCallId": method, "correlationId": "c-1"}
            peer.say({**asked, "method": method, "params": {"title": "ok?"}})
            result = await peer.hear("hook-host-result")
            results[result["hostCallId"]] = result.get("result", result.get("error", {}))
        assert results["ui.confirm"] is True
        assert results["ui.input"] == {"code": "failed", "message": "RuntimeError: out of order"}
        assert results["ui.select"]["code"] == "invalid_result"
        assert results["ui.editor"]["code"] == "unsupported"
        # The hook is told, and so is whoever wrote the service.
        assert "ui.input failed: RuntimeError: out of order (test_host.py:" in problems[0]
        assert "ui.select failed" in problems[1] and len(problems) == 2


@run_async
async def test_a_service_is_told_that_nobody_waits_for_it_any_more() -> None:
    asked: asyncio.Queue[str] = asyncio.Queue()
    ended: asyncio.Queue[str] = asyncio.Queue()
    shut = asyncio.Event()

    async def confirm(params: dict[str, Any]) -> bool:
        asked.put_nowait(params["title"])
        try:
            await shut.wait()
        except asyncio.CancelledError:
            ended.put_nowait(params["title"])
            raise
        return True

    async with scripted(host_services={"ui.confirm": confirm}) as (client, server, problems):
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        await connecting
        call = {"type": "hook-host-call", "correlationId": "c-1", "method": "ui.confirm"}
        for number in ("1", "2"):
            peer.say({**call, "hostCallId": number, "params": {"title": number}})
            assert await asked.get() == number
        peer.say({"type": "hook-host-call-cancelled", "hostCallId": "1"})
        peer.say({"type": "hook-host-call-cancelled", "hostCallId": "of an answered one"})
        assert await ended.get() == "1"
        shut.set()
        # The other is answered, and it alone.
        result = {"type": "hook-host-result", "hostCallId": "2", "result": True}
        assert await peer.hear() == result
        shut.clear()
        peer.say({**call, "hostCallId": "3", "params": {"title": "3"}})
        assert await asked.get() == "3"
        peer.close()
        assert await ended.get() == "3"
        assert all("lost" in problem or "ended" in problem for problem in problems)


@run_async
async def test_a_service_that_loses_its_own_connection_answers_its_hook() -> None:
    def broken(_: object) -> None:
        raise HookConnectionError("another server is gone")

    async with scripted(host_services={"ui.confirm": broken}) as (client, server, _):
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        await connecting
        peer.say({"type": "hook-host-call", "hostCallId": "1", "method": "ui.confirm"})
        assert (await peer.hear("hook-host-result"))["error"]["code"] == "failed"


@run_async
async def test_what_a_host_service_asks_is_part_of_the_request_that_it_serves() -> None:
    async def execute(params: dict[str, Any]) -> str:
        told = {"tool_name": params["tool"], "tool_input": params["args"]}
        return (await client.fire("BeforeTool", told)).decision

    async with scripted(host_services={"tool.execute": execute}) as (client, server, _):
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        await connecting
        params = {"tool": "Bash", "args": {}}
        asked = {"type": "hook-host-call", "hostCallId": "1", "method": "tool.execute"}
        peer.say({**asked, "params": params, "runToken": "token of the hook"})
        request = await peer.hear("hook-execution-request")
        assert request["runToken"] == "token of the hook"
        response = {"type": "hook-execution-response", "processed": {"decision": "block"}}
        peer.say({**response, "correlationId": request["correlationId"]})
        assert (await peer.hear("hook-host-result"))["result"] == "block"


@run_async
async def test_a_handler_that_waits_for_its_host_hears_that_the_connection_is_lost() -> None:
    async with scripted() as (client, server, _):
        raised: asyncio.Queue[Exception] = asyncio.Queue()

        @client.hook("PreToolUse")
        async def ask(_: object) -> None:
            try:
                await client.host_call("ui.confirm")
            except HookConnectionError as error:
                raised.put_nowait(error)

        peer = await server.peer()
        await peer.registers()
        peer.call("h-1", "PreToolUse", TOLD)
        await peer.hear("hook-host-call")
        peer.close()
        assert "lost" in str(await raised.get())


@run_async
async def test_more_host_calls_than_may_be_under_way_are_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host, "MAX_SERVED", 1)
    asked, shut = asyncio.Event(), asyncio.Event()

    async def confirm(_: dict[str, Any]) -> bool:
        asked.set()
        return await shut.wait()

    async with scripted(host_services={"ui.confirm": confirm}) as (client, server, _):
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        await connecting
        call = {"type": "hook-host-call", "correlationId": "c-1", "method": "ui.confirm"}
        peer.say({**call, "hostCallId": "1", "params": {}})
        await asked.wait()
        peer.say({**call, "hostCallId": "2", "params": {}})
        refused = await peer.hear("hook-host-result")
        assert (refused["hostCallId"], refused["error"]["code"]) == ("2", "limit_exceeded")
        shut.set()
        assert (await peer.hear("hook-host-result"))["result"] is True
