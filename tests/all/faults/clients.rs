//! Faults that our example clients meet: servers that misbehave, and callers that pass what has no
//! JSON form. Each program below prints what its calls came to; both languages print the same.

use std::process::Command;

use hook_tests::{Project, hook_binary, workspace};

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
    elif mode == "no decision":
        say('{"type":"hook-execution-response","correlationId":"client-0"}')
    elif mode == "refuses":
        say('{"type":"hook-refused","message":"no more"}')
    elif mode == "never ends":
        for _ in range(300):
            say((1 << 20) * "x", end="")
        time.sleep(60)
"#;

const PYTHON: &str = r#"
from hook_client import HookClient, HookError
try:
    with HookClient.over_stdio(sys.argv[1:], hello_timeout=HELLO) as hooks:
        problems = []
        hooks.on_problem = problems.append
        for _ in range(2):
            try:
                print(hooks.fire("SessionEnd", {"reason": "exit"})["decision"])
            except HookError as error:
                print("raised")
        print("problems:", len(problems))
except HookError:
    print("not connected")
"#;

const NODE: &str = r#"
try {
  const hooks = await HookClient.overStdio(process.argv.slice(2), {helloTimeoutMs: HELLO * 1000});
  let problems = 0;
  hooks.onProblem = () => problems++;
  for (let count = 0; count < 2; count++) {
    try {
      console.log((await hooks.fire("SessionEnd", {reason: "exit"})).decision);
    } catch (error) {
      if (!(error instanceof HookError)) throw error;
      console.log("raised");
    }
  }
  console.log(`problems: ${problems}`);
  await hooks.close();
} catch (error) {
  if (!(error instanceof HookError)) throw error;
  console.log("not connected");
}
"#;

/// Runs one program in each language that is there; what each printed.
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
fn run(project: &Project, python: &str, node: &str, server: &[&str]) -> Vec<String> {
    let folder = workspace().join("docs/examples/clients");
    let python = format!("import sys\nsys.path.insert(0, {folder:?})\n{python}");
    let client = folder.join("hook_client.mjs");
    let node = format!("const {{HookClient, HookError}} = await import({client:?});\n{node}");
    let mut printed = Vec::new();
    for (language, file, text) in [("python3", "program.py", python), ("node", "program.mjs", node)]
    {
        let program = project.write(file, &text);
        let mut command = Command::new(language);
        command.arg(program).args(server).current_dir(project.path());
        command.env("HOME", project.home()).env("PYTHONDONTWRITEBYTECODE", "1");
        match command.output() {
            Ok(output) => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{language} {server:?}: {stderr}");
                printed.push(String::from_utf8_lossy(&output.stdout).into_owned());
            }
            Err(error) => eprintln!("SKIPPED {language} client: it cannot be run: {error}"),
        }
    }
    assert!(!printed.is_empty(), "neither python3 nor node is there");
    printed
}

#[test]
fn fault_48_our_clients_wait_for_no_evil_server_and_none_dies_of_a_line() {
    let project = Project::new();
    let server = project.write("server.py", EVIL_SERVER);
    for (mode, expected) in [
        ("no hello", "not connected\n"),
        ("no greeting", "not connected\n"),
        ("dies", "raised\nraised\nproblems: 0\n"),
        ("dies in mid-line", "raised\nraised\nproblems: 0\n"),
        ("no JSON", "raised\nblock\nproblems: 1\n"),
        ("NaN", "raised\nblock\nproblems: 1\n"),
        ("a list", "raised\nblock\nproblems: 1\n"),
        ("an id that is a list", "raised\nblock\nproblems: 1\n"),
        ("another id", "block\nblock\nproblems: 1\n"),
        ("twice", "block\nblock\nproblems: 1\n"),
        ("line separators", "block\nblock\nproblems: 0\n"),
        ("no decision", "raised\nblock\nproblems: 0\n"),
        ("refuses", "raised\nraised\nproblems: 0\n"),
        ("never ends", "raised\nraised\nproblems: 0\n"),
    ] {
        let hello = if mode == "no hello" { "1" } else { "30" };
        let (python, node) = (PYTHON.replace("HELLO", hello), NODE.replace("HELLO", hello));
        let server = ["python3", server.to_str().unwrap(), mode];
        for printed in run(&project, &python, &node, &server) {
            assert_eq!(printed, expected, "{mode}");
        }
    }
}

