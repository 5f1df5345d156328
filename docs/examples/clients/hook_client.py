#!/usr/bin/env python3
"""A client for `hook serve`, standard library only: copy it into your agent.

    with HookClient.over_stdio(["hook", "serve", "--stdio"]) as hooks:
        answer = hooks.fire("BeforeTool", {"tool_name": "write_file", "tool_input": {}})
        if answer["decision"] != "proceed": ...  # block, stop, or ask the user

No answer is never taken for `proceed`: every call that cannot be answered raises HookError.

Run as a program it shows what the hooks of the example project answer to a few tool calls:

    hook_client.py --hook PATH/TO/hook        starts a server of its own
    hook_client.py --socket PATH              asks a server that is running
"""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future, TimeoutError as NotInTime

MAX_LINE = 64 << 20  # What the server reads as one line, in bytes.
MAX_ANSWER = 256 << 20  # A server that sends more without a line end is broken.
RESPONSE = "hook-execution-response"
ID = re.compile(rb'"correlationId":("(?:[^"\\]|\\.)*")')


class HookError(Exception):
    """There is no answer: the server is gone, refused, or sent something that is no message."""


def report(problem):
    """What happens to a problem that belongs to no call. See `HookClient.on_problem`."""
    print(f"hook_client: {problem}", file=sys.stderr)


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def read_message(line):
    """One line of the server's. Raises ValueError for anything that is no message."""
    try:
        message = json.loads(line, parse_constant=no_constant)
    except RecursionError:
        raise ValueError("it nests too deep") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError("it is no message")
    return message


def encode(message):
    """One line for the server. Raises for what it could not read: NaN, too long, too deep."""
    try:
        line = json.dumps(message, allow_nan=False).encode() + b"\n"
    except RecursionError:
        raise ValueError("the message nests too deep for JSON") from None
    if len(line) > MAX_LINE:
        raise ValueError(f"the message has {len(line)} bytes, the server reads {MAX_LINE}")
    return line


