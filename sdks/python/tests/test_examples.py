"""The examples of docs/examples/sdk/python, each played with the engine itself."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import re
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from engine import EXAMPLES, SHELL, listening, needs_engine, tool
from scripted import LIMIT_SECONDS, run_async
from test_worker import Child

from hook_sdk import A3sClient

pytestmark = [
    pytest.mark.skipif(not EXAMPLES.is_dir(), reason="SKIPPED: this is no checkout"),
    needs_engine,
    pytest.mark.usefixtures("private"),
]


def write(path: str, content: str = "x") -> dict[str, Any]:
    return {"tool_name": "write_file", "tool_input": {"file_path": path, "content": content}}


class Played:
    """An example that runs, and an agent that asks its server."""

    def __init__(self, agent: A3sClient, program: asyncio.subprocess.Process) -> None:
        self.agent, self.program = agent, program

    async def registered(self) -> Played:
        """Waits until it has a hook."""
        while not await self.agent.list_hooks():
            assert self.program.returncode is None, (await self.program.communicate())[1]
            await asyncio.sleep(0)
        return self

    async def line(self, stream: str) -> str:
        reader: asyncio.StreamReader = getattr(self.program, stream)
        return (await reader.readline()).decode().rstrip()


@asynccontextmanager
async def playing(
    folder: Path,
    name: str | Path,
    *,
    hooks: dict[str, Any] | None = None,
    services: dict[str, Any] | None = None,
    **variables: str,
) -> AsyncIterator[Played]:
    pipe = asyncio.subprocess.PIPE
    async with listening(folder, hooks or {}) as socket:
        async with A3sClient(socket=socket, host_services=services) as agent:
            program = await asyncio.create_subprocess_exec(
                sys.executable,
                str(EXAMPLES / f"{name}.py" if isinstance(name, str) else name),
                stdout=pipe,
                stderr=pipe,
                env={**os.environ, "HOOK_SOCKET": str(socket), **variables},
            )
            try:
                yield Played(agent, program)
            finally:
                if program.returncode is None:
                    program.terminate()
                await program.communicate()
            # It has taken its hook back, so that the server does not wait for it.
            assert await agent.list_hooks() == []


ENV_KEY = "Cannot write API keys to .env files"
NO_COMMAND = {"tool_name": SHELL, "tool_input": {}}
LONG = {"command": "ls", "timeout": 30000}
# An agent that itself calls its shell so.
BASH = {**tool("rm -rf /"), "tool_name": "Bash"}
GUARDS: list[tuple[str, dict[str, Any], str, str | None, dict[str, Any] | None]] = [
    ("security-policy", tool("rm  -rf /"), "block", r"matching rm\\s\+-rf\\s\+/$", None),
    ("security-policy", tool("mkfs.ext4 /dev/sda"), "block", "^Blocked dangerous", None),
    ("security-policy", tool("rm -r build"), "proceed", None, None),
    ("security-policy", tool(["rm", "-rf", "/"]), "block", "^Blocked dangerous", None),
    ("security-policy", BASH, "block", "^Blocked dangerous", None),
    ("security-policy", {**BASH, "tool_name": "Read"}, "proceed", None, None),
    ("env-guard", write("/x/a.env", "API_KEY=1"), "block", ENV_KEY, None),
    ("env-guard", write("a.env", "X=1"), "proceed", None, None),
    ("env-guard", write("a.txt", "API_KEY=1"), "proceed", None, None),
    ("bash-timeout", tool("ls"), "proceed", None, LONG),
    ("bash-timeout", write("a.txt"), "proceed", None, None),
    ("format-python", write("a.py"), "proceed", None, {"file_path": "a.py", "content": "x\n"}),
    ("format-python", write("a.py", "x\n"), "proceed", None, None),
    ("format-python", write("a.txt"), "proceed", None, None),
    ("fail-closed", tool("ls"), "proceed", None, None),
    ("fail-closed", tool("sudo ls"), "block", "^not as root$", None),
    ("fail-closed", NO_COMMAND, "block", "KeyError: 'command'", None),
]


@pytest.mark.parametrize("name", sorted({name for name, *_ in GUARDS}))
@run_async
async def test_guards(tmp_path: Path, name: str) -> None:
    async with playing(tmp_path, name) as example:
        await example.registered()
        for _, told, decision, reason, changed in (it for it in GUARDS if it[0] == name):
            outcome = await example.agent.fire("BeforeTool", told)
            assert outcome.decision == decision, outcome
            given = told["tool_input"]
            assert outcome.tool_input(given) == (changed or given), outcome
            assert reason is None or re.search(reason, outcome.reason or ""), outcome


def generated(tokens: int) -> dict[str, Any]:
    """A call as the SDK of Anthropic gives it."""
    messages = [{"role": "user", "content": [{"type": "text", "text": "b"}]}]
    request = {"model": "large", "max_tokens": 9, "messages": messages}
    response = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 2, "output_tokens": tokens - 2},
    }
    told = {"sdk": "anthropic", "llm_request": request, "llm_response": response}
    return {**told, "session_id": "s-1"}


@pytest.mark.parametrize(
    ("name", "tokens", "stream", "said"),
    [
        ("log-generation", [7], "stdout", "Generated 7 tokens"),
        (
            "cost-tracking",
            [600_000, 100_000],
            "stderr",
            "Session cost exceeded $10: $10.50 (700000 tokens)",
        ),
    ],
)
@run_async
async def test_what_watches_the_model(
    tmp_path: Path, name: str, tokens: list[int], stream: str, said: str
) -> None:
    async with playing(tmp_path, name) as example:
        await example.registered()
        for count in tokens:
            assert (await example.agent.fire("AfterModel", generated(count))).proceeds
        assert await example.line(stream) == said


@run_async
async def test_generation_metrics_are_sent(tmp_path: Path) -> None:
    posted: list[bytes] = []
    is_posted = threading.Event()

    class Metrics(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()
            is_posted.set()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metrics) as metrics:
        threading.Thread(target=metrics.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{metrics.server_port}/log"
        async with playing(tmp_path, "generation-metrics", METRICS_URL=url) as example:
            await example.registered()
            assert (await example.agent.fire("AfterModel", generated(7))).proceeds
            # Nothing waits for the hook, but this.
            assert await asyncio.to_thread(is_posted.wait, LIMIT_SECONDS)
        metrics.shutdown()
    usage = {"prompt_tokens": 2, "completion_tokens": 5, "total_tokens": 7}
    assert [json.loads(it) for it in posted] == [{"session": "s-1", "usage": usage}]


@run_async
async def test_auto_format_has_the_agent_run_a_formatter(tmp_path: Path) -> None:
    ran: list[Any] = []
    services = {"tool.execute": lambda params: ran.append((params["tool"], params["args"]))}
    async with playing(tmp_path, "auto-format", services=services) as example:
        await example.registered()
        for path, is_error in (("a.rs", True), ("a.txt", False), ("a b.py", False)):
            told = {**write(path), "tool_response": {"llmContent": ""}, "is_error": is_error}
            assert (await example.agent.fire("AfterTool", told)).proceeds
        [(shell, arguments)] = ran
        assert (shell, arguments["timeout"]) == (SHELL, 10000)
        assert re.fullmatch(r"black '/.*/a b\.py'", arguments["command"]), arguments


def confirm(params: dict[str, Any]) -> bool:
    return str(params["title"]) == "Allow run_shell_command?"


@pytest.mark.parametrize(
    ("services", "told", "decision"),
    [
        ({"ui.confirm": confirm}, tool("a", "read_file"), "proceed"),
        ({"ui.confirm": confirm}, tool("ls"), "proceed"),
        ({"ui.confirm": confirm}, write("a"), "block"),
        ({}, tool("ls"), "block"),
    ],
)
@run_async
async def test_permission_escalation_asks(
    tmp_path: Path, services: dict[str, Any], told: dict[str, Any], decision: str
) -> None:
    async with playing(tmp_path, "permission-escalation", services=services) as example:
        await example.registered()
        outcome = await example.agent.fire("PermissionRequest", told)
        assert outcome.decision == decision, outcome


CHANGED = {"llm_response": {"candidates": [{"content": {"parts": ["*", "**"]}}]}}
CHANGE = f"echo '{json.dumps({'hookSpecificOutput': CHANGED})}'"


@pytest.mark.parametrize(
    ("name", "hooks", "said"),
    [
        (
            "list-and-unregister",
            {},
            ["h-1 BeforeTool mine", "taken back: True", "still there: []"],
        ),
        ("temporary-hook", {}, ["inside: block", "outside: proceed"]),
        (
            "model-call",
            {"AfterModel": [{"hooks": [{"type": "command", "command": CHANGE}]}]},
            ["{'role': 'assistant', 'content': '***'}"],
        ),
    ],
)
@run_async
async def test_what_ends_by_itself(
    tmp_path: Path, name: str, hooks: dict[str, Any], said: list[str]
) -> None:
    async with playing(tmp_path, name, hooks=hooks) as example:
        out, err = await example.program.communicate()
        assert (out.decode().splitlines(), err, example.program.returncode) == (said, b"", 0)


@run_async
async def test_audit_log(tmp_path: Path) -> None:
    refuses = {"type": "command", "command": "echo no >&2; exit 2", "name": "h"}
    hooks = {"BeforeTool": [{"hooks": [refuses]}]}
    async with playing(tmp_path, "audit-log", hooks=hooks) as example:
        heard = asyncio.ensure_future(example.line("stdout"))
        # Until it listens.
        while not heard.done():
            await example.agent.fire("BeforeTool", tool("ls"))
        said = await heard
        while not said.startswith("blocked"):
            said = await example.line("stdout")
        assert said == "blocked BeforeTool h no"


def programs_of_the_readme() -> list[str]:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    return [
        text for text in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "def " in text
    ]


@run_async
async def test_the_readmes_guard_runs_as_pasted(tmp_path: Path) -> None:
    program = tmp_path / "guard.py"
    program.write_text(programs_of_the_readme()[0])
    assert len(program.read_text().splitlines()) <= 10
    async with playing(tmp_path, program) as example:
        await example.registered()
        outcome = await example.agent.fire("BeforeTool", tool("rm -rf / -v"))
        assert outcome.reason == "Dangerous command blocked"
        assert (await example.agent.fire("BeforeTool", tool("ls"))).proceeds


def test_the_readmes_worker_runs_as_pasted(tmp_path: Path) -> None:
    program = programs_of_the_readme()[1]
    assert len(program.splitlines()) <= 10
    worker = Child(tmp_path, program)
    assert worker.hear()["hooks"][0]["hookId"] == "guard"
    worker.call("1", hook="guard", tool_input={"command": "rm -rf / -v"})
    assert worker.hear()["output"]["decision"] == "deny"
    assert worker.end()[:2] == (0, b"")


def test_every_example_is_played_here() -> None:
    text = Path(__file__).read_text() + (Path(__file__).parent / "test_engine.py").read_text()
    # The agent is played with the project that it asks, by the tests of the whole repository.
    names = [path.stem for path in EXAMPLES.glob("*.py") if path.stem != "agent"]
    assert len(names) >= 15 and [name for name in names if name not in text] == []
