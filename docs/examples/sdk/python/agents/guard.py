#!/usr/bin/env python3
"""A hook for the agents beside it: one of each thing that hooks do."""

import json
import sys

given = json.load(sys.stdin)
event = given["hook_event_name"]
answer: dict[str, object] = {}


def clean(text: str) -> str:
    return text.replace("hunter2", "[redacted]")


if event == "BeforeTool":
    path = given["tool_input"].get("path", "")
    if path == "/etc/passwd":
        answer = {"decision": "block", "reason": "not outside of the project"}
    elif path == "draft.txt":
        answer = {"decision": "ask", "reason": "overwrite the draft?"}
    elif path.startswith("./"):
        answer = {"hookSpecificOutput": {"tool_input": {"path": path.removeprefix("./")}}}
elif event == "AfterTool":
    answer = {"hookSpecificOutput": {"additionalContext": "Keep to British spelling."}}
elif event == "BeforeModel":
    messages = [{**it, "content": clean(it["content"])} for it in given["llm_request"]["messages"]]
    answer = {"hookSpecificOutput": {"llm_request": {"messages": messages}}}
elif event == "AfterModel":
    text = given["llm_response"].get("text", "")
    if clean(text) != text:
        answer = {"hookSpecificOutput": {"llm_response": {"text": clean(text)}}}
elif event == "AfterAgent" and not given["stop_hook_active"]:
    answer = {"decision": "block", "reason": "Sum it up in one line."}
print(json.dumps(answer))
