"""Hooks for agents of Pydantic AI (the extra `pydantic-ai`).

    from hook_sdk.integrations.pydantic_ai import Hooks

    async with HookClient() as client:
        agent = Agent(model, capabilities=[Hooks(client)])

It asks about tool calls, model calls (complete answers, not chunks) and prompts.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from pydantic_ai import (
    AgentRunResult,
    CallToolsNode,
    DeferredToolRequests,
    ModelRequestNode,
    RunContext,
    UserPromptNode,
)
from pydantic_ai.capabilities import (
    AbstractCapability,
    AgentNode,
    NodeResult,
    ValidatedToolArgs,
    WrapRunHandler,
    WrapToolExecuteHandler,
)
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_core import to_jsonable_python
from pydantic_graph import End

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..model_calls import call_model
from ..outcomes import Blocked, Called, Continue, Ran, Stopped, ToolCall
from ..tool_calls import execute_tool
from ..turns import Turn
from ._common import OnMessage, Teller, check_version, model_response, prompt_of, tool_text

check_version("pydantic-ai-slim", "2.62", "3")


class Hooks(AbstractCapability[Any]):
    """Puts hooks around the tools, the model and the prompts of an agent.

    `on_message` takes hooks' texts for the user, by default `on_problem` of the client.
    """

    def __init__(self, client: HookClient, *, on_message: OnMessage | None = None) -> None:
        self._client, self._user = client, Teller(client, on_message)
        self._turn: Turn
        """That of a run."""

    async def for_run(self, ctx: RunContext[Any]) -> Hooks:
        return copy.copy(self)

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
        handler: WrapToolExecuteHandler,
    ) -> Any:
        refused: list[BaseException] = []
        # Validated arguments may be dates, models and other values that JSON does not know.
        shown = to_jsonable_python(args, fallback=repr)

        async def run(tool_input: dict[str, Any]) -> Any:
            if tool_input == shown:
                return await handler(args)
            # Changed arguments are checked as the model's are.
            assert ctx.tool_manager is not None
            checked = await ctx.tool_manager.validate_tool_call(
                dataclasses.replace(call, args=tool_input)
            )
            if checked.validated_args is None:
                why = checked.validation_error or ValueError("the changed arguments are not valid")
                refused.append(why)
                raise why
            if checked.deferral is not None:
                raise checked.deferral
            return await handler(checked.validated_args)

        tool_call = ToolCall(call.tool_name, shown, call.tool_call_id)
        outcome = self._user.tell(await execute_tool(self._client, tool_call, run))
        if isinstance(outcome, Ran):
            if outcome.raised is not None and outcome.raised not in refused:
                raise outcome.raised
            if not outcome.is_changed and not outcome.result.error:
                return outcome.value
        return tool_text(outcome)

    def get_wrapper_model(self, model: Model) -> Model:
        return _HookedModel(model, self._client, self._user)

    async def wrap_run(
        self, ctx: RunContext[Any], *, handler: WrapRunHandler
    ) -> AgentRunResult[Any]:
        given, _ = _asked(ctx.prompt, ctx.messages)
        self._turn = Turn(self._client, _prompt(given), None)
        await self._turn.begin({})
        self._turn.prompt = prompt_of(self._user.tell(self._turn.start))
        result = await handler()
        # What `run_stream` shows last ends the run.
        if self._turn.end is None and await self._end(result.output) is not None:
            warnings.warn("hooks want the agent to go on, which a stream cannot", stacklevel=2)
        return result

    async def before_node_run(
        self, ctx: RunContext[Any], *, node: AgentNode[Any]
    ) -> AgentNode[Any]:
        if not isinstance(node, UserPromptNode):
            return node
        given, place = _asked(node.user_prompt, ctx.messages)
        prompt = self._turn.prompt
        if prompt == _prompt(given):
            return node
        content: UserPrompt = prompt
        if given is not None and not isinstance(given, str):  # Images stay.
            content = [prompt, *(it for it in given if not isinstance(it, str | TextContent))]
        if place is None:
            return dataclasses.replace(node, user_prompt=content)
        _set_content(ctx.messages, *place, content)
        return node

    async def after_node_run(
        self, ctx: RunContext[Any], *, node: AgentNode[Any], result: NodeResult[Any]
    ) -> NodeResult[Any]:
        if isinstance(node, CallToolsNode) and isinstance(result, End):
            prompt = await self._end(result.data.output)
            if prompt is not None:
                return ModelRequestNode(ModelRequest(parts=[UserPromptPart(prompt)]))
        return result

    async def _end(self, output: object) -> str | None:
        """Has hooks see the answer; a prompt if they want the agent to go on with it."""
        if isinstance(output, DeferredToolRequests):
            return None  # The turn waits for an approval: it has no end yet.
        self._turn.answer = str(output)
        ended = self._user.tell(await self._turn.close())
        if isinstance(ended, Blocked | Stopped):
            raise HookStopped(ended.reason)
        return ended.prompt if isinstance(ended, Continue) else None


Call = Callable[[list[ModelMessage], ModelRequestParameters], Awaitable[ModelResponse]]
UserPrompt = str | Sequence[UserContent]


class _HookedModel(WrapperModel):
    """A model with hooks around its requests. A stream is shown when hooks have seen all of it."""

    def __init__(self, model: Model, client: HookClient, user: Teller) -> None:
        super().__init__(model)
        self._client, self._user = client, user

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        async def call(
            messages: list[ModelMessage], parameters: ModelRequestParameters
        ) -> ModelResponse:
            return await self.wrapped.request(messages, model_settings, parameters)

        return await self._answer(messages, model_request_parameters, call)

    @contextlib.asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async def call(
            messages: list[ModelMessage], parameters: ModelRequestParameters
        ) -> ModelResponse:
            async with self.wrapped.request_stream(
                messages, model_settings, parameters, run_context
            ) as stream:
                async for _ in stream:
                    pass
                return stream.get()

        response = await self._answer(messages, model_request_parameters, call)
        yield CompletedStreamedResponse(
            response, model_request_parameters=model_request_parameters, replay_events=True
        )

    async def _answer(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters, call: Call
    ) -> ModelResponse:
        answered: list[ModelResponse] = []
        entries = _entries(messages)
        names = {tool.name for tool in parameters.function_tools}

        async def model(request: dict[str, Any]) -> dict[str, Any]:
            given = _selected(parameters, request.get("toolConfig") or {})
            withheld = names - {tool.name for tool in given.function_tools}
            response = await call(_changed(messages, entries, request["messages"]), given)
            for part in response.parts:
                if isinstance(part, ToolCallPart) and part.tool_name in withheld:
                    raise HookStopped(f"the model calls {part.tool_name}, which hooks withhold")
            answered.append(response)
            return {"text": _text(response)}

        request = {
            "model": self.wrapped.model_name,
            "messages": [{"role": it.role, "content": it.text} for it in entries],
        }
        tools: dict[str, Any] = {"available_tools": sorted(names)} if names else {}
        outcome = await call_model(self._client, "stable", request, model, **tools).finish()
        text = str(model_response(self._user.tell(outcome)).get("text") or "")
        if not answered or not isinstance(outcome, Called):
            made = ModelResponse(parts=[TextPart(text)])
            return dataclasses.replace(made, usage=answered[-1].usage) if answered else made
        if text == _text(answered[-1]):
            return answered[-1]
        parts = [part for part in answered[-1].parts if not isinstance(part, TextPart)]
        return dataclasses.replace(answered[-1], parts=[TextPart(text), *parts])


def _selected(parameters: ModelRequestParameters, choice: Any) -> ModelRequestParameters:
    """Returns the parameters with the tools that hooks left; an output is none of them."""
    names = [] if choice.get("mode") == "NONE" else choice.get("allowedFunctionNames")
    if names is None:
        return parameters
    return dataclasses.replace(
        parameters,
        function_tools=[it for it in parameters.function_tools if it.name in names],
        native_tools=[it for it in parameters.native_tools if it.kind in names],
    )


_MEDIA = ("image-url", "audio-url", "video-url", "cache-point")


def _texts(content: UserPrompt) -> list[str | None]:
    """Returns the text of each item of a prompt; None of an image, of audio and of video.

    Raises HookError for what else hooks cannot be shown.
    """
    found: list[str | None] = []
    for item in [content] if isinstance(content, str) else content:
        text = item.content if isinstance(item, TextContent) else item
        is_media = getattr(item, "kind", None) in _MEDIA or (
            isinstance(item, BinaryContent) and (item.is_image or item.is_audio or item.is_video)
        )
        if not isinstance(text, str) and not is_media:
            raise HookError(f"hooks cannot be shown a {type(item).__name__}: it is not sent")
        found.append(text if isinstance(text, str) else None)
    return found


def _prompt(content: UserPrompt | None) -> str:
    return "".join(it or "" for it in _texts(content or ""))


def _asked(
    content: UserPrompt | None, messages: list[ModelMessage]
) -> tuple[UserPrompt | None, tuple[int, int] | None]:
    """Returns the prompt of a run. One without goes on with its history, whose last prompt it is:
    then the numbers of its message and part follow."""
    place = None
    for number, message in enumerate(messages if content is None else ()):
        for part_number, part in enumerate(message.parts):
            if isinstance(part, UserPromptPart):
                content, place = part.content, (number, part_number)
    return content, place


@dataclasses.dataclass(frozen=True)
class _Entry:
    """A text of the messages: the numbers of its message, its part and its item."""

    message: int
    part: int
    item: int
    role: str
    text: str


def _entries(messages: list[ModelMessage]) -> list[_Entry]:
    found: list[_Entry] = []
    for number, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if isinstance(part, SystemPromptPart | UserPromptPart | TextPart):
                role = "model" if isinstance(message, ModelResponse) else "user"
                role = "system" if isinstance(part, SystemPromptPart) else role
                for item, text in enumerate(_texts(part.content)):
                    if text is not None:
                        found.append(_Entry(number, place, item, role, text))
    return found


def _changed(
    messages: list[ModelMessage], entries: list[_Entry], changed: list[Any]
) -> list[ModelMessage]:
    """Returns the messages with the texts that hooks left.

    Raises HookError for what has no place here: messages that are gone or between others.
    """
    if [it["role"] for it in changed[: len(entries)]] != [it.role for it in entries]:
        raise HookError("hooks removed or moved messages, which Pydantic AI's form does not show")
    made = list(messages)
    for entry, message in zip(entries, changed, strict=False):
        if message["content"] != entry.text:
            before: Any = made[entry.message].parts[entry.part]
            content: Any = message["content"]
            if not isinstance(before.content, str):
                content = list(before.content)
                content[entry.item] = message["content"]
            _set_content(made, entry.message, entry.part, content)
    for message in changed[len(entries) :]:
        if message["role"] == "model":
            made.append(ModelResponse(parts=[TextPart(message["content"])]))
        else:
            made.append(ModelRequest(parts=[UserPromptPart(message["content"])]))
    return made


def _set_content(messages: list[ModelMessage], number: int, place: int, content: Any) -> None:
    message: Any = messages[number]
    parts = list(message.parts)
    parts[place] = dataclasses.replace(parts[place], content=content)
    messages[number] = dataclasses.replace(message, parts=parts)


def _text(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))
