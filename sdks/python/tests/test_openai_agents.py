"""The integration of openai-agents, with the library itself and a scripted model."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import (
    ADDING,
    SAYING,
    SECRET,
    WITHHOLDING,
    Told,
    approving,
    both_ways,
    group,
    hooked,
    says,
)
from scripted import run_async

pytest.importorskip("agents", reason="SKIPPED: openai-agents is not installed")

from agents import (
    Agent,
    FunctionTool,
    ModelProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolOutputImage,
    ToolOutputText,
    WebSearchTool,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.items import ModelResponse
from agents.mcp import MCPServer
from agents.models.interface import Model
from agents.usage import Usage
from mcp.types import CallToolResult, Tool
from openai._models import construct_type
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseStreamEvent,
)

from hook_sdk import HookError, HookStopped, agent_turn
from hook_sdk.integrations.openai_agents import RunStopped, _Hooks, run, with_hooks

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]
set_tracing_disabled(True)


def message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[part]
    )


def call(name: str, arguments: str = '{"path": "a"}') -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call", call_id=f"c-{name}", name=name, arguments=arguments
    )


class Scripted(Model):
    """A model that gives these answers, and keeps what it was given."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.given: list[Any] = []
        self.named: list[Any] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *rest: Any, **named: Any
    ) -> Any:
        instructions = system_instructions
        self.given.append([instructions, *input] if instructions else input)
        self.named.append(named)
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id="r")

    async def stream_response(self, instructions: Any, input: Any, *rest: Any, **named: Any) -> Any:
        self.given.append(input)
        answer = self.answers.pop(0)
        texts = answer.content[0].text.split("|") if answer.type == "message" else []
        for number, text in enumerate(texts):
            event = {
                "type": "response.output_text.delta",
                "delta": text,
                "item_id": "m",
                "output_index": 0,
                "content_index": 0,
                "sequence_number": number,
                "logprobs": [],
            }
            yield construct_type(type_=ResponseStreamEvent, value=event)
        output = [answer.model_dump() if not texts else message("".join(texts)).model_dump()]
        response = {"id": "r", "object": "response", "status": "completed", "output": output}
        event = {"type": "response.completed", "sequence_number": 9, "response": response}
        yield construct_type(type_=ResponseStreamEvent, value=event)


ran: list[str] = []


def tool(name: str) -> Any:
    @function_tool(name_override=name)
    def act(path: str) -> str:
        """Acts."""
        ran.append(path)
        return f"did {path}"

    return act


def agent(name: str, model: Model) -> Agent[Any]:
    return Agent(name="a", tools=[tool(name)], model=model)


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
    ran.clear()
    asked: list[Any] = []
    model = Scripted(call(name), message("done"))
    async with hooked(tmp_path, host_services=approving(True, asked)) as client:
        result = await Runner.run(with_hooks(client, agent(name, model)), "hi")
    assert result.final_output == "done"
    assert model.given[1][-1]["output"] == output
    assert ran == paths and asked == (["sure?"] if name == "asked" else [])


@run_async
async def test_arguments_of_another_type_are_refused_as_the_library_does(tmp_path: Path) -> None:
    ran.clear()
    model = Scripted(call("wrong"), message("done"))
    async with hooked(tmp_path) as client:
        await Runner.run(with_hooks(client, agent("wrong", model)), "hi")
    assert ran == []
    assert "error occurred" in model.given[1][-1]["output"]


@run_async
async def test_a_tool_that_hooks_stop_ends_the_run(tmp_path: Path) -> None:
    ran.clear()
    async with hooked(tmp_path) as client:
        with pytest.raises(HookStopped, match="enough"):
            await Runner.run(with_hooks(client, agent("stopped", Scripted(call("stopped")))), "hi")
    assert ran == []


@run_async
async def test_the_model_never_sees_the_secret(tmp_path: Path) -> None:
    model = Scripted(message("your key is 1234"))
    async with hooked(tmp_path) as client:
        result = await Runner.run(with_hooks(client, agent("plain", model)), SECRET)
    assert "1234" not in str(model.given) and "my key is [redacted]" in str(model.given)
    assert result.final_output == "your key is [redacted]"


