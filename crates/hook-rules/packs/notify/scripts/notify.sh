#!/bin/sh
# Tells the user on the desktop and by the terminal's bell. Gets the event as JSON, and what to say.

input=$(cat)
project=$(basename "${HOOK_PROJECT_DIR:-$PWD}")
title="The agent $1"
if command -v jq >/dev/null 2>&1; then
    message=$(printf '%s' "$input" | jq -r '.message // empty | tostring' 2>/dev/null)
elif command -v python3 >/dev/null 2>&1; then
    message=$(printf '%s' "$input" | python3 -I -c 'import json, sys; print(json.load(sys.stdin).get("message") or "")' 2>/dev/null)
fi
text=$(printf '%s' "$project${message:+: $message}" | tr '\n' ' ' | tr -d '\000-\037\177' | cut -c 1-200)

# The desktop may have no place for it; the bell rings nevertheless.
if command -v osascript >/dev/null 2>&1; then
    osascript -e 'on run argv' -e 'display notification (item 2 of argv) with title (item 1 of argv)' -e 'end run' \
        "$title" "$text" >/dev/null 2>&1
elif command -v notify-send >/dev/null 2>&1; then
    notify-send -- "$title" "$text" >/dev/null 2>&1
fi
tty=${HOOK_NOTIFY_TTY:-/dev/tty}
(printf '\a' >"$tty") 2>/dev/null
exit 0
