#!/usr/bin/env bash
# Refuses shell commands that delete or overwrite without a way back: `rm -rf` in every spelling,
# mkfs, writing onto a disk. Asks before a script from the network is run. Change it, or take it as
# a pattern for hooks of your own.
#
# How a hook works:
#   - It reads one JSON object from standard input: tool_name, tool_input, cwd, session_id and more.
#   - To let things go on it ends with exit 0 and prints nothing.
#   - To refuse it ends with exit 2. What it wrote to standard error is the reason, for the model.
#   - Or it prints JSON: {"decision": "deny", "reason": "..."}; "ask" asks the user, "allow" allows.
#     Write that with jq or a JSON library: text pasted into JSON is no JSON when it has a quote.
#   - settings.json says which events and tools it is for. In a project, its hook has to be trusted
#     again after every change of this file: hook trust
#
# It reads a command as a shell does, but runs nothing: what is in variables, scripts or encoded
# text it cannot see. It stops mistakes, not a program that means to get around it.

refuse() {
  echo "guard: $1" >&2
  exit 2
}

# The command of the tool call; where there is none of a known name, every text of the call.
if command -v jq >/dev/null; then
  read_command() {
    jq -rn 'input.tool_input | ([.command, .cmd, .script] | map(values)) as $known
            | if $known == [] then . else $known end | [.. | strings] | join(" ")'
  }
elif command -v python3 >/dev/null; then
  read_command() {
    python3 -c '
import json, sys
def texts(value):
    if isinstance(value, dict): value = list(value.values())
    return [value] if isinstance(value, str) else sum(map(texts, value), []) if isinstance(value, list) else []
call = json.load(sys.stdin)["tool_input"]
known = [call[name] for name in ("command", "cmd", "script") if call.get(name) is not None]
sys.stdout.buffer.write(" ".join(texts(known or call)).encode(errors="replace"))'
  }
elif command -v node >/dev/null; then
  read_command() {
    node -e '
const texts = (value) => typeof value === "string" ? [value]
  : value && typeof value === "object" ? Object.values(value).flatMap(texts) : [];
const call = JSON.parse(require("fs").readFileSync(0)).tool_input;
if (call?.constructor !== Object) throw new Error("tool_input is no object");
const known = [call.command, call.cmd, call.script].filter((value) => value != null);
process.stdout.write(texts(known.length ? known : call).join(" "));'
  }
else
  refuse "it needs jq, python3 or node to read the tool call, and found none; nothing is run"
fi

export LC_ALL=C
command=$(read_command 2>/dev/null | tr -d '\0'; exit "${PIPESTATUS[0]}") ||
  refuse "the tool call could not be read; nothing is run"

# Prints a verdict, "refuse" or "ask", and why; nothing for a command that may run.
verdict=$(printf '%s\n' "$command" | awk '
  { text = text $0 "\n" }
  END { look(text, 0) }

  function say(verdict, why) { print verdict " " why; exit }
  function base(word) { sub(/.*\//, "", word); return word }

  # Takes a text apart into simple commands and their words, without quotes.
  function look(text, depth,    i, n, c, next_c, quote, word, open, words, count, piped) {
    if (depth > 5) say("refuse", "it nests shells deeper than this guard reads")
    gsub(/\\\n/, "", text)
    n = length(text)
    for (i = 1; i <= n + 1; i++) {
      c = i > n ? "\n" : substr(text, i, 1)
      if (quote == "" && substr(text, i, 2) ~ /^\$["\047]/) continue
      if (i <= n && quote != "") {
        if (c == quote) quote = ""
        else if (c == "\\" && quote == "\"" && i < n) word = word substr(text, ++i, 1)
        else word = word c
      } else if (c == "\"" || c == "\047") { quote = c; open = 1 }
      else if (c == "\\" && i < n) { word = word substr(text, ++i, 1); open = 1 }
      else if (c ~ /[ \t\r\n;&|()<>`]/) {
        if (open || word != "") words[++count] = word
        word = ""; open = 0
        if (c == ">") words[++count] = ">"
        if (c ~ /[\n;&|()`]/) {
          next_c = substr(text, i + 1, 1)
          judge(words, count, depth, piped)
          piped = c == "|" && next_c != "|" && fetches(words, count)
          count = 0
        }
      } else word = word c
    }
  }

  function fetches(words, count,    i) {
    for (i = 1; i <= count; i++) if (base(words[i]) ~ /^(curl|wget)$/) return 1
    return 0
  }

  # One simple command. What it is may stand behind sudo, env, xargs and the like.
  function judge(words, count, depth, piped,    i, j, name, shell, recursive, force, all) {
    for (i = 1; i <= count; i++) {
      name = base(words[i])
      # Substitutions within quotes, and what a shell is given as text.
      if (words[i] ~ /\$\(|`/) look(substr(words[i], match(words[i], /\$\(|`/) + RLENGTH), depth + 1)
      if (shell && words[i] ~ /[ \t\n;&|]/) look(words[i], depth + 1)
      if (name ~ /^(ba|z|da|k|a)?sh$/ && piped)
        say("ask", "this runs a script from the network that nobody has read")
      if (name ~ /^((ba|z|da|k|a)?sh|eval|ssh|su|watch|parallel)$/) shell = 1
      if (name ~ /^mkfs/) say("refuse", "this would erase a file system; write to a file instead")
      if ((words[i] == ">" && words[i + 1] ~ disk()) || (words[i] ~ /^of=/ && substr(words[i], 4) ~ disk()))
        say("refuse", "this would overwrite a disk; write to a file instead")
      if (name != "rm") continue
      recursive = force = all = 0
      for (j = i + 1; j <= count; j++) {
        if (words[j] == "--") { while (++j <= count) all += words[j] ~ everything(); break }
        if (words[j] ~ /^-[a-zA-Z]*[rR][a-zA-Z]*$/ || words[j] ~ /^--r/) recursive = 1
        if (words[j] ~ /^-[a-zA-Z]*f[a-zA-Z]*$/ || words[j] ~ /^--f/) force = 1
        if (words[j] ~ everything()) all = 1
      }
      if (recursive && (force || all))
        say("refuse", "rm -rf deletes without a way back; name single files, or ask the user to do it")
    }
  }

  function disk() { return "^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk)" }
  function everything() { return "^(/|~|\\.|\\.\\.|\\*|\\$HOME|\\$[{]HOME[}]|\\$PWD)/?[*]?$" }
') || refuse "the command could not be read; nothing is run"

case $verdict in
  refuse\ *) refuse "${verdict#refuse }" ;;
  ask\ *) printf '{"decision": "ask", "reason": "guard: %s"}\n' "${verdict#ask }" ;;
esac
exit 0
