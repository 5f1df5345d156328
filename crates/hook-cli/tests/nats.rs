//! `hook serve --nats`, `hook fire --nats` and `hook doctor --nats`, through the binary and a real broker.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    dead_code,
    reason = "a test that finds something else fails, and not each needs all that brokers can do"
)]

#[path = "nats/accounts.rs"]
mod accounts;
#[path = "../../hook-remote/tests/nats/broker.rs"]
mod broker;
#[path = "nats/faults.rs"]
mod faults;
#[path = "nats/pages.rs"]
mod pages;
#[path = "nats/sdks.rs"]
mod sdks;
#[path = "nats/watched.rs"]
mod watched;

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use broker::Broker;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The command in a folder, with a home of its own.
fn hook(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hook"));
    command.env("XDG_RUNTIME_DIR", folder.join("run")).env("HOME", folder);
    command.env("XDG_CONFIG_HOME", folder.join("config")).env_remove("HOOK_LOG");
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// An engine that ends with the test.
struct Engine(Child);

impl Engine {
    /// One with this hook that is in the group.
    fn join(broker: &Broker, name: &str, hook_command: &str) -> Self {
        Self::join_with(broker, name, &[("guard", hook_command)])
    }

    /// One with these hooks, by name and command.
    fn join_with(broker: &Broker, name: &str, hooks: &[(&str, &str)]) -> Self {
        let folder = broker.path(name);
        std::fs::create_dir_all(&folder).unwrap();
        let entry = |(name, command): &(&str, &str)| json!({"type": "command", "command": command, "name": name});
        let hooks: Vec<Value> = hooks.iter().map(entry).collect();
        let settings = json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}});
        std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        let mut command = hook(&folder);
        command.args(["serve", "--nats", &broker.url(), "--settings", "settings.json"]);
        let (engine, said) = Self::joined(&mut command);
        std::thread::spawn(move || said.for_each(drop));
        engine
    }

    /// One that this command makes, once it is in the group, and what it says from then on.
    fn joined(command: &mut Command) -> (Self, Lines<BufReader<ChildStderr>>) {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.by_ref().any(|line| line.unwrap().contains("hooks.request.* at ")));
        (Self(child), said)
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.0.id().try_into().unwrap()).unwrap();
        kill_process(id, signal).unwrap();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn fire(broker: &Broker, arguments: &[&str]) -> Output {
    let mut command = hook(broker.folder.path());
    command.args(["fire", "BeforeTool", "--nats", &broker.url()]).args(arguments);
    command.output().unwrap()
}

