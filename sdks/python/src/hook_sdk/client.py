"""A client of `hook serve`: registers handlers, and asks.

    client = HookClient()

    @client.hook("BeforeTool", matcher={"kind": "shell"}, config={"fail_behavior": "block"})
    async def guard(event): ...

    client.run()

It connects when it is first used, and by itself again when it was cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .calls import current_call, invoke
from .choice import Lines
from .client_session import Callback, ClientSession
from .errors import HookError, HookProtocolError, RegistrationError
from .events import CustomEvent, name_of, vocabulary_of
from .fields import given
from .host import HostService
from .lines import encode
from .listing import RegisteredHook
from .outcome import Outcome, outcome_of
from .registry import Handler
from .triggers import Part, Service

if TYPE_CHECKING:
    from .registering import Config, Matcher, Vocabulary
    from .typed import DeclareA3sHook, DeclareClientHook, Fire
    from .types import AnyEventName, EventName

AnyHandler = TypeVar("AnyHandler", bound=Handler)

_LEVELS = ("off", "info", "decisions", "verbose")


def _report(problem: str) -> None:
    sys.stderr.write(f"hook_sdk: {problem}\n")


def _print_audit(entry: dict[str, Any]) -> None:
    sys.stderr.write(json.dumps(entry) + "\n")


class HookClient:
    """One client, which connects when it is first used, and comes back when it is cut off.

    Handlers may be `async def`, which run on the event loop, or plain functions, which run on
    threads. A handler that raises fails its hook (`fail_behavior` says what that means).

    It belongs to one event loop. Use it as `async with HookClient() as client:`, or `close` it.
    """

    _prefers_a3s = False

    def __init__(
        self,
        *,
        socket: str | os.PathLike[str] | None = None,
        command: Sequence[str] | None = None,
        project: str | os.PathLike[str] | None = None,
        host_services: Mapping[str, HostService] | None = None,
        max_threads: int = 32,
        on_problem: Callable[[str], None] = _report,
        on_registration_error: Callable[[RegistrationError], None] | None = None,
    ) -> None:
        """Connects to nothing yet.

        The server is `socket`, else `command`, which is started and ends with the client (`hook`
        is the installed engine), else the variable HOOK_SOCKET, else the project's own one. Without
        any, a program that asks and has registered no hook gets a private one (`hook serve
        --stdio`), and the first outcome warns of it; one that has been at the project's server
        never leaves that. A `project` must have hooks in `.hooks`, else nothing is allowed; without
        it, it is the nearest folder upwards that has some, or the user's own hooks are alone.

        `host_services` is what this program does for hooks of its own requests, by method:
        `{"ui.confirm": async (params) → result}`. `on_problem` is told what belongs to no call, and
        what a server that this client has started writes to standard error, by default there;
        `on_registration_error` each refused registration, by default through `on_problem`.
        """

        def report(problem: str) -> None:
            try:
                on_problem(problem)
            except Exception as error:
                _report(f"{problem} (`on_problem` failed: {error!r})")

        lines = Lines(socket, command, project, os.environ, self._may_be_private, report)

        def report_refusal(error: RegistrationError) -> None:
            report(f"the hook {error.hook_id} for {error.event}: {error}")

        refused = on_registration_error or report_refusal
        self._begin = functools.partial(
            ClientSession, lines.open, host_services or {}, max_threads, report, refused
        )
        self._session = self._begin()

    def _may_be_private(self) -> bool:
        return self._session.asks and not self._session.registry.was_used

    def _here(self) -> ClientSession:
        """The session, as one of the running event loop: one that has ended is left behind.

        A forked process begins anew, without hooks, which its parent still has.
        """
        before = self._session
        with contextlib.suppress(RuntimeError):  # Without an event loop, it is that of the next.
            if before.connection.is_left():
                self._session = self._begin(before=None if before.connection.is_forked else before)
        return self._session

    # Registering handlers.

    def _declare(
        self,
        event: AnyEventName,
        matcher: Matcher | None = None,
        config: Config | None = None,
        **more: Any,
    ) -> Callable[[AnyHandler], AnyHandler]:
        def register(handler: AnyHandler) -> AnyHandler:
            self.register_hook(event, handler, matcher=matcher, config=config, **more)
            return handler

        return register

    if TYPE_CHECKING:
        hook: DeclareClientHook
        """Registers the function below it. The arguments are those of `register_hook`."""
    else:
        hook = _declare

    def register_hook(
        self,
        event: AnyEventName,
        handler: Handler,
        *,
        matcher: Matcher | None = None,
        config: Config | None = None,
        hook_id: str | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> str:
        """Registers a handler, and returns its id at once; `await ready(id)` for the server's word.

        `matcher` is a dict of `kind` (such as `shell`, `file_write`), `tool`, `tool_pattern`,
        `path_pattern` (globs), `command_pattern`, or a pattern of the tool's name. `config` is a
        dict of `priority` (lower is earlier),
        `timeout` in milliseconds, `async_` (nothing waits for it), and `fail_behavior`, `continue`
        or `block`. `vocabulary` is whose words event, fields and answer are: the engine's own,
        `native`, or `a3s`, which is the default for events that A3S alone has. Raises ValueError or
        TypeError for what no server would take.

        Without a running event loop it is sent when the client connects.
        """
        name = name_of(event)
        vocabulary = vocabulary or vocabulary_of(name, self._prefers_a3s)
        session = self._here()
        registration = session.registry.add(name, handler, matcher, config, hook_id, vocabulary)
        try:
            encode(registration.fields)  # What cannot be sent is an error here.
            asyncio.get_running_loop()
            session.connection.start()
        except RuntimeError:
            return registration.id
        except HookError:
            session.registry.remove(registration.id)
            raise
        session.announce(registration)
        return registration.id

    async def ready(self, hook_id: str) -> None:
        """Waits until the server has taken a registration.

        Raises RegistrationError where it refused; HookConnectionError where there is no server
        (the hook is registered when there is one); KeyError for an unknown id.
        """
        registration = self._session.registry.get(hook_id)
        if registration is None:
            raise KeyError(hook_id)
        await self._here().connection.connected()
        await registration.ready()

    async def unregister_hook(self, hook_id: str) -> bool:
        """Takes a handler back; False where this client has none of that id."""
        return await self._session.unregister(hook_id)

    async def list_hooks(self) -> list[RegisteredHook]:
        """The hooks that are registered with the server, also by other clients."""
        await self._here().connection.connected()
        return await self._session.list_hooks()

    @contextlib.asynccontextmanager
    async def temporary_hook(
        self,
        event: AnyEventName,
        handler: Handler,
        *,
        matcher: Matcher | None = None,
        config: Config | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> AsyncIterator[str]:
        """Registers a handler for a block: it is in force when the block begins. Gives its id."""
        hook_id = self.register_hook(
            event, handler, matcher=matcher, config=config, vocabulary=vocabulary
        )
        try:
            await self.ready(hook_id)
            yield hook_id
        finally:
            await self.unregister_hook(hook_id)

    # Asking the engine.

    async def _fire(
        self, event: EventName | CustomEvent, payload: Mapping[str, Any], **more: Any
    ) -> Outcome:
        """Runs the hooks of an event of the engine's, such as `BeforeTool`; what they came to.

        Raises RequestFailed where the request failed and no hook decided, HookConnectionError
        without an answer: neither is a permission to go on. Cancelled, it ends the hooks.
        """
        return outcome_of(await self.request(event, payload, **more))

    if TYPE_CHECKING:
        fire: Fire
        """Runs the hooks of an event of the engine's, and returns what they came to."""
    else:
        fire = _fire

    async def request(
        self,
        event: EventName | CustomEvent,
        payload: Mapping[str, Any],
        *,
        deadline_ms: int | None = None,
        correlation_id: str | None = None,
        streams: bool = False,
        inputs: bool = False,
    ) -> dict[str, Any]:
        """The same, and returns the whole response, whatever became of it."""
        message = given(
            eventName=name_of(event),
            input=dict(payload),
            deadlineMs=deadline_ms,
            correlationId=correlation_id,
            streams=streams or None,
            inputs=inputs or None,
        )
        await self._connected(message)
        response = await self._session.requests.ask(message)
        return self._warned(response)

    async def _connected(self, message: dict[str, Any]) -> None:
        """Waits for the connection over which a message is to be sent that asks for something."""
        session = self._here()
        session.asks = True
        if not session.connection.is_connected:
            encode(message)  # What cannot be sent is an error before anything is waited for.
            await session.connection.connected()

    def _warned(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Adds the warning of a private server to the first answer."""
        warning, self._session.warning = self._session.warning, None
        if warning is not None:
            answer["warnings"] = [warning, *(answer.get("warnings") or [])]
        return answer

    async def bridge(
        self, agent: str, event: str, said: str, *, deadline_ms: int | None = None
    ) -> dict[str, Any]:
        """Asks in an agent's own format, as `hook bridge` does: `stdout`, `stderr`, `exitCode`.

        Raises RequestFailed without an answer.
        """
        message = given(agent=agent, event=event, said=said, deadlineMs=deadline_ms)
        await self._connected(message)
        answer = await self._session.requests.ask({"type": "hook-bridge", **message})
        if answer["type"] != "hook-bridged":
            outcome_of(answer)
            raise HookProtocolError("a hook-bridge was answered as another request")
        return answer

    async def cancel(self, correlation_id: str) -> None:
        """Ends the hooks of a request of this client's, which is answered all the same."""
        await self._here().connection.connected()
        message = {"type": "hook-cancel", "correlationId": correlation_id}
        self._session.connection.send(message)

    async def subscribe(self, callback: Callback) -> None:
        """Tells `callback` of each start and end of a hook, on the event loop; a second call
        replaces the first callback. These are the hooks of this client's requests."""
        self._here().asks = True
        await self._here().connection.connected()
        is_first = self._session.on_progress is None
        self._session.on_progress = callback
        if is_first:
            self._session.connection.send({"type": "hook-subscribe"})

    async def set_hook_audit_level(self, level: str, on_audit: Callback = _print_audit) -> None:
        """Tells `on_audit` what happens to hooks, also for other clients: `info`,
        `decisions`, which are also those that allow, `verbose`, or `off`. By default the entries go
        to standard error, as lines of JSON."""
        if level not in _LEVELS:
            raise ValueError(f"an audit level is one of {', '.join(_LEVELS)}, not {level!r}")
        await self._here().connection.connected()
        self._session.connection.send({"type": "hook-audit", "level": level})
        self._session.on_audit, self._session.audit_level = on_audit, level

    async def reload(self) -> dict[str, Any]:
        """Makes the server read its settings again; `success`, `totalHooks`, `warnings`."""
        await self._here().connection.connected()
        return await self._session.reload()

    # Triggers, as `hook_sdk.agent` uses them.

    async def trigger(
        self,
        message: dict[str, Any],
        services: Mapping[str, Service] | None = None,
        on_part: Part | None = None,
    ) -> dict[str, Any]:
        """Runs a trigger of the server's (`hook-trigger`), and returns its result.

        `services` are the functions that it calls back. Raises HookError without a result.
        """
        await self._connected(message)
        result = await self._session.triggers.run(message, services or {}, on_part)
        return self._warned(result)

    async def send_chunk(self, trigger_id: str, chunk: dict[str, Any]) -> None:
        """Sends a chunk of a model's stream to its trigger, and waits while much is unsent."""
        await self._session.triggers.send_chunk(trigger_id, chunk)

    async def invoke(self, function: Callable[[Any], object], given: object, name: str) -> object:
        """Calls a function: an async one here, a plain one on a thread. `name` is of its result."""

        def late(_: object) -> None:
            self._session.on_problem(f"{name} was dropped: it came too late")

        return await invoke(function, (given,), self._session.threads, late)

    # Asking the host.

    async def host_call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Asks the host, such as `ui.confirm` with a title and a message.

        Inside of a handler the host is whoever asked for the event; else it is this program, by
        its own `host_services`. Raises HostCallError, with the code `unsupported` where the host
        does not offer it.
        """
        asked = dict(params or {})
        call_id = current_call.get()
        if call_id is None:
            return await self._session.host_services.call(method, asked)
        return await self._session.host_calls.ask(call_id, method, asked)

    async def execute_tool(self, session_id: str, tool: str, args: Mapping[str, Any]) -> Any:
        """Has the host run a tool; the tool's own hooks run, too. See `host_call`."""
        asked = {"sessionId": session_id, "tool": tool, "args": dict(args)}
        return await self.host_call("tool.execute", asked)

    async def generate(self, session_id: str, prompt: str) -> Any:
        """Has the host ask its model. See `host_call`."""
        return await self.host_call("model.ask", {"sessionId": session_id, "prompt": prompt})

    # Beginning and end.

    async def connect(self) -> None:
        """Connects now. Raises HookConnectionError where the first attempt fails; more follow."""
        await self._here().connection.connected()

    async def serve_forever(self) -> None:
        """Answers calls until it is cancelled, or the client is closed. Comes back by itself.

        Raises RegistrationError where the server refuses a guard (`fail_behavior` is `block`).
        """
        self._here().connection.start()
        await self._session.over.wait()
        if self._session.refused_guard is not None:
            raise self._session.refused_guard

    def run(self) -> None:
        """The same for a program that does nothing else; Ctrl-C and SIGTERM end it."""

        async def serve() -> None:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            # So that the server forgets its hooks, and does not wait for it to come back. A thread
            # that is not the main one gets no signals.
            with contextlib.suppress(ValueError, RuntimeError):
                loop.add_signal_handler(signal.SIGTERM, task.cancel)
            async with self:
                await self.serve_forever()

        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(serve())

    async def close(self) -> None:
        """Ends the connection: hooks are taken back, handlers cancelled, and the hooks of what is
        still asked are ended, which raises HookClosedError for whoever waits for it."""
        await self._here().close()

    async def __aenter__(self) -> HookClient:
        # Handlers that were registered without an event loop wait for one.
        if self._session.registry.all():
            self._here().connection.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class A3sClient(HookClient):
    """The same client, for which a name that the engine and A3S both have is A3S's event."""

    _prefers_a3s = True

    if TYPE_CHECKING:
        hook: DeclareA3sHook  # type: ignore[assignment]
