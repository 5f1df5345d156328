"""The integration of Pydantic AI, with the library itself and a scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import SECRET, approving, hooked
from scripted import run_async

pytest.importorskip("pydantic_ai", reason="SKIPPED: pydantic-ai is not installed")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from hook_sdk import HookError, HookStopped
from hook_sdk.integrations.pydantic_ai import Hooks

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]

given: list[Any] = []
ran: list[str] = []


def agent(client: Any, name: str, *answers: Any) -> Agent:
    given.clear()
    ran.clear()
    left = list(answers)

    def model(messages: Any, info: Any) -> ModelResponse:
        given.append(messages)
        return ModelResponse(parts=[left.pop(0)])

    made = Agent(FunctionModel(model), capabilities=[Hooks(client)])

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
