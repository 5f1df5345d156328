#!/usr/bin/env python3
"""An agent of CrewAI with hooks. The script stands for a model."""

from pathlib import Path
from typing import Any

from crewai import Agent
from crewai.tools import tool
from scripted_crewai import ScriptedModel

from hook_sdk.integrations.crewai import with_hooks
from hook_sdk.sync import HookClient, agent_turn

HERE = Path(__file__).resolve().parent
SERVE = ["hook", "serve", "--stdio", "--project", str(HERE), "--settings"]


@tool
def write_file(path: str) -> str:
    """Writes a file."""
    return f"wrote {path}"


async def approve(params: dict[str, Any]) -> bool:
    print("you are asked:", params["reason"])
    return True


def main() -> None:
    command = [*SERVE, str(HERE / "settings.json")]
    with HookClient(command=command, host_services={"user.approve": approve}) as client:
        model = ScriptedModel(model="scripted")
        agent = Agent(role="tidy", goal="order", backstory="-", llm=model, tools=[write_file])
        guarded = with_hooks(agent, client)
        with agent_turn(client, "Tidy up; my password is hunter2") as turn:
            for prompt in turn:
                result: Any = guarded.kickoff(prompt)
                turn.answer = result.raw
                print(f"you see: {turn.answer}")


main()