fn json_of(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn the_fleet_decides_what_is_fired_elsewhere() {
    let Some(broker) = Broker::start() else { return };
    let output = fire(&broker, &["--json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(json_of(&output)["error"]["code"], "no_handler");
    let output = fire(&broker, &["--json", "--fail-behavior", "continue"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");

    let _engine = Engine::join(&broker, "one", "echo not that >&2; exit 2");
    let output = fire(&broker, &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("not that") && text.contains("guard"), "{text}");
    let output = fire(&broker, &["--json"]);
    let response = json_of(&output);
    assert_eq!(response["processed"]["reason"], "not that");
    assert!(response["engine"]["settingsHash"].is_string(), "{response}");
}

#[test]
fn what_each_hook_of_a_fleet_said_is_shown_as_far_as_it_is_told() {
    let Some(broker) = Broker::start() else { return };
    let allow = r#"echo '{"decision": "allow"}'"#;
    for (name, hooks, expected) in [
        // Each said something, or none did.
        ("all", [("a", allow), ("b", "exit 2")], ["✓ a  proceed  exit 0", "✗ b  block    exit 2"]),
        ("none", [("a", "true"), ("b", "true")], ["✓ a  said nothing", "✓ b  said nothing"]),
        // Which of those that are left said something is not told.
        (
            "some",
            [("a", "true"), ("b", "exit 2")],
            ["· a  not told  exit 0", "✗ b  block     exit 2"],
        ),
    ] {
        let engine = Engine::join_with(&broker, name, &hooks);
        let output = fire(&broker, &[]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(expected.iter().all(|line| text.contains(line)), "{name}: {text}");
        drop(engine);
    }
}

#[test]
fn a_broker_that_is_away_is_no_consent() {
    let Some(mut broker) = Broker::start() else { return };
    broker.kill();
    let output = fire(&broker, &["--json", "--timeout", "300"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(json_of(&output)["error"]["code"], "deadline_exceeded");
    let mut command = hook(broker.folder.path());
    let output =
        command.args(["fire", "BeforeTool", "--nats", "nats://192.0.2.1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("can be read on the way"), "{text}");
    let output =
        hook(broker.folder.path()).args(["fire", "Stop", "--subject", "a"]).output().unwrap();
    assert_eq!(output.status.code(), Some(64), "{output:?}");
}

#[test]
fn an_engine_that_is_told_to_end_finishes_what_it_took() {
    let Some(broker) = Broker::start() else { return };
    let begun = broker.path("begun");
    let command = format!("touch {}; sleep 1; echo done >&2; exit 2", begun.display());
    let mut engine = Engine::join(&broker, "one", &command);
    let mut firing = hook(broker.folder.path());
    firing.args(["fire", "BeforeTool", "--json", "--nats", &broker.url()]);
    let firing = firing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    await_file(&begun);
    engine.signal(Signal::TERM);
    let output = firing.wait_with_output().unwrap();
    assert_eq!(json_of(&output)["processed"]["reason"], "done");
    assert_eq!(engine.0.wait().unwrap().code(), Some(143));
    let output = fire(&broker, &["--json"]);
    assert_eq!(json_of(&output)["error"]["code"], "no_handler");
}

#[test]
fn a_second_signal_ends_the_hooks_of_an_engine() {
    let Some(broker) = Broker::start() else { return };
    let (begun, ended) = (broker.path("begun"), broker.path("ended"));
    let command = format!(
        "trap 'touch {}; exit 1' TERM; touch {}; sleep 1000 & wait",
        ended.display(),
        begun.display()
    );
    let mut serve = hook(broker.folder.path());
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": command, "failBehavior": "block"},
    ]}]}});
    std::fs::write(broker.path("settings.json"), settings.to_string()).unwrap();
    serve.args(["serve", "--nats", &broker.url(), "--settings", "settings.json"]);
    let (mut engine, mut said) = Engine::joined(&mut serve);
    let mut firing = hook(broker.folder.path());
    firing.args(["fire", "BeforeTool", "--json", "--nats", &broker.url(), "--timeout", "60000"]);
    let firing = firing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    await_file(&begun);
    engine.signal(Signal::TERM);
    assert!(said.by_ref().any(|line| line.unwrap().contains("1 requests are finished first")));
    assert!(!ended.exists() && engine.0.try_wait().unwrap().is_none(), "it finishes it first");
    engine.signal(Signal::TERM);
    std::thread::spawn(move || said.for_each(drop));
    await_file(&ended);
    assert_eq!(engine.0.wait().unwrap().code(), Some(143));
    let output = firing.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn the_hooks_of_an_asker_that_is_told_to_end_end_with_it() {
    let Some(broker) = Broker::start() else { return };
    let (begun, ended) = (broker.path("begun"), broker.path("ended"));
    let command = format!(
        "trap 'touch {}; exit 1' TERM; touch {}; sleep 1000 & wait",
        ended.display(),
        begun.display()
    );
    let _engine = Engine::join(&broker, "one", &command);
    let mut firing = hook(broker.folder.path());
    firing.args(["fire", "BeforeTool", "--json", "--nats", &broker.url()]);
    let firing = firing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    await_file(&begun);
    let id = Pid::from_raw(firing.id().try_into().unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    let output = firing.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    assert_eq!(json_of(&output)["processed"]["decision"], "block", "{output:?}");
    await_file(&ended);
}

#[test]
fn nothing_that_is_asked_is_in_a_log() {
    let Some(broker) = Broker::start() else { return };
    let folder = broker.path("one");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "cat >/dev/null; echo not that >&2; exit 2", "name": "guard"},
    ]}]}});
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let mut serve = hook(&folder);
    serve.args(["-vv", "serve", "--nats", &broker.url(), "--settings", "settings.json"]);
    let (mut engine, said) = Engine::joined(serve.arg("--nats-events"));
    let asked = fire(
        &broker,
        &["-vv", "--tool", "edit", "--input", r#"{"tool_input": {"key": "s3cret"}}"#],
    );
    assert_eq!(asked.status.code(), Some(2), "{asked:?}");
    engine.signal(Signal::TERM);
    let of_engine: Vec<String> = said.map(Result::unwrap).collect();
    engine.0.wait().unwrap();
    let (of_engine, of_asker) = (of_engine.join("\n"), String::from_utf8(asked.stderr).unwrap());
    assert!(of_engine.contains("hook finished"), "there is a log: {of_engine}");
    assert!(of_asker.contains("hook::nats"), "there is a log: {of_asker}");
    for text in [&of_engine, &of_asker] {
        // Nor where somebody could answer.
        for secret in ["s3cret", "hooks.reply."] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret}");
        }
    }
}

