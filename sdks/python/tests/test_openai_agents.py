"""The integration of openai-agents, with the library itself and a scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import SECRET, approving, hooked
from scripted import run_async

pytest.importorskip("agents", reason="SKIPPED: openai-agents is not installed")

from agents import Agent, Runner, WebSearchTool, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai._models import construct_type
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseStreamEvent,
)

from hook_sdk import HookError, HookStopped
from hook_sdk.integrations.openai_agents import run, with_hooks

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

    async def get_response(self, instructions: Any, input: Any, *rest: Any, **named: Any) -> Any:
        self.given.append(input)
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id="r")

    async def stream_response(self, instructions: Any, input: Any, *rest: Any, **named: Any) -> Any:
        self.given.append(input)
        answer = self.answers.pop(0)
        for number, text in enumerate(answer.content[0].text.split("|")):
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
        text = answer.content[0].text.replace("|", "")
        output = [message(text).model_dump()]
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
