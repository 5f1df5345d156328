"""The integration of Google's ADK, with the library itself and a scripted model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import (
    ADDING,
    SAYING,
    SECRET,
    Told,
    approving,
    both_ways,
    group,
    hooked,
    says,
)
from scripted import run_async

pytest.importorskip("google.adk", reason="SKIPPED: google-adk is not installed")

from google.adk.agents import LiveRequestQueue, LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.code_executors import BuiltInCodeExecutor, UnsafeLocalCodeExecutor
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import LongRunningFunctionTool
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from pydantic import BaseModel, Field

from hook_sdk import HookError, HookStopped
from hook_sdk.integrations.google_adk import HookPlugin

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]

given: list[Any] = []
ran: list[str] = []


class Scripted(BaseLlm):
    answers: list[Any]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        given.append([it.model_dump(exclude_none=True) for it in llm_request.contents])
        yield LlmResponse(content=types.Content(role="model", parts=[self.answers.pop(0)]))


class BuiltIn(BuiltInCodeExecutor):
    """One whose code the model's provider runs, whatever the model."""

    def process_llm_request(self, llm_request: Any) -> None:
        pass


def named(name: str) -> Any:
    def act(path: str) -> str:
        """Acts."""
        ran.append(path)
        return f"did {path}"

    act.__name__ = name
    return act


async def run(
    client: Any,
    name: str,
    text: str,
    *answers: Any,
    tool: Any = None,
    agent: Any = LlmAgent,
    agent_options: dict[str, Any] | None = None,
    app_options: dict[str, Any] | None = None,
    run_config: Any = None,
    **options: Any,
) -> list[Any]:
    given.clear()
    ran.clear()
    model = Scripted(model="scripted", answers=list(answers))
    tools = [named(name) if tool is None else tool]
    root = agent(**{"name": "a", "model": model, "tools": tools, **(agent_options or {})})
    plugins: list[Any] = [HookPlugin(client, **options)]
    app = App(name="app", root_agent=root, plugins=plugins, **(app_options or {}))
    runner = InMemoryRunner(app=app)
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = runner.run_async(
        user_id="u", session_id=session.id, new_message=message, run_config=run_config
    )
    return [
        part async for event in events for part in (event.content.parts if event.content else ())
    ]


def responses(parts: list[Any]) -> list[Any]:
    return [it.function_response.response for it in parts if it.function_response]


def call(name: str) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args={"path": "a"}, id="c"))


@pytest.mark.parametrize(
    ("name", "output", "paths"),
    [
        ("refused", {"error": "not that one"}, []),
        ("plain", {"result": "did a"}, ["a"]),
        ("rewritten", {"result": "did safe.txt"}, ["safe.txt"]),
        ("context", {"result": "did a\n\nmind the gap"}, ["a"]),
        ("asked", {"result": "did a"}, ["a"]),
    ],
)
@run_async
async def test_a_tool(tmp_path: Path, name: str, output: Any, paths: list[str]) -> None:
    asked: list[Any] = []
    async with hooked(tmp_path, host_services=approving(True, asked)) as client:
        parts = await run(client, name, "hi", call(name), types.Part(text="done"))
    assert parts[-1].text == "done"
    assert responses(parts) == [output]
    assert ran == paths and asked == (["sure?"] if name == "asked" else [])


