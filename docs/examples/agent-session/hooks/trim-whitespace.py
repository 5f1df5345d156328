#!/usr/bin/env python3
# Strips blanks at line ends in the file that was just written, if it is a text file in the project. For
# AfterTool on tools that write files. Answers hookSpecificOutput.additionalContext, or nothing.
import json
import os
import re
import sys

MEANT = (".md", ".markdown", ".diff", ".patch")  # here blanks at line ends have a meaning
LIMIT = 1 << 20

try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
except (ValueError, RecursionError) as error:
    sys.exit(f"trim-whitespace: the input is not JSON: {error}")
data = data if isinstance(data, dict) else {}
tool_input = data.get("tool_input")
tool_input = tool_input if isinstance(tool_input, dict) else {}
cwd = data.get("cwd") if isinstance(data.get("cwd"), str) else os.getcwd()
project = os.environ.get("HOOK_PROJECT_DIR")
path = tool_input.get("file_path") or tool_input.get("path")

if not project or not isinstance(path, str) or "\0" in path or path.lower().endswith(MEANT):
    sys.exit(0)
real = os.path.realpath(os.path.join(cwd, path))
inside = real.startswith(os.path.join(os.path.realpath(project), ""))
if not inside or not os.path.isfile(real) or os.path.getsize(real) > LIMIT:
    sys.exit(0)

with open(real, "rb") as file:
    before = file.read()
after, lines = re.subn(rb"(?<![ \t])[ \t]+(?=\r?\n|\Z)", b"", before)
if lines and b"\0" not in before:
    with open(real, "wb") as file:
        file.write(after)
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "AfterTool",
        "additionalContext": f"trim-whitespace: {path} changed on disk, blanks removed at {lines} line end(s).",
    }}))
