#!/usr/bin/env python3
# Replaces secrets by [secret removed]. For BeforeModel (llm_request messages) and AfterModel
# (llm_response candidates and text). Answers the changed messages or the changed response, or nothing.
import json
import re
import sys

GONE = "[secret removed]"
WHOLE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bsk-[A-Za-z0-9_-]{20,}", re.DOTALL)
# KEY=value, "token": "value", Authorization: Bearer value. The name stays, the value goes.
NAMED = re.compile(
    r"((?:api[_-]?key|passw(?:or)?d|secret|token)[\"']?\s*[:=]\s*[\"']?|\bbearer\s+)([^\s\"',;\[\]]{8,})",
    re.IGNORECASE)
count = 0


def scrub(value):
    """Every text in a value, at whatever depth."""
    global count
    if isinstance(value, str):
        value, whole = WHOLE.subn(GONE, value)
        value, named = NAMED.subn(lambda m: m.group(1) + GONE, value)
        count += whole + named
        return value
    if isinstance(value, list):
        return [scrub(item) for item in value]
    if isinstance(value, dict):
        return {key: scrub(item) for key, item in value.items()}
    return value


def main():
    data = json.loads(sys.stdin.buffer.read())
    event = data["hook_event_name"]
    if event == "BeforeModel":
        answer = {"llm_request": {"messages": scrub(data["llm_request"].get("messages", []))}}
    else:
        answer = {"llm_response": scrub(data["llm_response"])}
    if count:
        print(json.dumps({
            "systemMessage": f"scrub-secrets: {count} removed",
            "hookSpecificOutput": {"hookEventName": event, **answer},
        }))


try:
    main()
# With failBehavior block, a guard that fails has denied.
except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
    sys.exit(f"scrub-secrets: the input cannot be read: {error!r:.200}")
