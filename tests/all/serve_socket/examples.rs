//! The agents of docs/examples/sdk, in their languages, as programs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use hook_tests::{Project, SocketServed, hook_binary, output_within, workspace};

use crate::{sdk_python, sdk_typescript};

/// What the README shows.
const SAID: &str = "\
read_file: proceed
run_shell_command: block (guard-shell: not run, `rm -r /` deletes more than this project can lose; name the folder you mean.)
write_file: proceed
write_file: ask (ask-outside: /etc/motd is outside the project; write it anyway?)
";

/// The agents that can be run here. The package is not installed for either, so they find it beside them.
fn agents() -> Vec<(&'static str, PathBuf)> {
    let mut agents = Vec::new();
    match sdk_python::version() {
        Ok(_) => agents.push(("python3", workspace().join("docs/examples/sdk/python/agent.py"))),
        Err(why) => sdk_python::skipped(&why),
    }
    match sdk_typescript::built() {
        // It stands in the copy in which the package was built, as it does in the repository.
        Ok(package) => {
            agents.push(("node", package.join("../../docs/examples/sdk/typescript/agent.mjs")));
        }
        Err(why) => sdk_typescript::skipped(why),
    }
    agents
}

/// Runs each agent with the same arguments.
fn run(arguments: &[&str]) -> Vec<Output> {
    let run = |(language, agent): (&str, PathBuf)| {
        let mut command = Command::new(language);
        command.arg(agent).args(arguments);
        // What comes of reading the package does not belong beside it.
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PYTHONPATH")
            .env_remove("HOOK_SOCKET");
        output_within(Duration::from_secs(120), &mut command).unwrap()
    };
    agents().into_iter().map(run).collect()
}

fn assert_said(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), SAID);
}

#[test]
fn the_example_agents_start_a_server_of_their_own() {
    for output in run(&["--hook", hook_binary().to_str().unwrap()]) {
        assert_said(&output);
    }
}

#[tokio::test]
async fn the_example_agents_ask_a_server_that_runs() {
    let example = workspace().join("docs/examples/agent-session");
    let project = Project::new();
    let settings = example.join(".hooks/settings.json");
    project.write("settings.json", &std::fs::read_to_string(settings).unwrap());
    let arguments = ["--project", example.to_str().unwrap()];
    let served = SocketServed::start(&project, &arguments).await;
    for output in run(&["--socket", served.socket().to_str().unwrap()]) {
        assert_said(&output);
    }
}

#[test]
fn the_example_agents_end_where_there_is_no_server() {
    for arguments in [["--socket", "/no/such/socket"], ["--hook", "/no/such/program"]] {
        for output in run(&arguments) {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{said}");
            let last = said.lines().last().unwrap();
            assert!(last.starts_with("agent: ") && last.contains("/no/such/"), "{said}");
            assert_eq!(output.stdout, b"");
        }
    }
}

#[test]
fn the_example_agents_end_with_a_server_that_ends_at_once() {
    let project = Project::new();
    let server = project.write("server", "#!/bin/sh\necho 'no settings' >&2\nexit 7\n");
    std::fs::set_permissions(&server, Permissions::from_mode(0o755)).unwrap();
    for output in run(&["--hook", server.to_str().unwrap()]) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let last = said.lines().last().unwrap();
        assert!(said.contains("no settings\n") && last.starts_with("agent: "), "{said}");
    }
}

#[tokio::test]
async fn the_example_of_a_model_call_lays_what_hooks_changed_onto_the_response() {
    if let Err(why) = sdk_python::version() {
        return sdk_python::skipped(&why);
    }
    let changed = "{'role': 'assistant', 'content': '***'}\n";
    for (answer, expected) in [
        (r#"{"text": "***"}"#, changed),
        (
            r#"{"text": "-", "candidates": [{"content": {"role": "model", "parts": ["*", "**"]}}]}"#,
            changed,
        ),
        ("{}", "{'role': 'assistant', 'content': 'my key is 1234'}\n"),
    ] {
        let answer = format!(r#"{{"hookSpecificOutput": {{"llm_response": {answer}}}}}"#);
        let project = Project::with_hook("AfterModel", &format!("echo '{answer}'"));
        let served = SocketServed::start(&project, &[]).await;
        let mut program = project.command("python3");
        program.arg(workspace().join("docs/examples/sdk/python/model-call.py"));
        program.env("PYTHONPATH", workspace().join("sdks/python/src"));
        program.env("PYTHONDONTWRITEBYTECODE", "1").env("HOOK_SOCKET", served.socket());
        let output = program.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, expected, "{answer}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_readme_of_the_examples_shows_what_the_agents_say() {
    let readme = std::fs::read_to_string(workspace().join("docs/examples/sdk/README.md"));
    assert!(readme.unwrap().contains(SAID));
}
