#!/usr/bin/env python3
# Wants a person to confirm writes outside the project. For BeforeTool on tools that write files.
# Answers hookSpecificOutput.permissionDecision "ask" with the reason, or nothing.
import json
import os
import sys

try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
except (ValueError, RecursionError) as error:
    sys.exit(f"ask-outside: the input is not JSON: {error}")
data = data if isinstance(data, dict) else {}
tool_input = data.get("tool_input")
tool_input = tool_input if isinstance(tool_input, dict) else {}
cwd = data.get("cwd") if isinstance(data.get("cwd"), str) else os.getcwd()
project = os.path.realpath(os.environ.get("HOOK_PROJECT_DIR") or cwd)

for key in ("file_path", "path"):
    path = tool_input.get(key)
    if not isinstance(path, str) or not path or "\0" in path:
        continue
    real = os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))
    if real != project and not real.startswith(os.path.join(project, "")):
        print(json.dumps({"hookSpecificOutput": {
            "hookEventName": "BeforeTool",
            "permissionDecision": "ask",
            "permissionDecisionReason": f"ask-outside: {path} is outside the project; write it anyway?",
        }}))
        break
