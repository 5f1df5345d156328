"""Hooks for agents of openai-agents (the extra `openai-agents`).

    from hook_sdk import HookClient
    from hook_sdk.integrations.openai_agents import run, with_hooks

    async with HookClient() as client:
        result = await run(client, with_hooks(client, agent), "Tidy up")

`with_hooks` puts hooks around the function tools, MCP servers, model and handoffs of an agent;
`run` is `Runner.run` with hooks around the turn. `Runner` itself works with such an agent, too.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator
from typing import Any, Literal

from agents import Agent, AgentsException, FunctionTool, Handoff, Runner, RunResult
from agents.items import ModelResponse
from agents.mcp import MCPServer
from agents.models.interface import Model
from agents.models.multi_provider import MultiProvider
from openai._models import construct_type
from openai.types.responses import Response, ResponseOutputItem, ResponseStreamEvent

from ..client import HookClient
from ..errors import HookStopped
from ..model_calls import call_model
from ..outcomes import Blocked, Chunk, Ran, Stopped, ToolCall
from ..tool_calls import execute_tool
from ..turns import agent_turn
from ._common import check_version, model_response

check_version("openai-agents", "0.24", "0.25")

Chunks = Literal["complete", "each"]


class RunStopped(HookStopped, AgentsException):
    """Hooks stop the run, or refuse its prompt."""


_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")


def with_hooks(client: HookClient, agent: Agent[Any], *, chunks: Chunks = "complete") -> Agent[Any]:
    """Returns a copy of an agent, and of those that it hands off to, with hooks around them.

    Raises TypeError for a tool that hooks cannot be put around: OpenAI runs it, or this machine
    without a function. With `chunks="each"` hooks see each chunk of a stream before it is shown.
    """
    return _Hooks(client, chunks).agent(agent)


async def run(client: HookClient, agent: Agent[Any], input: str, **options: Any) -> RunResult:
    """Runs a turn of an agent, as `Runner.run` does, for as long as hooks want it to go on.

    Raises HookStopped if hooks refuse the prompt, or stop the agent.
    """
    result: RunResult | None = None
    async with agent_turn(client, input) as turn:
        async for prompt in turn:
            said: Any = {"role": "user", "content": prompt}
            given = prompt if result is None else [*result.to_input_list(), said]
            result = await Runner.run(agent, given, **options)
            turn.answer = str(result.final_output)
    if result is None or isinstance(turn.end, Blocked | Stopped):
        last = turn.end if isinstance(turn.end, Blocked | Stopped) else turn.start
        raise RunStopped(getattr(last, "reason", "the prompt was refused"))
    return result


class _Hooks:
    def __init__(self, client: HookClient, chunks: Chunks) -> None:
        self.client, self.chunks = client, chunks
        self._agents: dict[int, Agent[Any]] = {}

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        known = self._agents.get(id(agent))
        if known is not None:
            return known
        made = self._agents[id(agent)] = agent.clone(
            tools=[self.tool(tool) for tool in agent.tools],
            mcp_servers=[_Server(self.client, server) for server in agent.mcp_servers],
            model=_Model(self, agent.model),
        )
        made.handoffs = [self.handoff(handoff) for handoff in agent.handoffs]
        return made

    def handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(handoff, Agent):
            return self.agent(handoff)
        invoke = handoff.on_invoke_handoff

        async def invoked(context: Any, arguments: str) -> Any:
            return self.agent(await invoke(context, arguments))

        return dataclasses.replace(handoff, on_invoke_handoff=invoked)

    def tool(self, tool: Any) -> Any:
        if not isinstance(tool, FunctionTool):
            name = getattr(tool, "name", type(tool).__name__)
            raise TypeError(f"hooks cannot be put around {name}: only function tools and MCP")
        invoke = tool.on_invoke_tool

        async def invoked(context: Any, arguments: str) -> Any:
            given = json.loads(arguments or "{}")
            if not isinstance(given, dict):  # The tool says to the model what is wrong.
                return await invoke(context, arguments)

            async def call(tool_input: dict[str, Any]) -> Any:
                # What hooks left as it was is given on as it was written.
                return await invoke(
                    context, arguments if tool_input == given else json.dumps(tool_input)
                )

            tool_call = ToolCall(tool.name, given, getattr(context, "tool_call_id", None))
            outcome = await execute_tool(self.client, tool_call, call)
            if isinstance(outcome, Ran) and not outcome.is_changed and not outcome.result.error:
                return outcome.value
            if isinstance(outcome, Stopped):
                raise RunStopped(outcome.reason)
            return outcome.result.text

        return dataclasses.replace(tool, on_invoke_tool=invoked)


class _Server(MCPServer):
    """An MCP server whose tools have hooks around them."""

    def __init__(self, client: HookClient, inner: MCPServer) -> None:
        self.__dict__.update(inner.__dict__)
        self._client = client
        self._inner: Any = inner

    @property
    def name(self) -> str:
        return str(self._inner.name)

    async def connect(self) -> None:
        await self._inner.connect()

    async def cleanup(self) -> None:
        await self._inner.cleanup()

    async def list_tools(self, *given: Any, **named: Any) -> Any:
        return await self._inner.list_tools(*given, **named)

    async def list_prompts(self) -> Any:
        return await self._inner.list_prompts()

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        return await self._inner.get_prompt(name, arguments)

    async def call_tool(self, tool_name: str, arguments: Any, *more: Any, **named: Any) -> Any:
        from .mcp import call_tool

        async def call(tool_input: dict[str, Any]) -> Any:
            return await self._inner.call_tool(tool_name, tool_input, *more, **named)

        return await call_tool(self._client, self._inner.name, tool_name, arguments, call)


class _Model(Model):
    """A model with hooks around it."""

    def __init__(self, hooks: _Hooks, model: str | Model | None) -> None:
        self._hooks = hooks
        self._inner = model if isinstance(model, Model) else MultiProvider().get_model(model)

    async def close(self) -> None:
        await self._inner.close()

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *rest: Any,
        **named: Any,
    ) -> ModelResponse:
        answered: list[ModelResponse] = []

        async def model(request: dict[str, Any]) -> dict[str, Any]:
            given = _given(request, input, model_settings, tools)
            answer = await self._inner.get_response(*given, *rest, **named)
            answered.append(answer)
            output = [_json(item) for item in answer.output]
            return _response(output, answer.response_id)

        request = self._request(system_instructions, input, model_settings, tools)
        answer = call_model(self._hooks.client, "openai-responses", request, model)
        response = model_response(await answer.finish())
        return _model_response(response, answered[-1] if answered else None)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *rest: Any,
        **named: Any,
    ) -> AsyncIterator[Any]:
        last: list[Any] = []

        async def model(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
            given = _given(request, input, model_settings, tools)
            async for event in self._inner.stream_response(*given, *rest, **named):
                if event.type in _LAST_EVENTS:
                    last.append(event)
                yield _json(event)

        request = self._request(system_instructions, input, model_settings, tools)
        chunks = self._hooks.chunks
        async with call_model(
            self._hooks.client, "openai-responses", request, model, chunks=chunks
        ) as answer:
            async for part in answer:
                # The last one has the whole response, which hooks have yet to see.
                if isinstance(part, Chunk) and part.chunk.get("type") not in _LAST_EVENTS:
                    yield construct_type(type_=ResponseStreamEvent, value=part.chunk)
            response = model_response(await answer.finish())
        completed = {"type": "response.completed", "sequence_number": 0}
        event: dict[str, Any] = _json(last[-1]) if last else completed
        whole = {**_response([], None), **event.get("response", {}), **response}
        yield construct_type(type_=ResponseStreamEvent, value={**event, "response": whole})

    def _request(
        self, instructions: Any, input: Any, model_settings: Any, tools: Any
    ) -> dict[str, Any]:
        functions = [
            {
                "type": "function",
                "name": tool.name,
                "description": getattr(tool, "description", ""),
                "parameters": getattr(tool, "params_json_schema", {}),
            }
            for tool in tools
        ]
        request = {
            "model": str(getattr(self._inner, "model", type(self._inner).__name__)),
            "instructions": instructions,
            "input": input if isinstance(input, str) else [_json(item) for item in input],
            "tools": functions,
            "tool_choice": model_settings.tool_choice,
        }
        return {name: value for name, value in request.items() if value not in (None, [])}


def _given(request: dict[str, Any], input: Any, model_settings: Any, tools: Any) -> tuple[Any, ...]:
    """Returns the arguments of the model's methods from a request as hooks left it."""
    choice = request.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        names = {it.get("name") for it in choice.get("tools", ())}
        tools = [tool for tool in tools if tool.name in names]
        choice = choice.get("mode")
    elif isinstance(choice, dict):
        choice = choice.get("name", choice)
    settings = dataclasses.replace(model_settings, tool_choice=choice)
    return (request.get("instructions"), request.get("input", input), settings, tools)


def _json(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    dumped: dict[str, Any] = value.model_dump(mode="json", exclude_unset=True)
    return dumped


def _response(output: list[dict[str, Any]], response_id: str | None) -> dict[str, Any]:
    return {
        "id": response_id or "",
        "object": "response",
        "created_at": 0,
        "model": "",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _model_response(response: dict[str, Any], answered: ModelResponse | None) -> ModelResponse:
    if answered is not None and response.get("output") == [_json(it) for it in answered.output]:
        return answered
    read: Any = construct_type(type_=Response, value={**_response([], None), **response})
    output: list[ResponseOutputItem] = list(read.output)
    if answered is not None:
        return dataclasses.replace(answered, output=output)
    from agents.usage import Usage

    return ModelResponse(output=output, usage=Usage(), response_id=None)
