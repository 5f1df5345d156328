"""The integration of CrewAI, with the library itself and a scripted model."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import (
    HOOKS,
    SAYING,
    SECRET,
    WITHHOLDING,
    Told,
    approving,
    both_ways,
    group,
    hooked_sync,
    says,
)
from scripted import LIMIT_SECONDS, run_async

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false")
pytest.importorskip("crewai", reason="SKIPPED: crewai is not installed")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.agent.planning_config import PlanningConfig
from crewai.agents.agent_builder.base_agent import _LLM_TYPE_REGISTRY
from crewai.flow.flow import Flow
from crewai.hooks import (
    InterceptionPoint,
    clear_all_global_hooks,
    register_after_tool_call_hook,
    register_before_tool_call_hook,
)
from crewai.hooks.dispatch import register_scoped, scoped_hooks
from crewai.memory.unified_memory import Memory
from crewai.tasks.llm_guardrail import LLMGuardrail
from crewai.tools import tool
from crewai.tools.tool_failure import ToolExecutionFailedError, ToolFailure, ToolFailurePolicy
from pydantic import BaseModel

from hook_sdk import HookError, HookStopped, sync
from hook_sdk.integrations.crewai import _Hooks, with_hooks

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]

given: list[Any] = []
ran: list[str] = []
offered: list[Any] = []


class Scripted(BaseLLM):
    answers: list[Any]
    native: bool = True

    def call(self, messages: Any, tools: Any = None, *rest: Any, **named: Any) -> Any:
        given.append(messages)
        offered.append(tools and [it["function"]["name"] for it in tools])
        return self.answers.pop(0)

    async def acall(self, messages: Any, *rest: Any, **named: Any) -> Any:
        return self.call(messages)

    def supports_function_calling(self) -> bool:
        return self.native


def agent(name: str, *answers: Any, native: bool = True, **options: Any) -> Agent:
    given.clear()
    ran.clear()
    offered.clear()

    @tool(name)
    def act(path: str) -> str:
        """Acts."""
        ran.append(path)
        return f"did {path}"

    llm = Scripted(model="scripted", answers=list(answers), native=native)
    return Agent(role="r", goal="g", backstory="b", llm=llm, tools=[act], **options)


def crew(client: Any, *given: Any, description: str = "hi", **options: Any) -> Crew:
    made = agent(*given, **options)
    task = Task(description=description, expected_output="x", agent=made)
    return with_hooks(Crew(agents=[made], tasks=[task]), client)


def call(name: str, native: bool = True, path: str = "a") -> Any:
    if not native:
        return f'Thought: I act\nAction: {name}\nAction Input: {{"path": "{path}"}}'
    arguments = f'{{"path": "{path}"}}'
    return [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]


TOOLS = pytest.mark.parametrize(
    ("name", "output", "paths"),
    [
        ("refused", "not that one", []),
        ("plain", "did a", ["a"]),
        ("rewritten", "did safe.txt", ["safe.txt"]),
        ("context", "did a\n\nmind the gap", ["a"]),
        ("asked", "did a", ["a"]),
    ],
)


@TOOLS
@pytest.mark.parametrize("native", [True, False])
def test_a_tool(tmp_path: Path, name: str, output: str, paths: list[str], native: bool) -> None:
    asked: list[Any] = []
    answers = [call(name, native), "done" if native else "Thought: I know\nFinal Answer: done"]
    with hooked_sync(tmp_path, host_services=approving(True, asked)) as client:
        result = crew(client, name, *answers, native=native).kickoff()
    assert result.raw == "done"
    assert [it for it in given[-1] if output in str(it["content"])], given[-1]
    assert ran == paths and asked == (["sure?"] if name == "asked" else [])


@run_async
async def test_a_tool_of_a_crew_without_threads(tmp_path: Path) -> None:
    with hooked_sync(tmp_path) as client:
        for name, paths in [("rewritten", ["safe.txt"]), ("refused", [])]:
            result = await crew(client, name, call(name), "done").akickoff()
            assert result.raw == "done" and ran == paths


def test_a_call_that_was_made_before_is_asked_about_again(tmp_path: Path) -> None:
    once = {"BeforeTool": [group("plain", {"continue": False, "stopReason": "enough"})]}
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    with hooked_sync(tmp_path) as client:
        made = crew(client, "plain", call("plain"), "done", call("plain"), "done")
        made.kickoff()
        with hooked_sync(other_folder, once) as other, pytest.raises(HookStopped):
            made.agents[0].llm._hook_sdk.client = other
            made.kickoff()
    assert ran == ["a"]


def test_arguments_of_another_type_do_not_reach_the_tool(tmp_path: Path) -> None:
    with hooked_sync(tmp_path) as client:
        crew(client, "wrong", call("wrong"), "done").kickoff()
    assert ran == [] and "string" in str(given[-1])


def test_a_tool_that_hooks_stop_ends_the_crew_and_its_next_kickoff_begins_anew(
    tmp_path: Path,
) -> None:
    with hooked_sync(tmp_path) as client:
        made = crew(client, "stopped", call("stopped"), "next")
        with pytest.raises(HookStopped, match="enough"):
            made.kickoff()
        assert ran == [] and len(given) == 1
        assert made.kickoff().raw == "next"


@pytest.mark.parametrize("kickoff", ["kickoff", "copy"])
def test_the_model_never_sees_the_secret(tmp_path: Path, kickoff: str) -> None:
    with hooked_sync(tmp_path) as client:
        made = crew(client, "plain", "your key is 1234", description=SECRET)
        result = (made.copy() if kickoff == "copy" else made).kickoff()
    assert "1234" not in str(given) and "my key is [redacted]" in str(given)
    assert result.raw == "your key is [redacted]"


@pytest.mark.parametrize(
    ("config", "left"),
    [
        ({"mode": "ANY", "allowedFunctionNames": ["plain"]}, ["plain"]),
        ({"mode": "ANY", "allowedFunctionNames": ["another"]}, None),
        ({"mode": "ANY"}, ["plain"]),
        ({"mode": "NONE"}, None),
    ],
)
def test_hooks_narrow_the_tools(tmp_path: Path, config: Any, left: Any) -> None:
    answer = says({"hookSpecificOutput": {"toolConfig": config}})
    hooks = {"BeforeToolSelection": [{"hooks": [answer]}]}
    with hooked_sync(tmp_path, hooks) as client:
        crew(client, "plain", "done").kickoff()
    assert offered == [left]


def test_an_agent_alone(tmp_path: Path) -> None:
    with hooked_sync(tmp_path) as client:
        made = with_hooks(agent("refused", call("refused"), "done"), client)
        assert made.kickoff(SECRET).raw == "done"
    assert ran == [] and "not that one" in str(given[-1]) and "1234" not in str(given)


def test_an_answer_of_a_form_stays_one(tmp_path: Path) -> None:
    class Key(BaseModel):
        key: str

    with hooked_sync(tmp_path) as client:
        made = with_hooks(agent("plain", Key(key="1234")), client).llm
        assert made.call("hi", response_model=Key) == Key(key="[redacted]")


def test_the_hooks_stay_where_the_program_clears_those_of_crewai(tmp_path: Path) -> None:
    with hooked_sync(tmp_path) as client:
        made = crew(client, "refused", call("refused"), "done")
        clear_all_global_hooks()
        made.kickoff()
    assert ran == []


def test_agents_without_hooks_are_left_alone(tmp_path: Path) -> None:
    with hooked_sync(tmp_path) as client:
        crew(client, "refused", call("refused"), "done")
        made = agent("refused", call("refused"), "done")
        task = Task(description="hi", expected_output="x", agent=made)
        Crew(agents=[made], tasks=[task]).kickoff()
    assert ran == ["a"]


def test_without_a_server_no_model_is_called(tmp_path: Path) -> None:
    client = hooked_sync(tmp_path)
    client.close()
    with pytest.raises(HookError):
        crew(client, "plain", "x").kickoff()
    assert given == []


def test_without_a_server_no_tool_runs(tmp_path: Path) -> None:
    with hooked_sync(tmp_path) as client:
        made = crew(client, "plain", call("plain"), "x")
        inner = made.agents[0].llm._inner
        asked = inner.answers.pop

        class Closing(list):
            def pop(self, index: int = 0) -> Any:
                client.close()
                return asked(0)

        inner.answers = Closing(["", ""])
        with pytest.raises(HookError):
            made.kickoff()
    assert ran == []


def test_whatever_fails_about_hooks_no_tool_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise OSError("disk full")

    with hooked_sync(tmp_path) as client:
        made = crew(client, "plain", call("plain"), "done")
        monkeypatch.setattr(sync, "execute_tool", broken)
        made.kickoff()
    assert ran == [] and "hooks could not be asked: disk full" in str(given[-1])


@pytest.fixture
def no_other_hooks() -> Iterator[None]:
    clear_all_global_hooks()
    yield
    clear_all_global_hooks()


@pytest.mark.usefixtures("no_other_hooks")
@pytest.mark.parametrize("is_scoped", [False, True])
@pytest.mark.parametrize("native", [True, False])
def test_the_programs_own_guards_are_asked_too(
    tmp_path: Path, native: bool, is_scoped: bool
) -> None:
    asked: list[str] = []

    def guard(context: Any) -> bool:
        asked.append(context.tool_name)
        return False

    answers = [call("plain", native), "done" if native else "Thought: I know\nFinal Answer: done"]
    with hooked_sync(tmp_path) as client, scoped_hooks():
        made = crew(client, "plain", *answers, native=native)
        if is_scoped:
            register_scoped(InterceptionPoint.PRE_TOOL_CALL, guard)
        else:
            register_before_tool_call_hook(guard)
        made.kickoff()
    assert asked == ["plain"] and ran == [] and "blocked by hook" in str(given[-1])


@pytest.mark.usefixtures("no_other_hooks")
def test_the_programs_own_hooks_see_the_result(tmp_path: Path) -> None:
    register_after_tool_call_hook(lambda context: context.tool_result.replace("did", "redacted"))
    with hooked_sync(tmp_path) as client:
        crew(client, "plain", call("plain"), "done").kickoff()
    assert "redacted a" in str(given[-1]) and "did a" not in str(given[-1])


def test_a_stop_holds_for_a_tool_whose_result_is_the_answer(tmp_path: Path) -> None:
    with hooked_sync(tmp_path) as client:
        made = agent("stopped", call("stopped"), "next")
        made.tools[0].result_as_answer = True
        with_hooks(made, client)
        with pytest.raises(HookStopped, match="enough"):
            made.kickoff("hi")
        assert made.kickoff("hi").raw == "next"
    assert ran == []


def test_a_stop_ends_the_run_whose_tool_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, goes_on = threading.Event(), threading.Event()
    results: dict[str, str] = {}

    class Two(Scripted):
        def call(self, messages: Any, *rest: Any, **named: Any) -> Any:
            who = "first" if "first" in str(messages) else "other"
            if "did a" in str(messages):
                goes_on.set()
                return "done"
            if who == "other":
                stopped.wait(LIMIT_SECONDS)
                return call("plain")
            return call("stopped")

    def run(who: str) -> None:
        try:
            results[who] = made.kickoff(who).raw
        except HookStopped as error:
            results[who] = f"stopped: {error}"

    def held(hooks: Any, context: Any, *given: Any) -> Any:
        result = tool(hooks, context, *given)
        if context.tool_name == "stopped":  # The other one's next call of the model is before.
            stopped.set()
            goes_on.wait(LIMIT_SECONDS)
        return result

    tool = _Hooks.tool
    monkeypatch.setattr(_Hooks, "tool", held)
    with hooked_sync(tmp_path) as client:
        made = agent("plain")
        made.llm = Two(model="scripted", answers=[])
        other = agent("stopped").tools[0]
        made.tools.append(other)
        with_hooks(made, client)
        threads = [threading.Thread(target=run, args=(who,)) for who in ("first", "other")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {"first": "stopped: enough", "other": "done"}


class Planner(Scripted):
    answers: list[Any] = []  # noqa: RUF012

    def call(self, messages: Any, *rest: Any, **named: Any) -> Any:
        seen.append(str(messages))
        return '{"plan": "do it", "steps": [], "ready": true}'


seen: list[str] = []


@pytest.mark.parametrize("kickoff", ["kickoff", "copy"])
@pytest.mark.parametrize("where", ["planning_config", "planning_llm", "memory", "guardrail"])
def test_every_model_of_a_crew_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, kickoff: str
) -> None:
    seen.clear()
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "storage"))
    monkeypatch.setitem(_LLM_TYPE_REGISTRY, "base", f"{__name__}.Planner")
    planner = Planner(model="p")
    made, options = agent("plain", *["done"] * 9), dict[str, Any]()
    of_task: dict[str, Any] = {}
    if where == "planning_config":
        made.planning_config = PlanningConfig(llm=planner)
    elif where == "planning_llm":
        options.update(planning=True, planning_llm=planner)
    elif where == "memory":
        options["memory"] = Memory(
            llm=planner, embedder=lambda texts: [[0.0] * 8 for _ in texts], storage=str(tmp_path)
        )
    else:
        of_task["guardrail"] = LLMGuardrail(description="is it good?", llm=planner)
    task = Task(description=SECRET, expected_output="x", agent=made, **of_task)
    with hooked_sync(tmp_path) as client:
        crew = with_hooks(Crew(agents=[made], tasks=[task], **options), client)
        if kickoff == "copy":
            crew = crew.copy()
        try:
            crew.kickoff()
        except Exception:  # The planner's answer is none: it was called, or not.
            assert seen
    assert "1234" not in str(seen)
    assert seen or where == "memory" or kickoff == "copy"


def test_what_cannot_be_asked_about_is_refused(tmp_path: Path) -> None:
    made = agent("plain", "done")
    task = Task(description="hi", expected_output="x", agent=made)
    with hooked_sync(tmp_path) as client:
        for wrong in ([Crew(agents=[made], tasks=[task])], Flow(), None, "crew"):
            with pytest.raises(TypeError, match="Crew, an agent or a Task"):
                with_hooks(wrong, client)
        with pytest.raises(TypeError, match="planning_llm"):
            with_hooks(Crew(agents=[made], tasks=[task], planning=True), client)


def test_a_task_alone(tmp_path: Path) -> None:
    made = agent("refused", call("refused"), "done")
    with hooked_sync(tmp_path) as client:
        task = with_hooks(Task(description="hi", expected_output="x", agent=made), client)
        assert task.execute_sync().raw == "done"
    assert ran == [] and "not that one" in str(given[-1])


@both_ways
@pytest.mark.parametrize("kickoff", ["kickoff", "akickoff", "copy"])
def test_the_user_is_told_what_hooks_say(tmp_path: Path, kickoff: str, has_own: bool) -> None:
    told, made = Told(has_own), agent("plain", call("plain"), "done")
    task = Task(description="hi", expected_output="x", agent=made)
    with hooked_sync(tmp_path, SAYING, on_problem=told.problems.append) as client:
        hooked = with_hooks(Crew(agents=[made], tasks=[task]), client, **told.options)
        with sync.agent_turn(client, "hi"):
            if kickoff == "akickoff":
                asyncio.run(hooked.akickoff())
            else:
                (hooked.copy() if kickoff == "copy" else hooked).kickoff()
    told.check("BeforeModel", "BeforeTool", "BeforeModel")


def ended(native: bool) -> str:
    return "done" if native else "Thought: I know\nFinal Answer: done"


both_forms = pytest.mark.parametrize("native", [True, False])


@both_forms
@pytest.mark.usefixtures("no_other_hooks")
@pytest.mark.parametrize("is_before", [True, False])
def test_a_hook_of_the_program_that_sets_other_arguments_changes_nothing(
    tmp_path: Path, is_before: bool, native: bool
) -> None:
    """As in CrewAI itself, which calls the tool with its own."""

    def sets(context: Any) -> None:
        context.tool_input = {"path": "b"}

    if is_before:
        register_before_tool_call_hook(sets)
    with hooked_sync(tmp_path, {}) as client:
        made = crew(client, "plain", call("plain", native), ended(native), native=native)
        if not is_before:
            register_before_tool_call_hook(sets)
        made.kickoff()
    assert ran == ["a"] and "did a" in str(given[-1]) and "blocked" not in str(given[-1])


@both_forms
@pytest.mark.parametrize("withholds", WITHHOLDING)
def test_a_tool_that_hooks_withhold_is_not_run(
    tmp_path: Path, withholds: str, native: bool
) -> None:
    with hooked_sync(tmp_path, WITHHOLDING[withholds]) as client:
        made = crew(client, "plain", call("plain", native), ended(native), native=native)
        with pytest.raises(HookStopped, match="calls plain, which hooks withhold"):
            made.kickoff()
    assert ran == [] and len(given) == 1


@pytest.mark.parametrize("what", ["agent", "llm", "task"])
@pytest.mark.parametrize("kickoff", ["kickoff", "akickoff"])
def test_what_a_crew_is_given_later_has_hooks(tmp_path: Path, what: str, kickoff: str) -> None:
    with hooked_sync(tmp_path) as client:
        made = crew(client, "plain", "first")
        other = agent("refused", call("refused"), "done")
        if what == "llm":
            made.agents[0].llm = other.llm
            made.tasks[0].tools = other.tools
            made.tasks[0].description = SECRET
        else:
            if what == "agent":
                made.agents.append(other)
            made.tasks = [Task(description=SECRET, expected_output="x", agent=other)]
        result = made.kickoff() if kickoff == "kickoff" else asyncio.run(made.akickoff())
    assert result.raw == "done" and ran == []
    assert "1234" not in str(given) and "not that one" in str(given[-1])


@pytest.mark.parametrize("kickoff", ["kickoff", "akickoff"])
def test_what_hooks_add_to_an_answer_is_in_the_next_request(tmp_path: Path, kickoff: str) -> None:
    adds = says({"hookSpecificOutput": {"additionalContext": "mind the gap"}})
    with hooked_sync(tmp_path, {"AfterModel": [{"hooks": [adds]}]}) as client:
        made = crew(client, "plain", call("plain"), call("plain", path="b"), "done")
        _ = made.kickoff() if kickoff == "kickoff" else asyncio.run(made.akickoff())
    assert [str(it).count("mind the gap") for it in given] == [0, 1, 1]


class Key(BaseModel):
    name: str
    key: str = "1234"

    def __str__(self) -> str:
        return self.name


@pytest.mark.parametrize("refuses", [True, False])
def test_hooks_see_what_the_model_gets(tmp_path: Path, refuses: bool) -> None:
    hidden = {"decision": "block", "reason": "hidden"}
    hides = says(hidden, """case "$given" in *1234*) ;; *) false;; esac""")
    made = agent("plain", call("plain"), "done")

    @tool("plain")
    def act(path: str) -> Key:
        """Acts."""
        return Key(name="mine")

    made.tools = [act]
    with hooked_sync(tmp_path, {"AfterTool": [{"hooks": [hides]}]} if refuses else {}) as client:
        with_hooks(made, client).kickoff("hi")
    shown = str(given[-1])
    assert ("1234" in shown) == (not refuses) and ("hidden" in shown) == refuses


@both_forms
@pytest.mark.parametrize("how", ["raises", "returns"])
@pytest.mark.parametrize("policy", [ToolFailurePolicy.RAISE, ToolFailurePolicy.WARN])
def test_a_failure_of_a_tool_means_what_it_does_without_hooks(
    tmp_path: Path, policy: ToolFailurePolicy, how: str, native: bool
) -> None:
    made = agent("plain", call("plain", native), ended(native), native=native)

    @tool("plain")
    def act(path: str) -> Any:
        """Acts."""
        ran.append(path)
        if how == "raises":
            raise OSError("disk full")
        return ToolFailure(message="disk full")

    made.tools, made.tool_failure_policy = [act], policy
    task = Task(description="hi", expected_output="x", agent=made)
    with hooked_sync(tmp_path, {}) as client:
        hooked = with_hooks(Crew(agents=[made], tasks=[task]), client)
        if policy is ToolFailurePolicy.RAISE:
            with pytest.raises(ToolExecutionFailedError, match="disk full"):
                hooked.kickoff()
        else:
            assert hooked.kickoff().raw == "done" and "disk full" in str(given[-1])
    assert ran == ["a"]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"pth": "safe"}, "arguments that it does not have: pth"),
        ({"path": []}, "failed with arguments that hooks changed"),
    ],
)
def test_arguments_of_hooks_that_a_tool_does_not_take_are_said(
    tmp_path: Path, changed: Any, problem: str
) -> None:
    problems: list[str] = []
    hooks = {"BeforeTool": [group("", {"hookSpecificOutput": {"tool_input": changed}})]}
    with hooked_sync(tmp_path, hooks, on_problem=problems.append) as client:
        crew(client, "plain", call("plain"), "done").kickoff()
    assert ran == [] and len([it for it in problems if problem in it]) == 1, problems


def test_a_run_that_is_no_turn_says_so_once(tmp_path: Path) -> None:
    problems: list[str] = []
    with hooked_sync(tmp_path, HOOKS, on_problem=problems.append) as client:
        made = crew(client, "plain", "one", "two", "three")
        with sync.agent_turn(client, "hi"):
            made.kickoff()
        assert problems == []
        made.kickoff()
        made.kickoff()
    assert len([it for it in problems if "this run is no turn" in it]) == 1
