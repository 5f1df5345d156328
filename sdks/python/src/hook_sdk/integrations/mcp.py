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
from mcp.types import CallToolResult

from ..client import HookClient
from ..errors import HookStopped
from ..outcomes import Ran, Stopped, ToolCall, ToolResult
from ..tool_calls import execute_tool
from ._common import OnMessage, Teller, check_version

check_version("mcp", "2.3", "3")


class HookSession(ClientSession):
    """A client's session whose `call_tool` has hooks around it."""

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

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, *more: Any, **named: Any
    ) -> Any:
        async def call(tool_input: dict[str, Any]) -> Any:
            return await super(HookSession, self).call_tool(name, tool_input, *more, **named)

        return await call_tool(
            self._hook_client, self._server_name, name, arguments, call, self._on_message
        )


async def call_tool(
    client: HookClient,
    server_name: str,
    name: str,
    arguments: Mapping[str, Any] | None,
    call: Callable[[dict[str, Any]], Awaitable[Any]],
    on_message: OnMessage | None = None,
) -> Any:
    """Calls a tool of an MCP server with hooks around it. Raises HookStopped if they stop it."""
    answered: list[Any] = []

    async def run(tool_input: dict[str, Any]) -> ToolResult:
        answered[:] = [await call(tool_input)]
        fields = answered[0].model_dump(mode="json", by_alias=True, exclude_none=True)
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

    context = {"server_name": server_name}
    tool_call = ToolCall(f"mcp__{server_name}__{name}", dict(arguments or {}), mcp_context=context)
    outcome = Teller(client, on_message).tell(await execute_tool(client, tool_call, run))
    if isinstance(outcome, Stopped):
        raise HookStopped(outcome.reason)
    if isinstance(outcome, Ran) and not outcome.is_changed and answered:
        return answered[0]
    parts: list[Any] = (
        [{"type": "text", "text": outcome.result.content}]
        if isinstance(outcome.result.content, str)
        else [
            {"type": "text", "text": part} if isinstance(part, str) else part
            for part in outcome.result.content
        ]
    )
    is_error = outcome.result.error is not None
    result: dict[str, Any] = {"content": parts, "isError": is_error}
    return CallToolResult.model_validate(result)


__all__ = ["HookSession", "call_tool"]