@run_async
async def test_each_chunk_of_a_stream_is_rewritten(tmp_path: Path) -> None:
    model = Scripted(message("key |1234| it is"))
    async with hooked(tmp_path) as client:
        guarded = with_hooks(client, agent("plain", model), chunks="each")
        result = Runner.run_streamed(guarded, "hi")
        shown = [
            event.data.delta
            async for event in result.stream_events()
            if event.type == "raw_response_event"
            and event.data.type == "response.output_text.delta"
        ]
    assert "".join(shown) == "key [redacted] it is"
    assert result.final_output == "key [redacted] it is"


@run_async
async def test_the_agent_goes_on_after_it_stopped(tmp_path: Path) -> None:
    model = Scripted(message("half"), message("all"))
    async with hooked(tmp_path) as client:
        result = await run(client, with_hooks(client, agent("plain", model)), "hi")
    assert result.final_output == "all"
    assert model.given[1][-1]["content"] == "do the rest"


@run_async
async def test_a_handoff_keeps_the_hooks(tmp_path: Path) -> None:
    ran.clear()
    model = Scripted(call("transfer_to_b", "{}"), call("refused"), message("done"))
    other = Agent(name="b", tools=[tool("refused")], model=model)
    first = Agent(name="a", handoffs=[other], model=model)
    other.handoffs = [first]  # A circle.
    async with hooked(tmp_path) as client:
        result = await Runner.run(with_hooks(client, first), "hi")
    assert result.final_output == "done" and ran == []