#[test]
fn a_second_group_does_not_join_and_a_group_has_any_name() {
    let Some(broker) = Broker::start() else { return };
    let folder = broker.path("blue");
    std::fs::create_dir_all(&folder).unwrap();
    let guard = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "echo not that >&2; exit 2"},
    ]}]}});
    std::fs::write(folder.join("settings.json"), guard.to_string()).unwrap();
    let serve = |more: &[&str]| {
        let mut command = hook(&folder);
        command.args(["serve", "--nats", &broker.url(), "--settings", "settings.json"]);
        command.args(more);
        command
    };
    let (_blue, said) = Engine::joined(&mut serve(&["--queue", "blue"]));
    std::thread::spawn(move || said.for_each(drop));
    assert_eq!(fire(&broker, &[]).status.code(), Some(2));
    let refused = serve(&[]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("engines of the group `blue` serve hooks.request.*"), "{text}");
    assert!(!text.contains("serving hooks.request"), "{text}");
}

#[test]
fn what_is_not_logged_of_libraries_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let warnings = |filter: &str| {
        let mut command = hook(folder.path());
        let output = command.env("HOOK_LOG", filter).arg("list").output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        text.matches("what libraries say below `info` is not shown").count()
    };
    assert_eq!(warnings("warn,async_nats=debug,h2=trace"), 1);
    assert_eq!(warnings("debug,hook::nats=trace,async_nats=info"), 0);
}

/// Waits until something has made a file.
fn await_file(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn doctor_compares_the_engines() {
    let Some(broker) = Broker::start() else { return };
    let doctor = || {
        let mut command = hook(broker.folder.path());
        let output = command.args(["doctor", "--json", "--nats", &broker.url()]).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let findings = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let about = findings.filter(|finding| finding["section"] == "Engines of the fleet");
        about.collect::<Vec<Value>>()
    };
    assert!(doctor()[0]["detail"].as_str().unwrap().contains("no engine"), "{:?}", doctor());
    let _one = Engine::join(&broker, "one", "true");
    let found = doctor();
    assert_eq!((found.len(), &found[0]["health"]), (1, &json!("good")), "{found:?}");
    let _same = Engine::join(&broker, "one", "true");
    let found = doctor();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|finding| finding["health"] == "good"), "{found:?}");
    let _other = Engine::join(&broker, "other", "false");
    let found = doctor();
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[3]["health"], "bad");
    let detail = found[3]["detail"].as_str().unwrap();
    assert!(detail.contains("different settings") && detail.contains("2 have"), "{found:?}");
}

