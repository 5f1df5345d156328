#!/usr/bin/env python3
"""A client for `hook serve`, standard library only: copy it into your agent.

    with HookClient.over_stdio(["hook", "serve", "--stdio"]) as hooks:
        answer = hooks.fire("BeforeTool", {"tool_name": "write_file", "tool_input": {}})
        if answer["decision"] != "proceed": ...  # block, stop, or ask the user

Run as a program it shows what the hooks of the example project say to a few tool calls:

    hook_client.py --hook PATH/TO/hook        starts a server of its own
    hook_client.py --socket PATH              asks a server that runs
"""

import collections
import contextlib
import itertools
import json
import pathlib
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future


class HookError(Exception):
    """The server is gone, or refused."""


class HookClient:
    """One connection. Any number of threads may ask at once; answers come as they are ready."""

    def __init__(self, reader, writer, close):
        """`close` ends the connection, and gives what is known of the server's end, if anything."""
        self._reader, self._writer, self._close = reader, writer, close
        self._writing, self._lock = threading.Lock(), threading.Lock()
        self._ids = itertools.count()
        self._waiting, self._reloads = {}, collections.deque()
        line = None
        try:
            line = reader.readline()
            greeting = json.loads(line or b"{}")
        except (OSError, ValueError):
            greeting = {}
        if greeting.get("type") != "hook-hello":
            why = "" if line else close() or ""
            close()
            raise HookError(greeting.get("message", f"there is no hook server{why}"))
        if greeting["protocol"] != 1:
            close()
            raise HookError(f"the server speaks protocol {greeting['protocol']}, this is 1")
        threading.Thread(target=self._receive, daemon=True).start()

    @classmethod
    def over_stdio(cls, command):
        """Starts a server, which ends with this client."""
        try:
            server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise HookError(f"the hook server cannot be started: {error}") from error

        def close():
            with contextlib.suppress(OSError):
                server.stdin.close()
            code = server.wait()
            how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
            return f": `{command[0]}` ended {how}; what it wrote to stderr says why"

        return cls(server.stdout, server.stdin, close)

    @classmethod
    def over_socket(cls, path):
        """Connects to a server that runs."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
        except OSError as error:
            raise HookError(f"there is no hook server at {path}: {error}") from error
        stream = connection.makefile("rwb")

        def close():
            # So that the thread that reads comes to its end.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

        return cls(stream, stream, close)

    def fire(self, event, payload, deadline_ms=None, correlation_id=None):
        """Runs the hooks of an event and gives the processed result: `decision` is proceed, ask,
        block or stop. Infrastructure that fails is no reason to stop an agent, so that is
        `proceed` with `error` beside it, unless a hook was to block on failure."""
        response = self.request(event, payload, deadline_ms, correlation_id).result()
        result = response.get("processed", {"decision": "proceed"})
        if "error" in response:
            result["error"] = response["error"]
        result["finalOutput"] = response.get("output", {}).get("finalOutput")
        return result

    def request(self, event, payload, deadline_ms=None, correlation_id=None):
        """Asks and does not wait; the future holds the whole response. An id of your own is for
        `cancel`; no two requests that are under way may share one."""
        message = {"type": "hook-execution-request", "eventName": event, "input": payload}
        if deadline_ms is not None:
            message["deadlineMs"] = deadline_ms
        answer = Future()
        with self._lock:
            if self._waiting is None:
                raise HookError("the hook server is gone")
            message["correlationId"] = correlation_id or f"client-{next(self._ids)}"
            if message["correlationId"] in self._waiting:
                raise ValueError(f"a request {correlation_id} is under way")
            self._waiting[message["correlationId"]] = answer
        self._send(message)
        return answer

    def cancel(self, correlation_id):
        """Ends the hooks of a request. It is answered all the same, with the error `cancelled`."""
        self._send({"type": "hook-cancel", "correlationId": correlation_id})

    def reload(self):
        """Has the server read its settings anew, and with them what is trusted. Gives its reply:
        `success`, `totalHooks`, and in `warnings` what is wrong with the settings."""
        reply = Future()
        # Replies come in the order of the questions.
        with self._writing:
            with self._lock:
                if self._waiting is None:
                    raise HookError("the hook server is gone")
                self._reloads.append(reply)
            self._write({"type": "hook-reload"})
        return reply.result()

    def _send(self, message):
        # Not under the other lock: answers are read on while this waits.
        with self._writing:
            self._write(message)

    def _write(self, message):
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            self._writer.flush()
        except (OSError, ValueError) as error:
            raise HookError(f"the hook server is gone: {error}") from error

    def _receive(self):
        try:
            for line in self._reader:
                message = json.loads(line)
                if message["type"] == "hook-execution-response":
                    with self._lock:
                        answer = self._waiting.pop(message["correlationId"], None)
                    if answer:
                        answer.set_result(message)
                elif message["type"] == "hook-reloaded":
                    with self._lock:
                        reply = self._reloads.popleft()
                    reply.set_result(message)
        except (OSError, ValueError):
            pass  # Closed; whoever still waits is told below.
        with self._lock:
            left = [*self._waiting.values(), *self._reloads]
            self._waiting = None
        for answer in left:
            answer.set_exception(HookError("the hook server ended before it answered"))

    def close(self):
        self._close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def laid_onto(response, answer):
    """A response of OpenAI's chat completions with the text that hooks left: an example of what an
    agent that is not in Rust does itself. `answer` is that of AfterModel, fired with
    {"sdk": "openai-chat", "llm_request": ..., "llm_response": response}. What hooks changed comes
    in the stable form (protocol.md, section 7), with only the fields that they gave; all that it
    does not show, such as calls of tools and ids, stays as it is in the response."""
    specific = (answer["finalOutput"] or {}).get("hookSpecificOutput") or {}
    stable = specific.get("llm_response") or {}
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
    arguments.add_argument("--socket", help="the socket of a server that runs")
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
