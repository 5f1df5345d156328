//! The clients of docs/examples/clients, in their languages.

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
fn the_readme_of_the_clients_shows_what_they_say() {
    let readme = std::fs::read_to_string(workspace().join("docs/examples/clients/README.md"));
    assert!(readme.unwrap().contains(SAID));
}
