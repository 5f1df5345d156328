#!/usr/bin/env python3
"""An agent of LangChain with hooks. The script stands for a model."""

from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from scripted_langchain import ScriptedModel

from hook_sdk.integrations.langchain import HookMiddleware
from hook_sdk.sync import HookClient

HERE = Path(__file__).resolve().parent
SERVE = ["hook", "serve", "--stdio", "--project", str(HERE), "--settings"]


def write_file(path: str) -> str:
    """Writes a file."""
    return f"wrote {path}"


async def approve(params: dict[str, Any]) -> bool:
    print("you are asked:", params["reason"])
    return True


def main() -> None:
    command = [*SERVE, str(HERE / "settings.json")]
    with HookClient(command=command, host_services={"user.approve": approve}) as client:
        hooks = HookMiddleware(client, chunks="each")
        agent = create_agent(ScriptedModel(), [write_file], middleware=[hooks])
        question: Any = {"messages": [{"role": "user", "content": "Tidy up; my password is hunter2"}]}
        said = ""
        for part, _ in agent.stream(question, stream_mode="messages"):
            if isinstance(part, AIMessageChunk):
                said += part.text
                if part.chunk_position == "last" and said:
                    print("you see:", said)
                    said = ""


main()
