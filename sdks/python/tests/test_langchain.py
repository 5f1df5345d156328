"""The integration of LangChain, with the library itself and a scripted model."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine import needs_engine
from integration_hooks import (
    ADDING,
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

pytest.importorskip("langchain", reason="SKIPPED: langchain is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import (
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool as make_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from hook_sdk import HookStopped
from hook_sdk.integrations.langchain import HookMiddleware

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]

given: list[Any] = []
ran: list[str] = []


class Scripted(BaseChatModel):
    """A model that gives these answers; what it was given is in `given`."""

    answers: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **named: Any) -> Any:
        return self

    def _next(self, messages: Any) -> AIMessage:
        given.append(messages)
        answer: AIMessage = self.answers.pop(0)
        return answer

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        answer = self._next(messages)
        text = answer.content.replace("|", "")
        message = answer.model_copy(update={"content": text})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._next(messages)
        *_, last = texts = answer.content.split("|")
        for text in texts:
            chunks: Any = [
                {"name": it["name"], "args": '{"path": "a"}', "id": it["id"], "index": 0}
                for it in answer.tool_calls
                if text == last
            ]
            message = AIMessageChunk(content=text, tool_call_chunks=chunks)
            yield ChatGenerationChunk(message=message)


def call(name: str) -> AIMessage:
    args = {"path": "a"}
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c-{name}"}])


def tool(name: str) -> Any:
    @make_tool(name)
    def act(path: str) -> str:
        """Acts."""
        ran.append(path)
        return f"did {path}"

    return act


def agent(client: Any, name: str, *answers: Any, **options: Any) -> Any:
    given.clear()
    ran.clear()
    middleware = [HookMiddleware(client, **options)]
    return create_agent(Scripted(answers=list(answers)), [tool(name)], middleware=middleware)


def asks(made: Any, text: str, how: str) -> Any:
    state = {"messages": [{"role": "user", "content": text}]}
    if how == "invoke":
        return made.invoke(state)["messages"]
    return asyncio.run(made.ainvoke(state))["messages"]


both = pytest.mark.parametrize("how", ["invoke", "ainvoke"])
ONCE: dict[str, Any] = {"AfterAgent": []}


def without_turns() -> dict[str, Any]:
    return {**HOOKS, **ONCE}


@both
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
def test_a_tool(tmp_path: Path, name: str, output: str, paths: list[str], how: str) -> None:
    asked: list[Any] = []
    services = approving(True, asked)
    with hooked_sync(tmp_path, without_turns(), host_services=services) as client:
        messages = asks(agent(client, name, call(name), AIMessage("done")), "hi", how)
    assert messages[-1].content == "done"
    answer = next(it for it in messages if isinstance(it, ToolMessage))
    assert answer.content == output and answer.tool_call_id == f"c-{name}"
    assert answer.status == ("error" if name == "refused" else "success")
    assert ran == paths and asked == (["sure?"] if name == "asked" else [])


@both
def test_arguments_of_another_type_are_refused_as_the_library_does(
    tmp_path: Path, how: str
) -> None:
    with hooked_sync(tmp_path, without_turns()) as client:
        messages = asks(agent(client, "wrong", call("wrong"), AIMessage("done")), "hi", how)
    answer = next(it for it in messages if isinstance(it, ToolMessage))
    assert answer.status == "error" and "valid string" in answer.text and ran == []


@both
def test_a_tool_that_hooks_stop_ends_the_run(tmp_path: Path, how: str) -> None:
    with hooked_sync(tmp_path) as client, pytest.raises(HookStopped, match="enough"):
        asks(agent(client, "stopped", call("stopped")), "hi", how)
    assert ran == []


STOP = {"continue": False, "stopReason": "enough"}


@both
@pytest.mark.parametrize("kind", ["ToolErrors", "ToolRetry", "ModelRetry", "ModelFallback"])
def test_no_other_middleware_goes_on_after_a_stop(tmp_path: Path, kind: str, how: str) -> None:
    given.clear()
    ran.clear()
    others: dict[str, Any] = {
        "ToolErrors": lambda: ToolErrorMiddleware(on_error=lambda error, _: str(error)),
        "ToolRetry": lambda: ToolRetryMiddleware(max_retries=1, initial_delay=0),
        "ModelRetry": lambda: ModelRetryMiddleware(max_retries=1, initial_delay=0),
        "ModelFallback": lambda: ModelFallbackMiddleware(Scripted(answers=[AIMessage("other")])),
    }
    event = "BeforeTool" if kind.startswith("Tool") else "BeforeModel"
    told = tmp_path / "told"
    counted = {"hooks": [{"type": "command", "command": f"echo >> {told}"}]}
    with hooked_sync(tmp_path, {event: [counted, group("", STOP)]}) as client:
        model = Scripted(answers=[call("plain"), AIMessage("done")])
        middleware = [others[kind](), HookMiddleware(client)]
        with pytest.raises(HookStopped, match="enough"):
            asks(create_agent(model, [tool("plain")], middleware=middleware), "hi", how)
    assert ran == [] and len(told.read_text()) == 1


def test_a_cancelled_run_ends_when_its_tool_has_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def cancels() -> None:
        begun, done = asyncio.Event(), list[str]()

        @make_tool("slow")
        async def slow(path: str) -> str:
            """Acts."""
            begun.set()
            try:
                await asyncio.sleep(3600)
            finally:
                for _ in range(100):
                    await asyncio.sleep(0)
                done.append("rolled back")
                raise OSError("in its cleanup")
            return path

        made = create_agent(
            Scripted(answers=[call("slow")]), [slow], middleware=[HookMiddleware(client)]
        )
        running = asyncio.ensure_future(made.ainvoke({"messages": [HumanMessage("hi")]}))
        await begun.wait()
        running.cancel()
        await asyncio.wait((running,))
        assert running.cancelled() and done == ["rolled back"]

    with hooked_sync(tmp_path, {}) as client:
        asyncio.run(cancels())
    gc.collect()
    assert caplog.text == ""


class Form(BaseModel):
    """The form of an answer."""

    number: int


class Bound(Scripted):
    """A model that keeps how it was bound; by its name, the library knows that it has forms."""

    model_name: str = "gpt-5"

    def bind_tools(self, tools: Any, **named: Any) -> Any:
        given.append((len(tools), sorted(named)))
        return self


@pytest.mark.parametrize("tools", [[], [tool("plain")]])
def test_a_form_of_the_answer_is_bound_as_without_hooks(tmp_path: Path, tools: list[Any]) -> None:
    given.clear()
    with hooked_sync(tmp_path, {}) as client:
        for middleware in ([], [HookMiddleware(client)]):
            model = Bound(answers=[AIMessage('{"number": 1}')])
            made = create_agent(model, tools, response_format=Form, middleware=middleware)
            asked = {"messages": [{"role": "user", "content": "hi"}]}
            assert made.invoke(asked)["structured_response"] == Form(number=1)
    bound, _, *others = given
    assert others[0] == bound and bound[0] == len(tools)


@both
def test_the_model_never_sees_the_secret(tmp_path: Path, how: str) -> None:
    with hooked_sync(tmp_path, without_turns()) as client:
        messages = asks(agent(client, "plain", AIMessage("your key is 1234")), SECRET, how)
    assert [it.content for it in given[0]] == ["my key is [redacted]"]
    assert messages[-1].content == "your key is [redacted]"


@both
def test_the_agent_goes_on_after_it_stopped(tmp_path: Path, how: str) -> None:
    with hooked_sync(tmp_path) as client:
        messages = asks(agent(client, "plain", AIMessage("half"), AIMessage("all")), "hi", how)
    assert [it.content for it in messages] == ["hi", "half", "do the rest", "all"]


@both
def test_each_chunk_of_a_stream_is_rewritten(tmp_path: Path, how: str) -> None:
    state = {"messages": [{"role": "user", "content": "hi"}]}
    with hooked_sync(tmp_path, without_turns()) as client:
        made = agent(client, "plain", AIMessage("key |1234| it is"), chunks="each")
        if how == "invoke":
            parts = [it[0] for it in made.stream(state, stream_mode="messages")]
        else:

            async def read() -> list[Any]:
                return [it[0] async for it in made.astream(state, stream_mode="messages")]

            parts = asyncio.run(read())
    shown = "".join(it.content for it in parts if isinstance(it, AIMessageChunk))
    assert shown == "key [redacted] it is"


@both
def test_a_tool_call_is_streamed(tmp_path: Path, how: str) -> None:
    state = {"messages": [{"role": "user", "content": "hi"}]}
    with hooked_sync(tmp_path, without_turns()) as client:
        made = agent(client, "rewritten", call("rewritten"), AIMessage("do|ne"))
        if how == "invoke":
            assert list(made.stream(state, stream_mode="messages"))
        else:

            async def read() -> list[Any]:
                return [it async for it in made.astream(state, stream_mode="messages")]

            assert asyncio.run(read())
    assert ran == ["safe.txt"]


@both
def test_without_a_server_no_model_is_called(tmp_path: Path, how: str) -> None:
    from hook_sdk import HookError

    client = hooked_sync(tmp_path)
    made = agent(client, "plain", AIMessage("x"))
    client.close()
    with pytest.raises(HookError):
        asks(made, "hi", how)
    assert given == []


REFUSED = {"AfterModel": [group("", {"decision": "block", "reason": "not that answer"})]}


@both
@pytest.mark.parametrize("text", ["", "I |delete"])
@pytest.mark.parametrize("chunks", ["complete", "each", None])
def test_of_an_answer_that_hooks_refuse_nothing_runs(
    tmp_path: Path, chunks: str | None, text: str, how: str
) -> None:
    state = {"messages": [{"role": "user", "content": "hi"}]}
    refused = call("plain").model_copy(update={"content": text})
    with hooked_sync(tmp_path, REFUSED) as client:
        made = agent(client, "plain", refused, AIMessage("x"), chunks=chunks or "complete")

        async def read() -> list[Any]:
            return [it[0] async for it in made.astream(state, stream_mode="messages")]

        if chunks is None:
            shown = asks(made, "hi", how)[1:]
        elif chunks == "complete" and text:  # It is being shown when hooks refuse it.
            with pytest.raises(HookStopped, match="not that answer"):
                if how == "invoke":
                    list(made.stream(state, stream_mode="messages"))
                asyncio.run(read())
            shown = []
        elif how == "invoke":
            shown = [it[0] for it in made.stream(state, stream_mode="messages")]
        else:
            shown = asyncio.run(read())
    assert ran == [] and not any(getattr(it, "tool_calls", None) for it in shown)
    if shown:
        assert "".join(it.text for it in shown) == "not that answer"


@both
@pytest.mark.parametrize("chunks", ["complete", "each"])
def test_the_tool_of_an_answer_with_a_changed_text_runs(
    tmp_path: Path, chunks: str, how: str
) -> None:
    answer = call("plain").model_copy(update={"content": "your key is 1234"})
    with hooked_sync(tmp_path, without_turns()) as client:
        messages = asks(agent(client, "plain", answer, AIMessage("done"), chunks=chunks), "hi", how)
    assert ran == ["a"] and messages[1].content == "your key is [redacted]"


@both
def test_what_a_tool_raises_is_raised_again(tmp_path: Path, how: str) -> None:
    @make_tool("asks")
    def asks_a_human(path: str) -> str:
        """Asks."""
        return f"the human says {interrupt('may I?')}"

    @make_tool("raises")
    def raises(path: str) -> str:
        """Raises."""
        raise ValueError("disk full")

    context = {"hookSpecificOutput": {"additionalContext": "mind"}}
    hooks = {**without_turns(), "ToolError": [group("asks", context)]}
    hooks["AfterTool"] = [*hooks["AfterTool"], group("asks", context)]
    with hooked_sync(tmp_path, hooks) as client:
        for each in (asks_a_human, raises):
            model = Scripted(answers=[call(each.name), AIMessage("done")])
            made = create_agent(
                model, [each], middleware=[HookMiddleware(client)], checkpointer=InMemorySaver()
            )
            config: Any = {"configurable": {"thread_id": each.name}}

            def run(given: Any, made: Any = made, config: Any = config) -> Any:
                if how == "invoke":
                    return made.invoke(given, config)
                return asyncio.run(made.ainvoke(given, config))

            state = {"messages": [{"role": "user", "content": "hi"}]}
            if each is raises:
                with pytest.raises(ValueError, match="disk full"):
                    run(state)
            else:
                assert run(state)["__interrupt__"][0].value == "may I?"
                answers = run(Command(resume="yes"))["messages"]
                assert "the human says yes" in str([it.content for it in answers])


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


@both
@pytest.mark.parametrize("state", ["text", "image", "tool", "none"])
def test_what_hooks_add_to_a_prompt_reaches_the_model(tmp_path: Path, state: str, how: str) -> None:
    messages: list[Any] = [] if state == "none" else [HumanMessage("tidy up")]
    if state == "image":
        messages = [HumanMessage([{"type": "text", "text": "tidy up"}, IMAGE])]
    elif state == "tool":
        messages += [call("plain"), ToolMessage("did a", tool_call_id="c-plain")]
    with hooked_sync(tmp_path, ADDING) as client:
        made = agent(client, "plain", AIMessage("done"))
        if how == "invoke":
            made.invoke({"messages": messages})
        else:
            asyncio.run(made.ainvoke({"messages": messages}))
    sent = next(it for it in given[0] if isinstance(it, HumanMessage))
    assert sent.text.startswith("first\n\n") and "mind the gap" in sent.text
    assert ("tidy up" in sent.text) == (state != "none") and (str(IMAGE) in str(sent.content)) == (
        state == "image"
    )


@both
@both_ways
@pytest.mark.parametrize("streams", [True, False])
def test_the_user_is_told_what_hooks_say(
    tmp_path: Path, streams: bool, has_own: bool, how: str
) -> None:
    told, answers = Told(has_own), [call("plain"), AIMessage("done")]
    state = {"messages": [{"role": "user", "content": "hi"}]}
    with hooked_sync(tmp_path, SAYING, on_problem=told.problems.append) as client:
        made = agent(client, "plain", *answers, **told.options)
        if not streams:
            asks(made, "hi", how)
        elif how == "invoke":
            assert list(made.stream(state, stream_mode="messages"))
        else:

            async def read() -> list[Any]:
                return [it async for it in made.astream(state, stream_mode="messages")]

            assert asyncio.run(read())
    told.check("BeforeAgent", "BeforeModel", "BeforeTool", "BeforeModel", "AfterAgent")


@both
def test_the_user_is_told_that_hooks_went_on_up_to_the_limit(tmp_path: Path, how: str) -> None:
    hooks = {"AfterAgent": [group("", {"decision": "block", "reason": "do the rest"})]}
    problems: list[str] = []
    with hooked_sync(tmp_path, hooks, on_problem=problems.append) as client:
        asks(agent(client, "plain", *[AIMessage("half")] * 20), "hi", how)
    assert "hooks had the agent go on 8 times: do the rest" in problems


def run(made: Any, given: Any, how: str, config: Any = None, streams: bool = False) -> Any:
    """Runs an agent, and returns its messages."""
    if streams and how == "invoke":
        return list(made.stream(given, config, stream_mode="messages"))
    if streams:

        async def read() -> list[Any]:
            return [it async for it in made.astream(given, config, stream_mode="messages")]

        return asyncio.run(read())
    state = (
        made.invoke(given, config) if how == "invoke" else asyncio.run(made.ainvoke(given, config))
    )
    return state["messages"]


def prompt(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


@pytest.fixture
def cached() -> Iterator[None]:
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(None)


@both
@pytest.mark.usefixtures("cached")
def test_the_cache_of_the_library_holds_no_answer_past_hooks(tmp_path: Path, how: str) -> None:
    hooks, shown = without_turns(), []
    for number, told in enumerate(({}, hooks)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with hooked_sync(folder, told) as client:
            model = Scripted(answers=[AIMessage("it is 1234")])
            made = create_agent(model, [], middleware=[HookMiddleware(client)])
            shown.append(run(made, prompt("?"), how))
    assert [it[-1].text for it in shown] == ["it is 1234", "it is [redacted]"]


@both
def test_two_middlewares_are_both_asked(tmp_path: Path, how: str) -> None:
    class Another(HookMiddleware):
        """Has a name of its own, as the library wants it."""

    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    answers = [AIMessage("your key is 1234")]
    for first in (True, False):
        given.clear()
        with hooked_sync(one, {}) as plain, hooked_sync(two, without_turns()) as hooked:
            clients = (hooked, plain) if first else (plain, hooked)
            both = [Another(clients[0]), HookMiddleware(clients[1])]
            made = create_agent(Scripted(answers=list(answers)), [], middleware=both)
            messages = run(made, prompt(SECRET), how)
        assert [it.content for it in given[0]] == ["my key is [redacted]"]
        assert messages[-1].content == "your key is [redacted]"


@both
@pytest.mark.parametrize("withholds", WITHHOLDING)
@pytest.mark.parametrize("streams", [True, False])
def test_a_tool_that_hooks_withhold_is_not_run(
    tmp_path: Path, withholds: str, streams: bool, how: str
) -> None:
    with hooked_sync(tmp_path, WITHHOLDING[withholds]) as client:
        made = agent(client, "plain", call("plain"), AIMessage("done"))
        with pytest.raises(HookStopped, match="calls plain, which hooks withhold"):
            run(made, prompt("hi"), how, streams=streams)
    assert ran == []


FORMS: dict[str, Any] = {
    "list": [ToolMessage("it is 1234", tool_call_id="c-act")],
    "command": Command(update={"messages": [ToolMessage("it is 1234", tool_call_id="c-act")]}),
    "both": [
        ToolMessage("it is", tool_call_id="c-act"),
        Command(update={"messages": [HumanMessage("1234")]}),
    ],
}


@both
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ["refuse", "add", "leave"])
def test_hooks_see_what_the_model_gets(tmp_path: Path, form: str, what: str, how: str) -> None:
    @make_tool("act")
    def act(path: str) -> Any:
        """Acts."""
        return FORMS[form]

    adds = {"hookSpecificOutput": {"additionalContext": "mind the gap"}}
    answer = {"decision": "block", "reason": "hidden"} if what == "refuse" else adds
    if what == "leave":
        answer = {}
    seen = says(answer, """case "$given" in *1234*) ;; *) false;; esac""")
    model = Scripted(answers=[call("act"), AIMessage("done")])
    given.clear()
    with hooked_sync(tmp_path, {"AfterTool": [{"hooks": [seen]}]}) as client:
        run(create_agent(model, [act], middleware=[HookMiddleware(client)]), prompt("hi"), how)
    texts = "|".join(it.text for it in given[-1])
    assert ("1234" in texts) == (what != "refuse")
    assert ("hidden" in texts) == (what == "refuse") and ("mind the gap" in texts) == (
        what == "add"
    )


REFUSING: dict[str, Any] = {
    "BeforeAgent": [
        {
            "hooks": [
                says(
                    {"decision": "block", "reason": "no keys"},
                    """case "$given" in *1234*) ;; *) false;; esac""",
                )
            ]
        }
    ]
}


@both
@pytest.mark.parametrize("keeps", [True, False])
def test_a_refused_prompt_does_not_stay_in_the_thread(
    tmp_path: Path, keeps: bool, how: str
) -> None:
    given.clear()
    config: Any = {"configurable": {"thread_id": "1"}}
    with hooked_sync(tmp_path, REFUSING) as client:
        made = create_agent(
            Scripted(answers=[AIMessage("one"), AIMessage("two")]),
            [],
            middleware=[HookMiddleware(client)],
            checkpointer=InMemorySaver() if keeps else None,
        )
        run(made, prompt("first"), how, config)
        for text in (SECRET, None) if keeps else (SECRET,):
            with pytest.raises(HookStopped, match="no keys"):
                run(made, prompt(text) if text else None, how, config)
        assert len(given) == 1
        run(made, prompt("hello"), how, config)
    assert len(given) == 2 and "1234" not in str(given)
    assert [it.text for it in given[1]] == (["first", "one", "hello"] if keeps else ["hello"])


@both
@pytest.mark.parametrize("streams", [True, False])
def test_what_hooks_add_to_an_answer_is_in_the_next_request(
    tmp_path: Path, streams: bool, how: str
) -> None:
    adds = says({"hookSpecificOutput": {"additionalContext": "mind the gap"}})
    answers = [call("plain"), call("plain"), AIMessage("done")]
    with hooked_sync(tmp_path, {"AfterModel": [{"hooks": [adds]}]}) as client:
        run(agent(client, "plain", *answers), prompt("hi"), how, streams=streams)
    assert [str([it.text for it in each]).count("mind the gap") for each in given] == [0, 1, 1]


@both
def test_what_hooks_add_to_a_failure_leaves_it_one(tmp_path: Path, how: str) -> None:
    @make_tool("act")
    def act(path: str) -> str:
        """Acts."""
        raise ValueError("disk full")

    adds = {"hookSpecificOutput": {"additionalContext": "mind the gap"}}
    for hooks, text in (
        ({"ToolError": [group("", adds)]}, None),
        ({"AfterTool": [group("", {"decision": "block", "reason": "hidden"})]}, "hidden"),
    ):
        model = Scripted(answers=[call("act"), AIMessage("done")])
        with hooked_sync(tmp_path, hooks) as client:
            made = create_agent(model, [act], middleware=[HookMiddleware(client)])
            if text is None:
                with pytest.raises(ValueError, match="disk full") as raised:
                    run(made, prompt("hi"), how)
                assert raised.value.__notes__[0] == "mind the gap"  # type: ignore[attr-defined]
            else:
                messages = run(made, prompt("hi"), how)
                assert [it.text for it in messages if isinstance(it, ToolMessage)] == [text]


@both
@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"pth": "safe"}, "arguments that it does not have: pth"),
        ({"path": []}, "failed with arguments that hooks changed"),
    ],
)
def test_arguments_of_hooks_that_a_tool_does_not_take_are_said(
    tmp_path: Path, changed: Any, problem: str, how: str
) -> None:
    problems: list[str] = []
    hooks = {"BeforeTool": [group("", {"hookSpecificOutput": {"tool_input": changed}})]}
    with hooked_sync(tmp_path, hooks, on_problem=problems.append) as client:
        messages = run(agent(client, "plain", call("plain"), AIMessage("x")), prompt("hi"), how)
    answer = next(it for it in messages if isinstance(it, ToolMessage))
    assert ran == [] and answer.status == "error"
    assert len([it for it in problems if problem in it]) == 1


def test_the_model_of_another_middleware_may_have_the_hooks(tmp_path: Path) -> None:
    given.clear()
    with hooked_sync(tmp_path, without_turns()) as client:
        hooks = HookMiddleware(client)
        model = Scripted(answers=[AIMessage("summary"), AIMessage("done")])
        summary = SummarizationMiddleware(
            hooks.model(model), trigger=("messages", 2), keep=("messages", 1)
        )
        made = create_agent(model, [], middleware=[summary, hooks])
        made.invoke({"messages": [HumanMessage(SECRET), AIMessage("a"), HumanMessage("b")]})
    assert len(given) == 2 and "1234" not in str(given) and "[redacted]" in str(given[0])


def test_a_tool_that_the_models_provider_runs_is_said(tmp_path: Path) -> None:
    problems: list[str] = []
    with hooked_sync(tmp_path, {}, on_problem=problems.append) as client:
        model = Scripted(answers=[AIMessage("one"), AIMessage("two")])
        made = create_agent(model, [{"type": "web_search"}], middleware=[HookMiddleware(client)])
        for _ in range(2):
            made.invoke(prompt("hi"))
    assert len([it for it in problems if "provider runs web_search itself" in it]) == 1
