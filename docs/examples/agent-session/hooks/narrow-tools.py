#!/usr/bin/env python3
# Offers only tools that read when the last user message asks for a review. For BeforeToolSelection.
# Answers hookSpecificOutput.toolConfig {mode, allowedFunctionNames}, or nothing.
import json
import re
import sys

READING = ["glob", "list_directory", "read_file", "read_many_files", "search_file_content"]

try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
except (ValueError, RecursionError) as error:
    sys.exit(f"narrow-tools: the input is not JSON: {error}")
data = data if isinstance(data, dict) else {}
request = data.get("llm_request")
messages = request.get("messages") if isinstance(request, dict) else None
asked = [m["content"] for m in (messages if isinstance(messages, list) else [])
         if isinstance(m, dict) and m.get("role") == "user" and isinstance(m.get("content"), str)]

if asked and re.search(r"\breview\b", asked[-1], re.IGNORECASE):
    allowed = READING
    tools = data.get("available_tools")
    if isinstance(tools, list):  # names, or objects with a name
        names = [t.get("name") if isinstance(t, dict) else t for t in tools]
        allowed = [name for name in READING if name in names]
    # GenAI takes a list of names with mode ANY only.
    config = {"mode": "ANY", "allowedFunctionNames": allowed} if allowed else {"mode": "NONE"}
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "BeforeToolSelection", "toolConfig": config}}))
