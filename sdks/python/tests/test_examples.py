"""The examples of docs/examples/sdk/python, each played against a scripted server."""

from __future__ import annotations

import asyncio
import http.server
import os
import re
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted import Peer, Scripted, run_async
from test_worker import Child

EXAMPLES = Path(__file__).resolve().parents[3] / "docs/examples/sdk/python"
pytestmark = pytest.mark.skipif(
    not EXAMPLES.is_dir(), reason="SKIPPED: this is no checkout of the repository"
)

BASE = {"sessionId": "s-1", "metadata": {}}
BASH = {**BASE, "tool": "Bash", "args": {"command": "ls"}}
CONTINUE = {"action": "continue"}


def bash(command: str) -> dict[str, Any]:
    return {**BASH, "args": {"command": command}}


def write(path: str, content: str) -> dict[str, Any]:
    return {**BASE, "tool": "Write", "args": {"file_path": path, "content": content}}


@asynccontextmanager
async def playing(
    folder: Path, name: str | Path, **variables: str
) -> AsyncIterator[tuple[Peer, asyncio.subprocess.Process]]:
    """An example that runs, and its connection."""
    server = Scripted(folder / "s")
    await server.start()
    pipe = asyncio.subprocess.PIPE
    environment = {**os.environ, "HOOK_SOCKET": str(server.path), **variables}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / f"{name}.py" if isinstance(name, str) else name),
        stdout=pipe,
        stderr=pipe,
        env=environment,
    )
    try:
        yield await server.peer(), child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()
        server.close()


GUARDS: list[tuple[str, dict[str, Any] | None, dict[str, Any], dict[str, Any]]] = [
    (
        "security-policy",
        {"tool": "Bash"},
        bash("rm  -rf /"),
        {"action": "block", "reason": r"Blocked dangerous command matching rm\s+-rf\s+/"},
    ),
    ("security-policy", {"tool": "Bash"}, bash("rm -r build"), CONTINUE),
    (
        "env-guard",
        {"tool": "Write", "pathPattern": "*.env"},
        write("a.env", "API_KEY=1"),
        {"action": "block", "reason": "Cannot write API keys to .env files"},
    ),
    ("env-guard", {"tool": "Write", "pathPattern": "*.env"}, write("a.env", "X=1"), CONTINUE),
    (
        "bash-timeout",
        {"tool": "Bash"},
        bash("ls"),
        {**CONTINUE, "modified": {"args": {"command": "ls", "timeout": 30000}}},
    ),
    (
        "format-python",
        {"tool": "Write", "pathPattern": "*.py"},
        write("a.py", "x = 1"),
        {**CONTINUE, "modified": {"args": {"file_path": "a.py", "content": "x = 1\n"}}},
    ),
    ("format-python", {"tool": "Write", "pathPattern": "*.py"}, write("a.py", "x\n"), CONTINUE),
    (
        "fail-closed",
        {"tool": "Bash"},
        bash("sudo ls"),
        {"action": "block", "reason": "not as root"},
    ),
    ("fail-closed", {"tool": "Bash"}, {**BASH, "args": {}}, {"error": "KeyError: 'command'"}),
]


@pytest.mark.parametrize(("name", "matcher", "told", "answer"), GUARDS)
@run_async
async def test_guards(
    tmp_path: Path, name: str, matcher: Any, told: dict[str, Any], answer: dict[str, Any]
) -> None:
    async with playing(tmp_path, name) as (peer, _):
        message = await peer.registers()
        assert (message["eventName"], message.get("matcher")) == ("PreToolUse", matcher)
        peer.call(message["hookId"], "PreToolUse", told)
        assert await peer.hear() == {"type": "hook-answer", "callId": "1", **answer}


@pytest.mark.parametrize(
    ("name", "tokens", "said"),
    [
        ("log-generation", 7, "Generated 7 tokens\n"),
        ("cost-tracking", 1_000_000, "Session cost exceeded $10: $15.00 (1000000 tokens)\n"),
    ],
)
@run_async
async def test_what_watches_the_model(tmp_path: Path, name: str, tokens: int, said: str) -> None:
    async with playing(tmp_path, name) as (peer, child):
        message = await peer.registers()
        usage = {"total_tokens": tokens}
        told = {**BASE, "response": {"text": "hi", "usage": usage}, "model": "large"}
        peer.call(message["hookId"], "GenerateEnd", told)
        assert (await peer.hear())["action"] == "continue"
        assert child.stdout is not None and child.stderr is not None
        output = child.stdout if name == "log-generation" else child.stderr
        assert (await output.readline()).decode() == said


