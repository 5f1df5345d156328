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
    RawOutput,
    ValidatedToolArgs,
    WrapOutputProcessHandler,
    WrapOutputValidateHandler,
    WrapRunHandler,
    WrapToolExecuteHandler,
)
from pydantic_ai.exceptions import (
    AgentRunError,
    ApprovalRequired,
    CallDeferred,
    ModelRetry,
    SkipToolExecution,
    ToolFailedError,
    ToolRetryError,
    UserError,
)
from pydantic_ai.messages import (
    BaseToolReturnPart,
    BinaryContent,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
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
from pydantic_ai.output import OutputContext
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage
from pydantic_core import to_jsonable_python
from pydantic_graph import End

from ..client import HookClient
from ..errors import HookError, HookStopped
from ..model_calls import call_model
from ..outcomes import Blocked, Called, Continue, Ran, Stopped, ToolCall
from ..turns import Turn
from ._common import OnMessage, Teller, check_version, model_response, prompt_of, tool_text
from ._open_calls import is_same, open_tool

check_version("pydantic-ai-slim", "2.62", "3")


class Hooks(AbstractCapability[Any]):
    """Puts hooks around the tools, the model and the prompts of an agent.

    `on_message` takes hooks' texts for the user, by default `on_problem` of the client.
    """

    def __init__(self, client: HookClient, *, on_message: OnMessage | None = None) -> None:
        self._client, self._user = client, Teller(client, on_message)
        self._turn: Turn
        """That of a run."""
        self._raw_output: RawOutput | None = None
        """The output that the model gave as a text, before it is validated."""
        self._for_model: str | None = None
        """What hooks have to add to the next request."""

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
        # Those of the model: what validation makes of them can hide what they are.
        shown = call.args_as_dict()
        value: Any = None
        failure: BaseException | None = None
        refused = False
        tool_call = ToolCall(call.tool_name, shown, call.tool_call_id)
        async with open_tool(self._client, tool_call) as opened:
            while (tool_input := await opened.wanted()) is not None:
                failure, given = None, args
                try:
                    if not is_same(tool_input, shown):
                        refused = True
                        given = await _validated(ctx, dataclasses.replace(call, args=tool_input))
                        refused = False
                    try:
                        value = await handler(given)
                    except SkipToolExecution as skipped:
                        value = skipped.result
                    value = _kept(value)
                    opened.made(_result_text(value))
                except _CONTROL_FLOW:
                    raise
                except Exception as error:
                    failure = error
                    opened.failed(error)
            outcome = self._user.tell(await opened.outcome())
        text = tool_text(outcome)
        if failure is None:
            if isinstance(outcome, Ran) and not outcome.is_changed:
                return value
            return _with_text(value, text) if isinstance(outcome, Ran) else text
        if isinstance(outcome, Ran) and outcome.raised is not None and not refused:
            raise outcome.raised
        # A failure that the library counts stays one.
        if isinstance(failure, ToolRetryError) and isinstance(failure.tool_retry, ToolReturnPart):
            raise ToolRetryError(dataclasses.replace(failure.tool_retry, content=text))
        if isinstance(failure, ToolFailedError):
            raise ToolFailedError(dataclasses.replace(failure.tool_failed, content=text))
        return text

    async def wrap_output_validate(
        self,
        ctx: RunContext[Any],
        *,
        output_context: OutputContext,
        output: RawOutput,
        handler: WrapOutputValidateHandler,
    ) -> Any:
        self._raw_output = output
        return await handler(output)

    async def wrap_output_process(
        self,
        ctx: RunContext[Any],
        *,
        output_context: OutputContext,
        output: Any,
        handler: WrapOutputProcessHandler,
    ) -> Any:
        """Asks about an output function, which is a tool that ends the run."""
        raw, self._raw_output = self._raw_output, None
        if not output_context.has_function:
            return await handler(output)
        if ctx.partial_output:
            raise ModelRetry("an output function runs when all of the answer is there")
        call = output_context.tool_call
        name = output_context.function_name or (call.tool_name if call else "output")
        if call is not None:
            shown = call.args_as_dict()
        else:
            shown = {"output": raw if raw is not None else output}
        value: Any = None
        tool_call = ToolCall(name, shown, call.tool_call_id if call else None)
        async with open_tool(self._client, tool_call) as opened:
            while (tool_input := await opened.wanted()) is not None:
                if not is_same(tool_input, shown):
                    raise HookError(f"hooks changed the arguments of the output function {name}")
                try:
                    value = await handler(output)
                    opened.made(_result_text(_kept(value)))
                except (*_CONTROL_FLOW, ModelRetry, ToolRetryError):
                    raise
                except Exception as error:
                    opened.failed(error)
            outcome = self._user.tell(await opened.outcome())
        text = tool_text(outcome)
        if not isinstance(outcome, Ran):
            raise ModelRetry(text)
        if outcome.raised is not None:
            raise outcome.raised
        if outcome.is_changed and not isinstance(value, str):
            raise HookError(f"hooks changed the result of the output function {name}: {text}")
        return text if outcome.is_changed else value

    def get_wrapper_model(self, model: Model) -> Model:
        return _HookedModel(model, self)

    async def wrap_run(
        self, ctx: RunContext[Any], *, handler: WrapRunHandler
    ) -> AgentRunResult[Any]:
        if ctx.realtime:
            raise HookError("hooks cannot be asked about the model of a realtime session")
        given, _ = _asked(ctx.prompt, ctx.messages)
        self._turn = Turn(self._client, _prompt(given), None)
        await self._turn.begin({})
        self._turn.prompt = prompt_of(self._user.tell(self._turn.start))
        result = await handler()
        # What `run_stream` shows last ends the run.
        if self._turn.end is None and await self._end(result.output) is not None:
            problem = "hooks want the agent to go on, which a stream cannot"
            self._client._session.on_problem(problem)
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


_CONTROL_FLOW = (CallDeferred, ApprovalRequired, AgentRunError, UserError, HookError)
"""What a tool raises that is no result of it: it goes past hooks, with which nothing ends it."""


async def _validated(ctx: RunContext[Any], call: ToolCallPart) -> ValidatedToolArgs:
    """Returns arguments that hooks changed, checked as the model's are."""
    assert ctx.tool_manager is not None
    checked = await ctx.tool_manager.validate_tool_call(
        call, approved=ctx.tool_call_approved, metadata=ctx.tool_call_metadata
    )
    if checked.validated_args is None:
        raise checked.validation_error or ValueError("the changed arguments are not valid")
    if checked.deferral is not None:
        raise checked.deferral
    return checked.validated_args


def _kept(value: Any) -> Any:
    """Returns a copy, so that the tool changes nothing of what hooks have seen."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return to_jsonable_python(value)


def _result_text(value: Any) -> str:
    """Returns what the model gets of a tool's value. Raises HookError for what is no text."""
    result = value if isinstance(value, ToolReturn) else ToolReturn(value)
    part = ToolReturnPart("", result.return_value)
    texts = [part.model_response_str(), *_texts(part.files), *_texts(result.content or "")]
    return "\n\n".join(it for it in texts if it)


def _with_text(value: Any, text: str) -> Any:
    """Returns a tool's value with another text: images stay, and what is not for the model."""
    result = value if isinstance(value, ToolReturn) else ToolReturn(value)
    content = result.content
    more = [] if content is None or isinstance(content, str) else content
    files: list[Any] = [*ToolReturnPart("", result.return_value).files]
    files += [it for it in more if not isinstance(it, str | TextContent)]
    if not files and result is not value:
        return text
    return dataclasses.replace(
        result, return_value=[text, *files] if files else text, content=None
    )


Call = Callable[[list[ModelMessage], ModelRequestParameters], Awaitable[ModelResponse]]
UserPrompt = str | Sequence[UserContent]


class _HookedModel(WrapperModel):
    """A model with hooks around its requests. A stream is shown when hooks have seen all of it."""

    def __init__(self, model: Model, hooks: Hooks) -> None:
        super().__init__(model)
        self._hooks = hooks

    async def count_tokens(self, *_: Any, **__: Any) -> RequestUsage:
        raise HookError("tokens are not counted: a provider would get what hooks have not seen")

    async def compact_messages(self, *_: Any, **__: Any) -> ModelResponse:
        raise HookError("messages are not compacted: a provider would get what hooks have not seen")

    async def batch_encode(self, request: Any) -> Any:
        raise HookError("hooks do not see requests in batches: put `Hooks` before what batches")

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
        entries = _entries(messages, parameters)
        names = {tool.name for tool in parameters.function_tools}

        async def model(request: dict[str, Any]) -> dict[str, Any]:
            given = _selected(parameters, request.get("toolConfig") or {})
            withheld = names - {tool.name for tool in given.function_tools}
            response = await call(*_changed(messages, given, entries, request["messages"]))
            for part in response.parts:
                if isinstance(part, ToolCallPart) and part.tool_name in withheld:
                    raise HookStopped(f"the model calls {part.tool_name}, which hooks withhold")
            answered.append(response)
            return {"text": _text(response)}

        hooks = self._hooks
        request = {
            "model": self.wrapped.model_name,
            "messages": [{"role": it.role, "content": it.text} for it in entries],
        }
        more: dict[str, Any] = {"available_tools": sorted(names)} if names else {}
        if hooks._for_model is not None:
            more["context"], hooks._for_model = hooks._for_model, None
        outcome = await call_model(hooks._client, "stable", request, model, **more).finish()
        hooks._for_model = outcome.for_model
        text = str(model_response(hooks._user.tell(outcome)).get("text") or "")
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


_INSTRUCTIONS = -1
"""The number of instructions: among messages those of the request, among parts a message's."""


def _entries(messages: list[ModelMessage], parameters: ModelRequestParameters) -> list[_Entry]:
    found = [
        _Entry(_INSTRUCTIONS, place, 0, "system", part.content)
        for place, part in enumerate(parameters.instruction_parts or ())
    ]
    for number, message in enumerate(messages):
        if parameters.instruction_parts is None and isinstance(message, ModelRequest):
            # Then those of the history are sent.
            if message.instructions:
                entry = _Entry(number, _INSTRUCTIONS, 0, "system", message.instructions)
                found.append(entry)
        for place, part in enumerate(message.parts):
            content: Any = getattr(part, "content", None)
            is_text = isinstance(part, UserPromptPart) or isinstance(content, str)
            if is_text and not isinstance(part, BaseToolReturnPart | ThinkingPart):
                role = "model" if isinstance(message, ModelResponse) else "user"
                role = "system" if isinstance(part, SystemPromptPart) else role
                for item, text in enumerate(_texts(content)):
                    if text is not None:
                        found.append(_Entry(number, place, item, role, text))
    return found


def _changed(
    messages: list[ModelMessage],
    parameters: ModelRequestParameters,
    entries: list[_Entry],
    changed: list[Any],
) -> tuple[list[ModelMessage], ModelRequestParameters]:
    """Returns the messages and parameters with the texts that hooks left.

    Raises HookError for what has no place here: messages that are gone or between others.
    """
    if [it["role"] for it in changed[: len(entries)]] != [it.role for it in entries]:
        raise HookError("hooks removed or moved messages, which Pydantic AI's form does not show")
    made = list(messages)
    instructions = list(parameters.instruction_parts or ())
    for entry, message in zip(entries, changed, strict=False):
        content: Any = message["content"]
        if content == entry.text:
            continue
        if entry.message == _INSTRUCTIONS:
            instructions[entry.part] = dataclasses.replace(
                instructions[entry.part], content=content
            )
        elif entry.part == _INSTRUCTIONS:
            request: Any = made[entry.message]
            made[entry.message] = dataclasses.replace(request, instructions=content)
        else:
            before: Any = made[entry.message].parts[entry.part]
            if not isinstance(before.content, str):
                content = list(before.content)
                content[entry.item] = message["content"]
            _set_content(made, entry.message, entry.part, content)
    if instructions != (parameters.instruction_parts or []):
        parameters = dataclasses.replace(parameters, instruction_parts=instructions)
        joined = InstructionPart.join(instructions)
        for number, request in enumerate(made):
            if isinstance(request, ModelRequest) and request.instructions:
                made[number] = dataclasses.replace(request, instructions=joined)
    for message in changed[len(entries) :]:
        if message["role"] == "model":
            made.append(ModelResponse(parts=[TextPart(message["content"])]))
        else:
            made.append(ModelRequest(parts=[UserPromptPart(message["content"])]))
    return made, parameters


def _set_content(messages: list[ModelMessage], number: int, place: int, content: Any) -> None:
    message: Any = messages[number]
    parts = list(message.parts)
    parts[place] = dataclasses.replace(parts[place], content=content)
    messages[number] = dataclasses.replace(message, parts=parts)


def _text(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))
