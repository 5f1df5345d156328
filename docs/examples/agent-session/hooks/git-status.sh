#!/bin/sh
# Adds `git status --short --branch` to the prompt. For BeforeAgent. Answers
# hookSpecificOutput.additionalContext; without git or outside a repository it answers nothing.
cat >/dev/null # the prompt itself is not needed
command -v git >/dev/null 2>&1 || exit 0
status=$(LC_ALL=C git --no-optional-locks status --short --branch 2>/dev/null) || exit 0
[ -n "$status" ] || exit 0

printf '%s\n' "$status" | python3 -I -c '
import json, sys
lines = sys.stdin.buffer.read().decode("utf-8", "replace").splitlines()
more = [f"... and {len(lines) - 40} more"] if len(lines) > 40 else []
print(json.dumps({"hookSpecificOutput": {
    "hookEventName": "BeforeAgent",
    "additionalContext": "git status:\n" + "\n".join(lines[:40] + more),
}}))'
