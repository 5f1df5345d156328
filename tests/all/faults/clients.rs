//! Faults that the clients of our SDKs meet: servers that misbehave, and callers that pass what has no
//! JSON form. Each program below prints what its calls came to; both languages print the same.

use std::process::Command;
use std::time::Duration;

use hook_tests::{Project, hook_binary, output_within, workspace};

use crate::{sdk_python, sdk_typescript};

/// A server that greets, and then does something wrong, by its argument.
const EVIL_SERVER: &str = r#"
import json, sys, time
mode = sys.argv[1]

def say(text, end="\n"):
    sys.stdout.write(text + end)
    sys.stdout.flush()

def response(of, **fields):
    return json.dumps({"type": "hook-execution-response", "correlationId": of["correlationId"],
                       "success": True, "processed": {"decision": "block", "reason": mode}, **fields},
                      ensure_ascii=False)

if mode == "no hello":
    sys.stdin.read()
if mode == "no greeting":
    say("Welcome!")
    sys.exit(0)
say('{"type":"hook-hello","engine":"hook","version":"0","protocol":1}')
for number, line in enumerate(sys.stdin):
    request = json.loads(line)
    if number > 0:
        say(response(request))
    elif mode == "dies":
        sys.exit(3)
    elif mode == "dies in mid-line":
        say(response(request)[:40], end="")
        sys.exit(3)
    elif mode == "no JSON":
        say("Segmentation fault")
    elif mode == "NaN":
        say(response(request, x=float("nan")))
    elif mode == "too deep":
        say(response(request)[:-1] + ',"x":' + 200_000 * "[" + 200_000 * "]" + "}")
    elif mode == "a list":
        say(json.dumps([json.loads(response(request))]))
    elif mode == "an id that is a list":
        say(response({"correlationId": [1]}))
    elif mode == "another id":
        say(response({"correlationId": "nobody's"}))
        say(response(request))
    elif mode == "twice":
        say(response(request))
        say(response(request))
    elif mode == "line separators":
        inner = response({"correlationId": "forged"})
        say(response(request, x="\u2028" + inner + "\u2029\u0085" + inner))
    elif mode == "5 MB":
        say(response(request, x=(5 << 20) * "x"))
    elif mode == "no decision":
        say(response(request, processed=None))
    elif mode == "refuses":
        say('{"type":"hook-refused","message":"no more"}')
        sys.exit(0)
    elif mode == "never ends":
        for _ in range(300):
            say((1 << 20) * "x", end="")
        time.sleep(60)
"#;

const PYTHON: &str = r#"
import asyncio, hook_sdk.connection, hook_sdk.requests
from hook_sdk import A3sClient, HookError
hook_sdk.connection.HELLO_SECONDS = GREETING
hook_sdk.requests.DOUBT_SECONDS = 0.0  # A line that may have been an answer is waited for no longer.

async def main():
    problems = []
    async with A3sClient(command=sys.argv[1:], on_problem=problems.append) as client:
        for _ in range(2):
            try:
                print((await client.fire("SessionEnd", {"reason": "exit"})).decision, flush=True)
            except HookError:
                print("raised", flush=True)
    print("told" if problems else "not told")

asyncio.run(asyncio.wait_for(main(), 300))
"#;

const NODE: &str = r#"
let problems = 0;
const client = new A3sClient({
  transport: "stdio", command: process.argv.slice(2), helloTimeoutMs: GREETING * 1000, onProblem: () => problems++,
});
for (let count = 0; count < 2; count++) {
  try {
    console.log((await client.fire("SessionEnd", {reason: "exit"})).decision);
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    console.log("raised");
  }
}
await client.close();
console.log(problems ? "told" : "not told");
"#;