@run_async
async def test_a_tool_that_openai_runs_is_refused(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        with pytest.raises(TypeError, match="web_search"):
            with_hooks(client, Agent(name="a", tools=[WebSearchTool()]))


@run_async
async def test_without_a_server_no_tool_runs(tmp_path: Path) -> None:
    ran.clear()
    async with hooked(tmp_path) as client:
        guarded = with_hooks(client, agent("plain", Scripted(call("plain"))))
        await client.close()
        with pytest.raises(HookError):
            await Runner.run(guarded, "hi")
    assert ran == []


class Provider(ModelProvider):
    def __init__(self, model: Model) -> None:
        self.model, self.asked = model, list[str | None]()

    def get_model(self, model_name: str | None) -> Model:
        self.asked.append(model_name)
        return self.model


@pytest.mark.parametrize("of_agent", [None, "mine", Scripted(message("wrong"))])
@pytest.mark.parametrize("of_run", [None, "its", "object"])
@pytest.mark.parametrize("how", ["run", "Runner.run", "Runner.run_streamed"])
@run_async
async def test_a_model_of_the_run_has_hooks(
    tmp_path: Path, of_agent: Any, of_run: Any, how: str
) -> None:
    model = Scripted(*[message("half")] * (how == "run"), message("your key is 1234"))
    provider = Provider(model)
    if of_run is None and isinstance(of_agent, Model):
        of_run = "object"
    config = RunConfig(model=model if of_run == "object" else of_run, model_provider=provider)
    async with hooked(tmp_path) as client:
        guarded = with_hooks(client, Agent(name="a", model=of_agent))
        if how == "run":
            result: Any = await run(client, guarded, SECRET, run_config=config)
        elif how == "Runner.run":
            result = await Runner.run(guarded, SECRET, run_config=config)
        else:
            result = Runner.run_streamed(guarded, SECRET, run_config=config)
            assert [it async for it in result.stream_events()]
    assert "1234" not in str(model.given) and "my key is [redacted]" in str(model.given)
    assert result.final_output == "your key is [redacted]"
    assert set(provider.asked) == (set() if of_run == "object" else {of_run or of_agent})


@run_async
async def test_run_refuses_what_has_no_hooks(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        with pytest.raises(TypeError, match="with_hooks"):
            await run(client, agent("plain", Scripted(message("done"))), "hi")


@run_async
async def test_a_clone_keeps_its_hooks(tmp_path: Path) -> None:
    ran.clear()
    asked: list[Any] = []
    model = Scripted(call("asked"), message("half"), message("your key is 1234"))
    async with hooked(tmp_path, host_services=approving(True, asked)) as client:
        guarded = with_hooks(client, agent("asked", Scripted()))
        result = await run(client, guarded.clone(model=model).clone(name="b"), SECRET)
        assert "1234" not in str(model.given) and result.final_output == "your key is [redacted]"
        assert ran == ["a"] and asked == ["sure?"]  # Once, though it was cloned twice.
        refused = guarded.clone(
            model=Scripted(call("refused"), message("done")), tools=[tool("refused")]
        )
        await Runner.run(refused, "hi")
    assert ran == ["a"]


@run_async
async def test_agents_with_hooks_are_told_apart_where_they_come_and_go(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        hooks = _Hooks(client, "complete", None)
        for number in range(100):
            assert hooks.agent(Agent(name=str(number))).name == str(number)


@run_async
async def test_an_agent_without_hooks_inside_a_tool_is_refused(tmp_path: Path) -> None:
    inner = agent("refused", Scripted())
    outer = Agent(name="b", tools=[inner.as_tool("helper", "Helps.")])
    async with hooked(tmp_path) as client:
        with pytest.raises(TypeError, match=r"helper.*with_hooks\(client, a\)\.as_tool"):
            with_hooks(client, outer)


async def helped(folder: Path, name: str, inner: Model) -> tuple[Scripted, Any]:
    """Runs an agent with a tool that is an agent with the tool of that name."""
    ran.clear()
    outer = Scripted(call("helper", '{"input": "my key is 1234"}'), message("done"))
    async with hooked(folder) as client:
        helper = with_hooks(client, agent(name, inner)).as_tool("helper", "Helps.")
        guarded = with_hooks(client, Agent(name="b", tools=[helper], model=outer))
        return outer, await Runner.run(guarded, "hi")


@run_async
async def test_an_agent_inside_a_tool_has_hooks(tmp_path: Path) -> None:
    inner = Scripted(call("refused"), message("it was refused"))
    outer, _ = await helped(tmp_path, "refused", inner)
    assert inner.given[0] == [{"content": "my key is [redacted]", "role": "user"}]
    assert inner.given[1][-1]["output"] == "not that one" and ran == []
    assert outer.given[1][-1]["output"] == "it was refused"


@run_async
async def test_a_stop_inside_a_tool_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(RunStopped, match="enough"):
        await helped(tmp_path, "stopped", Scripted(call("stopped"), message("never")))
    assert ran == []


@run_async
async def test_a_stop_at_the_model_is_an_error_of_the_library(tmp_path: Path) -> None:
    stop = {"BeforeModel": [{"hooks": [says({"continue": False, "stopReason": "enough"})]}]}
    async with hooked(tmp_path, stop) as client:
        guarded = with_hooks(client, agent("plain", Scripted(message("never"))))
        with pytest.raises(RunStopped, match="enough"):
            await Runner.run(guarded, "hi")


@pytest.mark.parametrize("arguments", ['{"path": "a', "[1]", '"a"'])
@run_async
async def test_arguments_that_are_no_object_never_reach_a_tool(
    tmp_path: Path, arguments: str
) -> None:
    ran.clear()

    async def act(context: Any, arguments: str) -> str:
        ran.append(arguments)
        return "did it"

    raw = FunctionTool("raw", "Acts.", {"type": "object", "properties": {}}, act)
    for each in (tool("plain"), raw):
        model = Scripted(call(each.name, arguments), message("done"))
        async with hooked(tmp_path) as client:
            guarded = with_hooks(client, Agent(name="a", tools=[each], model=model))
            result = await Runner.run(guarded, "hi")
        assert result.final_output == "done"
        assert "error occurred" in model.given[1][-1]["output"]
    assert ran == []


@run_async
async def test_instructions_are_a_message_for_hooks(tmp_path: Path) -> None:
    model = Scripted(message("done"))
    async with hooked(tmp_path) as client:
        it = Agent(name="a", instructions="The key is 1234.", model=model)
        await Runner.run(with_hooks(client, it), "hi")
    assert model.given == [["The key is [redacted].", {"content": "hi", "role": "user"}]]


PROMPTS: dict[str, Any] = {
    "BeforeAgent": [
        {
            "hooks": [
                says(
                    {"decision": "block", "reason": "no"},
                    'case "$given" in *bad*) ;; *) false;; esac',
                ),
                says({"hookSpecificOutput": {"additionalContext": "be kind"}}),
            ]
        }
    ]
}
IMAGE = {"type": "input_image", "image_url": "http://127.0.0.1/a.png", "detail": "auto"}


@run_async
async def test_the_last_text_of_the_user_is_asked_about(tmp_path: Path) -> None:
    earlier = [{"role": "user", "content": "bad"}, {"role": "assistant", "content": "no"}]
    parts = [{"type": "input_text", "text": "look"}, IMAGE]
    model = Scripted(message("one"), message("two"), message("three"))
    async with hooked(tmp_path, PROMPTS) as client:
        guarded = with_hooks(client, agent("plain", model))
        await run(client, guarded, [*earlier, {"role": "user", "content": "good"}])
        await run(client, guarded, [*earlier, {"role": "user", "content": parts}])
        await run(client, guarded, earlier[1:])
        parts[0]["text"] = "a bad one"
        with pytest.raises(RunStopped, match="no"):
            await run(client, guarded, [{"role": "user", "content": parts}])
        with pytest.raises(TypeError, match="not int"):
            await run(client, guarded, 1)  # type: ignore[arg-type]
    first, second, third = model.given
    assert first[:-1] == second[:-1] == earlier
    assert first[-1]["content"] == "good\n\nbe kind"
    assert second[-1]["content"] == [{"type": "input_text", "text": "look\n\nbe kind"}, IMAGE]
    assert third[0] == earlier[1] and third[1]["content"].strip() == "be kind"


@run_async
async def test_what_hooks_add_to_a_prompt_reaches_the_model(tmp_path: Path) -> None:
    model = Scripted(message("done"))
    async with hooked(tmp_path, ADDING) as client:
        await run(client, with_hooks(client, agent("plain", model)), "hi")
    assert model.given == [[{"content": "first\n\nhi\n\nmind the gap", "role": "user"}]]


@pytest.mark.parametrize(
    "kept", ["session", "conversation_id", "previous_response_id", "auto_previous_response_id"]
)
@run_async
async def test_a_turn_that_goes_on_repeats_nothing_that_is_kept(tmp_path: Path, kept: str) -> None:
    model = Scripted(message("half"), message("all"))
    option: Any = {"session": SQLiteSession("s"), "auto_previous_response_id": True}.get(kept, "c")
    async with hooked(tmp_path) as client:
        result = await run(
            client, with_hooks(client, agent("plain", model)), "hi", **{kept: option}
        )
    assert result.final_output == "all"
    asked = [item["content"] for item in model.given[1] if item.get("role") == "user"]
    if kept == "session":
        assert asked == ["hi", "do the rest"] and len(model.given[1]) == 3
    else:
        assert asked == ["do the rest"] and len(model.given[1]) == 1
    if kept.endswith("response_id"):
        assert model.named[1]["previous_response_id"] == "r"


@run_async
async def test_a_turn_that_waits_for_an_approval_has_no_end(tmp_path: Path) -> None:
    model = Scripted(call("plain"), message("half"))
    waiting = tool("plain")
    waiting.needs_approval = True
    async with hooked(tmp_path) as client:
        guarded = with_hooks(client, Agent(name="a", tools=[waiting], model=model))
        result = await run(client, guarded, "hi")
    assert len(result.interruptions) == 1 and len(model.given) == 1


@run_async
async def test_a_library_without_a_place_for_hooks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents.run_internal import run_loop

    async with hooked(tmp_path) as client:
        monkeypatch.delattr(run_loop, "get_model")
        with pytest.raises(HookError, match="no place for hooks"):
            with_hooks(client, Agent(name="a"))


TOLD = ("BeforeAgent", "BeforeModel", "BeforeTool", "BeforeModel", "AfterAgent")


@both_ways
@pytest.mark.parametrize("is_clone", [True, False])
@run_async
async def test_the_user_is_told_what_hooks_say(
    tmp_path: Path, is_clone: bool, has_own: bool
) -> None:
    told, model = Told(has_own), Scripted(call("plain"), message("done"))
    async with hooked(tmp_path, SAYING, on_problem=told.problems.append) as client:
        made = with_hooks(client, agent("plain", model), **told.options)
        await run(client, made.clone(name="b") if is_clone else made, "hi")
    told.check(*TOLD)


@both_ways
@run_async
async def test_the_user_is_told_each_end_of_a_turn_that_goes_on(
    tmp_path: Path, has_own: bool
) -> None:
    again = {"decision": "block", "reason": "do the rest"}
    go_on = says(again, """case "$given" in *'"stop_hook_active":true'*) false;; esac""")
    hooks = {**SAYING, "AfterAgent": [{"hooks": [*SAYING["AfterAgent"][0]["hooks"], go_on]}]}
    told, model = Told(has_own), Scripted(message("half"), message("all"))
    async with hooked(tmp_path, hooks, on_problem=told.problems.append) as client:
        await run(client, with_hooks(client, agent("plain", model), **told.options), "hi")
    told.check("BeforeAgent", "BeforeModel", "AfterAgent", "BeforeModel", "AfterAgent")


@both_ways
@run_async
async def test_the_user_is_told_what_hooks_say_in_a_stream(tmp_path: Path, has_own: bool) -> None:
    told, model = Told(has_own), Scripted(message("d|one"))
    async with hooked(tmp_path, SAYING, on_problem=told.problems.append) as client:
        made = with_hooks(client, agent("plain", model), **told.options)
        async with agent_turn(client, "hi"):
            result = Runner.run_streamed(made, "hi")
            assert [event async for event in result.stream_events()]
    told.check("BeforeModel")


class Files(MCPServer):
    name = "files"

    def __init__(self, tool: str = "plain") -> None:
        super().__init__()
        self.tool = tool

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, *_: Any, **named: Any) -> Any:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        return [Tool.model_validate({"name": self.tool, "inputSchema": schema})]

    async def list_prompts(self) -> Any: ...

    async def get_prompt(self, name: str, arguments: Any = None) -> Any: ...

    async def call_tool(self, tool_name: str, arguments: Any, *_: Any, **named: Any) -> Any:
        content = [{"type": "text", "text": f"did {arguments['path']}"}]
        return CallToolResult.model_validate({"content": content})


@both_ways
@run_async
async def test_the_user_is_told_what_hooks_say_of_an_mcp_tool(
    tmp_path: Path, has_own: bool
) -> None:
    told, model = Told(has_own), Scripted(call("plain"), message("done"))
    made = Agent(name="a", mcp_servers=[Files()], model=model)
    async with hooked(tmp_path, SAYING, on_problem=told.problems.append) as client:
        await run(client, with_hooks(client, made, **told.options), "hi")
    told.check(*TOLD)
    assert "did a" in str(model.given[1])


@pytest.mark.parametrize("what", ["tool", "model", "handoff", "handoff()", "server", "clone"])
@run_async
async def test_what_comes_after_the_hooks_has_them_too(tmp_path: Path, what: str) -> None:
    ran.clear()
    model = Scripted(call("transfer_to_b", "{}"), call("refused"), message("done"))
    other = Agent(name="b", tools=[tool("refused")], model=model)
    async with hooked(tmp_path) as client:
        made = with_hooks(client, Agent(name="a", model=model))
        if what == "handoff":
            made.handoffs.append(other)
        elif what == "handoff()":
            made.handoffs = [handoff(other)]
        else:
            del model.answers[0]
        if what == "tool":
            made.tools.append(tool("refused"))
        elif what == "clone":
            tools = [tool("refused")]
            made = made.clone(tools=tools)
            assert not hasattr(tools[0], "_hooks")  # The list of the program stays its own.
        elif what == "model":
            made.model = Scripted()
            made.tools = [tool("refused")]
            made.model = model
        elif what == "server":
            made.mcp_servers.append(Files("refused"))
        result = await Runner.run(made, SECRET)
        with pytest.raises(TypeError, match="web_search"):
            made.tools.append(WebSearchTool())
            await Runner.run(made, "hi")
    assert result.final_output == "done" and ran == []
    assert "1234" not in str(model.given) and "not that one" in str(model.given)


@run_async
async def test_two_copies_of_the_package_leave_each_others_hooks(tmp_path: Path) -> None:
    model = Scripted(message("your key is 1234"))
    async with hooked(tmp_path) as client:
        guarded = with_hooks(client, agent("plain", Scripted()))
        mine = {name: it for name, it in sys.modules.items() if name.startswith("hook_sdk")}
        for name in mine:
            del sys.modules[name]
        try:
            other = importlib.import_module("hook_sdk.integrations.openai_agents")
            assert other.with_hooks is not with_hooks
            other.with_hooks(other.HookClient(command=["true"]), Agent(name="a", model="x"))
        finally:
            sys.modules.update(mine)
        config = RunConfig(model=model)
        result = await Runner.run(guarded, SECRET, run_config=config)
    assert "1234" not in str(model.given) and result.final_output == "your key is [redacted]"


@pytest.mark.parametrize("how", WITHHOLDING)
@pytest.mark.parametrize("called", ["plain", "transfer_to_b"])
@run_async
async def test_a_tool_that_hooks_withhold_is_not_run(tmp_path: Path, how: str, called: str) -> None:
    ran.clear()
    made = agent("plain", Scripted(call(called), message("done")))
    made.handoffs = [Agent(name="b", model=Scripted(message("handed off")))]
    async with hooked(tmp_path, WITHHOLDING[how]) as client:
        with pytest.raises(RunStopped, match=f"calls {called}, which hooks withhold"):
            await Runner.run(with_hooks(client, made), "hi")
    assert ran == []


SEEN = """python3 -I -S -c '
import json, sys
given = json.load(sys.stdin)
open("{log}", "a").write(json.dumps(given.get("tool_response", given)) + "\\n")'"""


def seeing(log: Path, event: str, **more: Any) -> dict[str, Any]:
    command = {"type": "command", "command": SEEN.replace("{log}", str(log))}
    return {**more, event: [{"hooks": [command]}, *more.get(event, [])]}


class Halt(BaseException):
    """The end of a program."""


@pytest.mark.parametrize("kind", [OSError, Halt])
@pytest.mark.parametrize("policy", ["default", "own", "none", "raw"])
@pytest.mark.parametrize("adds", [False, True])
@run_async
async def test_a_tool_that_raises_does_what_the_library_does(
    tmp_path: Path, kind: type[BaseException], policy: str, adds: bool
) -> None:
    error = kind("disk full")

    async def act(path: str) -> str:
        """Acts."""
        raise error

    async def raw(context: Any, arguments: str) -> str:
        raise error

    own: Any = {"own": {"failure_error_function": lambda _, it: f"own: {it}"}}
    own["none"] = {"failure_error_function": None}
    made: Any = function_tool(act, name_override="plain", **own.get(policy, {}))
    if policy == "raw":
        made = FunctionTool("plain", "Acts.", {"type": "object", "properties": {}}, raw)
    model = Scripted(call("plain"), message("done"))
    log = tmp_path / "log"
    context = {"ToolError": [group("plain", {"hookSpecificOutput": {"additionalContext": "mind"}})]}
    async with hooked(tmp_path, seeing(log, "ToolError", **context if adds else {})) as client:
        guarded = with_hooks(client, Agent(name="a", tools=[made], model=model))
        if policy in ("none", "raw") or kind is Halt:
            with pytest.raises(Exception if kind is OSError else Halt, match="full") as raised:
                await Runner.run(guarded, "hi")
            notes = getattr(raised.value.__cause__ or raised.value, "__notes__", [])
            assert [it for it in notes if "mind" in it] == (["mind"] if adds else [])
        else:
            await Runner.run(guarded, "hi")
            text = "own: disk full" if policy == "own" else "An error occurred"
            output = model.given[1][-1]["output"]
            assert output.startswith(text) and ("mind" in output) == adds
    assert str(error) in log.read_text()


@run_async
async def test_hooks_have_a_tool_that_failed_run_again(tmp_path: Path) -> None:
    tries: list[int] = []

    @function_tool
    def plain(path: str) -> str:
        """Acts."""
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return "did it"

    again = {"ToolError": [group("", {"decision": "retry", "retryAfterMs": 0})]}
    model = Scripted(call("plain"), message("done"))
    async with hooked(tmp_path, again) as client:
        await Runner.run(with_hooks(client, Agent(name="a", tools=[plain], model=model)), "hi")
    assert len(tries) == 2 and model.given[1][-1]["output"] == "did it"


class Shown:
    def __str__(self) -> str:
        return "shown 1234"


PICTURE = ToolOutputImage(image_url="http://127.0.0.1/a.png")


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"secret": 1234}, "{'secret': 1234}"),
        (None, "None"),
        ([Shown], str([Shown])),
        (Shown(), "shown 1234"),
        (ToolOutputText(text="1234"), [{"type": "input_text", "text": "1234"}]),
    ],
)
@run_async
async def test_hooks_see_what_the_model_gets(tmp_path: Path, value: Any, form: Any) -> None:
    made = function_tool(lambda: value, name_override="plain", description_override="Acts.")
    model = Scripted(call("plain", "{}"), message("done"))
    log = tmp_path / "log"
    async with hooked(tmp_path, seeing(log, "AfterTool")) as client:
        await Runner.run(with_hooks(client, Agent(name="a", tools=[made], model=model)), "hi")
    assert model.given[1][-1]["output"] == form
    shown = form if isinstance(form, str) else form[0]["text"]
    assert shown.replace('"', '\\"') in log.read_text()


