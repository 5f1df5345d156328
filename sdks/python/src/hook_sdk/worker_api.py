"""A worker as a value: what it declares, and what its handlers may do."""

from __future__ import annotations

from .errors import HookError
from .events import CustomEvent, name_of
from .fields import given
from .lines import PROTOCOL
from .registering import registration_fields, wire_config, wire_matcher
from .worker_calls import WorkerCalls, WorkerHook
from .worker_lines import WorkerLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .registering import FailBehavior, Matcher
    from .typed import DeclareWorkerHook

    # A handler may name the class of its event.
    AnyHandler = TypeVar("AnyHandler", bound=Callable[[Any], object])


class Worker:
    """Handlers, and the loop that answers their calls. See the module `hook_sdk.worker`."""

    def __init__(self) -> None:
        self._hooks: dict[str, WorkerHook] = {}
        self._calls: WorkerCalls | None = None

    def _declare(
        self,
        event: str | CustomEvent,
        matcher: Matcher | None = None,
        *,
        id: str | None = None,
        vocabulary: str = "native",
        priority: int | None = None,
        timeout: int | None = None,
        fail_behavior: FailBehavior | None = None,
        async_: bool | None = None,
    ) -> Callable[[AnyHandler], AnyHandler]:
        """Declares the function below it as the handler of an event.

        `matcher` is a pattern of the tool's name, or a dict of `tool`, `tool_pattern`,
        `path_pattern`, `command_pattern`. `vocabulary` says whose words the event's name, its
        fields and the answer are: the engine's (`native`) or A3S's (`a3s`). `timeout` is in
        milliseconds. `id` is the function's name, unless it is given. Raises ValueError for a
        second handler of one id, and for what is no matcher.
        """
        named: Any = given(
            priority=priority, timeout=timeout, fail_behavior=fail_behavior, async_=async_
        )
        config = wire_config(named)
        on_wire = wire_matcher(matcher)

        def declare(handler: AnyHandler) -> AnyHandler:
            hook_id = id or getattr(handler, "__name__", "")
            if not hook_id:
                raise ValueError("a handler without a name needs an `id`")
            if hook_id in self._hooks:
                raise ValueError(
                    f"there are two handlers with the id {hook_id!r}; give one an `id`"
                )
            declared = registration_fields(hook_id, name_of(event), vocabulary, on_wire, config)
            self._hooks[hook_id] = WorkerHook(handler, declared)
            return handler

        return declare

    if TYPE_CHECKING:
        hook: DeclareWorkerHook
        """Declares the function below it as the handler of an event."""
    else:
        hook = _declare

    def serve(self) -> None:
        """Answers calls until the engine ends it; then returns, and the program is to end.

        Raises HookError where it is served already, or has no handlers.
        """
        if not self._hooks:
            raise HookError("this worker has no handlers; put @worker.hook(…) above a function")
        if self._calls is not None:
            raise HookError("this worker is served already")
        lines = WorkerLines(self._hooks)
        self._calls = lines.calls
        hello = [hook.declared for hook in self._hooks.values()]
        try:
            lines.run({"type": "hook-worker", "protocol": PROTOCOL, "hooks": hello})
        finally:
            self._calls = None

    def cancelled(self) -> bool:
        """Whether the call that this handler answers was cancelled. A long loop should ask."""
        return self._served().current().cancelled

    def log(self, message: str, level: str = "info") -> None:
        """Writes to the engine's log. `level` is `debug`, `info`, `warn` or `error`."""
        self._served().send({"type": "hook-log", "level": level, "message": message})

    def host_call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Asks the host, and waits for its answer. Only inside of a handler.

        The time that a question to the user takes does not count as the handler's. Raises
        HostCallError where the host does not do it, CallCancelled where this call is cancelled
        meanwhile, ValueNotSendable for params that have no form on the wire.
        """
        return self._served().host_call(method, params or {})

    def confirm(self, title: str, message: str) -> bool:
        """Asks the user; False where there is nobody to ask."""
        return self.host_call("ui.confirm", {"title": title, "message": message}) is True

    def execute_tool(self, session_id: str, tool: str, args: dict[str, Any]) -> Any:
        """Has the host run a tool. The tool's own hooks run, too."""
        asked = {"sessionId": session_id, "tool": tool, "args": args}
        return self.host_call("tool.execute", asked)

    def generate(self, session_id: str, prompt: str) -> Any:
        """Has the host ask its model."""
        return self.host_call("model.ask", {"sessionId": session_id, "prompt": prompt})

    def _served(self) -> WorkerCalls:
        if self._calls is None:
            raise HookError("this worker is not served; this is for its handlers")
        return self._calls
