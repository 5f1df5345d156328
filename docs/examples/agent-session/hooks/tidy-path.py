#!/usr/bin/env python3
# Rewrites untidy paths (`./notes//a/../b.txt` becomes `notes/b.txt`). For BeforeTool on tools that
# write files. Answers hookSpecificOutput.tool_input with the changed key only, or nothing.
import json
import os
import sys

try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
except (ValueError, RecursionError) as error:
    sys.exit(f"tidy-path: the input is not JSON: {error}")
data = data if isinstance(data, dict) else {}
tool_input = data.get("tool_input")
tool_input = tool_input if isinstance(tool_input, dict) else {}
cwd = data.get("cwd") if isinstance(data.get("cwd"), str) else os.getcwd()

changed = {}
for key in ("file_path", "path"):
    old = tool_input.get(key)
    if not isinstance(old, str) or not old.strip() or "\0" in old:
        continue
    new = os.path.normpath(old.strip())
    # `link/..` is not where it seems to be: only rewrite what stays the same file.
    same = os.path.realpath(os.path.join(cwd, old.strip())) == os.path.realpath(os.path.join(cwd, new))
    if new != old and same:
        changed[key] = new

if changed:
    said = ", ".join(f"{tool_input[key]} is now {new}" for key, new in changed.items())
    print(json.dumps({
        "systemMessage": f"tidy-path: {said}",
        "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": changed},
    }))
