"""The integration of Pydantic AI, with the library itself and a scripted model."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import ADDING, SAYING, SECRET, Told, approving, both_ways, group, hooked
from scripted import run_async

pytest.importorskip("pydantic_ai", reason="SKIPPED: pydantic-ai is not installed")

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import (
    BinaryContent,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from hook_sdk import HookError, HookStopped
from hook_sdk.integrations.pydantic_ai import Hooks

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]

given: list[Any] = []
tools: list[Any] = []
ran: list[str] = []


def agent(client: Any, name: str, *answers: Any, **options: Any) -> Agent:
    given.clear()
    tools.clear()
    ran.clear()
    left = list(answers)

    def model(messages: Any, info: Any) -> ModelResponse:
        given.append(messages)
        tools.append([it.name for it in info.function_tools])
        answer = left.pop(0) if left[1:] else left[0]  # The last one again, if it goes on.
        return ModelResponse(parts=answer if isinstance(answer, list) else [answer])

    async def stream(messages: Any, info: Any) -> Any:
        for part in model(messages, info).parts:
            if isinstance(part, TextPart):
                yield part.content
            else:
                yield {0: DeltaToolCall(part.tool_name, '{"path": "a"}', tool_call_id="c")}

    hooks = Hooks(client, **options)
    made = Agent(FunctionModel(model, stream_function=stream), capabilities=[hooks])

    @made.tool_plain(name=name)
    def act(path: str) -> str:
        ran.append(path)
        return f"did {path}"

    return made


def call(name: str) -> ToolCallPart:
    return ToolCallPart(name, {"path": "a"}, f"c-{name}")


def returned() -> Any:
    parts = [part for message in given[-1] for part in message.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


@pytest.mark.parametrize(
    ("name", "output", "paths"),
    [
        ("refused", "not that one", []),
        ("plain", "did a", ["a"]),
        ("rewritten", "did safe.txt", ["safe.txt"]),
        ("context", "did a\n\nmind the gap", ["a"]),
        ("asked", "did a", ["a"]),
    ],
)
@run_async
async def test_a_tool(tmp_path: Path, name: str, output: str, paths: list[str]) -> None:
    asked: list[Any] = []
    async with hooked(tmp_path, host_services=approving(True, asked)) as client:
        result = await agent(client, name, call(name), TextPart("done")).run("hi")
    assert result.output == "done" and returned() == [output]
    assert ran == paths and asked == (["sure?"] if name == "asked" else [])


@run_async
async def test_arguments_of_another_type_do_not_reach_the_tool(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        await agent(client, "wrong", call("wrong"), TextPart("done")).run("hi")
    assert ran == [] and "string" in returned()[0]


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("refused", []),
        ("plain", [(Path("a"), date(2026, 1, 2))]),
        ("rewritten", [(Path("safe.txt"), date(2026, 1, 2))]),
    ],
)
@run_async
async def test_a_tool_gets_the_types_that_it_declares(
    tmp_path: Path, name: str, typed: list[Any]
) -> None:
    got: list[Any] = []
    async with hooked(tmp_path) as client:
        made = agent(client, "other", None, TextPart("done"))

        @made.tool_plain(name=name)
        def act(path: Path, day: date = date(2026, 1, 1)) -> str:
            got.append((path, day))
            return "did"

        arguments = {"path": "a", "day": "2026-01-02"}
        made.model = FunctionModel(
            lambda messages, info: ModelResponse(
                parts=[TextPart("done") if len(messages) > 1 else ToolCallPart(name, arguments)]
            )
        )
        assert (await made.run("hi")).output == "done"
    assert got == typed


@run_async
async def test_a_tool_that_hooks_stop_ends_the_run(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        with pytest.raises(HookStopped, match="enough"):
            await agent(client, "stopped", call("stopped")).run("hi")
    assert ran == []


@run_async
async def test_the_model_never_sees_the_secret(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        result = await agent(client, "plain", TextPart("your key is 1234")).run(SECRET)
    assert "1234" not in str(given) and "my key is [redacted]" in str(given)
    assert result.output == "your key is [redacted]"


@run_async
async def test_without_a_server_no_model_is_called(tmp_path: Path) -> None:
    client = hooked(tmp_path)
    await client.close()
    with pytest.raises(HookError):
        await agent(client, "plain", TextPart("x")).run("hi")
    assert given == []


REFUSES = {"decision": "block", "reason": "not that answer"}


@pytest.mark.parametrize("text", ["", "I delete"])
@pytest.mark.parametrize("is_streamed", [False, True])
@run_async
async def test_of_an_answer_that_hooks_refuse_nothing_runs(
    tmp_path: Path, text: str, is_streamed: bool
) -> None:
    answer = [TextPart(text), call("plain")] if text else [call("plain")]
    async with hooked(tmp_path, {"AfterModel": [group("", REFUSES)]}) as client:
        made = agent(client, "plain", answer)
        if is_streamed:
            async with made.run_stream("hi") as result:
                shown = [it async for it in result.stream_text()]
            assert set(shown) == {"not that answer"}
        else:
            assert (await made.run("hi")).output == "not that answer"
    assert ran == []


@run_async
async def test_a_stream_is_shown_as_hooks_left_it(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        made = agent(client, "plain", call("plain"), TextPart("your key is 1234"))
        async with made.run_stream("hi") as result:
            shown = [it async for it in result.stream_text()]
    assert ran == ["a"] and shown[-1] == "your key is [redacted]" and "1234" not in str(shown)


FORBIDS = """grep -q forbidden && { echo no >&2; exit 2; }; exit 0"""


@pytest.mark.parametrize("event", ["BeforeAgent", "BeforeModel"])
@run_async
async def test_hooks_see_the_texts_of_a_prompt_with_several_parts(
    tmp_path: Path, event: str
) -> None:
    image = BinaryContent(b"x", media_type="image/png")
    hooks = {event: [{"hooks": [{"type": "command", "command": FORBIDS}]}]}
    async with hooked(tmp_path, hooks) as client:
        made = agent(client, "plain", TextPart("fine"))
        try:
            assert (await made.run([image, "forbidden"])).output != "fine"
        except HookStopped:
            pass
        assert given == []
        assert (await made.run([image, "allowed"])).output == "fine"
        with pytest.raises(HookError, match="cannot be shown"):
            await made.run([BinaryContent(b"forbidden", media_type="text/plain")])


@run_async
async def test_a_text_among_several_parts_is_changed(tmp_path: Path) -> None:
    image = BinaryContent(b"x", media_type="image/png")
    async with hooked(tmp_path) as client:
        await agent(client, "plain", TextPart("done")).run([image, SECRET])
    assert given[0][0].parts[0].content == [image, "my key is [redacted]"]


def sent() -> Any:
    parts = [part for message in given[0] for part in message.parts]
    return next(part.content for part in parts if isinstance(part, UserPromptPart))


@pytest.mark.parametrize("how", ["run", "run_stream", "history", "resumed", "empty"])
@run_async
async def test_what_hooks_add_to_a_prompt_reaches_the_model(tmp_path: Path, how: str) -> None:
    async with hooked(tmp_path, ADDING) as client:
        made = agent(client, "plain", TextPart("done"))
        history: list[Any] = [ModelRequest(parts=[UserPromptPart("hi")])]
        if how == "run":
            await made.run("hi")
        elif how == "run_stream":
            async with made.run_stream("hi") as result:
                await result.get_output()
        elif how == "empty":
            await made.run(instructions="Work.")
        else:
            kept = list(history)
            if how == "resumed":
                history.append(ModelResponse(parts=[call("plain")]))
            await made.run(message_history=history)
            assert history[: len(kept)] == kept  # The caller's own is as it was.
    hi = [] if how == "empty" else ["hi"]
    assert sent().split("\n\n", 1)[0] == "first" and len(given) == 1
    assert sent().split() == ["first", *hi, "mind", "the", "gap"]


@run_async
async def test_what_hooks_add_to_a_prompt_with_an_image_reaches_the_model(tmp_path: Path) -> None:
    image = BinaryContent(b"x", media_type="image/png")
    async with hooked(tmp_path, ADDING) as client:
        await agent(client, "plain", TextPart("done")).run(["hi", image])
    assert sent() == ["first\n\nhi\n\nmind the gap", image]


@run_async
async def test_each_run_has_its_own_prompt(tmp_path: Path) -> None:
    async with hooked(tmp_path, ADDING) as client:
        made = agent(client, "plain", TextPart("done"))
        await asyncio.gather(*(made.run(str(number)) for number in range(8)))
    sent = sorted(str(messages[0].parts[0].content) for messages in given)
    assert sent == [f"first\n\n{number}\n\nmind the gap" for number in range(8)]


@run_async
async def test_a_message_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    image = [{"type": "image", "data": "eA=="}]
    said = {"hookSpecificOutput": {"message": {"customType": "x", "content": image}}}
    async with hooked(tmp_path, {"BeforeAgent": [group("", said)]}) as client:
        with pytest.raises(HookError, match="no text"):
            await agent(client, "plain", TextPart("done")).run("hi")
    assert given == []


@run_async
async def test_the_agent_goes_on_after_it_stopped(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        made = agent(client, "plain", TextPart("half"), TextPart("all"))
        assert (await made.run("hi")).output == "all"
        assert given[-1][-1].parts[-1].content == "do the rest" and len(given) == 2


@run_async
async def test_hooks_that_want_a_stream_to_go_on_are_a_warning(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        made = agent(client, "plain", TextPart("half"))
        with pytest.warns(UserWarning, match="a stream cannot"):
            async with made.run_stream("hi") as result:
                assert await result.get_output() == "half"


@run_async
async def test_changed_arguments_for_which_a_tool_wants_an_approval_wait_for_it(
    tmp_path: Path,
) -> None:
    async def approved(ctx: Any, path: str) -> None:
        if path == "safe.txt":
            raise ApprovalRequired

    async with hooked(tmp_path) as client:
        made = agent(client, "other", call("rewritten"))

        @made.tool_plain(name="rewritten", args_validator=approved)
        def act(path: str) -> str:
            ran.append(path)
            return "did"

        result = await made.run("hi", output_type=[str, DeferredToolRequests])
    assert ran == [] and isinstance(result.output, DeferredToolRequests)


@run_async
async def test_tools_that_hooks_withhold_are_not_called(tmp_path: Path) -> None:
    async with hooked(tmp_path, {"BeforeToolSelection": [group("", REFUSES)]}) as client:
        await agent(client, "plain", TextPart("done")).run("hi")
        assert tools == [[]]
        with pytest.raises(HookStopped, match="withhold"):
            await agent(client, "plain", call("plain")).run("hi")
    assert ran == []


@pytest.mark.parametrize("error", [ValueError("disk full"), ApprovalRequired()])
@run_async
async def test_what_a_tool_raises_is_raised_again(tmp_path: Path, error: Exception) -> None:
    async with hooked(tmp_path) as client:
        made = agent(client, "other", call("raises"))

        @made.tool_plain
        def raises(path: str) -> str:
            raise error

        with pytest.raises(Exception) as raised:
            await made.run("hi")
    if isinstance(error, ValueError):
        assert raised.value is error
    else:  # The library's own error about its output's type.
        assert "DeferredToolRequests" in str(raised.value)


@both_ways
@pytest.mark.parametrize("streams", [True, False])
@run_async
async def test_the_user_is_told_what_hooks_say(
    tmp_path: Path, streams: bool, has_own: bool
) -> None:
    told = Told(has_own)
    async with hooked(tmp_path, SAYING, on_problem=told.problems.append) as client:
        made = agent(client, "plain", call("plain"), TextPart("done"), **told.options)
        if streams:
            async with made.run_stream("hi") as result:
                await result.get_output()
        else:
            await made.run("hi")
    told.check("BeforeAgent", "BeforeModel", "BeforeTool", "BeforeModel", "AfterAgent")
