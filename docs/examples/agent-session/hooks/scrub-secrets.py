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


def scrub(text):
    global count
    text, whole = WHOLE.subn(GONE, text)
    text, named = NAMED.subn(lambda m: m.group(1) + GONE, text)
    count += whole + named
    return text


def scrub_key(holder, key):
    if isinstance(holder.get(key), str):
        holder[key] = scrub(holder[key])


def objects(value):
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def scrub_request(request):
    for message in objects(request.get("messages")):
        scrub_key(message, "content")
    return {"llm_request": {"messages": request.get("messages")}}


def scrub_response(response):
    scrub_key(response, "text")
    for candidate in objects(response.get("candidates")):
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        if isinstance(parts, list):
            content["parts"] = [scrub(part) if isinstance(part, str) else part for part in parts]
    return {"llm_response": response}


try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
except (ValueError, RecursionError) as error:
    sys.exit(f"scrub-secrets: the input is not JSON: {error}")
data = data if isinstance(data, dict) else {}
event = data.get("hook_event_name")
field, work = {"BeforeModel": ("llm_request", scrub_request),
               "AfterModel": ("llm_response", scrub_response)}.get(event, (None, None))

if field and isinstance(data.get(field), dict):
    answer = work(data[field])
    if count:
        print(json.dumps({
            "systemMessage": f"scrub-secrets: {count} removed",
            "hookSpecificOutput": {"hookEventName": event, **answer},
        }))
