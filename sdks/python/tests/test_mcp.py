"""The integration of MCP sessions, with the library itself and a server in this program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, needs_engine
from integration_hooks import SAYING, Told, approving, both_ways, group, hooked
from scripted import run_async

pytest.importorskip("mcp", reason="SKIPPED: mcp is not installed")

import anyio
from mcp import types
from mcp.shared.memory import create_client_server_memory_streams

from hook_sdk import HookClient, HookError, HookStopped
from hook_sdk.integrations.mcp import HookSession, call_tool

try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server  # type: ignore[no-redef]

pytestmark = [
    needs_engine,
    pytest.mark.usefixtures("private"),
    pytest.mark.filterwarnings("default"),
]

ran: list[str] = []


@asynccontextmanager
async def session(client: Any, name: str, **options: Any) -> AsyncIterator[HookSession]:
    ran.clear()
    server = Server("files")

    @server.tool(name=name)
    def act(path: str) -> str:
        ran.append(path)
        return f"did {path}"

    inner = getattr(server, "_lowlevel_server", None) or server._mcp_server
    async with create_client_server_memory_streams() as (ours, theirs):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inner.run, *theirs, inner.create_initialization_options())
            async with HookSession(client, "files", *ours, **options) as made:
                await made.initialize()
                yield made
            tasks.cancel_scope.cancel()


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
        async with session(client, name) as made:
            result = await made.call_tool(name, {"path": "a"})
    assert [part.text for part in result.content] == [output]
    assert ran == paths and asked == (["sure?"] if name == "asked" else [])


@run_async
async def test_arguments_of_another_type_are_refused_as_the_server_does(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client, session(client, "wrong") as made:
        result = await made.call_tool("wrong", {"path": "a"})
    assert "string" in result.content[0].text and ran == []


@run_async
async def test_a_stop_and_a_lost_server_let_nothing_pass(tmp_path: Path) -> None:
    async with hooked(tmp_path) as client:
        async with session(client, "stopped") as made:
            with pytest.raises(HookStopped, match="enough"):
                await made.call_tool("stopped", {"path": "a"})
            await client.close()
            result = await made.call_tool("plain", {"path": "a"})
            assert "could not be asked" in result.content[0].text
    assert ran == [] and issubclass(HookStopped, HookError)


@both_ways
@run_async
async def test_the_user_is_told_what_hooks_say(tmp_path: Path, has_own: bool) -> None:
    told = Told(has_own)
    async with hooked(tmp_path, SAYING, on_problem=told.problems.append) as client:
        async with session(client, "plain", **told.options) as made:
            await made.call_tool("plain", {"path": "a"})
    told.check("BeforeTool")


@run_async
async def test_a_text_that_cannot_be_shown_changes_nothing(tmp_path: Path) -> None:
    def broken(text: str) -> None:
        raise ValueError("no display")

    told = Told(True)
    async with hooked(tmp_path, SAYING, on_problem=told.problems.append) as client:
        async with session(client, "plain", on_message=broken) as made:
            result = await made.call_tool("plain", {"path": "a"})
    assert result.content[0].text.startswith("did a")
    assert told.problems[1:] == ["said BeforeTool (`on_message` failed: ValueError('no display'))"]


@run_async
async def test_the_user_is_told_once_of_a_private_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_BINARY", BINARY)
    (tmp_path / ".hooks").mkdir()
    (tmp_path / ".hooks/settings.json").write_text("{}")
    problems: list[str] = []
    async with HookClient(project=tmp_path, on_problem=problems.append) as client:
        async with session(client, "plain") as made:
            for _ in range(2):
                await made.call_tool("plain", {"path": "a"})
    assert len([it for it in problems if "a private one was started" in it]) == 1, problems
    assert ran == ["a", "a"]


def request(name: str, kind: Any = types.CallToolRequest, **more: Any) -> Any:
    params = {"name": name, "arguments": {"path": "a"}, **more}
    return kind.model_validate({"method": "tools/call", "params": params})


@pytest.mark.parametrize("kind", [types.CallToolRequest, types.Request[Any, str]])
@pytest.mark.parametrize(
    ("name", "output", "paths"),
    [("refused", "not that one", []), ("rewritten", "did safe.txt", ["safe.txt"])],
)
@run_async
async def test_a_request_of_the_session_is_asked_about(
    tmp_path: Path, kind: Any, name: str, output: str, paths: list[str]
) -> None:
    async with hooked(tmp_path) as client, session(client, name) as made:
        result = await made.send_request(request(name, kind), types.CallToolResult)
    assert [part.text for part in result.content] == [output] and ran == paths


@run_async
async def test_what_comes_later_is_refused(tmp_path: Path) -> None:
    later = types.GetTaskPayloadRequest.model_validate(
        {"method": "tasks/result", "params": {"taskId": "t"}}
    )
    async with hooked(tmp_path) as client, session(client, "plain") as made:
        for asked in (request("plain", task={"ttl": 1000}), later):
            with pytest.raises(HookError, match="hooks do not see"):
                await made.send_request(asked, types.CallToolResult)
    assert ran == []


ADDS = {"hookSpecificOutput": {"additionalContext": "mind the gap"}}


@run_async
async def test_what_a_server_wants_to_know_stays_with_hooks_that_add_to_results(
    tmp_path: Path,
) -> None:
    wanted = types.InputRequiredResult(input_requests={}, request_state="s")

    async def call(arguments: dict[str, Any]) -> Any:
        return wanted if arguments else types.EmptyResult()

    async with hooked(tmp_path, {"AfterTool": [group("", ADDS)]}) as client:
        assert await call_tool(client, "files", "plain", {"path": "a"}, call) is wanted
        with pytest.raises(HookError, match="EmptyResult"):
            await call_tool(client, "files", "plain", {}, call)


@pytest.mark.parametrize("adds", [False, True])
@run_async
async def test_what_a_call_raises_is_raised_unless_hooks_add_to_it(
    tmp_path: Path, adds: bool
) -> None:
    error = ValueError("no such tool")

    async def call(arguments: dict[str, Any]) -> Any:
        raise error

    async with hooked(tmp_path, {"ToolError": [group("", ADDS)]} if adds else {}) as client:
        if not adds:
            with pytest.raises(ValueError) as raised:
                await call_tool(client, "files", "plain", {}, call)
            assert raised.value is error
            return
        result = await call_tool(client, "files", "plain", {}, call)
    assert result.is_error and result.content[0].text == "no such tool\n\nmind the gap"
