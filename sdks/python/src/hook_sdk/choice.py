"""Which server a client talks to."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .engine import find_engine
from .errors import HookConnectionError
from .place import exists, has_hooks, nearest_project, socket_of
from .streams import Stream, connect_socket, start_child

Open = Callable[["str | None"], Awaitable[Stream]]
"""Makes a connection; told the token of the one before, if there was one."""


@dataclass(slots=True)
class Lines:
    """A server that speaks lines: one that is named, the project's own, or a private one.

    In this order: `socket`, `command`, which is started, the variable HOOK_SOCKET, the project's
    own place if something listens there, and a private one. One that is named and does not answer
    is an error. Without a `project` it is the nearest one with hooks, from the working directory
    upwards; one that is named must have hooks for a private server.
    """

    socket: str | os.PathLike[str] | None
    command: Sequence[str] | None
    project: str | os.PathLike[str] | None
    environment: Mapping[str, str]
    may_be_private: Callable[[], bool]
    """Whether a private server will do, which other programs neither ask nor guard."""
    report: Callable[[str], None]
    _shared: Path | None = None
    """The project's own server that this client has been at: it is never left for a private one."""

    async def open(self, token: str | None) -> Stream:
        """Connects. The token is said in a message, not here."""
        named = self.socket or (
            None if self.command else self.environment.get("HOOK_SOCKET") or None
        )
        if (known := named or self._shared) is not None:
            return await connect_socket(known)
        if self.command:
            program, *arguments = self.command
            if program == "hook":
                program = find_engine(self.environment, self.report)
            return await start_child([program, *arguments], self.report)
        project = self.project or nearest_project(".", self.environment)
        own = socket_of(project, self.environment)
        if own is not None and exists(own):
            try:
                transport = await connect_socket(own)
            except HookConnectionError as error:
                # A server that was killed leaves its socket behind. Other errors are of one
                # that is there.
                if not isinstance(error.__cause__, FileNotFoundError | ConnectionRefusedError):
                    raise
            else:
                self._shared = own
                return transport
        missing = f"no hook server listens at {own}"
        if not self.may_be_private():
            raise HookConnectionError(f"{missing}; `hook serve --socket` in the project starts one")
        if not has_hooks(Path(project)):
            where = os.path.realpath(project)  # noqa: ASYNC240  # As other looks at the project.
            none = f"no hooks in .hooks of {where}"
            if self.project is not None:
                raise HookConnectionError(f"{none}: `hook init` there writes first rules")
            self.report(f"{none} or above: `HookClient(project=…)` names a folder with some")
        try:
            engine = find_engine(self.environment, self.report)
        except HookConnectionError as error:
            raise HookConnectionError(f"{missing}, and {error}") from None
        notice = (
            f"{missing}, so a private one was started, with the hooks of settings alone: hooks that"
            " other programs register are not asked"
        )
        self.report(notice)
        command = [engine, "serve", "--stdio", "--project", os.fspath(project)]
        return await start_child(command, self.report, notice)
