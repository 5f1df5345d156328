"""How handlers run, and what their answers become."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any

import pytest
from scripted import LIMIT_SECONDS, Peer, run_async, scripted

from hook_sdk import A3sClient, HookResponse, calls

TOLD = {"tool": "Bash", "args": {"command": "ls"}}


async def answers(handler: Any, vocabulary: str = "a3s") -> dict[str, Any]:
    """What a handler's answer becomes on the wire."""
    async with scripted() as (client, server, _):
        event = "PreToolUse" if vocabulary == "a3s" else "BeforeTool"
        client.register_hook(event, handler, vocabulary=vocabulary)
        peer = await server.peer()
        await peer.registers()
        peer.call("h-1", event, TOLD)
        answer = await peer.hear("hook-answer")
        assert answer.pop("callId") == "1"
        del answer["type"]
        return answer


ANSWERS: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (None, {"action": "continue"}, {"output": {}}),
    (HookResponse.continue_(), {"action": "continue"}, {"output": {}}),
    (
        HookResponse.continue_with({"args": {"command": "ls -l"}}),
        {"action": "continue", "modified": {"args": {"command": "ls -l"}}},
        {
            "output": {
                "hookSpecificOutput": {
                    "tool_input": {"command": "ls -l"},
                    "toolInputReplaces": True,
                }
            }
        },
    ),
    (
        HookResponse.block("no"),
        {"action": "block", "reason": "no"},
        {"output": {"decision": "deny", "reason": "no"}},
    ),
    (
        HookResponse.retry(250),
        {"action": "retry", "delay": 250},
        {"output": {"decision": "retry", "retryAfterMs": 250}},
    ),
    (HookResponse.skip(), {"action": "skip"}, {"output": {"skipRemaining": True}}),
    (
        {"action": "block", "reason": "no"},
        {"action": "block", "reason": "no"},
        {"output": {"decision": "deny", "reason": "no"}},
    ),
]


@pytest.mark.parametrize(("returned", "a3s", "native"), ANSWERS)
@run_async
async def test_each_answer_in_both_vocabularies(
    returned: Any, a3s: dict[str, Any], native: dict[str, Any]
) -> None:
    async def handler(_: object) -> Any:
        return returned

    assert await answers(handler) == a3s
    assert await answers(handler, "native") == native
    # A plain function does as well.
    assert await answers(lambda _: returned) == a3s


@run_async
async def test_an_answer_in_the_engines_own_words_is_passed_on() -> None:
    said = {"decision": "ask", "reason": "sure?"}
    assert await answers(lambda _: said, "native") == {"output": said}


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "returned",
    [
        "block",
        {"decision": "deny"},
        {"action": "explode"},
        {"action": "block", "reson": "misspelt"},
        {"action": "retry", "delay": 1.5},
        {"action": "retry", "delay": -1},
        {"action": "block", "reason": 7},
        HookResponse.continue_with({"args": {"x": float("nan")}}),
        HookResponse.continue_with({"args": {"x": float("-inf")}}),
        HookResponse.continue_with({"args": {"x": b"bytes"}}),
        HookResponse.continue_with({"args": {1: "no text"}}),
        HookResponse.continue_with({"args": {"x": nested(98)}}),
        HookResponse.continue_with({"args": {"x": nested(5000)}}),
        HookResponse.continue_with({"args": {"x": CIRCLE}}),
        HookResponse.continue_with({"args": {"x": "x" * (4 << 20)}}),
    ],
)
@run_async
async def test_what_is_no_answer_is_an_error_and_never_a_wait(returned: Any) -> None:
    answer = await answers(lambda _: returned)
    assert list(answer) == ["error"] and answer["error"]


@run_async
async def test_what_just_fits_is_sent() -> None:
    # The message, `modified`, `args` and the lists are 100 levels together.
    returned = HookResponse.continue_with({"args": {"x": nested(97), "y": "x" * (3 << 20)}})
    answer = await answers(lambda _: returned)
    assert answer["modified"]["args"]["x"] == nested(97)


class Odd(BaseException):
    pass


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (KeyError("path"), "KeyError: 'path'"),
        (ValueError(), "ValueError"),
        (Odd("odd"), "Odd: odd"),
        (StopIteration(), "StopIteration"),
        (asyncio.CancelledError(), "CancelledError"),
        (ValueError("x" * 10_000), "ValueError: " + "x" * 1988),
    ],
)
@run_async
async def test_a_handler_that_raises_is_an_error_answer(raised: BaseException, said: str) -> None:
    def handler(_: object) -> None:
        raise raised.with_traceback(None)

    async def async_handler(_: object) -> None:
        raise raised.with_traceback(None)

    assert said in (await answers(handler))["error"]
    if not isinstance(raised, StopIteration):  # Which no coroutine can raise.
        line = async_handler.__code__.co_firstlineno + 1
        assert (await answers(async_handler)) == {"error": f"{said} (test_handlers.py:{line})"}


@run_async
async def test_every_form_of_handler() -> None:
    class Method:
        async def __call__(self, event: Any) -> HookResponse:
            return HookResponse.block(event.tool)

    async def two(word: str, event: Any) -> HookResponse:
        return HookResponse.block(word + event.tool)

    def hands_on(event: Any) -> Any:
        return two("later ", event)

    assert (await answers(Method()))["reason"] == "Bash"
    assert (await answers(functools.partial(two, "a ")))["reason"] == "a Bash"
    assert (await answers(hands_on))["reason"] == "later Bash"