class HookClient:
    """One connection. Any number of threads may call it at once; each call gets its own answer."""

    def __init__(self, reader, writer, close, hello_timeout=30):
        """Waits for the server's greeting. `close` ends the connection and returns what is known
        of how the server ended. `on_problem` may be replaced: it is called with a text, on the
        thread that reads, for problems that belong to no call."""
        self.on_problem = report
        self._reader, self._writer, self._close = reader, writer, close
        self._writing, self._lock = threading.Lock(), threading.Lock()
        self._ids = itertools.count()
        self._waiting, self._reloads = {}, collections.deque()
        self._gone = self._progress = None
        self._hello = Future()
        threading.Thread(target=self._receive, daemon=True).start()
        try:
            hello = self._hello.result(hello_timeout)
        except NotInTime:
            close()
            raise HookError(f"the hook server did not greet within {hello_timeout} s") from None
        except HookError as error:
            raise HookError(f"{error}{close() or ''}") from None
        if hello["type"] != "hook-hello":
            close()
            raise HookError(hello.get("message", "this is no hook server"))
        if hello.get("protocol") != 1:
            close()
            raise HookError(f"the server speaks protocol {hello.get('protocol')}, this is 1")

    @classmethod
    def over_stdio(cls, command, **options):
        """Starts a server, which ends with this client."""
        try:
            server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise HookError(f"the hook server cannot be started: {error}") from error

        def close():
            with contextlib.suppress(OSError):
                server.stdin.close()
            try:
                code = server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                code = server.wait()
            how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
            return f": `{command[0]}` ended {how}; what it wrote to stderr says why"

        return cls(server.stdout, server.stdin, close, **options)

    @classmethod
    def over_socket(cls, path, **options):
        """Connects to a server that is running."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
        except OSError as error:
            raise HookError(f"there is no hook server at {path}: {error}") from error
        stream = connection.makefile("rwb")

        def close():
            # This also ends the thread that reads.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

        return cls(stream, stream, close, **options)

    def fire(self, event, payload, deadline_ms=None, correlation_id=None):
        """Runs the hooks of an event and returns the processed result: `decision` is proceed, ask,
        retry, block or stop; `warnings` are for the user. An event that failed in the server has `error`,
        and is `proceed` only where no hook blocks on failure."""
        response = self.request(event, payload, deadline_ms, correlation_id).result()
        result, error = response.get("processed"), response.get("error")
        if result is None and error is not None:
            result = {"decision": "proceed"}
        if not isinstance(result, dict) or "decision" not in result:
            raise HookError(f"the answer to {event} has no decision")
        if error is not None:
            result["error"] = error
        result["finalOutput"] = (response.get("output") or {}).get("finalOutput")
        result["warnings"] = response.get("warnings", [])
        return result

    def request(self, event, payload, deadline_ms=None, correlation_id=None):
        """Asks and does not wait; the future holds the whole response. An id of your own is for
        `cancel`; no two requests in flight may share one."""
        message = {"type": "hook-execution-request", "eventName": event, "input": payload}
        message["correlationId"] = correlation_id or f"client-{next(self._ids)}"
        if deadline_ms is not None:
            message["deadlineMs"] = deadline_ms
        if token := os.environ.get("HOOK_RUN_TOKEN"):
            message["runToken"] = token  # This process is a hook itself: see protocol.md, section 6.
        line, answer = encode(message), Future()
        answer.set_running_or_notify_cancel()  # `cancel` is this client's, not the future's.
        with self._lock:
            if self._gone:
                raise HookError(self._gone)
            if message["correlationId"] in self._waiting:
                raise ValueError(f"a request {correlation_id} is in flight")
            self._waiting[message["correlationId"]] = answer
        self._send(line)
        return answer

    def subscribe(self, callback):
        """Calls `callback` with each hook-started and hook-finished message of this client's
        requests, on the thread that reads: it must not call the client and wait."""
        self._progress = callback
        self._send(encode({"type": "hook-subscribe"}))

    def cancel(self, correlation_id):
        """Ends the hooks of a request. It is answered all the same, with the error `cancelled`."""
        self._send(encode({"type": "hook-cancel", "correlationId": correlation_id}))

    def reload(self):
        """Makes the server read its settings again, and with them what is trusted. Returns its
        reply: `success`, `totalHooks`, and in `warnings` what is wrong with the settings."""
        reply = Future()
        # Replies come in the order of the questions.
        with self._writing:
            with self._lock:
                if self._gone:
                    raise HookError(self._gone)
                self._reloads.append(reply)
            self._write(encode({"type": "hook-reload"}))
        return reply.result()

    def close(self):
        """Ends the connection. What is not answered yet raises HookError."""
        self._close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _send(self, line):
        # Not under the other lock: answers are read while this waits.
        with self._writing:
            self._write(line)

    def _write(self, line):
        try:
            self._writer.write(line)
            self._writer.flush()
        except (OSError, ValueError) as error:
            self._fail(f"the hook server is gone: {error}")
            raise HookError(self._gone) from error

    def _receive(self):
        why = "the hook server ended before it answered"
        try:
            while line := self._reader.readline(MAX_ANSWER):
                if not line.endswith(b"\n"):
                    why = "the hook server ended in the middle of a line"
                    break
                try:
                    self._take(read_message(line))
                except Exception as error:
                    self._take_broken(line, f"the server sent a line that is no message: {error}")
        except (OSError, ValueError):
            pass  # The connection was closed.
        with contextlib.suppress(OSError):
            self._reader.close()  # A server that still writes ends by it.
        if not self._hello.done():
            self._hello.set_exception(HookError("there is no hook server"))
        self._fail(why)

    def _take(self, message):
        kind = message["type"]
        if not self._hello.done():
            self._hello.set_result(message)
        elif kind == RESPONSE:
            with self._lock:
                answer = self._waiting.pop(message.get("correlationId"), None)
            if answer:
                answer.set_result(message)
            else:
                self._tell("the server answered a request that nothing waits for")
        elif kind == "hook-reloaded":
            with self._lock:
                reply = self._reloads.popleft() if self._reloads else None
            if reply:
                reply.set_result(message)
        elif kind in ("hook-started", "hook-finished") and self._progress:
            try:
                self._progress(message)
            except Exception as error:
                self._tell(f"the callback given to subscribe failed: {error!r}")
        elif kind == "hook-lagged":
            self._tell(f"progress was lost: {message.get('missed')} messages")
        elif kind == "hook-refused":
            self._fail(f"the server refused: {message.get('message')}")

    def _take_broken(self, line, problem):
        """Fails the call that the line answers, or where that cannot be known, all of them: none
        waits for ever, and the next call is not affected."""
        if not self._hello.done():
            return self._hello.set_exception(HookError("this is no hook server"))
        self._tell(problem)
        ids = set()
        for written in ID.findall(line):
            with contextlib.suppress(ValueError):
                ids.add(json.loads(written))
        with self._lock:
            if len(ids) != 1 or not ids <= self._waiting.keys():
                ids = set(self._waiting)
            failed = [self._waiting.pop(known) for known in ids]
            if not failed:
                failed = list(self._reloads)
                self._reloads.clear()
        for answer in failed:
            answer.set_exception(HookError(problem))

    def _tell(self, problem):
        with contextlib.suppress(Exception):
            self.on_problem(problem)

    def _fail(self, why):
        with self._lock:
            self._gone = self._gone or why
            left = [*self._waiting.values(), *self._reloads]
            self._waiting.clear()
            self._reloads.clear()
        for answer in left:
            answer.set_exception(HookError(why))


def laid_onto(response, answer):
    """A response of OpenAI's chat completions with the text that hooks left: an example of what an
    agent that is not in Rust does itself. `answer` is that of AfterModel, fired with
    {"sdk": "openai-chat", "llm_request": ..., "llm_response": response}. What hooks changed comes
    in the stable form (protocol.md, section 7), with only the fields that they gave; all that it
    does not show, such as calls of tools and ids, stays as it is in the response."""
    stable = (answer.get("modified") or {}).get("llm_response") or {}
    # `candidates` count before `text`, which is all text of the first of them.
    first = (stable.get("candidates") or [{}])[0]
    parts = (first.get("content") or {}).get("parts")
    text = stable.get("text") if parts is None else "".join(parts)
    if text is None:
        return response
    choice, *others = response["choices"]
    choice = {**choice, "message": {**choice["message"], "content": text}}
    return {**response, "choices": [choice, *others]}


CALLS = [
    ("read_file", {"file_path": "README.md"}),
    ("run_shell_command", {"command": "sudo rm -rf /"}),
    ("write_file", {"file_path": "./notes//a/../plan.txt", "content": "x"}),
    ("write_file", {"file_path": "/etc/motd", "content": "x"}),
]


def main():
    import argparse

    example = pathlib.Path(__file__).resolve().parent.parent / "agent-session"
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--hook", default="hook", help="the hook command")
    arguments.add_argument("--socket", help="the socket of a server that is running")
    given = arguments.parse_args()
    serve = [given.hook, "serve", "--stdio", "--project", str(example)]
    serve += ["--settings", str(example / ".hooks/settings.json")]
    connect = HookClient.over_socket if given.socket else HookClient.over_stdio
    with connect(given.socket or serve) as hooks:
        for tool, tool_input in CALLS:
            answer = hooks.fire("BeforeTool", {"tool_name": tool, "tool_input": tool_input})
            reason = f" ({answer['reason']})" if "reason" in answer else ""
            print(f"{tool}: {answer['decision']}{reason}")


if __name__ == "__main__":
    try:
        main()
    except HookError as error:
        sys.exit(f"hook_client: {error}")
