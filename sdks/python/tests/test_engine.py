"""Against the real engine."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, EXAMPLES, SHELL, child, listening, needs_engine, tool
from scripted import run_async

from hook_sdk import A3sClient, HookResponse, RegistrationError, RequestFailed
from hook_sdk.place import socket_of

pytestmark = [needs_engine, pytest.mark.usefixtures("private")]


@run_async
async def test_asking_a_server_of_its_own(tmp_path: Path) -> None:
    guard = {"type": "command", "command": "echo no >&2; exit 2", "name": "guard"}
    hooks = {"BeforeTool": [{"matcher": SHELL, "hooks": [guard]}]}
    async with child(tmp_path, hooks) as client:
        told: list[str] = []
        await client.subscribe(lambda message: told.append(message["type"]))
        outcome = await client.fire("BeforeTool", tool("ls"))
        assert (outcome.decision, outcome.reason, outcome.proceeds) == ("block", "no", False)
        assert told == ["hook-started", "hook-finished"]
        outcome = await client.fire("BeforeTool", tool("ls", "read_file"))
        assert outcome.proceeds
        with pytest.raises(RequestFailed, match="unsupported_event"):
            await client.fire("BeforeTol", {})
        (tmp_path / "settings.json").write_text("{}")
        assert (await client.reload())["success"] is True
        assert (await client.fire("BeforeTool", tool("ls"))).proceeds


@run_async
async def test_a_request_is_cancelled_and_its_hook_ends(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    waits = {"type": "command", "command": f"cat {fifo}"}
    async with child(tmp_path, {"SessionEnd": [{"hooks": [waits]}]}) as client:
        started = asyncio.Event()
        await client.subscribe(lambda _: started.set())
        ended = {"reason": "exit"}
        firing = asyncio.ensure_future(client.fire("SessionEnd", ended, correlation_id="c"))
        await started.wait()
        await client.cancel("c")
        with pytest.raises(RequestFailed, match="cancelled"):
            await firing


@run_async
async def test_a_worker_guards(tmp_path: Path) -> None:
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLES / 'worker-guard.py'))}"
    entry = {"type": "worker", "command": command, "failBehavior": "block", "name": "guard"}
    hooks = {"BeforeTool": [{"matcher": SHELL, "hooks": [entry]}]}
    async with child(tmp_path, hooks) as client:
        first = await client.fire("BeforeTool", tool("sudo ls"))
        assert (first.decision, first.reason) == ("block", "not as root"), first
        outcome = await client.fire("BeforeTool", tool("ls"))
        assert outcome.proceeds and outcome.warnings == []
        # A handler that raises fails its hook, which blocks.
        broken = await client.fire("BeforeTool", {"tool_name": SHELL, "tool_input": {}})
        assert broken.decision == "block" and "KeyError: 'command'" in broken.warnings[0]
        asked = [client.fire("BeforeTool", tool(f"sudo {number}")) for number in range(200)]
        for outcome in await asyncio.gather(*asked):
            assert (outcome.decision, outcome.reason) == ("block", "not as root")


@run_async
async def test_the_whole_life_of_a_registered_hook(tmp_path: Path) -> None:
    async with listening(tmp_path, {}) as socket:
        async with A3sClient(socket=socket) as client, A3sClient(socket=socket) as asker:

            @client.hook("PreToolUse", matcher={"tool": "Bash"}, config={"priority": 10})
            async def guard(event: Any) -> HookResponse:
                command = event.args.get("command", "")
                if command == "retry":
                    return HookResponse.retry(0)
                if "rm -rf /" in command:
                    return HookResponse.block("Dangerous command blocked")
                return HookResponse.continue_with({"args": {"command": f"nice {command}"}})

            await client.ready("h-1")
            outcome = await asker.fire("BeforeTool", tool("rm -rf /"))
            assert (outcome.decision, outcome.reason) == ("block", "Dangerous command blocked")
            outcome = await asker.fire("BeforeTool", tool("ls"))
            assert outcome.proceeds and outcome.modified.tool_input == {"command": "nice ls"}
            assert (await asker.fire("BeforeTool", tool("x", "read_file"))).get("modified") is None
            hooks = await asker.list_hooks()
            assert [(it.event, it.vocabulary, it.own) for it in hooks] == [
                ("PreToolUse", "a3s", False)
            ]
            assert await client.unregister_hook("h-1")
            assert (await asker.fire("BeforeTool", tool("rm -rf /"))).proceeds
            with pytest.raises(RegistrationError):
                await client.ready(client.register_hook("NoSuchEvent", guard))


@run_async
async def test_a_handler_asks_the_host_of_the_request(tmp_path: Path) -> None:
    async with listening(tmp_path, {}) as socket:
        asked: list[dict[str, Any]] = []

        def confirm(params: dict[str, Any]) -> bool:
            asked.append(params)
            return False

        services = {"ui.confirm": confirm}
        client = A3sClient(socket=socket)
        asker = A3sClient(socket=socket, host_services=services)
        async with client, asker:

            @client.hook("PreToolUse")
            async def ask(event: Any) -> HookResponse:
                question = {"title": "?", "message": event.tool}
                if await client.host_call("ui.confirm", question):
                    return HookResponse.continue_()
                return HookResponse.block("the user said no")

            await client.ready("h-1")
            outcome = await asker.fire("BeforeTool", tool("ls"))
            assert outcome.reason == "the user said no" and len(asked) == 1


class Cable:
    """A connection to a server that can be cut."""

    def __init__(self, server: Path, path: Path) -> None:
        self.server, self.path = server, path
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Cable:
        self._listening = await asyncio.start_unix_server(self._join, self.path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server = await asyncio.open_unix_connection(self.server)
        self._writers += [writer, to_server[1]]

        async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while chunk := await source.read(1 << 16):
                sink.write(chunk)
            sink.close()

        for source, sink in ((reader, to_server[1]), (to_server[0], writer)):
            self._tasks.append(asyncio.ensure_future(carry(source, sink)))


@run_async
async def test_a_cut_connection_gets_its_hooks_and_its_waiting_call_back(tmp_path: Path) -> None:
    async with listening(tmp_path, {}) as socket, Cable(socket, tmp_path / "c") as cable:
        problems: list[str] = []
        client = A3sClient(socket=cable.path, on_problem=problems.append)
        async with client, A3sClient(socket=socket) as asker:
            called, go_on, runs = asyncio.Event(), asyncio.Event(), 0

            @client.hook("PreToolUse", config={"fail_behavior": "block", "timeout": 15000})
            async def slow(event: Any) -> HookResponse:
                nonlocal runs
                runs += 1
                called.set()
                await go_on.wait()
                return HookResponse.block(f"run {runs}")

            await client.ready("h-1")
            firing = asyncio.ensure_future(asker.fire("BeforeTool", tool("ls")))
            await called.wait()
            cable.cut()
            go_on.set()
            # The same call, the same run.
            assert (await firing).reason == "run 1"
            await client.ready("h-1")
            assert (await asker.fire("BeforeTool", tool("ls"))).reason == "run 2"
            assert [hook.hook_id for hook in await asker.list_hooks()] == ["h-1"]
            assert len(problems) == 1, problems


@run_async
async def test_a_worker_that_declares_its_own_hooks(tmp_path: Path) -> None:
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLES / 'worker-guard.py'))}"
    entry = {"type": "worker", "command": command, "start": "eager"}
    async with child(tmp_path, {"*": [{"hooks": [entry]}]}) as client:
        first = await client.fire("BeforeTool", tool("sudo ls"))
        assert first.reason == "not as root"
        assert (await client.fire("BeforeTool", tool("sudo ls", "read_file"))).proceeds


@run_async
async def test_a_server_that_nobody_named_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "hook").symlink_to(BINARY)
    async with A3sClient() as client:
        assert (await client.fire("BeforeTool", tool("ls"))).proceeds
    said = capfd.readouterr().err
    assert "so a private one was started" in said and "hook_sdk: the hook server says: " in said
    assert "only hooks registered by clients will run" in said and "there are no hooks" not in said


@run_async
async def test_from_a_subfolder_the_projects_server_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The names of sockets are short.
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    # A folder with a module is enough, an empty one is not.
    for number, (made, is_project) in enumerate(
        [
            ("modules/quiet.mjs", True),
            ("settings.json", True),
            ("pre/x", True),
            ("post/x", True),
            ("other/x", False),
            ("modules/", False),
        ]
    ):
        outer = tmp_path / f"p{number}"
        there = outer / "project"
        inner = there / "src/deep"
        inner.mkdir(parents=True)
        (outer / ".hooks").mkdir()
        (outer / ".hooks/settings.json").write_text("{}")
        path = there / ".hooks" / made
        path.parent.mkdir(parents=True, exist_ok=True)
        if made.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text("{}")
        # The engine looks for itself where it is started.
        server = await asyncio.create_subprocess_exec(
            *(BINARY, "serve", "--socket"), cwd=inner, stderr=asyncio.subprocess.PIPE
        )
        assert server.stderr is not None
        try:
            said = ""
            while "listening on" not in said and (line := await server.stderr.readline()):
                said += line.decode()
            expected = socket_of(there if is_project else outer, os.environ)
            assert f"listening on {expected}" in said, (made, said)
            monkeypatch.chdir(inner)
            async with A3sClient() as client:
                client.register_hook("PreToolUse", lambda event: HookResponse.block("found"))
                await client.ready("h-1")
                async with A3sClient(socket=expected) as asker:
                    assert (await asker.fire("BeforeTool", tool("ls"))).reason == "found"
        finally:
            server.terminate()
            await server.communicate()
