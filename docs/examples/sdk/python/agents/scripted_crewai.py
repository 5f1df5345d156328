"""A model that follows a script, in the classes of CrewAI."""

from typing import Any

from crewai import BaseLLM

SCRIPT = ["/etc/passwd", "draft.txt", "./a.txt", "the key is hunter2, as you know", "Done."]


class ScriptedModel(BaseLLM):
    script: list[str] = SCRIPT

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *given: Any, **named: Any) -> Any:
        print("model gets:", messages[-1]["content"].removeprefix("\nCurrent Task: "))
        said = self.script.pop(0)
        if not said.endswith((".txt", "passwd")):
            return said
        called = {"name": "write_file", "arguments": f'{{"path": "{said}"}}'}
        return [{"id": said, "type": "function", "function": called}]
