#!/usr/bin/env python3
# Blocks shell commands that destroy things or run what was just downloaded. For BeforeTool
# on run_shell_command. Answers decision "deny" with the reason, or nothing.
# It catches accidents; it is not a sandbox, and in doubt it blocks.
import json
import posixpath
import re
import shlex
import sys

SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node"}
DOWNLOADERS = {"curl", "wget"}
# Words that may stand before the command that counts.
WRAPPERS = {"sudo", "doas", "env", "command", "builtin", "exec", "nohup", "time", "timeout", "nice",
            "xargs", "if", "then", "else", "do", "while", "until", "!", "{", "$"}
KNOWN = INTERPRETERS | DOWNLOADERS | {"rm", "git", "dd", "wipefs", "eval"}
PRECIOUS = {"/", "~", "$HOME", "${HOME}", ".", "..", "*", ".git", "$PWD", "${PWD}"} | {
    "/" + name for name in "bin boot dev etc home lib lib64 opt root sbin srv sys usr var".split()}
DISK = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|r?disk\d)")
OPERATORS = ";|&()<>`\n"


def words_of(command):
    command = command.replace("\\\n", " ")
    lexer = shlex.shlex(command, posix=True, punctuation_chars=OPERATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote without its partner: read it without quoting
        return re.findall(r"[;|&()<>`\n]+|[^\s;|&()<>`\"']+", command)


def is_known(word):
    name = posixpath.basename(word)
    return name in KNOWN or name.startswith("mkfs")


def simple_command(words):
    """Name and arguments behind wrappers (`sudo -u root rm`) and assignments (`A=b rm`)."""
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    if words and posixpath.basename(words[0]) in WRAPPERS:
        words = words[next((i for i, word in enumerate(words) if is_known(word)), 0):]
    return (posixpath.basename(words[0]), words[1:]) if words else ("", [])


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
    path = re.sub(r"/+", "/", path)
    path = re.sub(r"(?<=.)/\.?\*?$", "", path) if path != "/*" else "/"
    return posixpath.normpath(path or "/") in PRECIOUS


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
    if name in SHELLS and has_flag(args, "c") or name == "eval":
        for text in args:
            if re.match(r"[\s$`<(]*(curl|wget)\b", text):
                return "it runs what it downloads; save it to a file and read it first"
            why = look(text, depth + 1)
            if why:
                return why
    return None


def look(command, depth=0):
    if depth > 5:
        return "it nests shells deeper than this guard reads"
    if re.search(r"((?<!\w)\w+|:)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&", command):
        return "it looks like a fork bomb"
    segment, downloads, redirect, substituted = [], False, False, False

    def finish():
        nonlocal downloads
        name, args = simple_command(segment)
        if name in INTERPRETERS and downloads or name in DOWNLOADERS and substituted:
            return "it runs what it downloads; save it to a file and read it first"
        downloads = downloads or name in DOWNLOADERS
        return judge(name, args, depth)

    for word in words_of(command) + ["\n"]:
        if not word or word.strip(OPERATORS):
            if redirect and DISK.match(word):
                return f"it writes onto the disk {word}"
            inner = re.search(r"\$\((.+)|`(.+)", word, re.DOTALL)  # "$(…)" in quotes
            why = inner and look(inner.group(1) or inner.group(2), depth + 1)
            if why:
                return why
            if not redirect:
                segment.append(word)
            redirect = False
            continue
        redirect = ("<" in word or ">" in word) and "(" not in word
        if redirect:
            continue
        why = finish()
        if why:
            return why
        substituted = "<(" in word and simple_command(segment)[0] in INTERPRETERS | {"source", "."}
        if word.strip("()`") not in ("", "|", "|&"):  # anything but a pipe ends the pipeline
            downloads = False
        segment = []
    return None


def main():
    try:
        data = json.loads(sys.stdin.buffer.read() or b"{}")
    except (ValueError, RecursionError) as error:
        sys.exit(f"guard-shell: the input is not JSON: {error}")
    tool_input = data.get("tool_input") if isinstance(data, dict) else None
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if isinstance(command, list):
        command = shlex.join(str(word) for word in command)
    if not isinstance(command, str):
        return
    why = look(command)
    if why:
        print(json.dumps({"decision": "deny", "reason": f"guard-shell: not run, {why}."}))


main()
