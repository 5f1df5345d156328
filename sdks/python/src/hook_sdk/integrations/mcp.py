"""Hooks for the tools of MCP servers (the extra `mcp`): every `tools/call` of a session is asked.

from hook_sdk.integrations.mcp import HookSession

async with HookSession(client, "files", read, write) as session:
    await session.initialize()
    result = await session.call_tool("write_file", {"path": "a"})
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp import ClientSession
from mcp.types import CallToolRequest, CallToolResult

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..outcomes import Ran, Stopped, ToolCall, ToolResult
from ._common import OnMessage, Teller, check_version
from ._open_calls import is_same, open_tool

check_version("mcp", "2.3", "3")

_LATER = ("tasks/result", "tasks/get")


class HookSession(ClientSession):
    """A client's session with hooks around each `tools/call` that it sends."""

    def __init__(
        self,
        client: HookClient,
        server_name: str,
        *streams: Any,
        on_message: OnMessage | None = None,
        **options: Any,
    ) -> None:
        """`streams` and `options` are those of `ClientSession`.

        `on_message` takes hooks' texts for the user, by default `on_problem` of the client.
        """
        super().__init__(*streams, **options)
        self._hook_client, self._server_name = client, server_name
        self._on_message = on_message

    async def send_request(self, request: Any, *more: Any, **named: Any) -> Any:
        if request.method in _LATER:
            raise HookError(f"hooks do not see what comes by {request.method}: it is not asked for")
        if request.method != "tools/call":
            return await super().send_request(request, *more, **named)
        if not isinstance(request, CallToolRequest):
            request = CallToolRequest.model_validate(request.model_dump(by_alias=True))
        if request.params.task is not None:
            raise HookError("hooks do not see the result of a task: the tool is not called")
        given = request.params.arguments or {}

        async def call(tool_input: dict[str, Any]) -> Any:
            sent = request
            if not is_same(tool_input, given):
                params = request.params.model_copy(update={"arguments": tool_input})
                sent = request.model_copy(update={"params": params})
            return await super(HookSession, self).send_request(sent, *more, **named)

        name, on_message = request.params.name, self._on_message
        return await call_tool(
            self._hook_client, self._server_name, name, given, call, on_message
        )

    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        if not isinstance(result, _OfHooks):  # Which has the texts that hooks left, and no more.
            await super().validate_tool_result(name, result)


class _OfHooks(CallToolResult):
    """A result that hooks gave, or changed."""


async def call_tool(
    client: HookClient,
    server_name: str,
    name: str,
    arguments: Mapping[str, Any] | None,
    call: Callable[[dict[str, Any]], Awaitable[Any]],
    on_message: OnMessage | None = None,
) -> Any:
    """Calls a tool of an MCP server with hooks around it.

    Raises HookStopped if they stop it, what `call` raises if they leave that as it is, and
    HookError for a result that they cannot be shown.
    """
    answer: Any = None
    context = {"server_name": server_name}
    tool_call = ToolCall(f"mcp__{server_name}__{name}", dict(arguments or {}), mcp_context=context)
    async with open_tool(client, tool_call) as opened:
        while (tool_input := await opened.wanted()) is not None:
            try:
                answer = await call(tool_input)
            except HookError:
                raise
            except Exception as error:
                opened.failed(error)
                continue
            if getattr(answer, "result_type", None) == "input_required":
                return answer  # The call is asked about again with what the server wants to know.
            if not isinstance(answer, CallToolResult):
                raise HookError(f"hooks cannot be shown a {type(answer).__name__} of {name}")
            opened.made(_shown(answer))
        outcome = Teller(client, on_message).tell(await opened.outcome())
    if isinstance(outcome, Stopped):
        raise HookStopped(outcome.reason)
    if isinstance(outcome, Ran):
        if outcome.raised is not None:
            raise outcome.raised
        if not outcome.is_changed:
            return answer
    content = outcome.result.content
    parts = [
        {"type": "text", "text": part} if isinstance(part, str) else part
        for part in ([content] if isinstance(content, str) else content)
    ]
    is_error = outcome.result.error is not None
    return _OfHooks.model_validate({"content": parts, "isError": is_error})


def _shown(answer: CallToolResult) -> ToolResult:
    fields = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    content = [
        part["text"] if set(part) == {"type", "text"} else part
        for part in fields.get("content", [])
    ]
    texts = [part for part in content if isinstance(part, str)]
    only_text = len(texts) == len(content)
    failure = "\n".join(texts) or "the tool failed" if fields.get("isError") else None
    return ToolResult(
        "\n".join(texts) if only_text else fields["content"],
        error=failure,
        metadata=fields.get("structuredContent"),
    )


__all__ = ["HookSession", "call_tool"]