/// Answers whoever asks which engines there are, as engines that say this of themselves.
fn engines_that_say(broker: &Broker, said: Vec<Value>) {
    let mut stream = TcpStream::connect(("127.0.0.1", broker.port)).unwrap();
    stream.write_all(b"CONNECT {\"verbose\":false}\r\nSUB hooks.engines 1\r\nPING\r\n").unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap() == "PONG"));
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            // MSG hooks.engines 1 REPLY 0
            let Some(reply) = line.strip_prefix("MSG ").and_then(|it| it.split(' ').nth(2)) else {
                continue;
            };
            for (id, said) in said.iter().enumerate() {
                let mut engine = json!({"type": "hook-engine", "id": format!("{id}"), "version": "1",
                    "protocol": 1, "state": "serving", "settingsHash": "a", "totalHooks": 1,
                    "queueGroup": "engines"});
                let more = said.as_object().unwrap().clone();
                engine.as_object_mut().unwrap().extend(more);
                let text = engine.to_string();
                let _ = write!(stream, "PUB {reply} {}\r\n{text}\r\n", text.len());
            }
        }
    });
}

#[test]
fn doctor_says_what_is_wrong_with_a_fleet() {
    let draining = json!({"state": "draining"});
    for (one, other, health, detail) in [
        (json!({}), json!({"queueGroup": "blue"}), "bad", "1 have blue, 1 have engines"),
        (json!({}), json!({"settingsHash": "b"}), "bad", "different settings: 1 have a, 1 have b"),
        (json!({}), json!({"version": "2"}), "odd", "different versions: 1 have 1, 1 have 2"),
        (json!({}), json!({"lost": 7}), "odd", "at least 7 messages for it were lost"),
        (json!({}), json!({"eventsMissed": 8}), "odd", "8 events were not published"),
        (
            json!({}),
            json!({"totalHooks": 0}),
            "bad",
            "different hooks: 1 have 0 hooks, 1 have 1 hook",
        ),
        (json!({}), draining, "odd", "draining, version 1"),
    ] {
        let Some(broker) = Broker::start() else { return };
        engines_that_say(&broker, vec![one, other]);
        let mut command = hook(broker.folder.path());
        let output = command.args(["doctor", "--json", "--nats", &broker.url()]).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let found = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found: Vec<Value> =
            found.filter(|found| found["section"] == "Engines of the fleet").collect();
        assert_eq!(found[0]["health"], "good", "{found:?}");
        let last = found.last().unwrap();
        assert_eq!(last["health"], health, "{found:?}");
        assert!(last["detail"].as_str().unwrap().contains(detail), "{detail}: {found:?}");
        let nothing = |found: &Value| found["detail"].to_string().contains("no hook decides");
        assert_eq!(found.iter().any(nothing), detail.contains("0 hooks"), "{found:?}");
    }
}

#[test]
fn doctor_does_not_call_an_engine_good_whose_hooks_nobody_trusts() {
    let Some(broker) = Broker::start() else { return };
    let folder = broker.path("project");
    std::fs::create_dir_all(folder.join(".hooks")).unwrap();
    let guard = json!({"type": "command", "command": "exit 2", "failBehavior": "block"});
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [guard]}]}});
    std::fs::write(folder.join(".hooks/settings.json"), settings.to_string()).unwrap();
    // The user's folders are beside the project.
    let mut serve = hook(&folder);
    serve.env("HOME", broker.path("home")).env("XDG_CONFIG_HOME", broker.path("home/config"));
    serve.env("XDG_RUNTIME_DIR", broker.path("home/run"));
    let _engine = Engine::joined(serve.args(["serve", "--allow-empty", "--nats", &broker.url()])).0;
    let mut command = hook(broker.folder.path());
    let output = command.args(["doctor", "--json", "--nats", &broker.url()]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let found = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<Value> =
        found.filter(|finding| finding["section"] == "Engines of the fleet").collect();
    assert_eq!((found.len(), &found[0]["health"]), (1, &json!("odd")), "{found:?}");
    let detail = found[0]["detail"].as_str().unwrap();
    assert!(detail.contains("1 of 1 hooks not trusted"), "{detail}");
}

