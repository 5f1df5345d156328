"""A model that follows a script, in the classes of openai-agents."""

from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse, Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

SCRIPT = ["/etc/passwd", "draft.txt", "./a.txt", "the key is hunter2, as you know", "Done."]


class ScriptedModel(Model):
    def __init__(self) -> None:
        self.script = list(SCRIPT)

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        input = given[1] if len(given) > 1 else named["input"]
        last = input if isinstance(input, str) else input[-1]
        print("model gets:", last if isinstance(last, str) else last.get("output") or last["content"])
        said = self.script.pop(0)
        item: Any
        if said.endswith((".txt", "passwd")):
            arguments = f'{{"path": "{said}"}}'
            item = ResponseFunctionToolCall(
                type="function_call", call_id=said, name="write_file", arguments=arguments
            )
        else:
            text = ResponseOutputText(type="output_text", text=said, annotations=[])
            item = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError("this model does not stream")
