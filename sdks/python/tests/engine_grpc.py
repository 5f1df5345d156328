"""The client over gRPC against the real engine, in a build that has it: with the feature `remote`.

pytest does not find this file by itself, since most builds have no gRPC: `cargo test -p hook-cli
--features remote --test sdks` runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from engine import BINARY, settings, tool
from scripted import run_async

from hook_sdk import A3sClient, HookConnectionError, HookResponse

pytestmark = pytest.mark.usefixtures("private")

# The same over a Unix socket, which needs no token, and over TCP, which does.
PLACES = ["unix", "tcp"]


class Served:
    """A server's place, and the token that its clients need."""

    def __init__(self, place: str, token: str | None) -> None:
        self.place, self.token = place, token

    def client(self, place: str | None = None) -> A3sClient:
        return A3sClient(
            transport="grpc",
            target=place or self.place,
            token=self.token,
            on_problem=lambda _: None,
        )


@asynccontextmanager
async def serving(folder: Path, kind: str) -> AsyncIterator[Served]:
    wanted = f"unix:{folder}/g" if kind == "unix" else "127.0.0.1:0"
    token_file = folder / "token"
    server = await asyncio.create_subprocess_exec(
        *(BINARY, "serve", "--grpc", wanted, "--project", str(folder)),
        *("--settings", str(settings(folder, {})), "--grpc-token-file", str(token_file)),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert server.stderr is not None
    said: list[str] = []
    try:
        # Of the file with the token it speaks after the place.
        last = "listening for gRPC on" if kind == "unix" else str(token_file)
        while not said or last not in said[-1]:
            line = (await server.stderr.readline()).decode()
            assert line, said
            said.append(line.strip())
        listening = next(line for line in said if "listening for gRPC on" in line)
        token = token_file.read_text().strip() if kind == "tcp" else None
        yield Served(listening.split()[-1], token)
    finally:
        server.terminate()
        await server.communicate()


class Cable:
    """What stands between a client and a server, and can be cut."""

    def __init__(self, served: Served, folder: Path) -> None:
        self._server, self._folder = served.place, folder
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Cable:
        if self._server.startswith("unix:"):
            path = f"{self._folder}/cable"
            self._listening = await asyncio.start_unix_server(self._join, path)
            self.place = f"unix:{path}"
        else:
            self._listening = await asyncio.start_server(self._join, "127.0.0.1", 0)
            self.place = "127.0.0.1:{}".format(self._listening.sockets[0].getsockname()[1])
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
        if self._server.startswith("unix:"):
            theirs = await asyncio.open_unix_connection(self._server.removeprefix("unix:"))
        else:
            host, port = self._server.rsplit(":", 1)
            theirs = await asyncio.open_connection(host, int(port))
        self._writers += [writer, theirs[1]]

        async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            try:
                while chunk := await source.read(1 << 16):
                    sink.write(chunk)
            finally:
                sink.close()

        for source, sink in ((reader, theirs[1]), (theirs[0], writer)):
            self._tasks.add(asyncio.ensure_future(carry(source, sink)))


@pytest.mark.parametrize("kind", PLACES)
@run_async
async def test_a_guard_decides_on_what_another_client_asks(tmp_path: Path, kind: str) -> None:
    async with serving(tmp_path, kind) as served:
        async with served.client() as client, served.client() as asker:

            @client.hook("PreToolUse", {"tool": "Bash"}, {"fail_behavior": "block"})
            async def guard(event: Any) -> HookResponse:
                command = event.args.command
                if command.startswith("sudo"):
                    return HookResponse.block("not as root")
                return HookResponse.continue_with({"args": {"command": f"nice {command}"}})

            await client.ready("h-1")
            assert (await asker.fire("BeforeTool", tool("sudo ls"))).reason == "not as root"
            outcome = await asker.fire("BeforeTool", tool("ls"))
            assert outcome.modified.tool_input == {"command": "nice ls"}
            assert (await asker.fire("BeforeTool", tool("x", "read_file"))).proceeds
            assert [hook.own for hook in await client.list_hooks()] == [True]
            assert [hook.own for hook in await asker.list_hooks()] == [False]


@run_async
async def test_over_tcp_nobody_is_served_without_the_token(tmp_path: Path) -> None:
    async with serving(tmp_path, "tcp") as served:
        for token in (None, "not-the-token"):
            stranger = A3sClient(
                transport="grpc", target=served.place, token=token, on_problem=lambda _: None
            )
            with pytest.raises(HookConnectionError):
                async with stranger:
                    await stranger.connect()


@pytest.mark.parametrize("kind", PLACES)
@run_async
async def test_who_comes_back_with_the_token_gets_the_hooks_and_the_call_back(
    tmp_path: Path, kind: str
) -> None:
    async with serving(tmp_path, kind) as served, Cable(served, tmp_path) as cable:
        async with served.client(cable.place) as client, served.client() as asker:
            called, go_on, runs = asyncio.Event(), asyncio.Event(), 0

            @client.hook("PreToolUse", config={"fail_behavior": "block", "timeout": 60000})
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
