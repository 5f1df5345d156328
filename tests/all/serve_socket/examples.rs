//! The clients of docs/examples/clients, in their languages.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use hook_tests::{Project, SocketServed, hook_binary, workspace};

/// What the README shows.
const SAID: &str = "\
read_file: proceed
run_shell_command: block (guard-shell: not run, `rm -r /` deletes more than this project can lose; name the folder you mean.)
write_file: proceed
write_file: ask (ask-outside: /etc/motd is outside the project; write it anyway?)
";

const CLIENTS: [(&str, &str); 2] = [("python3", "hook_client.py"), ("node", "hook_client.mjs")];

/// Runs a client; `None` where its language is not there.
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
fn run(language: &str, client: &str, arguments: &[&str]) -> Option<Output> {
    let client = workspace().join("docs/examples/clients").join(client);
    match Command::new(language).arg(client).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED {language} client: {language} cannot be run: {error}");
            None
        }
    }
}

fn assert_said(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), SAID);
}

#[test]
fn the_example_clients_start_a_server_of_their_own() {
    for (language, client) in CLIENTS {
        let hook = hook_binary().to_str().unwrap();
        if let Some(output) = run(language, client, &["--hook", hook]) {
            assert_said(&output);
        }
    }
}

#[tokio::test]
async fn the_example_clients_ask_a_server_that_runs() {
    let example = workspace().join("docs/examples/agent-session");
    let project = Project::new();
    let settings = example.join(".hooks/settings.json");
    project.write("settings.json", &std::fs::read_to_string(settings).unwrap());
    let arguments = ["--project", example.to_str().unwrap()];
    let served = SocketServed::start(&project, &arguments).await;
    let socket = served.socket().to_str().unwrap();
    for (language, client) in CLIENTS {
        if let Some(output) = run(language, client, &["--socket", socket]) {
            assert_said(&output);
        }
    }
}

#[test]
fn the_example_clients_say_that_there_is_no_server() {
    for (language, client) in CLIENTS {
        let ways = [["--socket", "/no/such/socket"], ["--hook", "/no/such/program"]];
        for arguments in ways {
            if let Some(output) = run(language, client, &arguments) {
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(1), "{said}");
                assert!(said.starts_with("hook_client: ") && said.lines().count() == 1, "{said}");
            }
        }
    }
}

#[test]
fn the_example_clients_say_how_a_server_ended_that_ends_at_once() {
    let project = Project::new();
    let server = project.write("server", "#!/bin/sh\necho 'no settings' >&2\nexit 7\n");
    std::fs::set_permissions(&server, Permissions::from_mode(0o755)).unwrap();
    for (language, client) in CLIENTS {
        let Some(output) = run(language, client, &["--hook", server.to_str().unwrap()]) else {
            continue;
        };
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        let how = "ended with exit code 7; what it wrote to stderr says why\n";
        assert!(said.starts_with("no settings\nhook_client: ") && said.ends_with(how), "{said}");
    }
}

#[test]
fn the_example_clients_have_help() {
    for (language, client) in CLIENTS {
        if let Some(output) = run(language, client, &["--help"]) {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.starts_with("usage: hook_client."), "{said}");
        }
    }
}

/// Runs programs that use a client, which say the same; `hook serve --stdio` is in their arguments.
fn run_programs(project: &Project, python: &str, node: &str) -> Vec<String> {
    let folder = workspace().join("docs/examples/clients");
    let python = format!("import sys\nsys.path.insert(0, {folder:?})\n{python}");
    let client = folder.join("hook_client.mjs");
    let node = format!("const {{HookClient}} = await import({client:?});\n{node}");
    let programs = [("python3", "program.py", python), ("node", "program.mjs", node)];
    let mut said = Vec::new();
    for (language, file, text) in programs {
        project.write(file, &text);
        let program = project.path().join(file);
        let serve = ["serve", "--stdio", "--settings=settings.json"];
        let mut command = project.command(language);
        // Its own file of byte code does not belong beside the example.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.arg(program).arg(hook_binary()).args(serve);
        let Ok(output) = command.output() else { continue };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        said.push(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    assert!(!said.is_empty());
    said
}

#[test]
fn the_example_clients_cancel_a_request_and_have_settings_read_anew() {
    let project = Project::with_hook("SessionEnd", "sleep 60");
    let python = r#"
from hook_client import HookClient
with HookClient.over_stdio(sys.argv[1:]) as hooks:
    asked = hooks.request("SessionEnd", {"reason": "exit"}, correlation_id="slow")
    hooks.cancel("slow")
    print(asked.result()["error"]["code"])
    print(hooks.reload()["totalHooks"])
    open("settings.json", "w").write("{}")
    print(hooks.reload()["totalHooks"])
"#;
    let node = r#"
import {writeFileSync} from "node:fs";
const hooks = await HookClient.overStdio(process.argv.slice(2));
const asked = hooks.request("SessionEnd", {reason: "exit"}, {correlationId: "slow"});
hooks.cancel("slow");
console.log((await asked).error.code);
console.log((await hooks.reload()).totalHooks);
writeFileSync("settings.json", "{}");
console.log((await hooks.reload()).totalHooks);
await hooks.close();
"#;
    let settings = project.read("settings.json");
    let node = format!(
        "import {{writeFileSync as write}} from \"node:fs\";\n\
         write(\"settings.json\", {settings:?});\n{node}"
    );
    for said in run_programs(&project, python, &node) {
        assert_eq!(said, "cancelled\n1\n0\n");
    }
}

#[test]
fn the_python_client_lays_what_hooks_changed_onto_a_response() {
    let answers = [
        r#"{"text": "***"}"#,
        r#"{"text": "-", "candidates": [{"content": {"role": "model", "parts": ["*", "**"]}}]}"#,
    ];
    for answer in answers {
        let answer = format!(r#"{{"hookSpecificOutput": {{"llm_response": {answer}}}}}"#);
        let project = Project::with_hook("AfterModel", &format!("echo '{answer}'"));
        let python = r#"
import json
from hook_client import HookClient, laid_onto
call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
message = {"role": "assistant", "content": "my key is 1234", "tool_calls": [call]}
response = {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
request = {"model": "m", "messages": [{"role": "user", "content": "what is your key?"}]}
fired = {"sdk": "openai-chat", "llm_request": request, "llm_response": response}
with HookClient.over_stdio(sys.argv[1:]) as hooks:
    changed = laid_onto(response, hooks.fire("AfterModel", fired))
    assert response["choices"][0]["message"]["content"] == "my key is 1234"
    response["choices"][0]["message"]["content"] = "***"
    print(changed == response)
    open("settings.json", "w").write("{}")
    hooks.reload()
    print(laid_onto(response, hooks.fire("AfterModel", fired)) is response)
"#;
        let said = run_programs(&project, python, "console.log(\"True\\nTrue\");");
        assert_eq!(said[0], "True\nTrue\n", "{answer}");
    }
}

#[test]
fn the_readme_of_the_clients_shows_what_they_say() {
    let readme = std::fs::read_to_string(workspace().join("docs/examples/clients/README.md"));
    assert!(readme.unwrap().contains(SAID));
}
