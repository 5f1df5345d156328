"""The integration of Pydantic AI, with the library itself and a scripted model."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from engine import needs_engine
from integration_hooks import (
    ADDING,
    HOOKS,
    SAYING,
    SECRET,
    Told,
    approving,
    both_ways,
    group,
    hooked,
)
from scripted import run_async

pytest.importorskip("pydantic_ai", reason="SKIPPED: pydantic-ai is not installed")

from pydantic import BaseModel, Field, SecretStr
from pydantic_ai import Agent, DeferredToolRequests, TextOutput
from pydantic_ai.exceptions import (
    ApprovalRequired,
    CallDeferred,
    ModelRetry,
    SkipToolExecution,
    ToolFailed,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import (
    BinaryContent,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import UsageLimits

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
                arguments = part.args_as_json_str()
                yield {0: DeltaToolCall(part.tool_name, arguments, tool_call_id="c")}

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
    problems: list[str] = []
    async with hooked(tmp_path, on_problem=problems.append) as client:
        made = agent(client, "plain", TextPart("half"))
        async with made.run_stream("hi") as result:
            assert await result.get_output() == "half"
    assert problems == ["hooks want the agent to go on, which a stream cannot"]


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


def forbids(event: str, name: str = "") -> dict[str, Any]:
    guard = {"type": "command", "command": FORBIDS, "failBehavior": "block"}
    return {event: [{"matcher": name, "hooks": [guard]}]}


class Command(BaseModel):
    text: str = Field(exclude=True)


class Alias(BaseModel):
    text: str = Field(validation_alias="content")


@pytest.mark.parametrize(
    ("type_", "argument"),
    [
        (SecretStr, "forbidden"),
        (Command, {"text": "forbidden"}),
        (Alias, {"content": "forbidden"}),
    ],
)
@run_async
async def test_hooks_see_the_arguments_of_the_model(
    tmp_path: Path, type_: Any, argument: Any
) -> None:
    async with hooked(tmp_path, forbids("BeforeTool")) as client:
        calls = [ToolCallPart("act", {"it": argument, "number": 1}), TextPart("done")]
        made = agent(client, "other", *calls)

        def act(it: Any, number: int) -> str:
            ran.append(it)
            return "did"

        act.__annotations__["it"] = type_
        made.tool_plain(act)
        await made.run("hi")
    assert ran == [] and returned() == ["no"]


@run_async
async def test_hooks_that_change_one_argument_leave_the_others(tmp_path: Path) -> None:
    got: list[Any] = []
    changes = {"hookSpecificOutput": {"tool_input": {"flag": 1}}}
    async with hooked(tmp_path, {"BeforeTool": [group("act", changes)]}) as client:
        arguments = {"key": "real", "it": {"content": "x"}, "flag": True}
        made = agent(client, "other", ToolCallPart("act", arguments), TextPart("done"))

        @made.tool_plain
        def act(key: SecretStr, it: Alias, flag: bool | int) -> str:
            got.append((key.get_secret_value(), it.text, flag))
            return "did"

        await made.run("hi")
    assert got == [("real", "x", 1)] and not isinstance(got[0][2], bool)


class Quiet(BaseModel):
    name: str = "x"
    secret: Annotated[str, Field(repr=False)] = "forbidden"

    def __str__(self) -> str:
        return "quiet"


IMAGE = BinaryContent(b"x", media_type="image/png")


@pytest.mark.parametrize(
    "value",
    [
        Quiet(),
        [Quiet()],
        {"a": Quiet()},
        "forbidden",
        ToolReturn("fine", content=[IMAGE, "forbidden"]),
        ToolReturn(Quiet(), metadata="m"),
        [IMAGE, "forbidden"],
    ],
)
@run_async
async def test_hooks_see_what_the_model_gets_of_a_tool(tmp_path: Path, value: Any) -> None:
    async with hooked(tmp_path, forbids("AfterTool")) as client:
        made = agent(client, "other", ToolCallPart("act", {}), TextPart("done"))

        @made.tool_plain
        def act() -> Any:
            return value

        await made.run("hi")
    assert returned() == ["no"] and "forbidden" not in str(given[-1][-1])


@run_async
async def test_what_hooks_see_of_a_tool_is_what_the_model_gets(tmp_path: Path) -> None:
    more = ToolReturn({"a": 1}, content="more", metadata="m")
    values = [Quiet(), more, [IMAGE, "x"], None, date(2026, 1, 2)]
    async with hooked(tmp_path, {}) as client:
        calls = [ToolCallPart("act", {"number": it}) for it in range(5)]
        made = agent(client, "other", calls, TextPart("done"))

        @made.tool_plain
        def act(number: int) -> Any:
            return values[number]

        await made.run("hi")
    kept = [getattr(it, "return_value", it) for it in values]
    assert returned() == kept and given[-1][-1].parts[-1].content == "more"


@run_async
async def test_a_context_of_hooks_leaves_images_and_metadata(tmp_path: Path) -> None:
    hooks = {"AfterTool": HOOKS["AfterTool"]}
    async with hooked(tmp_path, hooks) as client:
        made = agent(client, "other", ToolCallPart("context", {}), TextPart("done"))

        @made.tool_plain
        def context() -> Any:
            return ToolReturn("did", content=["look", IMAGE], metadata="m")

        await made.run("hi")
    part = next(it for it in given[-1][-1].parts if isinstance(it, ToolReturnPart))
    assert part.content == ["did\n\nlook\n\nmind the gap", IMAGE] and part.metadata == "m"


@run_async
async def test_a_tool_changes_nothing_of_what_hooks_have_seen(tmp_path: Path) -> None:
    seen, go = tmp_path / "seen", tmp_path / "go"
    waits = f"cat > {seen}.part; mv {seen}.part {seen}; until [ -e {go} ]; do sleep 0.01; done"
    hooks = {"AfterTool": [{"hooks": [{"type": "command", "command": waits}]}]}
    log = ["harmless"]

    async def grow() -> None:
        while not seen.exists():
            await asyncio.sleep(0.01)
        log.append("forbidden")
        go.touch()

    async with hooked(tmp_path, hooks) as client:
        made = agent(client, "other", ToolCallPart("act", {}), TextPart("done"))

        @made.tool_plain
        def act() -> list[str]:
            return log

        await asyncio.gather(made.run("hi"), grow())
    assert returned() == [["harmless"]]


@pytest.mark.parametrize("how", ["tool", "text"])
@pytest.mark.parametrize("is_streamed", [False, True])
@run_async
async def test_hooks_are_asked_about_an_output_function(
    tmp_path: Path, how: str, is_streamed: bool
) -> None:
    def delete(path: str) -> str:
        ran.append(path)
        return f"deleted {path}"

    def part(path: str) -> Any:
        return TextPart(path) if how == "text" else ToolCallPart("final_result", {"path": path})

    async with hooked(tmp_path, forbids("BeforeTool", "delete")) as client:
        made = agent(client, "other", part("forbidden"), part("a"))
        output = TextOutput(delete) if how == "text" else delete
        if not is_streamed:
            assert (await made.run("hi", output_type=output)).output == "deleted a"
            assert "no" in str(given[-1][-1].parts[-1].content) and ran == ["a"]
            return
        with pytest.raises(UnexpectedModelBehavior):
            async with made.run_stream("hi", output_type=output) as result:
                async for _ in result.stream_output():
                    pass
        assert ran == []


@pytest.mark.parametrize("event", ["BeforeTool", "AfterTool"])
@pytest.mark.parametrize("answer", ["changes", "blocks"])
@run_async
async def test_what_hooks_change_of_an_output_function(
    tmp_path: Path, event: str, answer: str
) -> None:
    def act(path: str) -> list[str]:
        ran.append(path)
        return ["did"]

    change = {"BeforeTool": {"tool_input": {"path": "b"}}, "AfterTool": {"additionalContext": "x"}}
    said = REFUSES if answer == "blocks" else {"hookSpecificOutput": change[event]}
    async with hooked(tmp_path, {event: [group("act", said)]}) as client:
        made = agent(client, "other", ToolCallPart("final_result", {"path": "a"}))
        wanted = UnexpectedModelBehavior if answer == "blocks" else HookError
        with pytest.raises(wanted):
            await made.run("hi", output_type=act)
    assert bool(ran) == (event == "AfterTool")


@run_async
async def test_hooks_add_to_the_text_of_an_output_function(tmp_path: Path) -> None:
    def act(path: str) -> str:
        return "secret"

    said = {"hookSpecificOutput": {"additionalContext": "kept"}}
    async with hooked(tmp_path, {"AfterTool": [group("act", said)]}) as client:
        made = agent(client, "other", ToolCallPart("final_result", {"path": "a"}))
        assert (await made.run("hi", output_type=act)).output == "secret\n\nkept"


@run_async
async def test_hooks_see_instructions(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        made = agent(client, "plain", TextPart("done"))
        infos: list[Any] = []

        def model(messages: Any, info: Any) -> ModelResponse:
            given.append(messages)
            infos.append(info.instructions)
            return ModelResponse(parts=[TextPart("done")])

        made.model = FunctionModel(model)
        result = await made.run("hi", instructions=[SECRET, lambda: "the 1234"])
        assert infos[0] == "my key is [redacted]\n\nthe [redacted]" and SECRET not in str(given[0])
        # Without parameters of their own, those of the messages are sent.
        wrapped: Any = Hooks(client).get_wrapper_model(made.model)
        asked = ModelRequest(parts=[UserPromptPart("hi")], instructions=SECRET)
        await wrapped.request([asked], None, ModelRequestParameters())
        assert infos[-1] == "my key is [redacted]" and SECRET not in str(given[-1])
    assert result.output == "done"


@pytest.mark.parametrize("error", [CallDeferred(), ApprovalRequired()])
@pytest.mark.parametrize("event", ["ToolError", "AfterTool"])
@run_async
async def test_a_deferred_call_stays_one_with_hooks_that_add_to_it(
    tmp_path: Path, error: Exception, event: str
) -> None:
    said = {"hookSpecificOutput": {"additionalContext": "mind"}}
    async with hooked(tmp_path, {event: [group("", said)]}) as client:
        made = agent(client, "other", ToolCallPart("act", {}))

        @made.tool_plain
        def act() -> str:
            raise error

        result = await made.run("hi", output_type=[str, DeferredToolRequests])
    assert isinstance(result.output, DeferredToolRequests)


@pytest.mark.parametrize("adds", [False, True])
@run_async
async def test_retries_of_a_tool_are_counted(tmp_path: Path, adds: bool) -> None:
    said = {"hookSpecificOutput": {"additionalContext": "mind"}}
    hooks = {"ToolError": [group("", said)]} if adds else {}
    async with hooked(tmp_path, hooks) as client:
        made = agent(client, "other", ToolCallPart("act", {}))

        @made.tool_plain(retries=1)
        def act() -> str:
            ran.append("a")
            raise ModelRetry("again")

        with pytest.raises(UnexpectedModelBehavior, match="max retries"):
            await made.run("hi")
    part = given[-1][-1].parts[-1]
    assert ran == ["a", "a"] and part.outcome == "retried"
    assert part.content == ("again\n\nmind" if adds else "again")


@run_async
async def test_a_failed_tool_stays_one_with_hooks_that_add_to_it(tmp_path: Path) -> None:
    said = {"hookSpecificOutput": {"additionalContext": "mind"}}
    async with hooked(tmp_path, {"ToolError": [group("", said)]}) as client:
        made = agent(client, "other", ToolCallPart("act", {}), TextPart("done"))

        @made.tool_plain
        def act() -> str:
            raise ToolFailed("broken")

        await made.run("hi")
    part = given[-1][-1].parts[-1]
    assert part.outcome == "failed" and part.content == "broken\n\nmind"


@run_async
async def test_hooks_see_an_answer_instead_of_a_tool(tmp_path: Path) -> None:
    async with hooked(tmp_path, forbids("AfterTool")) as client:
        made = agent(client, "other", ToolCallPart("act", {}), TextPart("done"))

        @made.tool_plain
        def act() -> str:
            raise SkipToolExecution("forbidden")

        await made.run("hi")
    assert returned() == ["no"]


@run_async
async def test_a_context_after_the_model_is_in_the_next_request(tmp_path: Path) -> None:
    said = {"hookSpecificOutput": {"additionalContext": "mind the gap"}}
    async with hooked(tmp_path, {"AfterModel": [group("", said)]}) as client:
        await agent(client, "plain", call("plain"), TextPart("done")).run("hi")
    assert "mind the gap" not in str(given[0]) and "mind the gap" in str(given[1])


@run_async
async def test_no_provider_gets_what_hooks_have_not_seen(tmp_path: Path) -> None:
    got: list[Any] = []

    class Provider(FunctionModel):
        async def count_tokens(self, *given: Any) -> Any:
            got.append(given)

        async def compact_messages(self, *given: Any, **named: Any) -> Any:
            got.append(given)

        async def batch_encode(self, request: Any) -> Any:
            got.append(request)

    async with hooked(tmp_path) as client:
        made = agent(client, "plain", TextPart("done"))
        made.model = Provider(made.model.function)  # type: ignore[union-attr]
        limits = UsageLimits(count_tokens_before_request=True, input_tokens_limit=1000)
        with pytest.raises(HookError, match="tokens are not counted"):
            await made.run(SECRET, usage_limits=limits)
        wrapped: Any = Hooks(client).get_wrapper_model(made.model)  # type: ignore[arg-type]
        with pytest.raises(HookError, match="not compacted"):
            await wrapped.compact_messages(SimpleNamespace())
        with pytest.raises(HookError, match="batches"):
            await wrapped.batch_encode(SimpleNamespace())
    assert got == [] and given == []


@run_async
async def test_a_realtime_session_is_refused(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        context: Any = SimpleNamespace(realtime=True, prompt=None, messages=[])

        async def handler() -> Any:
            ran.append("a")

        ran.clear()
        with pytest.raises(HookError, match="realtime"):
            await Hooks(client).wrap_run(context, handler=handler)
    assert ran == []


@run_async
async def test_a_cancelled_run_leaves_nothing_running(tmp_path: Path) -> None:
    begun = asyncio.Event()
    async with hooked(tmp_path) as client:
        made = agent(client, "other", ToolCallPart("act", {}))

        @made.tool_plain
        async def act() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(made.run("hi"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left = str(asyncio.all_tasks())
    assert "execute_tool" not in left and "OpenCall" not in left
