"""A model that follows a script, in the classes of LangChain."""

from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

SCRIPT = ["/etc/passwd", "draft.txt", "./a.txt", "the key is |hunter2|, as you know", "Done."]


class ScriptedModel(BaseChatModel):
    script: list[str] = SCRIPT

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **named: Any) -> Any:
        return self

    def _generate(self, *given: Any, **named: Any) -> ChatResult:
        raise NotImplementedError("this model streams")

    def _stream(
        self, messages: list[BaseMessage], *given: Any, **named: Any
    ) -> Iterator[ChatGenerationChunk]:
        print("model gets:", messages[-1].text)
        said = self.script.pop(0)
        if said.endswith((".txt", "passwd")):
            call: Any = {"name": "write_file", "args": f'{{"path": "{said}"}}', "id": said, "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
            return
        for text in said.split("|"):
            yield ChatGenerationChunk(message=AIMessageChunk(content=text))