@run_async
async def test_generation_metrics_are_sent(tmp_path: Path) -> None:
    posted: list[bytes] = []

    class Metrics(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metrics) as metrics:
        threading.Thread(target=metrics.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{metrics.server_port}/log"
        async with playing(tmp_path, "generation-metrics", METRICS_URL=url) as (peer, _):
            message = await peer.registers()
            assert message["config"] == {"async": True}
            told = {**BASE, "response": {"usage": {"totalTokens": 7}}}
            peer.call(message["hookId"], "GenerateEnd", told)
            assert (await peer.hear())["action"] == "continue"
        metrics.shutdown()
    assert posted == [b'{"session": "s-1", "usage": {"totalTokens": 7}}']


@run_async
async def test_auto_format_has_the_agent_run_a_formatter(tmp_path: Path) -> None:
    async with playing(tmp_path, "auto-format") as (peer, _):
        message = await peer.registers()
        told = {**write("a b.py", "x"), "result": {"success": True, "output": ""}}
        peer.call(message["hookId"], "PostToolUse", told)
        asked = await peer.hear("hook-host-call")
        assert (asked["method"], asked["params"]["tool"]) == ("tool.execute", "Bash")
        assert asked["params"]["args"] == {"command": "black 'a b.py'", "timeout": 10000}
        peer.say({"type": "hook-host-result", "hostCallId": asked["hostCallId"], "result": None})
        assert (await peer.hear())["action"] == "continue"
        peer.call(message["hookId"], "PostToolUse", {**told, "result": {"success": False}}, "2")
        assert (await peer.hear())["type"] == "hook-answer"


@pytest.mark.parametrize(
    ("result", "action"),
    [({"result": True}, "continue"), ({"result": False}, "block"), ({"error": {}}, "block")],
)
@run_async
async def test_permission_escalation_asks(
    tmp_path: Path, result: dict[str, Any], action: str
) -> None:
    async with playing(tmp_path, "permission-escalation") as (peer, _):
        message = await peer.registers()
        peer.call(message["hookId"], "PermissionRequest", bash("ls"))
        asked = await peer.hear("hook-host-call")
        assert asked["method"] == "ui.confirm" and asked["params"]["title"] == "Allow Bash?"
        peer.say({"type": "hook-host-result", "hostCallId": asked["hostCallId"], **result})
        assert (await peer.hear())["action"] == action


@run_async
async def test_list_and_unregister(tmp_path: Path) -> None:
    async with playing(tmp_path, "list-and-unregister") as (peer, child):
        message = await peer.registers()
        hooks = [{**message, "own": True}, {"hookId": "x", "eventName": "BeforeTool"}]
        await peer.hear("hook-list")
        peer.say({"type": "hook-hooks", "hooks": hooks})
        await peer.hear("hook-unregister")
        peer.say({"type": "hook-unregistered", "hookId": message["hookId"]})
        await peer.hear("hook-list")
        peer.say({"type": "hook-hooks", "hooks": hooks[1:]})
        out, err = await child.communicate()
        lines = ["h-1 PreToolUse mine", "x BeforeTool another client's"]
        lines += ["taken back: True", "still there: []"]
        assert (out.decode().splitlines(), err) == (lines, b"")


@run_async
async def test_temporary_hook(tmp_path: Path) -> None:
    async with playing(tmp_path, "temporary-hook") as (peer, child):
        message = await peer.registers()

        async def answer(decision: str) -> None:
            asked = await peer.hear("hook-execution-request")
            response = {"type": "hook-execution-response", "processed": {"decision": decision}}
            peer.say({**response, "correlationId": asked["correlationId"]})

        await answer("block")
        await peer.hear("hook-unregister")
        peer.say({"type": "hook-unregistered", "hookId": message["hookId"]})
        await answer("proceed")
        out, err = await child.communicate()
        assert (out, err) == (b"inside: block\noutside: proceed\n", b"")


@run_async
async def test_audit_log(tmp_path: Path) -> None:
    async with playing(tmp_path, "audit-log") as (peer, child):
        assert (await peer.hear("hook-audit"))["level"] == "verbose"
        entry = {"type": "hook-audit", "kind": "blocked", "eventName": "BeforeTool", "hook": "h"}
        peer.say({**entry, "reason": "no"})
        assert child.stdout is not None
        assert await child.stdout.readline() == b"blocked BeforeTool h no\n"


@run_async
async def test_model_call_lays_what_hooks_changed_onto_the_response(tmp_path: Path) -> None:
    async with playing(tmp_path, "model-call") as (peer, child):
        asked = await peer.hear("hook-execution-request")
        assert (asked["eventName"], asked["input"]["sdk"]) == ("AfterModel", "openai-chat")
        modified = {"llm_response": {"candidates": [{"content": {"parts": ["*", "**"]}}]}}
        answer = {"type": "hook-execution-response", "correlationId": asked["correlationId"]}
        peer.say({**answer, "processed": {"decision": "proceed", "modified": modified}})
        out, err = await child.communicate()
        assert (out, err) == (b"{'role': 'assistant', 'content': '***'}\n", b"")


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
    async with playing(tmp_path, program) as (peer, _):
        message = await peer.registers()
        peer.call(message["hookId"], "PreToolUse", bash("rm -rf / -v"))
        assert (await peer.hear())["reason"] == "Dangerous command blocked"
        peer.call(message["hookId"], "PreToolUse", BASH, "2")
        assert (await peer.hear())["action"] == "continue"


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
