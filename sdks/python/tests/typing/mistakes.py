"""Mistakes: each line with `# wrong` has to fail to type-check, and no other. Never run."""

from __future__ import annotations

from hook_sdk import A3sClient, HookClient, HookResponse, PreToolUseEvent, worker
from hook_sdk.agent import Blocked, Ran, ToolCall, agent_turn, call_model, execute_tool
from hook_sdk.events import CustomEvent, HookEvent
from hook_sdk.native_events import AfterToolEvent, BeforeToolEvent, SessionStartEvent
from hook_sdk.types import BeforeToolAnswer, BeforeToolPayload

client = HookClient()


# Declaring handlers.


@client.hook("BeforeTool", matcher={"kind": "shell"}, config={"fail_behavior": "block"})
async def right(event: BeforeToolEvent) -> HookResponse | None:
    event.tool_nam  # wrong
    event.tool_input.command  # wrong
    if event.mcp_context.get("x"):  # wrong
        pass
    event.tool_name.bit_length()  # wrong
    return HookResponse.block("no") if "rm" in event.tool_input.get("command", "") else None


@client.hook("BeforeTol")  # wrong
async def misspelt_event(event: BeforeToolEvent) -> None: ...


@client.hook("AfterTool")  # wrong
async def other_event(event: BeforeToolEvent) -> None: ...


@client.hook("BeforeTool", matcher={"knd": "shell"})  # wrong
async def misspelt_matcher(event: BeforeToolEvent) -> None: ...


@client.hook("BeforeTool", config={"fail_behavior": "blok"})  # wrong
async def misspelt_fail_behavior(event: BeforeToolEvent) -> None: ...


@client.hook("BeforeTool", config={"timout": 1})  # wrong
async def misspelt_config(event: BeforeToolEvent) -> None: ...


@client.hook("BeforeTool")
def denies(event: BeforeToolEvent) -> BeforeToolAnswer:
    if event.kind == "shell":
        return {"decision": "dney"}  # wrong
    if event.tool_name == "a":
        return {"decison": "deny"}  # wrong
    if event.tool_name == "b":
        return {"hookSpecificOutput": {"tool_inputs": {}}}  # wrong
    return {"decision": "deny", "reason": "no", "hookSpecificOutput": {"tool_input": {}}}


@client.hook("AfterTool")  # wrong
def answer_of_another_event(event: AfterToolEvent) -> int:
    return 1


@client.hook("PreToolUse")
def a3s(event: PreToolUseEvent) -> None:
    event.tool.upper()
    event.args_  # wrong


@client.hook("SessionStart")
def native_by_default(event: SessionStartEvent) -> None: ...


@client.hook("SessionStart", vocabulary="a3s")  # wrong
def of_a3s(event: SessionStartEvent) -> None: ...


@A3sClient().hook("SessionStart")  # wrong
def a3s_by_default(event: SessionStartEvent) -> None: ...


@client.hook(CustomEvent("Deploy"))
def custom(event: HookEvent) -> None: ...


@worker.hook("BeforeTool", matcher="run_shell_command", fail_behavior="block")
def worker_right(event: BeforeToolEvent) -> HookResponse:
    return HookResponse("blok")  # wrong


@worker.hook("BeforeTool", fail_behaviour="block")  # wrong
def worker_wrong(event: BeforeToolEvent) -> None: ...


# Asking.


async def asks() -> None:
    call: BeforeToolPayload = {"tool_name": "a", "tool_input": {}}
    outcome = await client.fire("BeforeTool", call)
    await client.fire("BeforeTol", call)  # wrong
    await client.fire("BeforeTool", {"tool_nme": "a", "tool_input": {}})  # wrong
    await client.fire("BeforeTool", {"tool_name": "a"})  # wrong
    await client.fire("BeforeTool", {"tool_name": 1, "tool_input": {}})  # wrong
    await client.fire("SessionStart", {"source": "begin"})  # wrong
    await client.fire(CustomEvent("Deploy"), {"where": "here"})
    if outcome.decision == "proced":  # wrong
        pass
    outcome.reson  # wrong
    client.fire("BeforeTool", call)  # wrong
    client.fire("BeforeTool", call).proceeds  # wrong


# The agent's half.


async def acts() -> None:
    outcome = await execute_tool(client, ToolCall("a", {}), lambda _: "x")
    execute_tool(client, ToolCall("a", {}), lambda _: "x")  # wrong
    outcome.resul  # wrong
    outcome.reason  # wrong
    match outcome:
        case Ran(value=value, is_changed=is_changed):
            print(value, is_changed)
        case Blocked(reason=reason):
            reason.upper()
            outcome.value  # wrong
        case _:
            pass
    await execute_tool(client, ToolCall("a"), lambda _: "x")  # wrong
    await execute_tool(client, {"tool_name": "a"}, lambda _: "x")  # wrong
    call_model(client, "openai", {}, lambda request: request)  # wrong
    call_model(client, "openai-chat", {}, lambda request: request, chunks="all")  # wrong
    async with agent_turn(client, "p") as turn:
        turn.answr = "x"  # wrong
