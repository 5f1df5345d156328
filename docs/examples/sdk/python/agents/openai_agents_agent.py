#!/usr/bin/env python3
"""An agent of openai-agents with hooks. The script stands for a model of OpenAI's."""

import asyncio
from pathlib import Path
from typing import Any

from agents import Agent, RunConfig, function_tool
from scripted_openai import ScriptedModel

from hook_sdk import HookClient
from hook_sdk.integrations.openai_agents import run, with_hooks

HERE = Path(__file__).resolve().parent
SERVE = ["hook", "serve", "--stdio", "--project", str(HERE), "--settings"]


@function_tool
def write_file(path: str) -> str:
    """Writes a file."""
    return f"wrote {path}"


async def approve(params: dict[str, Any]) -> bool:
    print("you are asked:", params["reason"])
    return True


async def main() -> None:
    agent = Agent(name="tidy", tools=[write_file], model=ScriptedModel())
    command = [*SERVE, str(HERE / "settings.json")]
    async with HookClient(command=command, host_services={"user.approve": approve}) as client:
        quiet = RunConfig(tracing_disabled=True)
        guarded = with_hooks(client, agent)
        result = await run(client, guarded, "Tidy up; my password is hunter2", run_config=quiet)
        print("you see:", result.final_output)


asyncio.run(main())
