"""The integration of Google's ADK, with the library itself and a scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import ADDING, SAYING, SECRET, Told, approving, both_ways, hooked
from scripted import run_async

pytest.importorskip("google.adk", reason="SKIPPED: google-adk is not installed")

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

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


def named(name: str) -> Any:
    def act(path: str) -> str:
        """Acts."""
        ran.append(path)
        return f"did {path}"

    act.__name__ = name
    return act


async def run(client: Any, name: str, text: str, *answers: Any, **options: Any) -> list[Any]:
    given.clear()
    ran.clear()
    model = Scripted(model="scripted", answers=list(answers))
    agent = LlmAgent(name="a", model=model, tools=[named(name)])
    plugins: list[Any] = [HookPlugin(client, **options)]
    runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=plugins))
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text=text)])
    return [
        part
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)
        for part in (event.content.parts if event.content else ())
    ]


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
    assert [it.function_response.response for it in parts if it.function_response] == [output]
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
