"""Workers, as the engine sees them: a child with two pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted import LIMIT_SECONDS

GUARD = """
from hook_sdk import worker

@worker.hook("BeforeTool", matcher="run_shell_command")
def guard(event):
    if "rm -rf" in event.tool_input.get("command", ""):
        return worker.HookResponse.block("not with rm -rf")

worker.serve()
"""


class Child:
    """A worker's process."""

    def __init__(self, folder: Path, program: str, *options: str) -> None:
        path = folder / "worker.py"
        path.write_text(textwrap.dedent(program))
        pipe = subprocess.PIPE
        command = [sys.executable, *options, str(path)]
        # Unbuffered only where a test says so.
        environment = {**os.environ, "PYTHONUNBUFFERED": ""}
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )

    def say(self, message: dict[str, Any]) -> None:
        self.say_bytes(json.dumps(message).encode() + b"\n")

    def say_bytes(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def call(self, call_id: str, event: str = "BeforeTool", hook: str = "h", **told: Any) -> None:
        call = {"type": "hook-call", "callId": call_id, "hookId": hook, "eventName": event}
        self.say({**call, "input": told, "deadlineMs": 5000})

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        message: dict[str, Any] = json.loads(line)
        return message

    def end(self) -> tuple[int, bytes, str]:
        """Its input ends; its exit code, what else it said, and standard error."""
        out, err = self.process.communicate(timeout=LIMIT_SECONDS)
        return self.process.returncode, out, err.decode()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    children: list[Child] = []

    def start(program: str, *options: str) -> Child:
        children.append(Child(tmp_path, program, *options))
        return children[-1]

    yield start
    for child in children:
        child.process.kill()
        child.process.communicate()


def test_a_whole_guard_in_ten_lines(start: Any) -> None:
    assert len(GUARD.strip().splitlines()) <= 10
    child = start(GUARD)
    assert child.hear() == {
        "type": "hook-worker",
        "protocol": 1,
        "hooks": [
            {
                "hookId": "guard",
                "eventName": "BeforeTool",
                "vocabulary": "native",
                "matcher": "run_shell_command",
            }
        ],
    }
    child.call("1", hook="guard", tool_input={"command": "rm -rf /"})
    output = {"decision": "deny", "reason": "not with rm -rf"}
    assert child.hear() == {"type": "hook-answer", "callId": "1", "output": output}
    # A settings entry that names the event calls by its own id.
    child.call("2", hook="the entry's", tool_input={"command": "ls"})
    assert child.hear() == {"type": "hook-answer", "callId": "2", "output": {}}
    child.call("3", event="AfterTool")
    assert "no handler for AfterTool" in child.hear()["error"]
    code, out, err = child.end()
    assert (code, out) == (0, b"") and "no handler for AfterTool" in err


def test_a_call_that_is_no_message_is_refused(start: Any) -> None:
    child = start(GUARD)
    child.hear()
    child.say_bytes(
        b'{"type": "hook-call", "callId": "half", "hookId": "h", "input": {"x": NaN}}\n'
    )
    answer = child.hear()
    assert answer["callId"] == "half" and "no JSON" in answer["error"]


def test_hook_close_ends_it_though_its_input_stays_open(start: Any) -> None:
    child = start(GUARD)
    child.hear()
    child.say({"type": "hook-close", "reason": "shutdown"})
    assert child.process.wait(LIMIT_SECONDS) == 0


@pytest.mark.parametrize("options", [(), ("-u",)])
def test_what_is_printed_goes_to_standard_error(start: Any, options: tuple[str, ...]) -> None:
    child = start(
        """
        import os, subprocess, sys
        from hook_sdk import worker

        print("before" if "-u" not in sys.orig_argv else "", end="")

        @worker.hook("SessionEnd", vocabulary="a3s", id="chatty", priority=5, timeout=100)
        def chatty(event):
            print("from print")
            os.write(1, b"from the descriptor\\n")
            subprocess.run(["echo", "from a child"], check=True)
            subprocess.run(["cat"], check=True)
            return {"action": "block", "reason": sys.stdin.read()}

        worker.serve()
        print("after")
        """,
        *options,
    )
    hook = child.hear()["hooks"][0]
    assert hook["config"] == {"priority": 5, "timeout": 100} and hook["vocabulary"] == "a3s"
    child.call("1", "SessionEnd", "chatty")
    answer = {"type": "hook-answer", "callId": "1", "action": "block", "reason": ""}
    assert child.hear() == answer
    code, out, err = child.end()
    assert (code, out) == (0, b"after\n")
    for said in ("from print", "from the descriptor", "from a child"):
        assert said in err
    assert options or "before" in err


def test_slow_handlers_are_answered_at_once_and_bounded(start: Any) -> None:
    child = start(
        """
        import threading
        from hook_sdk import worker

        gate = threading.Event()

        @worker.hook("BeforeTool")
        def wait(event):
            if event.get("open"):
                gate.set()
            gate.wait()

        worker.serve()
        """
    )
    child.hear()
    for number in range(64):
        child.call(str(number))
    child.call("one too many")
    refused = child.hear()
    assert refused["callId"] == "one too many" and "64 handlers are at work" in refused["error"]
    assert child.process.poll() is None


def test_sixty_four_calls_run_together(start: Any) -> None:
    child = start(
        """
        import threading
        from hook_sdk import worker

        together = threading.Barrier(64)

        @worker.hook("BeforeTool")
        def wait(event):
            together.wait()

        worker.serve()
        """
    )
    child.hear()
    for _ in range(3):
        for number in range(64):
            child.call(str(number))
        assert {child.hear()["callId"] for _ in range(64)} == {str(it) for it in range(64)}
    assert child.end()[:2] == (0, b"")


def test_a_handler_that_has_answered_has_no_place_any_more(start: Any) -> None:
    child = start(
        """
        import threading
        from hook_sdk import worker, worker_lines

        together, second = threading.Barrier(64), threading.Event()
        write = worker_lines.WorkerLines.write

        def held_up(lines, message):
            write(lines, message)
            if message["type"] == "hook-answer" and "error" not in message:
                second.wait()  # The engine has the answer, and its thread is not free yet.

        worker_lines.WorkerLines.write = held_up

        @worker.hook("BeforeTool")
        def wait(event):
            together.wait()
            if event.round == 2:
                second.set()

        worker.serve()
        """
    )
    child.hear()
    for number in (1, 2):
        for call in range(64):
            child.call(f"{number}-{call}", round=number)
        assert all("error" not in child.hear() for _ in range(64))
    assert child.end()[:2] == (0, b"")


def test_a_handler_that_raises_or_answers_nonsense_is_an_error(start: Any) -> None:
    child = start(
        """
        import sys
        from hook_sdk import worker

        @worker.hook("*")
        def odd(event):
            what = event.what
            if what == "raise":
                raise KeyError("path")
            if what == "exit":
                sys.exit(3)
            deep = []
            for _ in range(200):
                deep = [deep]
            return {"nan": {"x": float("nan")}, "deep": {"x": deep}, "text": "no",
                    "large": {"x": "x" * (4 << 20)}, "bytes": {"x": b""}}[what]

        worker.serve()
        """
    )
    child.hear()
    errors = {
        "raise": "KeyError: 'path'",
        "exit": "SystemExit: 3",
        "nan": "ValueNotSendable: ",
        "deep": "100 levels",
        "large": "4194304",
        "text": "TypeError: ",
        "bytes": "ValueNotSendable: ",
    }
    for what, said in errors.items():
        child.call(what, "Anything", what=what)
        answer = child.hear()
        assert answer["callId"] == what and said in answer["error"]
    code, _, err = child.end()
    # The author finds the place in the engine's log.
    assert code == 0 and 'raise KeyError("path")' in err


def test_lines_that_are_none_are_passed_over(start: Any) -> None:
    child = start(GUARD)
    child.hear()
    for line in (b"nonsense\n", b"\n", b"[]\n", b'{"type":"hook-call"}\n', b"\xff\n", b"[" * 9999):
        child.say_bytes(line)
    child.say_bytes(b'\n{"type":"of a later version"}\n')
    child.say({"type": "hook-call", "callId": "0", "hookId": "guard", "eventName": "BeforeTool"})
    assert "no input" in child.hear()["error"]
    child.call("1", tool_input={})
    assert child.hear()["callId"] == "1"
    code, _, err = child.end()
    assert code == 0 and err.count("it is passed over") == 6


def test_a_line_that_is_too_long_is_passed_over(start: Any) -> None:
    child = start("from hook_sdk import worker_lines\nworker_lines.MAX_READ = 1000\n" + GUARD)
    child.hear()
    child.call("long", tool_input={"command": "x" * 2500})
    child.call("1", tool_input={})
    assert child.hear()["callId"] == "1"
    code, _, err = child.end()
    assert code == 0 and "a line is too long" in err


def test_asynchronous_handlers(start: Any) -> None:
    child = start(
        """
        import sys
        from hook_sdk import worker

        assert "asyncio" not in sys.modules

        @worker.hook("BeforeTool")
        async def later(event):
            import asyncio
            await asyncio.sleep(0)
            return worker.HookResponse.skip()

        worker.serve()
        """
    )
    child.hear()
    child.call("1")
    assert child.hear()["output"] == {"skipRemaining": True}


ASKING = """
from hook_sdk import HostCallError, worker

@worker.hook("PermissionRequest")
def ask(event):
    try:
        if worker.confirm("Allow?", event.tool_name):
            worker.log("allowed", "debug")
            return {"decision": "allow"}
    except HostCallError as error:
        return {"reason": error.code, "systemMessage": str(worker.cancelled())}
    return {"decision": "deny"}

worker.serve()
"""


def test_a_handler_asks_its_host(start: Any) -> None:
    child = start(ASKING)
    child.hear()
    child.call("1", "PermissionRequest", tool_name="bash")
    child.call("2", "PermissionRequest", tool_name="edit")
    asked = {message["callId"]: message for message in (child.hear(), child.hear())}
    assert asked["2"]["method"] == "ui.confirm"
    assert asked["2"]["params"] == {"title": "Allow?", "message": "edit"}
    for call_id, result in (("2", True), ("1", False)):
        host_call_id = asked[call_id]["hostCallId"]
        child.say({"type": "hook-host-result", "hostCallId": host_call_id, "result": result})
        if result:
            assert child.hear() == {"type": "hook-log", "level": "debug", "message": "allowed"}
        decision = "allow" if result else "deny"
        answer = {"type": "hook-answer", "callId": call_id, "output": {"decision": decision}}
        assert child.hear() == answer
    child.call("3", "PermissionRequest", tool_name="bash")
    number = child.hear()["hostCallId"]
    error = {"code": "unsupported", "message": "no UI"}
    child.say({"type": "hook-host-result", "hostCallId": number, "error": error})
    assert child.hear()["output"] == {"reason": "unsupported", "systemMessage": "False"}


def test_a_cancelled_call_ends_the_question_and_is_not_answered(start: Any) -> None:
    child = start(ASKING)
    child.hear()
    child.call("1", "PermissionRequest", tool_name="bash")
    child.hear()
    child.say({"type": "hook-call-cancelled", "callId": "1"})
    child.say({"type": "hook-call-cancelled", "callId": "nobody's"})
    code, out, err = child.end()
    assert (code, out) == (0, b"") and "did not come back" not in err
    # Who wrote the handler sees that it was too slow.
    assert "the answer to PermissionRequest was dropped: nobody waited for it any more" in err


def test_a_stuck_handler_does_not_keep_it_from_ending(start: Any, tmp_path: Path) -> None:
    child = start(
        """
        import threading
        import hook_sdk.worker_lines
        from hook_sdk import worker

        hook_sdk.worker_lines.FINISHING_SECONDS = 0.0

        @worker.hook("BeforeTool")
        def stuck(event):
            worker.log("begun")
            threading.Event().wait()

        worker.serve()
        """
    )
    child.hear()
    child.call("1")
    assert child.hear()["message"] == "begun"
    code, out, err = child.end()
    assert (code, out) == (0, b"") and "1 handlers did not come back" in err


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("worker.serve()", "no handlers"),
        ("worker.hook('E')(print); worker.hook('E')(print)", "two handlers with the id 'print'"),
        ("worker.hook('E', {'pathPattern': 'x'})", "it has kind, tool, tool_pattern"),
        ("worker.confirm('?', '?')", "not served"),
    ],
)
def test_what_an_author_gets_wrong_is_said(start: Any, program: str, said: str) -> None:
    child = start(f"from hook_sdk import worker\n{program}\n")
    code, out, err = child.end()
    assert (code, out) == (1, b"") and said in err


def test_a_worker_does_not_load_what_it_does_not_need() -> None:
    program = "import sys; from hook_sdk import worker; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "hook_sdk.worker_calls" in loaded
    assert not loaded & {"asyncio", "grpc", "dataclasses", "inspect", "typing", "subprocess"}
