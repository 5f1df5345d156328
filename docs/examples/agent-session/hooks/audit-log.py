#!/usr/bin/env python3
# Appends one JSON line per event to $HOOK_AUDIT_LOG (default: .hooks/audit.jsonl in the project). For any
# event; here SessionStart, SessionEnd, Notification, PreCompress, AfterTool. Answers nothing.
import json
import os
import sys

# What is logged, and nothing else: inputs and results of tools may hold secrets.
KEPT = ("timestamp", "session_id", "hook_event_name", "source", "reason", "trigger",
        "notification_type", "tool_name")

try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
except (ValueError, RecursionError) as error:
    sys.exit(f"audit-log: the input is not JSON: {error}")
data = data if isinstance(data, dict) else {}
line = {key: data[key] for key in KEPT if key in data}

path, project = os.environ.get("HOOK_AUDIT_LOG"), os.environ.get("HOOK_PROJECT_DIR")
if not path and project:
    path = os.path.join(project, ".hooks", "audit.jsonl")
if path and line:
    try:
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(log, json.dumps(line).encode() + b"\n")  # one write: lines of parallel hooks stay whole
    except OSError as error:
        sys.exit(f"audit-log: cannot write {path}: {error.strerror}")
