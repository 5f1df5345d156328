#!/bin/sh
# Always fails, to show what a broken hook does: the event goes on and a warning is shown. For
# Notification. Answers nothing, writes to stderr and exits 1.
cat >/dev/null
echo "fails-on-purpose: this hook always exits 1, the session goes on" >&2
exit 1