@run_async
async def test_a_picture_stays_where_hooks_add_to_it(tmp_path: Path) -> None:
    made = function_tool(
        lambda: [ToolOutputText(text="a"), PICTURE],
        name_override="context",
        description_override="Acts.",
    )
    model = Scripted(call("context", "{}"), message("done"))
    async with hooked(tmp_path) as client:
        await Runner.run(with_hooks(client, Agent(name="a", tools=[made], model=model)), "hi")
    output = model.given[1][-1]["output"]
    assert "mind the gap" in str(output) and [it["type"] for it in output].count("input_image") == 1


@run_async
async def test_a_tool_changes_nothing_of_what_hooks_have_seen(tmp_path: Path) -> None:
    log: list[str] = ["a"]
    made = function_tool(lambda: log, name_override="plain", description_override="Acts.")

    async def grow(params: Any) -> bool:
        log.append("1234")
        return True

    asks = {"AfterTool": [group("", {"decision": "ask", "reason": "sure?"})]}
    model = Scripted(call("plain", "{}"), message("done"))
    async with hooked(tmp_path, asks, host_services={"user.approve": grow}) as client:
        await Runner.run(with_hooks(client, Agent(name="a", tools=[made], model=model)), "hi")
    assert log == ["a", "1234"] and model.given[1][-1]["output"] == "['a']"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"pth": "safe"}, "arguments that it does not have: pth"),
        ({"path": []}, "failed with arguments that hooks changed"),
    ],
)
@run_async
async def test_arguments_of_hooks_that_a_tool_does_not_take_are_said(
    tmp_path: Path, changed: Any, problem: str
) -> None:
    ran.clear()
    problems: list[str] = []
    hooks = {"BeforeTool": [group("", {"hookSpecificOutput": {"tool_input": changed}})]}
    model = Scripted(call("plain"), message("done"))
    async with hooked(tmp_path, hooks, on_problem=problems.append) as client:
        await Runner.run(with_hooks(client, agent("plain", model)), "hi")
    assert ran == [] and [it for it in problems if problem in it]


