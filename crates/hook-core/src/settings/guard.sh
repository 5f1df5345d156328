#!/usr/bin/env bash
# Refuses shell commands that destroy far more than an agent was asked to touch, and asks before
# something from the network is run. Change it, or take it as a pattern for hooks of your own.
#
# How a hook works:
#   - It reads one JSON object from standard input: tool_name, tool_input, cwd, session_id and more.
#   - To let things go on it ends with exit 0 and prints nothing.
#   - To refuse it ends with exit 2. What it wrote to standard error is the reason, for the model.
#   - Or it prints JSON: {"decision": "deny", "reason": "..."}; "ask" asks the user, "allow" allows.
#   - Which events and tools it is for stands in settings.json. After every change of this file its
#     hook has to be trusted again: hook trust
#
# It compares text. That stops mistakes, not somebody who means to get around it.

input=$(tr '\n' ' ')
# The text of "command", as it is in JSON. Where jq is at hand, jq -r .tool_input.command is better.
command=$(sed -nE 's/.*"command" *: *"(([^"\\]|\\.)*)".*/\1/p' <<<"$input" | sed 's/\\\//\//g')
command=${command:-$input}

refuse() {
  echo "guard: $1" >&2
  exit 2
}

# Where a word begins and ends; in JSON a quote in the command is \" and a line's end \n.
start='(^|[^[:alnum:]_.-]|\\n)'
end='([[:space:];&|)"\\*]|$)'
everything="(/|~|\\\$HOME|\\\$\{HOME\})/?"
disk='/dev/(sd|hd|vd|nvme|mmcblk|disk)'

if [[ $command =~ ${start}rm[[:space:]]+-[^\;\&\|]*[[:space:]][\\\"\']*${everything}${end} ]]; then
  refuse "this would remove everything below / or the home folder; name the folder that you mean"
fi
if [[ $command =~ ${start}mkfs || $command =~ ${start}dd[[:space:]].*of=${disk} || $command =~ \>[[:space:]]*${disk} ]]; then
  refuse "this would overwrite a disk; write to a file instead"
fi
if [[ $command =~ (curl|wget)[[:space:]][^\;]*\|[[:space:]]*(sudo[[:space:]]+)?(ba|z|da)?sh${end} ]]; then
  echo '{"decision": "ask", "reason": "guard: this runs a script from the network that nobody has read"}'
fi
exit 0