async def one_hook(client: A3sClient, server: Any, handler: Any) -> Peer:
    client.register_hook("PreToolUse", handler)
    peer: Peer = await server.peer()
    await peer.registers()
    return peer


@run_async
async def test_plain_handlers_run_at_once_up_to_a_bound_and_do_not_block_the_loop() -> None:
    async with scripted(max_threads=2) as (client, server, _):
        together = threading.Barrier(2)
        threads = set()

        def handler(_: object) -> None:
            threads.add(threading.get_ident())
            together.wait(LIMIT_SECONDS)

        peer = await one_hook(client, server, handler)
        for number in range(6):
            peer.call("h-1", "PreToolUse", TOLD, str(number))
        heard = {(await peer.hear("hook-answer"))["callId"] for _ in range(6)}
        assert heard == set("012345") and len(threads) == 2


@run_async
async def test_a_call_that_is_cancelled_cancels_its_task_and_is_not_answered() -> None:
    async with scripted() as (client, server, problems):
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def handler(event: Any) -> HookResponse:
            if event.args.command == "quick":
                return HookResponse.skip()
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
            return HookResponse.block("too late")

        peer = await one_hook(client, server, handler)
        peer.call("h-1", "PreToolUse", TOLD, "slow")
        await begun.wait()
        peer.say({"type": "hook-call-cancelled", "callId": "slow"})
        peer.say({"type": "hook-call-cancelled", "callId": "nobody's"})
        await cancelled.wait()
        peer.call("h-1", "PreToolUse", {"args": {"command": "quick"}}, "quick")
        assert (await peer.hear())["callId"] == "quick"
        # Who wrote the handler sees that it was too slow.
        dropped = "the answer of hook h-1 to PreToolUse was dropped: nobody waited for it any more"
        assert problems == [dropped]


@run_async
async def test_a_plain_handler_that_answers_too_late_is_said() -> None:
    release = threading.Event()
    said: asyncio.Queue[str] = asyncio.Queue()
    async with scripted(on_problem=said.put_nowait) as (client, server, _):
        begun = threading.Semaphore(0)

        def handler(event: Any) -> HookResponse | None:
            begun.release()
            release.wait()
            return HookResponse.block("late") if event.args.command == "one" else None

        peer = await one_hook(client, server, handler)
        loop = asyncio.get_running_loop()
        for number in ("none", "one"):
            peer.call("h-1", "PreToolUse", {"args": {"command": number}}, number)
            await loop.run_in_executor(None, begun.acquire)
            peer.say({"type": "hook-call-cancelled", "callId": number})
        peer.say({"type": "hook-lagged", "missed": 1})
        assert "lost" in await said.get()  # By then both are cancelled.
        release.set()
        assert "the answer of hook h-1 to PreToolUse was dropped" in await said.get()
        assert said.empty()


@run_async
async def test_plain_handlers_that_never_return_are_left_and_their_number_is_bounded() -> None:
    release = threading.Event()
    async with scripted(max_threads=2) as (client, server, _):
        begun = threading.Semaphore(0)

        def handler(_: object) -> None:
            begun.release()
            release.wait()

        peer = await one_hook(client, server, handler)
        loop = asyncio.get_running_loop()
        for number in ("1", "2"):
            peer.call("h-1", "PreToolUse", TOLD, number)
            await loop.run_in_executor(None, begun.acquire)
            peer.say({"type": "hook-call-cancelled", "callId": number})
        peer.call("h-1", "PreToolUse", TOLD, "3")
        answer = await peer.hear("hook-answer")
        assert answer["callId"] == "3" and "all 2 threads" in answer["error"]
        release.set()


@run_async
async def test_a_call_for_a_hook_that_is_not_there_is_an_error() -> None:
    async with scripted() as (client, server, _):
        peer = await one_hook(client, server, lambda _: None)
        peer.call("h-99", "PreToolUse", TOLD)
        assert "h-99" in (await peer.hear("hook-answer"))["error"]
        peer.say({"type": "hook-call", "callId": "2", "hookId": "h-1", "eventName": "PreToolUse"})
        assert "no input" in (await peer.hear("hook-answer"))["error"]


@run_async
async def test_more_calls_than_may_be_under_way_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "MAX_CALLS", 2)
    async with scripted() as (client, server, _):
        done = asyncio.Event()

        async def handler(_: object) -> None:
            await done.wait()

        client.register_hook("PreToolUse", handler)
        peer = await server.peer()
        await peer.registers()
        for number in "123":
            peer.call("h-1", "PreToolUse", TOLD, number)
        refused = await peer.hear("hook-answer")
        assert (refused["callId"], refused["error"]) == ("3", "2 calls are under way already")
        done.set()
        assert {(await peer.hear("hook-answer"))["callId"] for _ in range(2)} == {"1", "2"}


@run_async
async def test_answers_that_may_be_lost_are_kept_and_no_more_than_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "MAX_SENT", 2)
    async with scripted() as (client, server, _):
        ran: list[str] = []
        client.register_hook("PreToolUse", lambda event: ran.append(event.args["command"]))
        peer = await server.peer()
        await peer.registers()
        for number in "123":
            peer.call("h-1", "PreToolUse", {**TOLD, "args": {"command": number}}, number)
            await peer.hear("hook-answer")
        # The server asks again for what it has no answer to: only the first was forgotten.
        for number in "321":
            peer.call("h-1", "PreToolUse", {**TOLD, "args": {"command": number}}, number)
            assert (await peer.hear("hook-answer"))["callId"] == number
        assert ran == ["1", "2", "3", "1"]
