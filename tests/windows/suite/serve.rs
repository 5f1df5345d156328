//! A server, and workers.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::place::{Place, run, start, until};

struct Served {
    process: std::process::Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Served {
    fn start(place: &Place, settings: &std::path::Path) -> Self {
        let mut command = place.hook(&["serve", "--stdio", "--no-user", "--settings"]);
        command.arg(settings);
        let mut process = start(command);
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut served = Self { process, lines };
        assert_eq!(served.next()["type"], "hook-hello");
        served
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("it goes on").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"))
    }

    fn request(&mut self, id: &str) -> Value {
        let input = json!({"tool_name": "write_file", "tool_input": {"path": "größe"}});
        let request = json!({"type": "hook-execution-request", "correlationId": id,
            "eventName": "BeforeTool", "input": input});
        writeln!(self.process.stdin.as_mut().unwrap(), "{request}").unwrap();
        loop {
            let message = self.next();
            if message["correlationId"] == id {
                return message;
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
    }
}

#[test]
fn serve_answers_requests_and_ends_with_its_input() {
    let place = Place::new();
    let settings = place.settings(&place.probe_with("input /tool_input/path"), json!({}));
    let mut served = Served::start(&place, &settings);
    for id in ["one", "two"] {
        let response = served.request(id);
        assert!(response.to_string().contains("\"größe\""), "{response}");
    }
    drop(served.process.stdin.take());
    assert_eq!(served.process.wait().unwrap().code(), Some(0));
}

#[test]
fn a_worker_is_started_once_and_again_after_it_died() {
    let place = Place::new();
    for (how, expected) in
        [("steady", ["call 1", "call 2", "call 3"]), ("dying", ["call 1", "", "call 1"])]
    {
        let more = json!({"type": "worker", "failBehavior": "block"});
        let settings = place.settings(&place.probe_with(&format!("worker {how}")), more);
        let mut served = Served::start(&place, &settings);
        for (index, expected) in expected.iter().enumerate() {
            let response = served.request(&format!("{how} {index}"));
            let text = response.to_string();
            assert!(text.contains("\"block\"") || text.contains("\"deny\""), "{how}: {text}");
            assert!(text.contains(expected), "{how}: {expected} in {text}");
        }
        drop(served.process.stdin.take());
        assert_eq!(served.process.wait().unwrap().code(), Some(0), "{how}");
    }
}

#[test]
fn a_worker_that_is_no_worker_blocks_as_a_guard() {
    let place = Place::new();
    let more = json!({"type": "worker", "failBehavior": "block"});
    let fired = place.fire(&place.settings(&place.probe_with("say 'no message'"), more));
    assert_eq!(fired.code, 2, "{fired:?}");
}

/// A server of the project at its own socket, with a worker of the user as the hook.
fn shared_server(place: &Place) -> (std::process::Child, std::path::PathBuf) {
    let hook = json!({"type": "worker", "command": place.probe_with("worker steady"), "failBehavior": "block"});
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}});
    std::fs::create_dir_all(place.roaming().join("hooks")).unwrap();
    std::fs::write(place.roaming().join(r"hooks\settings.json"), settings.to_string()).unwrap();
    let process = start(place.hook(&["serve", "--socket"]));
    let folder = place.local().join(r"hook\run");
    let socket = || {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        files.map(|it| it.path()).find(|it| it.extension().is_some_and(|it| it == "sock"))
    };
    until("the server listens", || socket().is_some());
    (process, socket().unwrap())
}

fn bridged(place: &Place) -> crate::place::Finished {
    bridge(place, &crate::agents::claude_call(place))
}

fn bridge(place: &Place, call: &str) -> crate::place::Finished {
    run(place.hook(&["bridge", "claude", "PreToolUse"]), call)
}

#[test]
fn a_server_on_a_named_pipe_is_asked_and_shares_its_workers() {
    let place = Place::new();
    let (mut server, socket) = shared_server(&place);
    let twice = crate::agents::claude_call(&place);
    let once = crate::agents::claude_call(&place);
    for (call, input) in [("call 1", &twice), ("call 1", &twice), ("call 2", &once)] {
        let answer = bridge(&place, input);
        assert!(answer.stdout.contains(call), "{answer:?}");
    }
    let listed = place.run(&["list", "--json"]);
    let name = socket.file_name().unwrap().to_str().unwrap();
    assert!(listed.stdout.contains(name), "{listed:?}");
    let second = place.run(&["serve", "--socket"]);
    assert!(second.stderr.contains("a server listens there already"), "{second:?}");
    assert!(bridged(&place).stdout.contains("call 3"), "and the first one still answers");
    // A killed server leaves its file behind, and the next one replaces it.
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(socket.exists());
    assert!(bridged(&place).stdout.contains("call 1"), "the engine runs in the bridge");
    let left = std::fs::read(&socket).unwrap();
    let mut next = start(place.hook(&["serve", "--socket"]));
    until("the next server listens", || std::fs::read(&socket).is_ok_and(|it| it != left));
    assert!(bridged(&place).stdout.contains("call 1"));
    assert!(bridged(&place).stdout.contains("call 2"));
    next.kill().unwrap();
    next.wait().unwrap();
}

#[test]
fn a_server_that_does_not_prove_itself_is_not_asked() {
    let place = Place::new();
    let (mut server, socket) = shared_server(&place);
    let text = std::fs::read_to_string(&socket).unwrap();
    let (pipe, proof) = text.split_once('\n').unwrap();
    assert!(pipe.starts_with(r"\\.\pipe\hook-"), "{pipe}");
    assert_eq!(proof.len(), 65, "{proof}");
    // As where another user's server took the name.
    std::fs::write(&socket, format!("{pipe}\n{}\n", "0".repeat(64))).unwrap();
    let answer = bridged(&place);
    assert!(answer.stdout.contains("call 1"), "the engine runs in the bridge: {answer:?}");
    let tailed = place.run(&["tail"]);
    assert!(tailed.stderr.contains("is not yours"), "{tailed:?}");
    let elsewhere = place.project().join("own.sock");
    let refused = place.run(&["serve", "--socket", elsewhere.to_str().unwrap()]);
    assert!(refused.stderr.contains("others may be able to change"), "{refused:?}");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_bridge_starts_a_server_for_later_calls_and_ends_without_it() {
    let place = Place::new();
    let hook = json!({"type": "worker", "command": place.probe_with("worker steady")});
    let settings =
        json!({"hooksConfig": {"server": "auto"}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}});
    std::fs::create_dir_all(place.roaming().join("hooks")).unwrap();
    std::fs::write(place.roaming().join(r"hooks\settings.json"), settings.to_string()).unwrap();
    // Its output ends with it, although the server goes on.
    assert!(bridged(&place).stdout.contains("call 1"));
    until("the server answers", || bridged(&place).stdout.contains("call 2"));
    let ended = place.run(&["uninstall"]);
    assert!(ended.stdout.contains("ended the server"), "{ended:?}");
    let folder = place.local().join(r"hook\run");
    until("the pipe is closed", || {
        let files = std::fs::read_dir(&folder).unwrap().flatten();
        !files.map(|it| it.path()).any(|it| it.extension().is_some_and(|it| it == "sock"))
    });
}