/// Runs one program in each language that is there; what each printed, and in which.
fn run(
    project: &Project,
    python: &str,
    node: &str,
    server: &[&str],
) -> Vec<(&'static str, String)> {
    let mut programs = Vec::new();
    match sdk_python::version() {
        Ok(_) => {
            let package = workspace().join("sdks/python/src");
            let text = format!("import sys\nsys.path.insert(0, {package:?})\n{python}");
            programs.push(("python3", "program.py", text));
        }
        Err(why) => sdk_python::skipped(&why),
    }
    match sdk_typescript::built() {
        Ok(package) => {
            let index = package.join("dist/index.js");
            let text = format!("const {{A3sClient, HookError}} = await import({index:?});\n{node}");
            programs.push(("node", "program.mjs", text));
        }
        Err(why) => sdk_typescript::skipped(why),
    }
    let run = |(language, file, text): (&'static str, &str, String)| {
        let mut command = Command::new(language);
        command.arg(project.write(file, &text)).args(server).current_dir(project.path());
        command.env("HOME", project.home()).env("PYTHONDONTWRITEBYTECODE", "1");
        let output = output_within(Duration::from_secs(120), &mut command).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{language} {server:?}: {stderr}");
        (language, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    programs.into_iter().map(run).collect()
}

#[test]
fn fault_48_our_clients_wait_for_no_evil_server_and_none_dies_of_a_line() {
    let project = Project::new();
    let server = project.write("server.py", EVIL_SERVER);
    for (mode, expected) in [
        ("no hello", "raised\nraised\n"),
        ("no greeting", "raised\nraised\n"),
        ("dies", "raised\nraised\n"),
        ("dies in mid-line", "raised\nraised\n"),
        ("no JSON", "raised\nblock\ntold\n"),
        ("NaN", "raised\nblock\ntold\n"),
        ("a list", "raised\nblock\ntold\n"),
        ("an id that is a list", "raised\nblock\ntold\n"),
        ("another id", "block\nblock\ntold\n"),
        ("twice", "block\nblock\ntold\n"),
        ("line separators", "block\nblock\nnot told\n"),
        ("5 MB", "block\nblock\nnot told\n"),
        ("no decision", "raised\nblock\nnot told\n"),
        ("refuses", "raised\nraised\n"),
        ("never ends", "raised\nraised\n"),
    ] {
        let hello = if mode == "no hello" { "1" } else { "30" };
        let (python, node) = (PYTHON.replace("GREETING", hello), NODE.replace("GREETING", hello));
        let server = ["python3", server.to_str().unwrap(), mode];
        for (language, printed) in run(&project, &python, &node, &server) {
            // Whether an end that each call is told of is told besides is up to the language.
            assert!(printed.starts_with(expected), "{language} {mode}: {printed}");
        }
    }
}

/// What a parser makes of 200,000 levels is its own affair, but nobody waits for it.
#[test]
fn fault_48_an_answer_that_nests_too_deep_is_an_answer_or_an_error() {
    let project = Project::new();
    let server = project.write("server.py", EVIL_SERVER);
    let (python, node) = (PYTHON.replace("GREETING", "30"), NODE.replace("GREETING", "30"));
    let server = ["python3", server.to_str().unwrap(), "too deep"];
    for (language, printed) in run(&project, &python, &node, &server) {
        assert!(
            ["block\nblock\nnot told\n", "raised\nblock\ntold\n"].contains(&printed.as_str()),
            "{language}: {printed}"
        );
    }
}

#[test]
fn fault_48_our_clients_raise_at_once_for_what_has_no_json_form_and_go_on() {
    let project = Project::with_settings(&serde_json::json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "grep -q '\"x\":\"[^\"]*ud800' && echo '{\"decision\":\"ask\"}' || true"}]}]}}));
    let python = r#"
import asyncio
from hook_sdk import A3sClient, ValueNotSendable
deep = []
for _ in range(5_000):
    deep = [deep]
loop = []
loop.append(loop)

async def main():
    async with A3sClient(command=sys.argv[1:]) as client:
        for value in [float("nan"), float("inf"), "x" * (5 << 20), loop, deep, b"bytes"]:
            try:
                print((await client.fire("SessionEnd", {"reason": "exit", "x": value})).decision)
            except ValueNotSendable:
                print("raised")
        outcome = await client.fire("SessionEnd", {"reason": "exit", "x": "\ud800"})
        print(outcome.decision, len(outcome.warnings))

asyncio.run(main())
"#;
    let node = r#"
let deep = [];
for (let level = 0; level < 5_000; level++) deep = [deep];
const loop = [];
loop.push(loop);
const client = new A3sClient({transport: "stdio", command: process.argv.slice(2)});
for (const value of [NaN, Infinity, "x".repeat(5 << 20), loop, deep, 1n]) {
  try {
    console.log((await client.fire("SessionEnd", {reason: "exit", x: value})).decision);
  } catch (error) {
    if (error.name !== "HookValueError") throw error;
    console.log("raised");
  }
}
const {decision, warnings} = await client.fire("SessionEnd", {reason: "exit", x: "\ud800"});
console.log(decision, warnings.length);
await client.close();
"#;
    let hook = hook_binary().to_str().unwrap();
    let server = [hook, "serve", "--stdio", "--settings=settings.json"];
    for (language, printed) in run(&project, python, node, &server) {
        assert_eq!(printed, format!("{}ask 0\n", "raised\n".repeat(6)), "{language}");
    }
}
