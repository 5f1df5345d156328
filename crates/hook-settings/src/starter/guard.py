#!/usr/bin/env python3
"""A worker: started once, it answers calls, one JSON object a line. It refuses `rm -rf`, and stops
mistakes, not a program that means to get around it. Change `check`; then `hook trust` in a project.
Print to standard error only (`file=sys.stderr`): standard output is for messages."""
import json
import re
import sys


def check(event, data):
    """{} lets it go on; {"decision": "deny" or "ask", "reason": "..."} does not."""
    text = " ".join(str(value) for value in data["tool_input"].values())
    if re.search(r"\brm\b(?=[^;&|\n]*\W(-\w*[rR]|--rec))(?=[^;&|\n]*\W(-\w*f|--fo))", text):
        return {"decision": "deny", "reason": "guard: rm -rf deletes without a way back"}
    return {}


print('{"type": "hook-worker", "protocol": 1}', flush=True)
for line in sys.stdin:
    call = json.loads(line)
    if call["type"] == "hook-close":
        break
    if call["type"] == "hook-call":
        try:
            said = {"output": check(call["eventName"], call["input"])}
        except Exception as error:
            said = {"error": repr(error)}
        print(json.dumps({"type": "hook-answer", "callId": call["callId"], **said}), flush=True)
