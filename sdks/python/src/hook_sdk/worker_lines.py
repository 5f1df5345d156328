"""A worker's pipes: who reads, who handles, who writes.

Its threads take turns: one reads a line, and handles it itself while another one goes on reading.
So a call is answered without being handed from thread to thread, and a slow one holds up nobody.
"""

from __future__ import annotations

import os
import sys
import threading

from .errors import HookProtocolError
from .lines import MAX_READ, broken_call, decode, encode
from .worker_calls import MAX_CALLS, WorkerCall, WorkerCalls, WorkerHook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FINISHING_SECONDS = 5.0
"""How long handlers that are at work when the input ends may go on."""


class WorkerLines:
    """One run of a worker over standard input and output."""

    def __init__(self, hooks: dict[str, WorkerHook]) -> None:
        self.calls = WorkerCalls(hooks, self.write)
        self._reading, self._writing, self._counting = (threading.Lock() for _ in range(3))
        self._idle = threading.Condition(self._counting)
        # Threads, those that are in handlers, and those that answer.
        self._threads = self._busy = self._replying = 0
        self._ended = False
        self._over = threading.Event()

    def run(self, hello: dict[str, Any]) -> None:
        """Says hello and answers until the input ends."""
        # Handlers, and what they start, can neither read nor write the wire by accident.
        wire_in, wire_out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout.flush()  # What was printed before goes to standard error, too.
        printed, sys.stdout = sys.stdout, sys.stderr
        self._wire_out = wire_out
        self._input = open(wire_in, "rb", closefd=False)
        try:
            self.write(hello)
            self._start_thread()
            self._over.wait()
            self._finish()
        finally:
            sys.stdout = printed
            sys.stdout.flush()  # To standard error, while it is still that.
            os.dup2(wire_in, 0)
            if self._ended:
                os.close(wire_in)  # Else a thread still reads it.
            with self._writing:
                os.dup2(wire_out, 1)
                os.close(wire_out)
                self._wire_out = -1

    def write(self, message: dict[str, Any]) -> None:
        """Sends one message. Raises ValueNotSendable before anything of it is sent."""
        line = encode(message)
        with self._writing:
            if self._wire_out < 0:
                return
            try:
                while line:
                    line = line[os.write(self._wire_out, line) :]
            except OSError as error:
                sys.stderr.write(f"hook_sdk: the engine is gone: {error}\n")

    def _start_thread(self) -> None:
        self._threads += 1
        threading.Thread(target=self._turns, name="hook-worker", daemon=True).start()

    def _turns(self) -> None:
        while True:
            with self._reading:
                if self._ended:
                    return
                try:
                    call, message = self._next_call()
                except EOFError:
                    self._ended = True
                    self._over.set()
                    return
            answer = self.calls.answer(call, message)
            # Before the engine hears of it, which may have another call for the place.
            with self._counting:
                self._busy -= 1
                self._replying += 1
            try:
                self.calls.reply(call, answer)
            finally:
                with self._idle:
                    self._replying -= 1
                    self._idle.notify()

    def _next_call(self) -> tuple[WorkerCall, dict[str, Any]]:
        """Reads until there is a call. Raises EOFError at the end."""
        while True:
            line = self._input.readline(MAX_READ)
            if not line.endswith(b"\n"):
                if len(line) == MAX_READ:
                    self._complain("a line is too long")
                    while line and not line.endswith(b"\n"):
                        line = self._input.readline(MAX_READ)
                    continue
                raise EOFError
            try:
                message = decode(line)
                call = self.calls.take(message)
            except HookProtocolError as error:
                self._complain(str(error))
                call_id = broken_call(line)
                if call_id is not None:
                    self.write({"type": "hook-answer", "callId": call_id, "error": str(error)})
                continue
            if call is None:
                continue
            refusal = self._make_room()
            if refusal is None:
                return call, message
            self.calls.refuse(call, refusal)

    def _make_room(self) -> str | None:
        """Keeps one thread free to read; the reason where a call cannot be taken."""
        with self._counting:
            if self._busy >= MAX_CALLS:
                return f"{MAX_CALLS} handlers are at work, and none has come back"
            if self._busy + self._replying + 1 == self._threads:
                try:
                    self._start_thread()
                except RuntimeError as error:
                    self._threads -= 1
                    return f"there is no thread for it: {error}"
            self._busy += 1
        return None

    def _finish(self) -> None:
        """Lets handlers come back for a while; those that are cancelled, or stuck, are left."""
        with self._idle:
            if not self._idle.wait_for(lambda: self._busy + self._replying == 0, FINISHING_SECONDS):
                sys.stderr.write(f"hook_sdk: {self._busy} handlers did not come back\n")
        self.calls.end()

    @staticmethod
    def _complain(problem: str) -> None:
        sys.stderr.write(f"hook_sdk: {problem}; it is passed over\n")
