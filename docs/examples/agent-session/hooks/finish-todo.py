#!/usr/bin/env python3
# Sends the agent back to work when its answer says that it left a TODO, once per turn (not when
# stop_hook_active). For AfterAgent. Answers decision "block" with the next prompt as reason, or nothing.
import json
import re
import sys

LEFT = re.compile(r"^.*(?<!\bno )(?<!\bany )(?<!\bmore )\b(?:TODO|FIXME)s?\b.*$", re.MULTILINE)

try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
except (ValueError, RecursionError) as error:
    sys.exit(f"finish-todo: the input is not JSON: {error}")
data = data if isinstance(data, dict) else {}
answer = data.get("prompt_response")
left = LEFT.search(answer) if isinstance(answer, str) else None

if left and data.get("stop_hook_active") is False:
    print(json.dumps({
        "decision": "block",
        "reason": "You left something open. Finish it, or say why it has to stay: " + left.group(0).strip()[:200],
    }))
