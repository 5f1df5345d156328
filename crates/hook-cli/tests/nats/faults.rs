//! What goes wrong in a fleet (docs/reliability.md), with engines and askers as processes of their own, killed,
//! emptied and started again while requests come.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hook_bus::HookExecutionRequest;
use hook_json::RawObject;
use hook_remote::nats::NatsBus;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::broker::Broker;
use super::{Engine, hook};

/// Denies what is forbidden.
pub(crate) const GUARD: &str = "grep -q forbidden || exit 0; echo 'not that' >&2; exit 2";

/// Answers of askers in all languages: who wants these settings, and continues or blocks where nobody answers.
/// None of them says how long it waits.
fn ask(
    folder: &Path,
    url: &str,
    expected: &str,
    fail_behavior: &str,
) -> Vec<(&'static str, Value)> {
    let mut shell = hook(folder);
    shell.args(["fire", "BeforeTool", "--json", "--tool", "forbidden", "--nats", url]);
    shell.args(["--fail-behavior", fail_behavior]);
    if !expected.is_empty() {
        shell.args(["--expect-settings", expected]);
    }
    let askers = [("the shell", shell)];
    let asking = askers.into_iter().map(|(language, mut asker)| {
        asker.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (language, asker.spawn().unwrap())
    });
    let asking: Vec<_> = asking.collect();
    let answers = asking.into_iter().map(|(language, asker)| {
        let output = asker.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let answer = serde_json::from_str(&text);
        (language, answer.unwrap_or_else(|_| panic!("{language}: {output:?}")))
    });
    answers.collect()
}

/// Settings with one hook for tools.
pub(crate) fn settings_with(command: &str) -> String {
    let guard =
        json!({"type": "command", "name": "guard", "command": command, "failBehavior": "block"});
    json!({"hooks": {"BeforeTool": [{"hooks": [guard]}]}}).to_string()
}

/// The command of an engine with these settings in a folder of that name.
pub(crate) fn serve(broker: &Broker, name: &str, settings: &str) -> Command {
    let folder = broker.path(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings).unwrap();
    let mut command = hook(&folder);
    command.args(["serve", "--nats", &broker.url(), "--settings", "settings.json"]);
    command
}

/// An engine that is in the group, with its settings' hash and what else it says.
fn joined(command: &mut Command) -> (Engine, String, impl Iterator<Item = String> + use<>) {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let engine = Engine(child);
    let serving = said.find(|line| line.contains("hooks.request.* at ")).expect("it serves");
    let hash = serving.split(", settings ").nth(1).expect("it says its settings").to_owned();
    (engine, hash, said)
}

fn said_by(mut refused: Command) -> String {
    let output = refused.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn fault_66_an_engine_without_hooks_or_with_untrusted_ones_does_not_join() {
    let Some(broker) = Broker::start() else { return };
    let empty = said_by(serve(&broker, "empty", "{}"));
    assert!(empty.contains("no hook runs here") && empty.contains("--allow-empty"), "{empty}");
    let mut off: Value = serde_json::from_str(&settings_with(GUARD)).unwrap();
    off["hooksConfig"] = json!({"disabled": ["guard"]});
    let off = said_by(serve(&broker, "off", &off.to_string()));
    assert!(off.contains("no hook runs here"), "{off}");

    let project = broker.path("project");
    std::fs::create_dir_all(project.join(".hooks")).unwrap();
    std::fs::write(project.join(".hooks/settings.json"), settings_with(GUARD)).unwrap();
    // The user's folders are beside the project.
    let hook = || {
        let mut command = hook(&project);
        command.env("HOME", broker.path("home")).env("XDG_CONFIG_HOME", broker.path("home/config"));
        command.env("XDG_RUNTIME_DIR", broker.path("home/run"));
        command
    };
    let in_project = || {
        let mut command = hook();
        command.args(["serve", "--nats", &broker.url()]);
        command
    };
    let untrusted = said_by(in_project());
    assert!(untrusted.contains("1 of 1 hooks here are not trusted"), "{untrusted}");
    for (language, answer) in ask(broker.folder.path(), &broker.url(), "", "block") {
        assert_eq!(answer["error"]["code"], "no_handler", "{language}: {answer}");
    }
    assert!(hook().args(["trust", "--yes"]).status().unwrap().success());
    let _engine = joined(&mut in_project());
    let _told = joined(serve(&broker, "told", "{}").arg("--allow-empty"));
}

/// Asks until it is told to stop; how often it was answered. Nothing but the denial of the guard is an answer.
async fn asks_until(bus: &NatsBus, stop: &AtomicBool) -> usize {
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        let input = RawObject::parse(r#"{"tool_name":"forbidden","tool_input":{}}"#).unwrap();
        let answer = bus.request(HookExecutionRequest::unchecked("BeforeTool", input)).await;
        assert_eq!(answer.processed.reason.as_deref(), Some("not that"), "{answer:?}");
        answered += 1;
    }
    answered
}

/// Sets a flag at the end, also where a test fails.
struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn fault_66_in_a_soak_an_engine_that_loses_its_hooks_leaves_before_it_answers_without_them() {
    let Some(broker) = Broker::start() else { return };
    let _other = joined(&mut serve(&broker, "one", &settings_with(GUARD)));
    let (mut engine, hash, mut said) = joined(&mut serve(&broker, "two", &settings_with(GUARD)));
    let seconds = std::env::var("HOOK_SOAK_SECONDS").ok().and_then(|it| it.parse().ok());
    let file = broker.path("two").join("settings.json");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let stop = AtomicBool::new(false);
    let answered = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            runtime.block_on(async {
                let bus = NatsBus::connect(broker.url()).unwrap();
                let asking = (0..8).map(|_| asks_until(&bus, &stop));
                futures::future::join_all(asking).await.iter().sum::<usize>()
            })
        });
        // The scope waits for those that ask.
        let stopping = SetOnDrop(&stop);
        let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(6));
        let mut turns = 0;
        while turns < 3 || Instant::now() < end && !asking.is_finished() {
            turns += 1;
            std::fs::write(&file, "{}").unwrap();
            engine.signal(Signal::HUP);
            let left = said.find(|line| line.contains("left the fleet")).unwrap();
            assert!(left.contains("no hook runs here"), "{left}");
            std::fs::write(&file, settings_with(GUARD)).unwrap();
            engine.signal(Signal::HUP);
            let back = said.find(|line| line.contains("serving hooks.request.*")).unwrap();
            assert!(back.contains(&hash), "{back}");
            if turns % 3 == 0 {
                // As a machine that fails, and is there again.
                drop(engine);
                let (again, _, says) = joined(&mut serve(&broker, "two", &settings_with(GUARD)));
                (engine, said) = (again, says);
            }
        }
        drop(stopping);
        asking.join().unwrap()
    });
    assert!(answered > 10, "{answered}");
}

