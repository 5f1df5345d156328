"""What becomes of a client when the project's own server goes, comes back, or never was."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, needs_engine, tool
from scripted import run_async

from hook_sdk import HookClient, HookConnectionError, HookResponse, RegistrationError
from hook_sdk.place import socket_of

pytestmark = [needs_engine, pytest.mark.usefixtures("private")]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without hooks, where a private server could be started."""
    # The names of sockets are short.
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/hook").symlink_to(BINARY)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    project = tmp_path / "project"
    (project / ".hooks").mkdir(parents=True)
    (project / ".hooks/settings.json").write_text("{}")
    return project


@contextlib.asynccontextmanager
async def served(project: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The project's own server."""
    server = await asyncio.create_subprocess_exec(
        *(BINARY, "serve", "--socket", "--project", str(project)), stderr=asyncio.subprocess.PIPE
    )
    assert server.stderr is not None
    try:
        while b"listening on" not in (line := await server.stderr.readline()):
            assert line, "the server ended"
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.kill()
        await server.communicate()


async def fires(client: HookClient) -> Any:
    return await client.fire("BeforeTool", tool("ls"))


def guard(_: object) -> HookResponse:
    return HookResponse.block("guarded")


@pytest.mark.parametrize("how", ["kill", "terminate"])
@run_async
async def test_a_client_that_was_at_a_shared_server_waits_for_that(project: Path, how: str) -> None:
    problems: list[str] = []
    async with (
        HookClient(project=project, on_problem=problems.append) as guards,
        HookClient(project=project, on_problem=problems.append) as asker,
    ):
        async with served(project) as server:
            hook_id = guards.register_hook(
                "BeforeTool", guard, matcher={"kind": "shell"}, config={"fail_behavior": "block"}
            )
            await guards.ready(hook_id)
            assert (await fires(asker)).reason == "guarded"
            getattr(server, how)()
            await server.wait()
        for _ in range(3):
            with pytest.raises(HookConnectionError):
                await fires(asker)
        async with served(project):
            # The guard blocks before its client is back, and is asked then.
            blocked = await fires(asker)
            assert blocked.decision == "block", blocked
            await guards.ready(hook_id)
            outcome = await fires(asker)
            assert (outcome.reason, outcome.warnings) == ("guarded", [])
        assert not any("private" in problem for problem in problems), problems


@run_async
async def test_a_private_server_is_for_a_program_that_asks_and_is_said(project: Path) -> None:
    problems: list[str] = []
    async with HookClient(project=project, on_problem=problems.append) as client:
        for asking in (client.connect, client.list_hooks, client.reload):
            with pytest.raises(HookConnectionError, match="`hook serve --socket`"):
                await asking()
        outcome = await fires(client)
        assert outcome.proceeds
        said = [problem for problem in problems if "a private one was started" in problem]
        assert len(said) == 1 and outcome.warnings == said
        assert (await fires(client)).warnings == []
        # Nobody else would ask a hook there.
        hook_id = client.register_hook("BeforeTool", guard)
        with pytest.raises(RegistrationError, match="nobody else asks the private server"):
            await client.ready(hook_id)


@run_async
async def test_a_program_that_registers_waits_for_the_shared_server(project: Path) -> None:
    problems: list[str] = []
    async with HookClient(project=project, on_problem=problems.append) as client:
        hook_id = client.register_hook("BeforeTool", guard)
        with pytest.raises(HookConnectionError, match="`hook serve --socket`"):
            await client.ready(hook_id)
        # Also where it asks as well.
        with pytest.raises(HookConnectionError, match="`hook serve --socket`"):
            await fires(client)
        async with served(project):
            await client.ready(hook_id)
            assert (await fires(client)).reason == "guarded"
        assert not any("private" in problem for problem in problems), problems


@run_async
async def test_a_socket_that_does_not_greet_is_no_missing_server(project: Path) -> None:
    place = socket_of(project, os.environ)
    assert place is not None
    place.parent.mkdir(parents=True)
    server = await asyncio.start_unix_server(lambda _, writer: writer.close(), place)
    try:
        async with HookClient(project=project, on_problem=lambda _: None) as client:
            with pytest.raises(HookConnectionError, match="ended the connection"):
                await fires(client)
    finally:
        server.close()


REFUSED = """
from hook_sdk import HookClient

client = HookClient(socket=SOCKET)

@client.hook("BeforeTool", matcher={"kind": "shel"}, config=CONFIG)
def guard(event):
    ...

@client.hook("BeforeTool", hook_id="other")
def other(event):
    print("asked", flush=True)

client.run()
"""


@run_async
async def test_a_program_whose_guard_is_refused_ends_with_that(
    project: Path, tmp_path: Path
) -> None:
    place = str(socket_of(project, os.environ))
    config = "{'fail_behavior': 'block'}"
    program = tmp_path / "refused.py"
    program.write_text(REFUSED.replace("SOCKET", repr(place)).replace("CONFIG", config))
    async with served(project):
        pipe = asyncio.subprocess.PIPE
        ended = await asyncio.create_subprocess_exec(sys.executable, program, stderr=pipe)
        _, said = await ended.communicate()
        assert ended.returncode == 1
        assert b"RegistrationError" in said and b"matcher.kind" in said
        # It has taken its other hook back.
        async with HookClient(socket=place) as asker:
            assert await asker.list_hooks() == []
        # Of another hook it is only said.
        program.write_text(REFUSED.replace("SOCKET", repr(place)).replace("CONFIG", "{}"))
        goes_on = await asyncio.create_subprocess_exec(
            sys.executable, program, stdout=pipe, stderr=pipe
        )
        assert goes_on.stdout is not None
        async with HookClient(socket=place) as asker:
            while not await asker.list_hooks():
                pass
            await fires(asker)
        assert await goes_on.stdout.readline() == b"asked\n"
        goes_on.terminate()
        _, said = await goes_on.communicate()
        assert goes_on.returncode == 0 and b"matcher.kind" in said


@run_async
async def test_a_project_that_is_named_must_have_hooks(project: Path) -> None:
    (project / ".hooks/settings.json").unlink()
    async with HookClient(project=project, on_problem=lambda _: None) as client:
        for _ in range(2):
            with pytest.raises(HookConnectionError, match=r"no hooks in \.hooks of .*hook init"):
                await fires(client)
        (project / ".hooks/settings.json").write_text("{}")
        assert (await fires(client)).proceeds


@run_async
async def test_that_no_project_was_found_is_said(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, times in ((project, 0), (tmp_path, 1)):
        monkeypatch.chdir(folder)
        problems: list[str] = []
        async with HookClient(on_problem=problems.append) as client:
            assert (await fires(client)).proceeds
        said = [it for it in problems if "no hooks in .hooks" in it]
        assert len(said) == times and all("HookClient(project=…)" in it for it in said), problems