@run_async
async def test_a_tool_that_hooks_stop_ends_the_run(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        with pytest.raises(Exception, match="enough") as error:
            await run(client, "stopped", "hi", call("stopped"))
    assert isinstance(error.value, HookStopped | RuntimeError) and ran == []


@run_async
async def test_the_model_never_sees_the_secret(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        parts = await run(client, "plain", SECRET, types.Part(text="your key is 1234"))
    assert "1234" not in str(given) and "my key is [redacted]" in str(given)
    assert parts[-1].text == "your key is [redacted]"


@run_async
async def test_what_hooks_add_to_a_prompt_reaches_the_model(tmp_path: Path) -> None:
    async with hooked(tmp_path, ADDING) as client:
        await run(client, "plain", "hi", types.Part(text="done"))
    assert given[0][-1]["parts"] == [{"text": "first\n\nhi\n\nmind the gap"}]


@run_async
async def test_without_a_server_no_model_is_called(tmp_path: Path) -> None:
    client = hooked(tmp_path)
    await client.close()
    with pytest.raises((HookError, RuntimeError)):
        await run(client, "plain", "hi", types.Part(text="x"))
    assert given == []


@both_ways
@run_async
async def test_the_user_is_told_what_hooks_say(tmp_path: Path, has_own: bool) -> None:
    told, answers = Told(has_own), [call("plain"), types.Part(text="done")]
    async with hooked(tmp_path, SAYING, on_problem=told.problems.append) as client:
        await run(client, "plain", "hi", *answers, **told.options)
    told.check("BeforeAgent", "BeforeModel", "BeforeTool", "BeforeModel")


DONE = types.Part(text="done")


class Danger(BaseTool):
    """A tool that is to be confirmed."""

    def __init__(self) -> None:
        super().__init__(name="danger", description="Danger.")

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(name="danger", description="Danger.")

    async def check_require_confirmation(self, *_: Any, **__: Any) -> bool:
        return True

    async def run_async(self, *, args: Any, tool_context: Any) -> Any:
        ran.append("danger")


@run_async
async def test_a_tool_that_is_to_be_confirmed_waits(tmp_path: Path) -> None:
    hooks = {"AfterTool": [group("", {"hookSpecificOutput": {"additionalContext": "mind"}})]}
    async with hooked(tmp_path, hooks) as client:
        parts = await run(client, "", "hi", call("danger"), DONE, tool=Danger())
    names = [it.function_call.name for it in parts if it.function_call]
    assert ran == [] and names == ["danger", "adk_request_confirmation"] and len(given) == 1
    assert "mind" not in str(responses(parts))


@run_async
async def test_calls_of_the_model_are_counted(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        answers = [call("plain")] * 9
        with pytest.raises(Exception, match="exceeded"):
            await run(client, "plain", "hi", *answers, run_config=RunConfig(max_llm_calls=3))
    assert len(given) == 3


NONE = {"hookSpecificOutput": {"toolConfig": {"mode": "NONE"}}}
OTHER = {
    "hookSpecificOutput": {"toolConfig": {"mode": "ANY", "allowedFunctionNames": ["another"]}}
}
FAILS = {"type": "command", "command": "exit 3", "failBehavior": "block"}


@pytest.mark.parametrize("hook", [says(NONE), says(OTHER), FAILS])
@run_async
async def test_a_tool_that_hooks_withhold_is_not_run(tmp_path: Path, hook: Any) -> None:
    async with hooked(tmp_path, {"BeforeToolSelection": [{"hooks": [hook]}]}) as client:
        with pytest.raises(Exception, match="withhold"):
            await run(client, "plain", "hi", call("plain"), DONE)
    assert ran == []


@run_async
async def test_a_tool_that_answers_later_is_waited_for(tmp_path: Path) -> None:
    def later(path: str) -> None:
        """Answers later."""
        ran.append(path)

    hooks = {"AfterTool": [group("", {"hookSpecificOutput": {"additionalContext": "mind"}})]}
    async with hooked(tmp_path, hooks) as client:
        tool = LongRunningFunctionTool(later)
        parts = await run(client, "", "hi", call("later"), DONE, tool=tool)
    assert ran == ["a"] and responses(parts) == [] and len(given) == 1


@run_async
async def test_of_a_tool_that_is_missing_the_model_is_told_the_others(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        parts = await run(client, "plain", "hi", call("missing"), DONE)
    assert "plain" in responses(parts)[0]["error"] and ran == []


@run_async
async def test_the_model_is_that_of_the_invocation(tmp_path: Path) -> None:
    class Chooses(LlmAgent):
        async def canonical_model_async(self, ctx: Any) -> Any:
            return Scripted(model="cheap", answers=[types.Part(text="chosen")])

    async with hooked(tmp_path) as client:
        parts = await run(client, "plain", "hi", DONE, agent=Chooses)
    assert parts[-1].text == "chosen"


class Quiet(BaseModel):
    secret: str = Field("forbidden", repr=False)


FORBIDS = "grep -q forbidden && { echo no >&2; exit 2; }; exit 0"


def forbids(event: str) -> dict[str, Any]:
    return {event: [{"hooks": [{"type": "command", "command": FORBIDS}]}]}


@pytest.mark.parametrize("value", [Quiet(), {"a": Quiet()}, [Quiet()], "forbidden"])
@run_async
async def test_hooks_see_what_the_model_gets_of_a_tool(tmp_path: Path, value: Any) -> None:
    def act(path: str) -> Any:
        """Acts."""
        return value

    async with hooked(tmp_path, forbids("AfterTool")) as client:
        parts = await run(client, "", "hi", call("act"), DONE, tool=act)
    assert responses(parts) == [{"error": "no"}] and "forbidden" not in str(given[-1])


@run_async
async def test_a_tool_changes_nothing_of_what_hooks_have_seen(tmp_path: Path) -> None:
    seen, go = tmp_path / "seen", tmp_path / "go"
    waits = f"cat > {seen}.part; mv {seen}.part {seen}; until [ -e {go} ]; do sleep 0.01; done"
    log = ["harmless"]

    def act(path: str) -> Any:
        """Acts."""
        return log

    async def grow() -> None:
        while not seen.exists():
            await asyncio.sleep(0.01)
        log.append("forbidden")
        go.touch()

    hooks = {"AfterTool": [{"hooks": [{"type": "command", "command": waits}]}]}
    async with hooked(tmp_path, hooks) as client:
        ran_ = run(client, "", "hi", call("act"), DONE, tool=act)
        parts, _ = await asyncio.gather(ran_, grow())
    assert responses(parts) == [{"result": ["harmless"]}]


@run_async
async def test_callbacks_of_the_agent_are_asked_too(tmp_path: Path) -> None:
    asked: list[str] = []

    def before(tool: Any, args: Any, tool_context: Any) -> Any:
        asked.append(args["path"])
        return {"error": "the agent's own guard"} if tool.name == "rewritten" else None

    def after(callback_context: Any, llm_response: Any) -> None:
        asked.append(llm_response.content.parts[0].text or "call")

    callbacks = {"before_tool_callback": before, "after_model_callback": after}
    async with hooked(tmp_path) as client:
        parts = await run(
            client, "rewritten", "hi", call("rewritten"), DONE, agent_options=callbacks
        )
    assert ran == [] and responses(parts) == [{"error": "the agent's own guard"}]
    assert asked == ["call", "safe.txt", "done"]


@pytest.mark.parametrize("adds", [False, True])
@run_async
async def test_what_a_tool_raises_is_raised_unless_hooks_add_to_it(
    tmp_path: Path, adds: bool
) -> None:
    def act(path: str) -> Any:
        """Acts."""
        raise ValueError("disk full")

    said = {"hookSpecificOutput": {"additionalContext": "mind the gap"}}
    async with hooked(tmp_path, {"ToolError": [group("", said)]} if adds else {}) as client:
        if not adds:
            with pytest.raises(ValueError, match="disk full"):
                await run(client, "", "hi", call("act"), DONE, tool=act)
            return
        parts = await run(client, "", "hi", call("act"), DONE, tool=act)
    assert responses(parts) == [{"error": "disk full\n\nmind the gap"}]


@run_async
async def test_a_tool_runs_again_if_hooks_want_it(tmp_path: Path) -> None:
    def act(path: str) -> Any:
        """Acts."""
        ran.append(path)
        if len(ran) < 3:
            raise ValueError("busy")
        return {"did": path}

    said = {"decision": "retry", "reason": "again", "hookSpecificOutput": {"retryDelayMs": 1}}
    async with hooked(tmp_path, {"ToolError": [group("", said)]}) as client:
        parts = await run(client, "", "hi", call("act"), DONE, tool=act)
    assert ran == ["a", "a", "a"] and responses(parts) == [{"did": "a"}]


@run_async
async def test_a_cancelled_run_leaves_nothing_running(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def act(path: str) -> Any:
        """Acts."""
        begun.set()
        await asyncio.Event().wait()

    async with hooked(tmp_path) as client:
        task = asyncio.create_task(run(client, "", "hi", call("act"), DONE, tool=act))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left = str(asyncio.all_tasks())
    assert "execute_tool" not in left and "OpenCall" not in left


@run_async
async def test_a_stream_shows_nothing_that_hooks_have_not_seen(tmp_path: Path) -> None:
    streamed: list[bool] = []

    class Streams(Scripted):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            streamed.append(stream)
            content = types.Content(role="model", parts=[types.Part(text="your key is 1234")])
            yield LlmResponse(content=content, partial=True)
            yield LlmResponse(content=content)

    async with hooked(tmp_path) as client:
        config = RunConfig(streaming_mode=StreamingMode.SSE)
        streams = {"model": Streams(model="s", answers=[])}
        parts = await run(client, "plain", "hi", agent_options=streams, run_config=config)
    assert "".join(it.text for it in parts) == "your key is [redacted]" and streamed == [False]


@run_async
async def test_a_second_answer_of_the_model_is_refused(tmp_path: Path) -> None:
    class Twice(Scripted):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            for text in ("one", "two"):
                content = types.Content(role="model", parts=[types.Part(text=text)])
                yield LlmResponse(content=content)

    async with hooked(tmp_path) as client:
        twice = {"model": Twice(model="s", answers=[])}
        with pytest.raises(Exception, match="were not asked"):
            await run(client, "plain", "hi", agent_options=twice)


@run_async
async def test_a_context_after_the_model_is_in_the_next_request(tmp_path: Path) -> None:
    said = {"hookSpecificOutput": {"additionalContext": "mind the gap"}}
    async with hooked(tmp_path, {"AfterModel": [group("", said)]}) as client:
        await run(client, "plain", "hi", call("plain"), DONE)
    assert "mind the gap" not in str(given[0]) and "mind the gap" in str(given[1])


@run_async
async def test_a_live_session_is_refused(tmp_path: Path) -> None:
    connected: list[Any] = []

    class Live(Scripted):
        def connect(self, llm_request: Any) -> Any:
            connected.append(llm_request)

    async with hooked(tmp_path) as client:
        root = LlmAgent(name="a", model=Live(model="s", answers=[]))
        app = App(name="app", root_agent=root, plugins=[HookPlugin(client)])
        runner = InMemoryRunner(app=app)
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        queue = LiveRequestQueue()
        queue.send_content(types.Content(role="user", parts=[types.Part(text=SECRET)]))
        with pytest.raises(Exception, match="live session"):
            async for _ in runner.run_live(
                user_id="u", session_id=session.id, live_request_queue=queue
            ):
                pass
    assert connected == []


@run_async
async def test_code_of_the_model_that_hooks_cannot_see_is_not_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    code = types.Part(text=f"```python\nopen({str(made)!r}, 'w')\n```")
    options = {"code_executor": UnsafeLocalCodeExecutor()}
    async with hooked(tmp_path, {}) as client:
        with pytest.raises(Exception, match="the code of the model that UnsafeLocal"):
            await run(client, "plain", "hi", code, DONE, agent_options=options)
        assert not made.exists() and given == []
        await run(client, "plain", "hi", DONE, agent_options={"code_executor": BuiltIn()})
        assert len(given) == 1


@run_async
async def test_what_hooks_cannot_see_is_said(tmp_path: Path) -> None:
    problems: list[str] = []
    summarizer = LlmEventSummarizer(llm=Scripted(model="s", answers=[DONE]))
    compaction = EventsCompactionConfig(
        compaction_interval=1, overlap_size=0, summarizer=summarizer
    )
    inner = LlmAgent(name="inner", model=Scripted(model="s", answers=[DONE]))
    ask = types.FunctionCall(name="inner", args={"request": "go"}, id="c")
    async with hooked(tmp_path, {}, on_problem=problems.append) as client:
        await run(
            client,
            "",
            "hi",
            types.Part(function_call=ask),
            DONE,
            tool=AgentTool(inner, include_plugins=False),
            app_options={"events_compaction_config": compaction},
        )
    assert [it.split(":")[0] for it in problems] == [
        "`events_compaction_config`",
        "hooks are not asked about the agent inner",
    ]


@run_async
async def test_an_argument_of_hooks_that_the_tool_does_not_have_is_said(tmp_path: Path) -> None:
    problems: list[str] = []
    said = {"hookSpecificOutput": {"tool_input": {"path": "b", "paht": "c"}}}
    hooks = {"BeforeTool": [group("", said)]}
    async with hooked(tmp_path, hooks, on_problem=problems.append) as client:
        await run(client, "plain", "hi", call("plain"), DONE)
    assert problems == ["hooks gave plain what it does not know: paht"] and ran == ["b"]
