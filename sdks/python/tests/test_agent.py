"""Triggers with a scripted server: what is called back, and what every end leaves behind."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator
from typing import Any

import pytest
from scripted import Peer, run_async, scripted

from hook_sdk import HookClient, HookConnectionError, RequestFailed
from hook_sdk.agent import (
    Blocked,
    Called,
    Chunk,
    Continue,
    Done,
    HookStopped,
    Interrupted,
    LimitReached,
    Proceed,
    Ran,
    ToolCall,
    Whole,
    agent_turn,
    call_model,
    execute_tool,
    session,
)

CALL = ToolCall("shell", {"command": "ls"})


def ran(text: str, **more: Any) -> dict[str, Any]:
    return {"outcome": "ran", "ran": True, "result": {"llmContent": text}, "warnings": [], **more}


def result(peer: Peer, trigger: dict[str, Any], outcome: dict[str, Any]) -> None:
    number = trigger["triggerId"]
    peer.say({"type": "hook-trigger-result", "triggerId": number, "result": outcome})


def host_call(
    peer: Peer, trigger: dict[str, Any], method: str, params: dict[str, Any], number: str = "1"
) -> None:
    call = {"type": "hook-host-call", "hostCallId": number, "triggerId": trigger["triggerId"]}
    peer.say({**call, "method": method, "params": params})


async def seen(peer: Peer) -> None:
    """Waits until the client has taken all that was said before."""
    peer.say({"type": "hook-host-call", "hostCallId": "seen", "method": "none", "params": {}})
    while (await peer.hear("hook-host-result"))["hostCallId"] != "seen":
        pass


@run_async
async def test_a_tool_runs_with_the_arguments_that_the_server_names() -> None:
    async with scripted() as (client, server, problems):
        seen: list[Any] = []

        async def run(tool_input: dict[str, Any]) -> dict[str, int]:
            seen.append(tool_input)
            return {"files": 3}

        asked = asyncio.ensure_future(execute_tool(client, CALL, run, deadline_ms=9))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        assert trigger["trigger"] == "tool" and trigger["deadlineMs"] == 9
        assert trigger["call"] == {"tool_name": "shell", "tool_input": {"command": "ls"}}
        host_call(peer, trigger, "tool.run", {"tool_input": {"command": "ls -l"}})
        answer = await peer.hear("hook-host-result")
        assert answer["result"] == {"llmContent": '{"files": 3}'}
        result(peer, trigger, ran('{"files": 3}', messageForUser="hi", warnings=["w"]))
        outcome = await asked
        assert isinstance(outcome, Ran) and not outcome.is_changed
        assert outcome.value == {"files": 3} and outcome.for_user == "hi"
        assert outcome.warnings == ("w",) and seen == [{"command": "ls -l"}]
        assert not problems


@pytest.mark.parametrize("is_async", [True, False])
@run_async
async def test_a_tool_runs_in_the_context_of_its_caller(is_async: bool) -> None:
    of_caller: contextvars.ContextVar[str] = contextvars.ContextVar("of_caller", default="none")

    def plain(_: dict[str, Any]) -> str:
        return of_caller.get()

    async def awaited(_: dict[str, Any]) -> str:
        return of_caller.get()

    async with scripted() as (client, server, _):
        connecting = asyncio.ensure_future(client.connect())
        peer = await server.peer()
        await connecting
        of_caller.set("agent")
        run = awaited if is_async else plain
        asked = asyncio.ensure_future(execute_tool(client, CALL, run))
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "tool.run", {"tool_input": {}})
        assert (await peer.hear("hook-host-result"))["result"]["llmContent"] == "agent"
        result(peer, trigger, ran("agent"))
        await asked


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (None, ""),
        ("", ""),
        ([1], "[1]"),
        (float("nan"), "nan"),
        (b"x", "b'x'"),
    ],
)
@run_async
async def test_any_value_of_a_tool_is_a_text_for_the_model(returned: Any, expected: str) -> None:
    async with scripted() as (client, server, _):
        asked = asyncio.ensure_future(execute_tool(client, CALL, lambda _: returned))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "tool.run", {"tool_input": {}})
        assert (await peer.hear("hook-host-result"))["result"]["llmContent"] == expected
        result(peer, trigger, ran("other"))
        outcome = await asked
        assert isinstance(outcome, Ran) and outcome.is_changed and outcome.result.text == "other"


@run_async
async def test_a_tool_that_raises_is_a_failed_one() -> None:
    async with scripted() as (client, server, problems):

        def run(_: dict[str, Any]) -> object:
            raise OSError("disk full")

        asked = asyncio.ensure_future(execute_tool(client, CALL, run))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "tool.run", {"tool_input": {}})
        assert (await peer.hear("hook-host-result"))["error"]["message"] == "disk full"
        result(peer, trigger, ran("disk full"))
        assert (await asked).started
        assert not problems


@run_async
async def test_a_tool_that_cancels_itself_is_a_failed_one() -> None:
    async with scripted() as (client, server, _):

        async def run(_: dict[str, Any]) -> object:
            raise asyncio.CancelledError

        asked = asyncio.ensure_future(execute_tool(client, CALL, run))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "tool.run", {"tool_input": {}})
        assert (await peer.hear("hook-host-result"))["error"]["code"] == "cancelled"
        result(peer, trigger, ran("x"))
        assert isinstance(await asked, Ran)


@run_async
async def test_an_error_a_lost_server_and_an_unknown_outcome_block() -> None:
    async with scripted() as (client, server, _):
        first, second, third = (
            asyncio.ensure_future(execute_tool(client, CALL, lambda _: "x")) for _ in range(3)
        )
        peer = await server.peer()
        triggers = [await peer.hear("hook-trigger") for _ in range(3)]
        error = {"code": "deadline_exceeded", "message": "late"}
        number = triggers[0]["triggerId"]
        peer.say({"type": "hook-trigger-result", "triggerId": number, "error": error})
        outcome = await first
        assert isinstance(outcome, Blocked) and not outcome.started
        assert isinstance(outcome.error, RequestFailed) and outcome.error.code == error["code"]
        result(peer, triggers[1], {"outcome": "perhaps", "result": {"llmContent": "x"}})
        outcome = await second
        assert isinstance(outcome, Blocked) and "perhaps" in str(outcome.error)
        peer.close()
        outcome = await third
        assert isinstance(outcome, Blocked) and isinstance(outcome.error, HookConnectionError)
        assert outcome.result.error and "shell" in outcome.result.text


@run_async
async def test_a_server_that_is_lost_cancels_the_tool_and_withholds_its_result() -> None:
    async with scripted() as (client, server, _):
        begun, ended = asyncio.Event(), asyncio.Event()

        async def run(_: dict[str, Any]) -> object:
            begun.set()
            try:
                await asyncio.sleep(3600)
            finally:
                ended.set()
            return "secret"

        asked = asyncio.ensure_future(execute_tool(client, CALL, run))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "tool.run", {"tool_input": {}})
        await begun.wait()
        peer.close()
        outcome = await asked
        assert isinstance(outcome, Blocked) and outcome.started and ended.is_set()
        assert "secret" not in outcome.result.text


@pytest.mark.parametrize("state", ["connecting", "asked", "runs", "ran"])
@run_async
async def test_a_cancelled_task_ends_its_trigger_in_each_state(state: str) -> None:
    async with scripted() as (client, server, problems):
        begun, ended = asyncio.Event(), asyncio.Event()

        async def run(_: dict[str, Any]) -> object:
            begun.set()
            try:
                if state == "runs":
                    await asyncio.sleep(3600)
            finally:
                ended.set()
            return "x"

        asked = asyncio.ensure_future(execute_tool(client, CALL, run))
        trigger = None
        if state == "connecting":
            peer = await server.raw_peer()
        else:
            peer = await server.peer()
            trigger = await peer.hear("hook-trigger")
        if trigger is not None and state != "asked":
            host_call(peer, trigger, "tool.run", {"tool_input": {}})
            await begun.wait()
        if state == "ran":
            await peer.hear("hook-host-result")
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert ended.is_set() == begun.is_set()
        if trigger is not None:
            cancel = await peer.hear("hook-trigger-cancel")
            assert cancel["triggerId"] == trigger["triggerId"]
            # Its result comes all the same, and is nobody's.
            error = {"code": "cancelled", "message": "cancelled"}
            number = trigger["triggerId"]
            peer.say({"type": "hook-trigger-result", "triggerId": number, "error": error})
            host_call(peer, trigger, "tool.run", {"tool_input": {}}, "late")
            while (answer := await peer.hear("hook-host-result"))["hostCallId"] != "late":
                assert answer["error"]["code"] == "cancelled"
            assert answer["error"]["code"] == "unsupported"
        assert not problems


@pytest.mark.parametrize("how", ["cancelled", "lost"])
@run_async
async def test_a_tool_that_ends_is_not_cancelled_again(how: str) -> None:
    """Else what it does at its end would be cut short."""
    async with scripted() as (client, server, _):
        begun, ending, may_end = (asyncio.Event() for _ in range(3))
        done: list[str] = []

        async def run(_: dict[str, Any]) -> object:
            begun.set()
            try:
                await asyncio.sleep(3600)
            finally:
                ending.set()
                await may_end.wait()
                done.append("rolled back")

        asked = asyncio.ensure_future(execute_tool(client, CALL, run))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "tool.run", {"tool_input": {}})
        await begun.wait()
        if how == "lost":
            peer.close()
            await ending.wait()
            await server.peer()
        else:
            asked.cancel()
            await peer.hear("hook-trigger-cancel")
            peer.say({"type": "hook-host-call-cancelled", "hostCallId": "1"})
            await seen(peer)
        assert not asked.done()
        may_end.set()
        await asyncio.wait((asked,))
        assert done == ["rolled back"] and asked.cancelled() == (how == "cancelled")


@run_async
async def test_a_host_call_that_is_cancelled_ends_the_tool_alone() -> None:
    async with scripted() as (client, server, _):
        begun, ended = asyncio.Event(), asyncio.Event()

        async def run(_: dict[str, Any]) -> object:
            begun.set()
            try:
                await asyncio.sleep(3600)
            finally:
                ended.set()

        asked = asyncio.ensure_future(execute_tool(client, CALL, run))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "tool.run", {"tool_input": {}})
        await begun.wait()
        peer.say({"type": "hook-host-call-cancelled", "hostCallId": "1"})
        await ended.wait()
        blocked = {"outcome": "blocked", "ran": True, "reason": "late"}
        result(peer, trigger, {**blocked, "result": {"llmContent": "late"}})
        outcome = await asked
        assert isinstance(outcome, Blocked) and outcome.error is None and outcome.started


@run_async
async def test_an_earlier_server_blocks_at_once() -> None:
    async with scripted() as (client, server, _):
        asked = asyncio.ensure_future(execute_tool(client, CALL, lambda _: "x"))
        peer = await server.peer()
        await peer.hear("hook-trigger")
        error = {
            "code": "invalid_request",
            "message": 'field `type`: there is no message "hook-trigger"; a client sends …',
        }
        response = {"type": "hook-execution-response", "correlationId": "9f", "success": False}
        peer.say({**response, "error": error})
        outcome = await asked
        assert isinstance(outcome, Blocked) and "version" in outcome.reason


@run_async
async def test_a_result_that_is_no_message_blocks() -> None:
    async with scripted() as (client, server, problems):
        asked = asyncio.ensure_future(execute_tool(client, CALL, lambda _: "x"))
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        line = (
            f'{{"type":"hook-trigger-result","triggerId":"{trigger["triggerId"]}","result":NaN}}\n'
        )
        peer.say_bytes(line.encode())
        outcome = await asked
        assert isinstance(outcome, Blocked) and outcome.error is not None and problems


@run_async
async def test_two_thousand_calls_have_one_outcome_each() -> None:
    async with scripted() as (client, server, problems):
        calls = 2000
        running = 0

        async def run(tool_input: dict[str, Any]) -> object:
            nonlocal running
            running += 1
            await asyncio.sleep(0)
            running -= 1
            return str(tool_input["n"])

        async def serve() -> None:
            peer = await server.peer()
            triggers: dict[str, Any] = {}
            done = 0
            while done < calls:
                message = await peer.hear()
                if message["type"] == "hook-trigger":
                    triggers[message["triggerId"]] = message
                    tool_input = message["call"]["tool_input"]
                    host_call(
                        peer, message, "tool.run", {"tool_input": tool_input}, message["triggerId"]
                    )
                else:
                    trigger = triggers.pop(message["hostCallId"])
                    result(peer, trigger, ran(message["result"]["llmContent"]))
                    done += 1

        serving = asyncio.ensure_future(serve())
        outcomes = await asyncio.gather(
            *(execute_tool(client, ToolCall("t", {"n": n}), run) for n in range(calls))
        )
        await serving
        assert [outcome.result.text for outcome in outcomes] == [str(n) for n in range(calls)]
        assert all(isinstance(outcome, Ran) for outcome in outcomes)
        assert running == 0 and not problems


# Model calls.

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


async def stream(*chunks: str) -> AsyncIterator[dict[str, Any]]:
    for chunk in chunks:
        yield {"text": chunk}


def answer_of(client: HookClient, *chunks: str) -> Any:
    return call_model(client, "stable", REQUEST, lambda _: stream(*chunks), chunks="each")


@run_async
async def test_chunks_go_to_the_server_and_its_parts_to_the_display() -> None:
    async with scripted() as (client, server, problems):
        requests: list[Any] = []

        async def model(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            requests.append(request)
            return stream("a", "b")

        answer = call_model(client, "stable", REQUEST, model, chunks="each", prompt="hi")

        async def parts() -> list[Any]:
            return [part async for part in answer]

        shown = asyncio.ensure_future(parts())
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        call = {"request": REQUEST, "chunks": "each", "prompt": "hi", "sdk": "stable"}
        assert trigger["trigger"] == "model" and trigger["call"] == call
        host_call(peer, trigger, "model.call", {"request": {"model": "n"}, "inspected": True})
        number = trigger["triggerId"]
        for text in ("a", "b"):
            assert (await peer.hear("hook-trigger-chunk"))["chunk"] == {"text": text}
        assert (await peer.hear("hook-host-result"))["result"] == {}
        part = {"type": "hook-trigger-chunk", "triggerId": number}
        peer.say({**part, "chunk": {"text": "A"}}, {**part, "complete": {"text": "whole"}})
        response = {"outcome": "called", "called": True, "response": {"text": "whole"}}
        result(peer, trigger, {**response, "forNextRequest": "later", "warnings": []})
        assert await shown == [Chunk({"text": "A"}), Whole({"text": "whole"})]
        outcome = await answer.finish()
        assert isinstance(outcome, Called) and outcome.result == {"text": "whole"}
        assert outcome.for_model == "later" and requests == [{"model": "n"}]
        assert not problems


@run_async
async def test_uninspected_chunks_are_shown_as_they_come() -> None:
    async with scripted() as (client, server, _):
        answer = answer_of(client, *(str(n) for n in range(500)))
        first = asyncio.ensure_future(answer.__anext__())
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "model.call", {"request": REQUEST, "inspected": False})
        assert await first == Chunk({"text": "0"})
        # The stream waits for who reads it.
        received = 0
        while received < 64:
            await peer.hear("hook-trigger-chunk")
            received += 1
        done = asyncio.ensure_future(answer.finish())
        while received < 500:
            await peer.hear("hook-trigger-chunk")
            received += 1
        await peer.hear("hook-host-result")
        result(peer, trigger, {"outcome": "called", "called": True, "response": {}})
        assert isinstance(await done, Called)


@run_async
async def test_a_stream_that_breaks_off_is_interrupted_with_its_error() -> None:
    async with scripted() as (client, server, _):

        async def broken(_: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            yield {"text": "a"}
            raise OSError("reset")

        done = asyncio.ensure_future(call_model(client, "stable", REQUEST, broken).finish())
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "model.call", {"request": REQUEST, "inspected": False})
        await peer.hear("hook-trigger-chunk")
        assert (await peer.hear("hook-host-result"))["error"]["message"] == "reset"
        result(peer, trigger, {"outcome": "interrupted", "called": True, "response": None})
        outcome = await done
        assert isinstance(outcome, Interrupted) and isinstance(outcome.error, OSError)


@pytest.mark.parametrize("end", ["lost", "cancelled", "left"])
@run_async
async def test_a_model_call_that_ends_early_closes_the_stream(end: str) -> None:
    async with scripted() as (client, server, _):
        begun, closed = asyncio.Event(), asyncio.Event()

        async def endless(_: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            try:
                begun.set()
                yield {"text": "a"}
                await asyncio.sleep(3600)
            finally:
                closed.set()

        async def reads() -> Any:
            async with call_model(client, "stable", REQUEST, endless) as answer:
                async for _ in answer:
                    if end == "left":
                        break
                else:
                    return await answer.finish()
            return await answer.finish()

        reading = asyncio.ensure_future(reads())
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        host_call(peer, trigger, "model.call", {"request": REQUEST, "inspected": False})
        await begun.wait()
        await peer.hear("hook-trigger-chunk")
        if end == "lost":
            peer.close()
            outcome = await reading
            assert isinstance(outcome, Blocked) and outcome.started and outcome.result is None
        else:
            if end == "cancelled":
                reading.cancel()
            await asyncio.wait((reading,))
            await peer.hear("hook-trigger-cancel")
            if end == "left":
                assert reading.result() == Interrupted(result=None, started=True)
            assert reading.cancelled() == (end == "cancelled")
        assert closed.is_set()


# Turns and sessions.


@run_async
async def test_a_turn_goes_on_as_long_as_hooks_want() -> None:
    async with scripted() as (client, server, _):

        async def agent() -> Any:
            answers = []
            async with agent_turn(client, "p") as turn:
                async for prompt in turn:
                    answers.append(prompt)
                    turn.answer = f"did {prompt}"
            return turn, answers

        working = asyncio.ensure_future(agent())
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        assert trigger["call"] == {"prompt": "p"}
        result(peer, trigger, {"outcome": "proceed", "prompt": "p\n\nmore", "warnings": []})
        trigger = await peer.hear("hook-trigger")
        assert trigger["call"] == {"prompt": "p", "prompt_response": "did p\n\nmore"}
        result(peer, trigger, {"outcome": "continue", "prompt": "the rest"})
        trigger = await peer.hear("hook-trigger")
        assert trigger["call"]["prompt_response"] == "did the rest"
        result(peer, trigger, {"outcome": "done", "forUser": "bye"})
        turn, answers = await working
        assert answers == ["p\n\nmore", "the rest"]
        assert isinstance(turn.start, Proceed) and isinstance(turn.end, Done)
        assert turn.end.for_user == "bye" and not isinstance(turn.end, Continue)


@run_async
async def test_a_turn_that_hooks_had_go_on_too_often_is_a_problem() -> None:
    async with scripted() as (client, server, problems):

        async def agent() -> Any:
            async with agent_turn(client, "p") as turn:
                async for prompt in turn:
                    turn.answer = prompt
            return turn.end

        working = asyncio.ensure_future(agent())
        peer = await server.peer()
        trigger = await peer.hear("hook-trigger")
        result(peer, trigger, {"outcome": "proceed", "prompt": "p"})
        trigger = await peer.hear("hook-trigger")
        limit = {"outcome": "limit-reached", "reason": "do the rest", "continuations": 8}
        result(peer, trigger, limit)
        assert await working == LimitReached(reason="do the rest", continuations=8)
        assert problems == ["hooks had the agent go on 8 times: do the rest"]


@run_async
async def test_a_turn_without_an_answer_of_the_server_does_not_begin() -> None:
    async with scripted() as (client, server, _):

        async def agent() -> Any:
            async with agent_turn(client, "p") as turn:
                async for _ in turn:
                    raise AssertionError("it goes on")
            return turn

        working = asyncio.ensure_future(agent())
        peer = await server.peer()
        await peer.hear("hook-trigger")
        peer.close()
        turn = await working
        assert isinstance(turn.start, Blocked) and turn.start.error and turn.end is None


@run_async
async def test_the_triggers_of_a_session_name_it() -> None:
    async with scripted() as (client, server, _):

        async def agent() -> Any:
            async with session(client, session_id="s", cwd="/p", model="m") as begun:
                outcome = await execute_tool(client, CALL, lambda _: "x")
                assert (await begun.pre_compress()).refused == "not now"
            return begun, outcome

        working = asyncio.ensure_future(agent())
        peer = await server.peer()
        named = {"session_id": "s", "cwd": "/p"}
        for name, answer in (
            ("session-start", {"forModel": "context"}),
            ("tool", {**ran("x"), "outcome": "ran"}),
            ("pre-compress", {"refused": "not now"}),
            ("session-end", {}),
        ):
            trigger = await peer.hear("hook-trigger")
            assert trigger["trigger"] == name and trigger["session"] == named
            result(peer, trigger, answer)
        begun, _ = await working
        assert begun.start.for_model == "context" and begun.end is not None


@run_async
async def test_what_begins_in_one_task_may_end_in_another() -> None:
    """As it does in a generator that a web server reads, and closes."""
    async with scripted() as (client, server, _):

        async def parts() -> AsyncIterator[str]:
            async with session(client), agent_turn(client, "hi") as turn:
                yield "part"
                turn.answer = "done"

        async def answers() -> list[str]:
            peer, heard = await server.peer(), []
            while heard[-1:] != ["session-end"]:
                trigger = await peer.hear("hook-trigger")
                heard.append(trigger["trigger"])
                ends = {"prompt": {"outcome": "proceed"}, "turn-end": {"outcome": "done"}}
                result(peer, trigger, ends.get(heard[-1], {}))
            return heard

        answering = asyncio.ensure_future(answers())
        reading = parts()
        assert await asyncio.create_task(anext(reading)) == "part"
        assert await asyncio.create_task(anext(reading, "over")) == "over"
        assert await answering == ["session-start", "prompt", "turn-end", "session-end"]


@run_async
async def test_a_session_that_hooks_stop_does_not_begin() -> None:
    async with scripted() as (client, server, _):

        async def agent() -> None:
            async with session(client):
                raise AssertionError("it began")

        working = asyncio.ensure_future(agent())
        peer = await server.peer()
        result(peer, await peer.hear("hook-trigger"), {"stop": "closed"})
        with pytest.raises(HookStopped, match="closed"):
            await working