/// What a parser makes of 200,000 levels is its own affair, but nobody waits for it.
#[test]
fn fault_48_an_answer_that_nests_too_deep_is_an_answer_or_an_error() {
    let project = Project::new();
    let server = project.write("server.py", EVIL_SERVER);
    let (python, node) = (PYTHON.replace("HELLO", "30"), NODE.replace("HELLO", "30"));
    let server = ["python3", server.to_str().unwrap(), "too deep"];
    for printed in run(&project, &python, &node, &server) {
        assert!(
            ["block\nblock\nproblems: 0\n", "raised\nblock\nproblems: 1\n"]
                .contains(&printed.as_str()),
            "{printed}"
        );
    }
}

#[test]
fn fault_48_our_clients_raise_at_once_for_what_has_no_json_form_and_go_on() {
    let project = Project::with_settings(&serde_json::json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "grep -q '\"x\":\"[^\"]*ud800' && echo '{\"decision\":\"ask\"}' || true"}]}]}}));
    let python = r#"
from hook_client import HookClient
deep = []
for _ in range(5_000):
    deep = [deep]
loop = []
loop.append(loop)
with HookClient.over_stdio(sys.argv[1:]) as hooks:
    for value in [float("nan"), float("inf"), "x" * (65 << 20), loop, b"bytes"]:
        try:
            print(hooks.fire("SessionEnd", {"reason": "exit", "x": value})["decision"])
        except (ValueError, TypeError):
            print("raised")
    try:
        hooks.fire("SessionEnd", {"reason": "exit", "x": deep})
    except ValueError:
        pass
    answer = hooks.fire("SessionEnd", {"reason": "exit", "x": "\ud800"})
    print(answer["decision"], answer["warnings"])
"#;
    let node = r#"
let deep = [];
for (let level = 0; level < 5_000; level++) deep = [deep];
const loop = [];
loop.push(loop);
const hooks = await HookClient.overStdio(process.argv.slice(2));
for (const value of [NaN, Infinity, "x".repeat(65 << 20), loop, 1n]) {
  try {
    console.log((await hooks.fire("SessionEnd", {reason: "exit", x: value})).decision);
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    console.log("raised");
  }
}
try {
  await hooks.fire("SessionEnd", {reason: "exit", x: deep});
} catch (error) {
  if (!(error instanceof HookError)) throw error;
}
const answer = await hooks.fire("SessionEnd", {reason: "exit", x: "\ud800"});
console.log(`${answer.decision} ${answer.warnings.length ? answer.warnings : "[]"}`);
await hooks.close();
"#;
    let hook = hook_binary().to_str().unwrap();
    let server = [hook, "serve", "--stdio", "--settings=settings.json"];
    for printed in run(&project, python, node, &server) {
        assert_eq!(printed, format!("{}ask []\n", "raised\n".repeat(5)));
    }
}

#[test]
fn our_clients_tell_of_progress_and_of_what_is_wrong_with_settings() {
    let project = Project::with_settings(&serde_json::json!({"hooks": {
        "SessionEnd": [{"hooks": [{"type": "command", "command": "true"}]}],
        "SesionEnd": []}}));
    let python = r#"
from hook_client import HookClient
with HookClient.over_stdio(sys.argv[1:]) as hooks:
    hooks.subscribe(lambda message: print(message["type"]))
    print(len(hooks.fire("SessionEnd", {"reason": "exit"})["warnings"]))
"#;
    let node = r#"
const hooks = await HookClient.overStdio(process.argv.slice(2));
hooks.subscribe((message) => console.log(message.type));
console.log((await hooks.fire("SessionEnd", {reason: "exit"})).warnings.length);
await hooks.close();
"#;
    let hook = hook_binary().to_str().unwrap();
    let server = [hook, "serve", "--stdio", "--settings=settings.json"];
    for printed in run(&project, python, node, &server) {
        assert_eq!(printed, "hook-started\nhook-finished\n1\n");
    }
}
