"""Which server a client talks to."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import HookConnectionError
from ..place import nearest_project, socket_of
from . import Transport
from .streams import connect_socket, start_child

Open = Callable[["str | None"], Awaitable[Transport]]
"""Makes a connection; told the token of the one before, if there was one."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A server that speaks lines: one that is named, the project's own, or a new one.

    In this order: `socket`, the variable HOOK_SOCKET, the project's own place if something listens
    there, and `command`, which is started. One that is named and does not answer is an error.
    Without a `project` it is the nearest one with hooks, from the working directory upwards.
    """

    socket: str | os.PathLike[str] | None
    command: Sequence[str] | None
    project: str | os.PathLike[str] | None
    environment: Mapping[str, str]

    async def open(self, token: str | None) -> Transport:
        """Connects. The token is said in a message, not here."""
        named = self.socket or (None if self.command else self.environment.get("HOOK_SOCKET"))
        if named:
            return await connect_socket(named)
        if self.command:
            return await start_child(self.command)
        project = self.project or nearest_project(".", self.environment)
        own = socket_of(project, self.environment)
        if own is not None and own.exists():
            try:
                return await connect_socket(own)
            except HookConnectionError:
                pass  # It was left behind by a server that is gone.
        if shutil.which("hook", path=self.environment.get("PATH")) is None:
            raise HookConnectionError(
                f"no hook server listens at {own}, and there is no `hook` in the path to start one"
            )
        sys.stderr.write(
            f"hook_sdk: no hook server listens at {own}, so one is started for this client alone;"
            " agents that ask another one hear nothing of its hooks\n"
        )
        return await start_child(["hook", "serve", "--stdio", "--project", os.fspath(project)])
