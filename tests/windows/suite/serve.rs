//! A server, and workers.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::place::{Place, start};

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