#[test]
fn fault_66_only_engines_with_the_expected_settings_join_and_answer() {
    let Some(broker) = Broker::start() else { return };
    let (folder, url) = (broker.folder.path(), broker.url());
    let (guarding, hash, _said) = joined(&mut serve(&broker, "one", &settings_with(GUARD)));
    let other = "0".repeat(64);
    let mut refused = serve(&broker, "two", &settings_with("true"));
    let text = said_by({
        refused.args(["--expect-settings", &hash]);
        refused
    });
    assert!(text.contains(&format!("{hash} was expected")), "{text}");
    let mut no_hash = serve(&broker, "two", &settings_with("true"));
    no_hash.args(["--expect-settings", "latest"]);
    assert!(said_by(no_hash).contains("64 hexadecimal digits"));
    drop(joined(serve(&broker, "one", &settings_with(GUARD)).args(["--expect-settings", &hash])));

    // One that lets all go on is in the group, and half of the requests come to it first.
    let (_lax, lax, _said) = joined(&mut serve(&broker, "two", &settings_with("true")));
    for _ in 0..5 {
        for (language, answer) in ask(folder, &url, &hash, "block") {
            assert_eq!(answer["processed"]["reason"], "not that", "{language}: {answer}");
            assert_eq!(answer["engine"]["settingsHash"], *hash, "{language}: {answer}");
        }
    }
    for (language, answer) in ask(folder, &url, &lax, "block") {
        assert_eq!(answer["processed"]["decision"], "proceed", "{language}: {answer}");
    }
    drop(guarding);
    for expected in [&hash, &other] {
        for (language, answer) in ask(folder, &url, expected, "block") {
            assert_eq!(answer["error"]["code"], "unanswered", "{language}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(&lax), "{language}: {message}");
            assert_eq!(answer["processed"]["decision"], "block", "{language}: {answer}");
        }
    }
}

/// An engine of an earlier version: it answers whatever is asked, and lets it go on.
fn engine_that_knows_no_pin(broker: &Broker) {
    let mut stream = TcpStream::connect(("127.0.0.1", broker.port)).unwrap();
    stream.write_all(b"CONNECT {\"verbose\":false}\r\nSUB hooks.request.* 1\r\nPING\r\n").unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap() == "PONG"));
    std::thread::spawn(move || {
        let mut reply = String::new();
        for line in lines.map_while(Result::ok) {
            if let Some(message) = line.strip_prefix("MSG ") {
                reply = message.split(' ').nth(2).unwrap().to_owned();
                continue;
            }
            let Ok(request) = serde_json::from_str::<Value>(&line) else { continue };
            let text = json!({"type": "hook-execution-response", "correlationId": request["correlationId"],
                "eventName": "BeforeTool", "success": true,
                "output": {"success": true, "allOutputs": [], "errors": [], "totalDuration": 0},
                "processed": {"decision": "proceed", "suppressOutput": false, "shouldStop": false}, "hooks": [],
                "engine": {"id": "old", "version": "0", "settingsHash": "1".repeat(64)}})
            .to_string();
            let _ = write!(stream, "PUB {reply} {}\r\n{text}\r\n", text.len());
        }
    });
}

