"""The scenarios of tests/triggers, played through the public functions with the engine itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, needs_engine
from scripted import run_async

from hook_sdk import HookClient
from hook_sdk.agent import (
    Advice,
    Blocked,
    Chunk,
    Lifecycle,
    Proceed,
    Ran,
    Session,
    SessionInfo,
    ToolCall,
    ToolResult,
    call_model,
    execute_tool,
)
from hook_sdk.turns import Turn

SUITE = Path(__file__).resolve().parents[3] / "tests/triggers"
SCENARIOS = [
    json.loads(line)
    for file in sorted(SUITE.glob("*.jsonl"))
    for line in file.read_text().splitlines()
]

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.skipif(not SCENARIOS, reason="SKIPPED: this is no checkout"),
]


class Played:
    """What the tool, the model, the display and the user got."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.step(scenario)

    def step(self, step: dict[str, Any]) -> None:
        self.scenario = step
        self.ran: list[Any] = []
        self.called: list[Any] = []
        self.shown: list[Any] = []
        self.asked: list[Any] = []

    def services(self) -> dict[str, Any]:
        if self.scenario.get("approves") is None:
            return {}

        async def approve(params: dict[str, Any]) -> object:
            self.asked.append(params["reason"])
            approves = self.scenario["approves"]
            return approves

        return {"user.approve": approve}

    async def tool(self, tool_input: dict[str, Any]) -> ToolResult:
        results = self.scenario["tool"]
        result = results[min(len(self.ran), len(results) - 1)]
        self.ran.append(tool_input)
        if "throws" in result:
            raise RuntimeError(result["throws"])
        return ToolResult.of_wire(result)

    async def model(self, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        answers = self.scenario["model"]
        answer = answers[min(len(self.called), len(answers) - 1)]
        self.called.append(request)
        if isinstance(answer, dict):
            raise RuntimeError(answer["throws"])

        async def stream() -> AsyncIterator[dict[str, Any]]:
            for chunk in answer:
                if "throws" in chunk:
                    raise RuntimeError(chunk["throws"])
                yield chunk

        return stream()

    async def play(self, client: HookClient, step: dict[str, Any]) -> dict[str, Any]:
        """Plays one trigger; its result in the form of the wire."""
        trigger, call = step["trigger"], dict(step["call"])
        said = dict(step.get("session") or {})
        limit = said.pop("maxContinuations", None)
        info = SessionInfo(**said, max_continuations=limit) if said else None
        if trigger == "tool":
            return tool_wire(await execute_tool(client, ToolCall(**call), self.tool, session=info))
        if trigger == "model":
            sdk, request = call.pop("sdk", None), call.pop("request")
            answer = call_model(client, sdk, request, self.model, session=info, **call)
            async for part in answer:
                whole = {} if isinstance(part, Chunk) else {"complete": part.response}
                self.shown.append(part.chunk if isinstance(part, Chunk) else whole)
            outcome = await answer.finish()
            assert not (isinstance(outcome, Blocked) and outcome.error), outcome
            return {
                **advice_wire(outcome),
                "response": outcome.result,
                "called": outcome.started,
                "toolsWithheld": getattr(outcome, "tools_withheld", None),
                "forNextRequest": outcome.for_model,
            }
        turn = Turn(client, call.pop("prompt", ""), info)
        if trigger == "prompt":
            await turn.begin(call)
            start = turn.start
            fields = (
                {"prompt": start.prompt, "message": start.message}
                if isinstance(start, Proceed)
                else {}
            )
            outcome = "refused" if isinstance(start, Blocked) else advice_wire(start)["outcome"]
            return {**advice_wire(start), **fields, "outcome": outcome}
        if trigger == "turn-end":
            turn.answer = call.pop("prompt_response")
            end = await turn.close(**call)
            assert end is not None
            named = advice_wire(end)
            named["outcome"] = {"limitreached": "limit-reached"}.get(
                named["outcome"], named["outcome"]
            )
            fields = {
                "prompt": getattr(end, "prompt", None),
                "continuations": getattr(end, "continuations", None),
                "clearContext": getattr(end, "clear_context", False) or None,
            }
            return {**named, **fields}
        session = Session(client, info or SessionInfo("cli"))
        lifecycle: Lifecycle = await session.fire(trigger, call)
        fields = {name: getattr(lifecycle, name) for name in ("stop", "refused", "compaction")}
        return {**advice_wire(lifecycle), **fields}


def advice_wire(outcome: Advice) -> dict[str, Any]:
    return {
        "outcome": type(outcome).__name__.lower(),
        "reason": getattr(outcome, "reason", None),
        "warnings": list(outcome.warnings),
        "forModel": outcome.for_model,
        "forUser": outcome.for_user,
        "messageForUser": outcome.for_user,
        "suppressOutput": outcome.suppress_output or None,
        "suppressDisplay": outcome.suppress_output or None,
    }


def tool_wire(outcome: Any) -> dict[str, Any]:
    assert not (isinstance(outcome, Blocked) and outcome.error), outcome
    return {
        **advice_wire(outcome),
        "ran": outcome.started,
        "result": outcome.result.to_wire(),
    }


def differences(expected: Any, actual: Any, path: str) -> list[str]:
    """Where listed keys are not equal; None is as good as absent."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = (differences(expected[it], actual.get(it), f"{path}.{it}") for it in expected)
        return [each for some in found for each in some]
    return [] if expected == actual else [f"{path}: expected {expected!r}, got {actual!r}"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[it["name"] for it in SCENARIOS])
@run_async
async def test_scenario(scenario: dict[str, Any], tmp_path: Path) -> None:
    for name, content in scenario.get("files", {}).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps(scenario["hooks"]))
    command = [BINARY, "serve", "--stdio", "--project", str(tmp_path), "--settings", str(settings)]
    played = Played(scenario)
    async with HookClient(command=command, host_services=played.services()) as client:
        for step in scenario.get("steps", [scenario]):
            played.step(step)
            result = await played.play(client, step)
            expect = step["expect"]
            assert not differences(expect.get("result", {}), result, "result"), result
            for name in ("ran", "called", "shown", "asked"):
                if name in expect:
                    assert getattr(played, name) == expect[name], name


def test_a_tool_that_ran_is_told_from_one_that_did_not() -> None:
    result = ToolResult("x")
    assert Ran(result=result, started=True) != Ran(result=result)