@run_async
async def test_a_number_that_hooks_make_a_truth_value_is_one(tmp_path: Path) -> None:
    given: list[Any] = []

    @function_tool(strict_mode=False)
    def act(options: dict[str, Any]) -> str:
        """Acts."""
        given.append(options["dry"])
        return "did it"

    changed = {"tool_input": {"options": {"dry": True}}}
    hooks = {"BeforeTool": [group("", {"hookSpecificOutput": changed})]}
    model = Scripted(call("act", '{"options": {"dry": 1}}'), message("done"))
    async with hooked(tmp_path, hooks) as client:
        await Runner.run(with_hooks(client, Agent(name="a", tools=[act], model=model)), "hi")
    assert given == [True] and given[0] is True


@pytest.mark.parametrize("how", ["run", "run_streamed"])
@run_async
async def test_what_hooks_add_to_an_answer_is_in_the_next_request(tmp_path: Path, how: str) -> None:
    once = says({"hookSpecificOutput": {"additionalContext": "mind the gap"}})
    model = Scripted(call("plain"), call("plain"), message("done"))
    async with hooked(tmp_path, {"AfterModel": [{"hooks": [once]}]}) as client:
        guarded = with_hooks(client, agent("plain", model))
        if how == "run":
            await run(client, guarded, "hi")
        else:
            result = Runner.run_streamed(guarded, "hi")
            assert [event async for event in result.stream_events()]
    counts = [str(given).count("mind the gap") for given in model.given]
    assert counts == [0, 1, 1]