#[test]
fn fault_66_an_answer_of_other_settings_is_none() {
    let Some(broker) = Broker::start() else { return };
    let (folder, url) = (broker.folder.path(), broker.url());
    engine_that_knows_no_pin(&broker);
    for (language, answer) in ask(folder, &url, "", "block") {
        assert_eq!(answer["processed"]["decision"], "proceed", "{language}: {answer}");
    }
    for (language, answer) in ask(folder, &url, &"0".repeat(64), "block") {
        assert_eq!(answer["error"]["code"], "unanswered", "{language}: {answer}");
        assert_eq!(answer["processed"]["decision"], "block", "{language}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("does not count"), "{language}: {message}");
    }
}

#[test]
fn fault_68_a_broker_that_is_away_costs_five_seconds_and_then_the_guard_decides() {
    let folder = tempfile::tempdir().unwrap();
    // One that takes connections and says nothing, as behind a firewall, and one that is not there.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let gone = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    for (address, fail_behavior) in
        [(silent.local_addr().unwrap(), "block"), (gone, "block"), (gone, "continue")]
    {
        let begun = Instant::now();
        let url = format!("nats://{address}");
        for (language, answer) in ask(folder.path(), &url, "", fail_behavior) {
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(20), "{language}: {took:?}");
            assert_eq!(answer["error"]["code"], "unanswered", "{language}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("within 5000 ms"), "{language}: {message}");
            let decision = answer["processed"]["decision"].as_str().unwrap_or("proceed");
            let expected = if fail_behavior == "block" { "block" } else { "proceed" };
            assert_eq!(decision, expected, "{language}: {answer}");
        }
    }
    for (fail_behavior, code) in [("block", 2), ("continue", 0)] {
        let upstream = json!({"nats": format!("nats://{gone}"), "events": ["BeforeTool"],
            "failBehavior": fail_behavior});
        let settings = json!({"hooksConfig": {"upstream": upstream}}).to_string();
        std::fs::write(folder.path().join("settings.json"), settings).unwrap();
        let begun = Instant::now();
        let mut fire = hook(folder.path());
        let output = fire.args(["fire", "BeforeTool", "--settings", "settings.json"]).output();
        let output = output.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }
}

/// Registers a hook with the engine at that socket, and returns the answer and the connection, whose end takes the hook
/// away.
fn register(socket: &Path, fail_behavior: &str) -> (Value, UnixStream) {
    let mut client = UnixStream::connect(socket).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let hook = json!({"type": "hook-register", "hookId": "mine", "eventName": "BeforeTool",
        "config": {"failBehavior": fail_behavior}});
    writeln!(client, "{hook}").unwrap();
    let mut said = BufReader::new(client.try_clone().unwrap()).lines();
    said.next().unwrap().unwrap();
    (serde_json::from_str(&said.next().unwrap().unwrap()).unwrap(), client)
}

fn doctor(broker: &Broker, expected: &str) -> (Option<i32>, String) {
    let mut command = hook(broker.folder.path());
    command.args(["doctor", "--nats", &broker.url(), "--expect", expected]);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn fault_104_an_engine_of_a_fleet_takes_no_guard_of_a_client() {
    let Some(broker) = Broker::start() else { return };
    let start = |name: &str, more: &[&str]| {
        let mut command = serve(&broker, "one", &settings_with(GUARD));
        command.args(["--socket", &format!("{name}.sock")]).args(more);
        command
    };
    let socket = |name: &str| broker.path("one").join(format!("{name}.sock"));
    let (_one, _, _said) = joined(&mut start("a", &[]));
    let (_two, _, _said) = joined(&mut start("b", &[]));
    let (refused, _client) = register(&socket("a"), "block");
    assert_eq!(refused["error"]["code"], "guard_in_fleet", "{refused}");
    assert_eq!(refused["error"]["details"]["field"], "config.failBehavior", "{refused}");
    assert_eq!(doctor(&broker, "2").0, Some(0));

    // Of hooks that only look on, each engine may have its own, and doctor says so.
    let (taken, client) = register(&socket("a"), "continue");
    assert_eq!(taken["type"], "hook-registered", "{taken}");
    let (code, text) = doctor(&broker, "2");
    assert!(code == Some(1) && text.contains("1 have 1 hook, 1 have 2 hooks"), "{text}");
    drop(client);

    // Neither does one join that has such guards, of the server before at its socket.
    let mut alone = hook(&broker.path("one"));
    alone.args(["serve", "--socket", "c.sock", "--settings", "settings.json"]);
    let mut alone = Engine(alone.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(alone.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("listening on")));
    let (taken, _client) = register(&socket("c"), "block");
    assert_eq!(taken["type"], "hook-registered", "{taken}");
    alone.signal(Signal::KILL);
    alone.0.wait().unwrap();
    let said = said_by(start("c", &[]));
    assert!(said.contains("clients have registered guards here (mine)"), "{said}");
    let file = said.split("and remove ").nth(1).unwrap().split(',').next().unwrap();
    std::fs::remove_file(file).unwrap();
    let (_three, _, _said) = joined(&mut start("c", &[]));
}
