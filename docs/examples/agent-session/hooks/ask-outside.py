#!/usr/bin/env python3
# Wants a person to confirm writes outside the project. For BeforeTool on tools that write files.
# Answers hookSpecificOutput.permissionDecision "ask" with the reason, or nothing.
# What cannot be read is asked about, too; symbolic links are followed as far as they exist by now.
import json
import os
import sys

PATHS = {"path", "file_path", "filePath", "absolute_path", "filename", "target_file", "notebook_path"}


def paths_in(value):
    """Every value of a field that names a file, at whatever depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in PATHS:
                yield inner
            else:
                yield from paths_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from paths_in(inner)


def why_ask(path, cwd, project):
    if not isinstance(path, str) or not path or "\0" in path:
        return f"{json.dumps(path)[:80]} is no path that can be checked; write it anyway?"
    real = os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))
    if real != project and not real.startswith(os.path.join(project, "")):
        return f"{path} is outside the project; write it anyway?"
    return None


def main():
    data = json.loads(sys.stdin.buffer.read())
    cwd = data["cwd"]
    project = os.path.realpath(os.environ.get("HOOK_PROJECT_DIR") or cwd)
    paths = list(paths_in(data["tool_input"]))
    reasons = [why_ask(path, cwd, project) for path in paths]
    if not paths:
        reasons = ["it does not say where it writes; go on?"]
    for reason in filter(None, reasons):
        print(json.dumps({"hookSpecificOutput": {
            "hookEventName": "BeforeTool",
            "permissionDecision": "ask",
            "permissionDecisionReason": f"ask-outside: {reason}",
        }}))
        break


try:
    main()
# With failBehavior block, a guard that fails has denied.
except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
    sys.exit(f"ask-outside: the input cannot be read: {error!r:.200}")