class Bound(FunctionTool):
    """A tool of a class of its own, as those of a SandboxAgent are."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        super().__init__("plain", "Acts.", schema, self._invoke, strict_json_schema=False)

    async def _invoke(self, context: Any, arguments: str) -> str:
        ran.append(self.folder)
        return "did it"


@run_async
async def test_a_tool_of_a_class_of_its_own(tmp_path: Path) -> None:
    ran.clear()
    model = Scripted(call("plain"), message("done"))
    async with hooked(tmp_path) as client:
        await Runner.run(with_hooks(client, Agent(name="a", tools=[Bound("f")], model=model)), "hi")
    assert ran == ["f"] and model.given[1][-1]["output"] == "did it"


@run_async
async def test_a_policy_for_approvals_is_asked_as_without_hooks(tmp_path: Path) -> None:
    """Of arguments that the tool would change, the library does not ask it at all."""

    async def never(*_: Any) -> bool:
        return False

    @function_tool(needs_approval=never)
    def plain(path: str, force: bool = False) -> str:
        """Acts."""
        return "did it"

    for has_hooks in (False, True):
        model = Scripted(call("plain", '{"path": "a"}'), message("done"))
        made = Agent(name="a", tools=[plain], model=model)
        async with hooked(tmp_path) as client:
            result = await Runner.run(with_hooks(client, made) if has_hooks else made, "hi")
        assert len(result.interruptions) == 1


@run_async
async def test_fields_of_one_name_never_reach_a_tool(tmp_path: Path) -> None:
    ran.clear()
    model = Scripted(call("plain", '{"path": "/etc", "path": "a"}'), message("done"))
    async with hooked(tmp_path) as client:
        await Runner.run(with_hooks(client, agent("plain", model)), "hi")
    assert ran == [] and "error occurred" in model.given[1][-1]["output"]


@run_async
async def test_a_run_that_is_no_turn_says_so_once(tmp_path: Path) -> None:
    problems: list[str] = []
    async with hooked(tmp_path, on_problem=problems.append) as client:
        for _ in range(2):
            await Runner.run(with_hooks(client, agent("plain", Scripted(message("a")))), "hi")
        assert len([it for it in problems if "this run is no turn" in it]) == 1
        problems.clear()
    async with hooked(tmp_path, {}, on_problem=problems.append) as client:
        await run(client, with_hooks(client, agent("plain", Scripted(message("a")))), "hi")
    assert problems == []


@run_async
async def test_what_is_no_agent_is_refused(tmp_path: Path) -> None:
    from agents.realtime import RealtimeAgent

    async with hooked(tmp_path) as client:
        with pytest.raises(TypeError, match="not a RealtimeAgent"):
            with_hooks(client, RealtimeAgent(name="a"))  # type: ignore[arg-type]
