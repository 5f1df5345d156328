#!/usr/bin/env python3
# Blocks shell commands that destroy things or run what was just downloaded. For BeforeTool
# on run_shell_command. Answers decision "deny" with the reason, or nothing.
# It reads a command as a shell does, but runs nothing: it cannot see what is in variables, scripts or
# encoded text. It catches accidents; it is not a sandbox, and in doubt it blocks.
import json
import posixpath
import re
import shlex
import sys

SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node"}
DOWNLOADERS = {"curl", "wget"}
# What runs a text that it is given as an argument.
RUNNERS = SHELLS | {"eval", "ssh", "su", "trap", "watch"}
KNOWN = INTERPRETERS | DOWNLOADERS | RUNNERS | {"rm", "git", "dd", "wipefs", "find"}
PRECIOUS = {"/", "~", "$HOME", "${HOME}", ".", "..", "*", ".git", "$PWD", "${PWD}"} | {
    "/" + name for name in "bin boot dev etc home lib lib64 opt root sbin srv sys usr var".split()}
DISK = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|r?disk\d)")
OPERATORS = ";|&()<>`\n"


def words_of(command):
    command = re.sub(r"\$(?=[\"'])", "", command.replace("\\\n", " "))
    lexer = shlex.shlex(command, posix=True, punctuation_chars=OPERATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote without its partner: read it without quoting
        return re.findall(r"[;|&()<>`\n]+|[^\s;|&()<>`\"']+", command)


def is_known(word):
    name = posixpath.basename(word)
    return name in KNOWN or name.startswith("mkfs")


def commands_in(words):
    """Each known command among the words, with what follows it: it may stand behind sudo, env, xargs
    and the like, and behind their options."""
    return [(posixpath.basename(word), words[i + 1:]) for i, word in enumerate(words) if is_known(word)]


def name_of(words):
    """The first known command."""
    return next((name for name, _ in commands_in(words)), "")


def has_flag(args, letters, *long):
    """`-rf` and the like, or the long form; what follows `--` is no option."""
    args = args[:args.index("--")] if "--" in args else args
    return any(a in long or re.match(r"-[a-zA-Z]*[%s]" % letters, a) for a in args)


def git_subcommand(args):
    rest = iter(args)
    for arg in rest:
        if arg in ("-C", "-c", "--git-dir", "--work-tree"):
            next(rest, None)
        elif not arg.startswith("-"):
            return arg
    return ""


def precious(path):
    if "{" in path and "$" not in path:  # {/,x} is both
        return any(precious(part) for part in re.split("[{},]", path) if part)
    path = re.sub(r"/+", "/", path)
    path = re.sub(r"(?<=.)/\.?\*?$", "", path) if path != "/*" else "/"
    path = posixpath.normpath(path or "/")
    return path in PRECIOUS or set(path.split("/")) == {".."}


def judge(name, args, depth):
    """Why this one command must not run, or None."""
    if name == "rm" and has_flag(args, "rR", "--recursive"):
        for target in (a for a in args if not a.startswith("-")):
            if precious(target):
                return f"`rm -r {target}` deletes more than this project can lose; name the folder you mean"
    if name == "git" and git_subcommand(args) == "push":
        if has_flag(args, "f", "--force", "--mirror") or any(a.startswith("+") for a in args):
            return "a forced push rewrites history others may have; use --force-with-lease or ask first"
    if name.startswith("mkfs") or name == "wipefs":
        return f"`{name}` erases a file system"
    if name == "dd" and any(a.startswith("of=") and DISK.match(a[3:]) for a in args):
        return "`dd` onto a disk erases it"
    if name == "find" and ("-delete" in args or "rm" in map(posixpath.basename, args)):
        narrowed = any(a.startswith(("-name", "-iname", "-path", "-regex", "-mtime", "-size")) for a in args)
        for start in (a for a in args if precious(a) and not (narrowed and a in (".", "./"))):
            return f"`find {start}` would delete more than this project can lose; name the folder you mean"
    if name in RUNNERS:
        for text in args:
            if re.match(r"[\s$`<(]*(curl|wget)\b", text):
                return "it runs what it downloads; save it to a file and read it first"
            why = look(text, depth + 1) if re.search(r"[\s;&|]", text) else None
            if why:
                return why
    return None


def look(command, depth=0):
    if depth > 5:
        return "it nests shells deeper than this guard reads"
    if re.search(r"((?<!\w)\w+|:)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&", command):
        return "it looks like a fork bomb"
    segment, downloads, redirect, substituted = [], False, "", False

    def finish():
        nonlocal downloads
        for name, args in commands_in(segment):
            if name in INTERPRETERS and downloads or name in DOWNLOADERS and substituted:
                return "it runs what it downloads; save it to a file and read it first"
            why = judge(name, args, depth)
            if why:
                return why
        downloads = downloads or any(name in DOWNLOADERS for name, _ in commands_in(segment))
        return None

    for word in words_of(command) + ["\n"]:
        if not word or word.strip(OPERATORS):
            if redirect and DISK.match(word):
                return f"it writes onto the disk {word}"
            inner = re.search(r"\$\((.+)|`(.+)", word, re.DOTALL)  # "$(…)" in quotes
            why = inner and look(inner.group(1) or inner.group(2), depth + 1)
            if why:
                return why
            # What `bash <<<` is given, it runs.
            why = redirect == "<<<" and name_of(segment) in RUNNERS and look(word, depth + 1)
            if why:
                return why
            if not redirect:
                segment.append(word)
            redirect = ""
            continue
        redirect = word if ("<" in word or ">" in word) and "(" not in word else ""
        if redirect:
            continue
        why = finish()
        if why:
            return why
        substituted = "<(" in word and bool(segment) and (
            name_of(segment) in INTERPRETERS or segment[0] in ("source", "."))
        if word.strip("()`") not in ("", "|", "|&"):  # anything but a pipe ends the pipeline
            downloads = False
        segment = []
    return None


def main():
    data = json.loads(sys.stdin.buffer.read())
    command = data["tool_input"].get("command")
    if isinstance(command, list):
        command = shlex.join(map(str, command))
    if not isinstance(command, str):
        sys.exit("guard-shell: the tool call has no command that this guard can read")
    why = look(command.replace("\0", ""))
    if why:
        print(json.dumps({"decision": "deny", "reason": f"guard-shell: not run, {why}."}))


try:
    main()
# With failBehavior block, a guard that fails has denied.
except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
    sys.exit(f"guard-shell: the input cannot be read: {error!r:.200}")