#[test]
fn an_engine_that_may_take_no_requests_ends_with_a_word() {
    let denied = r#"authorization { users = [ { user: a, password: b, permissions: {
        publish: ">", subscribe: ["hooks.engines", "hooks.reply.>"] } } ] }
        no_auth_user: a"#;
    let Some(broker) = Broker::start_with(denied) else { return };
    let mut command = hook(broker.folder.path());
    let output =
        command.args(["serve", "--allow-empty", "--nats", &broker.url()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("Permissions Violation for Subscription to"), "{text}");
    assert!(!text.contains("serving hooks.request"), "{text}");
}

#[test]
fn an_engine_says_when_the_fleet_behind_it_is_gone_with_a_file() {
    let Some(broker) = Broker::start() else { return };
    let folder = broker.path("project");
    let user = folder.join("config/hooks");
    std::fs::create_dir_all(&user).unwrap();
    let upstream = json!({"nats": broker.url(), "subject": "other", "events": ["BeforeTool"]});
    let settings = json!({"hooksConfig": {"upstream": upstream}}).to_string();
    std::fs::write(user.join("settings.json"), settings).unwrap();
    let mut serve = hook(&folder);
    serve.args(["serve", "--allow-empty", "--nats", &broker.url()]);
    let (engine, mut said) = Engine::joined(&mut serve);
    assert_eq!(fire(&broker, &[]).status.code(), Some(2), "nobody serves the fleet behind it");
    std::fs::remove_file(user.join("settings.json")).unwrap();
    for _ in 0..2 {
        engine.signal(Signal::HUP);
        let line = said.by_ref().map(Result::unwrap).find(|line| line.contains("settings.json"));
        assert!(line.unwrap().contains("nobody asks it any more"));
        let output = fire(&broker, &["--json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let warnings = json_of(&output)["warnings"].to_string();
        assert!(warnings.contains("nobody asks it any more"), "{warnings}");
    }
}

#[test]
fn what_is_said_of_an_upstream_has_no_password_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = json!({"nats": "nats://me:s3cret@127.0.0.1", "events": ["BeforeTool"]});
    let settings = json!({"hooksConfig": {"upstream": upstream}}).to_string();
    std::fs::write(folder.path().join("settings.json"), settings).unwrap();
    for (arguments, code) in [(&["list"][..], 0), (&["fire", "BeforeTool"], 2)] {
        let mut command = hook(folder.path());
        let output =
            command.args(arguments).args(["--settings", "settings.json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(!format!("{output:?}").contains("s3cret"), "{output:?}");
    }
}

/// A hook that its engine keeps alive, and that waits for the file which it is told.
const WORKER: &str = r#"
import asyncio, os
from hook_sdk import worker

@worker.hook("BeforeTool", matcher="by_worker", fail_behavior="block")
async def guard(event):
    while not os.path.exists(os.environ["GO_ON"]):
        await asyncio.sleep(0.01)
    return worker.HookResponse.block("the worker says no")

worker.serve()
"#;

/// A program that registers a hook with one engine.
const CLIENT: &str = r#"
import asyncio, os, sys
from hook_sdk import A3sClient, HookResponse

async def guard(event):
    while not os.path.exists(os.environ["GO_ON"]):
        await asyncio.sleep(0.01)
    return HookResponse.block("the client says no")

async def main():
    async with A3sClient(socket=sys.argv[1]) as client:
        hook = client.register_hook(
            "BeforeTool", guard,
            matcher={"tool": "by_client"}, config={"fail_behavior": "continue"}, vocabulary="native",
        )
        await client.ready(hook)
        print("ready", flush=True)
        await client.serve_forever()

asyncio.run(main())
"#;

/// The example of an agent in Rust.
fn fleet_agent() -> PathBuf {
    // These tests are in target/PROFILE/deps.
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().nth(2).unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "hook-remote", "--example", "fleet_agent"]);
    build.args(["--features", "grpc,nats,generate"]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success());
    folder.join("examples/fleet_agent")
}

fn python(python: &Path, program: &Path) -> Command {
    let mut command = Command::new(python);
    let sdk = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdks/python/src");
    command.arg(program).env("PYTHONPATH", sdk).stdin(Stdio::null());
    command
}

/// A program that ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn hooks_that_live_on_the_engines_serve_agents_elsewhere() {
    use hook_bus::HookExecutionRequest;
    use hook_json::RawObject;
    use hook_remote::nats::NatsBus;

    let Some(broker) = Broker::start() else { return };
    for (name, text) in [("worker.py", WORKER), ("client.py", CLIENT)] {
        std::fs::write(broker.path(name), text).unwrap();
    }
    let sdk = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdks/python/src");
    let go_on = broker.path("go-on");
    std::fs::write(&go_on, "").unwrap();
    let mut engines = Vec::new();
    for name in ["one", "two"] {
        let folder = broker.path(name);
        std::fs::create_dir_all(&folder).unwrap();
        let command = format!(
            "GO_ON={} PYTHONPATH={sdk} python3 {}",
            go_on.display(),
            broker.path("worker.py").display()
        );
        let settings = json!({"hooks": {"BeforeTool": [{"matcher": "by_worker", "hooks": [
            {"type": "worker", "command": command, "name": "guard", "failBehavior": "block"},
        ]}]}});
        std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        let socket = folder.join("hook.sock");
        let mut serve = hook(&folder);
        serve.args(["serve", "--nats", &broker.url(), "--settings", "settings.json"]);
        let mut child = serve.arg("--socket").arg(&socket).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.by_ref().any(|line| line.unwrap().contains("serving hooks.request.*")));
        std::thread::spawn(move || said.for_each(drop));
        let mut client = python(Path::new("python3"), &broker.path("client.py"));
        client.env("GO_ON", &go_on);
        let mut client = client.arg(&socket).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = BufReader::new(client.stdout.take().unwrap()).lines();
        assert_eq!(ready.next().unwrap().unwrap(), "ready");
        engines.push((Engine(child), Program(client)));
    }

    for (tool, expected) in [
        ("by_worker", "Block: the worker says no\n"),
        ("by_client", "Block: the client says no\n"),
        ("by_nobody", "the tool runs\n"),
    ] {
        let asked = Command::new(fleet_agent()).args([&broker.url(), tool]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&asked.stdout), expected, "{asked:?}");
    }

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let answers = runtime.block_on(async {
        let bus = NatsBus::connect(broker.url()).unwrap();
        let ask = |number: usize| {
            let tool = if number.is_multiple_of(2) { "by_worker" } else { "by_client" };
            let input = format!(r#"{{"tool_name":"{tool}","tool_input":{{}}}}"#);
            let input = RawObject::parse(input).unwrap();
            bus.request(HookExecutionRequest::unchecked("BeforeTool", input))
        };
        let mut answers = futures::future::join_all((0..20).map(ask)).await;
        // All others are at the engines when one of them dies.
        std::fs::remove_file(&go_on).unwrap();
        let asking = futures::future::join_all((20..100).map(ask));
        let (killed, _client) = &mut engines[0];
        let kill = async {
            let running = async || {
                let engines = bus.engines(Duration::from_millis(500)).await.unwrap();
                engines.iter().map(|engine| engine.running).collect::<Vec<u64>>()
            };
            while running().await.iter().sum::<u64>() < 80 {}
            assert!(running().await.iter().all(|running| *running > 0));
            let _ = killed.0.kill();
            std::fs::write(&go_on, "").unwrap();
        };
        let (rest, ()) = tokio::join!(asking, kill);
        answers.extend(rest);
        answers
    });
    for (number, answer) in answers.iter().enumerate() {
        let expected =
            if number.is_multiple_of(2) { "the worker says no" } else { "the client says no" };
        assert_eq!(answer.processed.reason.as_deref(), Some(expected), "{number}: {answer:?}");
    }
    let who: std::collections::HashSet<_> =
        answers.iter().map(|answer| answer.engine.as_ref().unwrap().id.clone()).collect();
    assert_eq!(who.len(), 2, "both have served");
}
