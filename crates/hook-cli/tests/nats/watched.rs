//! A fleet as whoever runs it watches it: numbers over HTTP, the alerts of docs/examples/fleet, `hook fleet watch`,
//! `hook doctor --expect`, and an audit that says who asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::broker::{Broker, skipped};
use super::faults::{GUARD, serve, settings_with};
use super::{Engine, accounts, fire, hook, json_of};

/// An engine with its numbers.
struct Watched {
    engine: Engine,
    address: String,
    said: Box<dyn Iterator<Item = String>>,
}

impl Watched {
    fn start(broker: &Broker, name: &str, settings: &str) -> Self {
        let mut command = serve(broker, name, settings);
        command.args(["--metrics", "0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let engine = Engine(child);
        let metrics = said.find(|line| line.contains("metrics are at ")).expect("it has numbers");
        let address = metrics.split("http://").nth(1).unwrap();
        let address = address.strip_suffix("/metrics").unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        assert!(said.any(|line| line.contains("serving hooks.request.*")));
        Self { engine, address, said: Box::new(said) }
    }

    /// What an operator gets of it.
    fn curl(&self, path: &str) -> Option<String> {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail", "--max-time", "10"]);
        let output = curl.arg(format!("http://{}{path}", self.address)).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }
}

/// A sample: its labels and its value.
type Sample = (BTreeMap<String, String>, f64);

/// What Prometheus knows after a scrape: samples by their names.
#[derive(Default)]
struct Scraped(BTreeMap<String, Vec<Sample>>);

impl Scraped {
    fn of(engines: &[&Watched]) -> Self {
        let mut all = Self::default();
        for (number, engine) in engines.iter().enumerate() {
            let instance = number.to_string();
            let text = engine.curl("/metrics");
            let up = if text.is_some() { 1.0 } else { 0.0 };
            all.add("up", [("job", "hook"), ("instance", &*instance)], up);
            for line in text.iter().flat_map(|text| text.lines()) {
                if line.starts_with('#') {
                    continue;
                }
                let (series, value) = line.rsplit_once(' ').unwrap();
                let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
                let labels = labels.strip_suffix('}').unwrap().split(',');
                let labels = labels.filter_map(|label| label.split_once('='));
                let labels = labels.map(|(label, text)| (label, text.trim_matches('"')));
                all.add(name, labels.chain([("instance", &*instance)]), value.parse().unwrap());
            }
        }
        all
    }

    fn add<'l>(
        &mut self,
        name: &str,
        labels: impl IntoIterator<Item = (&'l str, &'l str)>,
        value: f64,
    ) {
        let labels = labels.into_iter().map(|(label, text)| (label.to_owned(), text.to_owned()));
        self.0.entry(name.to_owned()).or_default().push((labels.collect(), value));
    }

    /// The samples that a selector such as `up{job="hook"}` takes.
    fn select(&self, selector: &str) -> Vec<Sample> {
        let (name, wanted) = selector.split_once('{').unwrap_or((selector, "}"));
        let wanted =
            wanted.strip_suffix('}').unwrap().split(',').filter_map(|it| it.split_once('='));
        let wanted: Vec<_> = wanted.map(|(label, text)| (label, text.trim_matches('"'))).collect();
        let has = |sample: &&Sample| {
            wanted.iter().all(|(label, text)| sample.0.get(*label).is_some_and(|it| it == text))
        };
        self.0.get(name).into_iter().flatten().filter(has).cloned().collect()
    }

    fn value(&self, selector: &str) -> f64 {
        self.select(selector).iter().map(|(_, value)| value).sum()
    }

    /// The instances for which an expression such as `up == 0` is true; of `count(count by (l) (m)) > 1` it is one
    /// without a name.
    fn firing(&self, expression: &str) -> Vec<String> {
        let [left, operator, right] = *expression.rsplitn(3, ' ').collect::<Vec<_>>() else {
            panic!("{expression}")
        };
        let (selector, operator, limit) = (right, operator, left.parse::<f64>().unwrap());
        let holds = |value: f64| match operator {
            "==" => value == limit,
            ">" => value > limit,
            "<" => value < limit,
            _ => panic!("{expression}"),
        };
        if let Some(counted) = selector.strip_prefix("count(count by (") {
            let (label, metric) = counted.split_once(") (").unwrap();
            let samples = self.select(metric.trim_end_matches(')'));
            let values: std::collections::HashSet<_> =
                samples.iter().map(|(labels, _)| labels[label].clone()).collect();
            return holds(values.len() as f64).then(String::new).into_iter().collect();
        }
        let samples = self.select(selector).into_iter().filter(|(_, value)| holds(*value));
        samples.map(|(labels, _)| labels["instance"].clone()).collect()
    }
}

/// The expressions of the alerts in docs/examples/fleet, by their names.
fn alerts() -> BTreeMap<String, String> {
    let rules = include_str!("../../../../docs/examples/fleet/alerts.yml");
    let mut alerts = BTreeMap::new();
    let mut lines = rules.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("- alert: ") {
            let expression = lines.next().unwrap().strip_prefix("expr: ").unwrap();
            alerts.insert(name.to_owned(), expression.to_owned());
        }
    }
    alerts
}

/// Waits until that is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn has_curl() -> bool {
    let has = Command::new("curl").arg("--version").output().is_ok();
    if !has {
        skipped("the numbers of an engine: curl is not installed");
    }
    has
}

#[test]
fn fault_70_an_alert_fires_when_an_engine_dies_serves_no_more_or_differs() {
    let Some(broker) = Broker::start() else { return };
    if !has_curl() {
        return;
    }
    let mut one = Watched::start(&broker, "one", &settings_with(GUARD));
    let mut two = Watched::start(&broker, "one", &settings_with(GUARD));
    for _ in 0..10 {
        assert_eq!(fire(&broker, &["--tool", "forbidden"]).status.code(), Some(2));
    }
    assert_eq!(fire(&broker, &["--tool", "read_file"]).status.code(), Some(0));
    let scrape = |one: &Watched, two: &Watched| Scraped::of(&[one, two]);
    let blocked = r#"hook_requests_total{event="BeforeTool",decision="block"}"#;
    until("ten were blocked", || scrape(&one, &two).value(blocked) == 10.0);
    until("one was allowed", || {
        scrape(&one, &two).value(r#"hook_requests_total{event="BeforeTool",decision="proceed"}"#)
            == 1.0
    });
    let now = scrape(&one, &two);
    for (selector, value) in [
        (r#"hook_fleet_requests_total{result="answered"}"#, 11.0),
        ("hook_request_duration_seconds_count", 11.0),
        (r#"hook_request_duration_seconds_bucket{le="+Inf"}"#, 11.0),
        (r#"hook_hooks{state="active"}"#, 2.0),
        (r#"hook_runs_total{result="refused"}"#, 10.0),
        (r#"hook_runs_total{result="ok"}"#, 1.0),
        (r#"hook_runs_total{result="failed"}"#, 0.0),
        ("hook_requests_in_flight", 0.0),
        ("hook_fleet_queue", 0.0),
        (r#"hook_workers{state="broken"}"#, 0.0),
        ("hook_fleet_serving", 2.0),
    ] {
        assert_eq!(now.value(selector), value, "{selector}");
    }
    let alerts = alerts();
    for (name, expression) in &alerts {
        let words =
            expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        for metric in words.filter(|word| word.starts_with("hook_") || *word == "up") {
            let exists = now.0.contains_key(metric)
                || one.curl("/metrics").unwrap().contains(&format!("# TYPE {metric} "));
            assert!(exists, "{name}: there is no {metric}");
        }
    }
    let evaluated =
        ["HookEngineGone", "HookEngineNotServing", "HookSettingsDiffer", "HookUntrusted"];
    for name in evaluated {
        assert_eq!(now.firing(&alerts[name]), [""; 0], "{name}");
    }
    assert_eq!(one.curl("/health").as_deref(), Some("serving\n"));

    one.engine.signal(Signal::KILL);
    one.engine.0.wait().unwrap();
    let now = scrape(&one, &two);
    assert_eq!(now.firing(&alerts["HookEngineGone"]), ["0"]);
    assert_eq!(now.firing(&alerts["HookEngineNotServing"]), [""; 0]);

    // Another starts with other settings, and one has lost its hooks.
    one = Watched::start(&broker, "other", &settings_with("true"));
    assert_eq!(scrape(&one, &two).firing(&alerts["HookSettingsDiffer"]).len(), 1);
    std::fs::write(broker.path("one").join("settings.json"), "{}").unwrap();
    two.engine.signal(Signal::HUP);
    assert!(two.said.any(|line| line.contains("left the fleet")));
    until("it is out of its group", || {
        scrape(&one, &two).firing(&alerts["HookEngineNotServing"]) == ["1"]
    });
    assert_eq!(two.curl("/health"), None);
}

#[test]
fn fault_70_whatever_asks_for_numbers_costs_the_engine_little() {
    let Some(broker) = Broker::start() else { return };
    if !has_curl() {
        return;
    }
    let watched = Watched::start(&broker, "one", &settings_with(GUARD));
    assert_eq!(watched.curl("/elsewhere"), None);
    // As many as there may be say nothing, one says more than a question has, and one is no HTTP.
    let silent: Vec<TcpStream> =
        (0..14).map(|_| TcpStream::connect(&watched.address).unwrap()).collect();
    for noise in
        [format!("GET /{} HTTP/1.1\r\n", "x".repeat(100_000)), "\0\u{7}{}\r\n\r\n".to_owned()]
    {
        let mut client = TcpStream::connect(&watched.address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = client.write_all(noise.as_bytes());
        let mut said = Vec::new();
        let _ = client.read_to_end(&mut said);
        assert!(!String::from_utf8_lossy(&said).contains(" 200 "), "{said:?}");
    }
    until("it is answered", || watched.curl("/metrics").is_some());
    assert_eq!(fire(&broker, &["--tool", "forbidden"]).status.code(), Some(2));
    drop(silent);
    let refused =
        serve(&broker, "two", &settings_with(GUARD)).args(["--metrics", "nowhere"]).output();
    let text = String::from_utf8_lossy(&refused.unwrap().stderr).into_owned();
    assert!(text.contains("expected PORT or HOST:PORT"), "{text}");
}

fn doctor(broker: &Broker, more: &[&str]) -> (Option<i32>, Vec<Value>) {
    let mut command = hook(broker.folder.path());
    let output = command.args(["doctor", "--json", "--nats", &broker.url()]).args(more).output();
    let output = output.unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let findings = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    (output.status.code(), findings.collect())
}

#[test]
fn fault_70_doctor_ends_with_a_code_that_says_whether_the_fleet_is_as_expected() {
    let Some(broker) = Broker::start() else { return };
    // What is wrong with this machine is no part of it.
    std::fs::create_dir_all(broker.path("config/hooks")).unwrap();
    std::fs::write(broker.path("config/hooks/settings.json"), "{").unwrap();
    let (code, found) = doctor(&broker, &["--expect", "1"]);
    assert_eq!(code, Some(1), "{found:?}");
    let join = |name: &str, command: &str| {
        let (engine, said) = Engine::joined(&mut serve(&broker, name, &settings_with(command)));
        std::thread::spawn(move || said.for_each(drop));
        engine
    };
    let _one = join("one", GUARD);
    let mut two = join("one", GUARD);
    let (code, found) = doctor(&broker, &["--expect", "2"]);
    assert_eq!(code, Some(0), "{found:?}");
    assert!(found.iter().all(|finding| finding["section"] == "Engines of the fleet"), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
    let (code, found) = doctor(&broker, &["--expect", "2", "--expect-settings", &"0".repeat(64)]);
    assert_eq!(code, Some(1), "{found:?}");
    two.signal(Signal::KILL);
    two.0.wait().unwrap();
    let (code, found) = doctor(&broker, &["--expect", "2"]);
    assert_eq!(code, Some(1), "{found:?}");
    let last = found.last().unwrap()["detail"].as_str().unwrap();
    assert!(last.contains("1 of 2 engines serve"), "{last}");
    let _other = join("other", "true");
    assert_eq!(doctor(&broker, &["--expect", "2"]).0, Some(1), "they differ");
    let usage = hook(broker.folder.path()).args(["doctor", "--expect", "1"]).output().unwrap();
    assert_eq!(usage.status.code(), Some(64), "{usage:?}");
}

#[test]
fn fault_106_clients_that_say_nothing_or_come_again_and_again_keep_nobody_from_the_numbers() {
    let Some(broker) = Broker::start() else { return };
    if !has_curl() {
        return;
    }
    let watched = Watched::start(&broker, "one", &settings_with(GUARD));
    let connect = || TcpStream::connect(&watched.address).unwrap();
    // Nothing, and half of a request.
    let silent: Vec<TcpStream> = (0..500)
        .map(|number| {
            let mut client = connect();
            if number % 2 == 0 {
                let _ = client.write_all(b"GET /metrics HT");
            }
            client
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(watched.curl("/health").as_deref(), Some("serving\n"));
    }
    drop(silent);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if let Ok(mut client) = TcpStream::connect(&watched.address) {
                        let _ = client.set_read_timeout(Some(Duration::from_secs(1)));
                        let _ = client.read(&mut [0]);
                    }
                }
            });
        }
        let answers: Vec<_> = (0..5).map(|_| watched.curl("/health")).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(answers.iter().all(Option::is_some), "{answers:?}");
    });
    assert_eq!(fire(&broker, &["--tool", "forbidden"]).status.code(), Some(2));
}

#[test]
fn fault_106_a_request_that_fails_is_not_counted_as_one_that_went_on() {
    let Some(broker) = Broker::start() else { return };
    if !has_curl() {
        return;
    }
    let watched = Watched::start(&broker, "one", &settings_with(GUARD));
    let mut client = TcpStream::connect(("127.0.0.1", broker.port)).unwrap();
    let subject = "hooks.request.Notification hooks.reply._.a.";
    let invalid = r#"{"type": "hook-execution-request", "eventName": "Notification", "input": 1}"#;
    let mut sent = "CONNECT {\"verbose\": false}\r\n".to_owned();
    for (number, text) in ["{", invalid].iter().enumerate() {
        sent += &format!("PUB {subject}{number} {}\r\n{text}\r\n", text.len());
    }
    client.write_all(sent.as_bytes()).unwrap();
    let failed = "hook_request_failures_total";
    until("both failed", || Scraped::of(&[&watched]).value(failed) == 2.0);
    let now = Scraped::of(&[&watched]);
    let decisions = now.select("hook_requests_total");
    assert!(decisions.iter().all(|(labels, _)| labels["decision"] == "none"), "{decisions:?}");
    assert_eq!(now.value("hook_requests_total"), 2.0);
}

#[test]
fn fault_107_an_engine_whose_broker_is_frozen_does_not_say_that_it_serves() {
    let Some(broker) = Broker::start() else { return };
    if !has_curl() {
        return;
    }
    let watched = Watched::start(&broker, "one", &settings_with(GUARD));
    assert_eq!(watched.curl("/health").as_deref(), Some("serving\n"));
    broker.signal("-STOP");
    let begun = Instant::now();
    until("it notices", || watched.curl("/health").is_none());
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(Scraped::of(&[&watched]).value("hook_fleet_serving"), 0.0);
    broker.signal("-CONT");
    until("it is back", || watched.curl("/health").is_some());
    assert_eq!(fire(&broker, &["--tool", "forbidden"]).status.code(), Some(2));
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
fn fault_70_fleet_watch_tells_of_engines_that_come_answer_and_die() {
    let Some(broker) = Broker::start() else { return };
    let mut watch = hook(broker.folder.path());
    watch.args(["fleet", "watch", "--json", "--interval", "0.3", "--nats", &broker.url()]);
    let mut watch = Program(watch.stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(watch.0.stdout.take().unwrap()).lines();
    let mut looks = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(looks.next().unwrap()["engines"], json!([]));
    let (mut engine, said) = Engine::joined(&mut serve(&broker, "one", &settings_with(GUARD)));
    std::thread::spawn(move || said.for_each(drop));
    let came = looks.find(|look| look["came"].as_array().is_some_and(|came| !came.is_empty()));
    let id = came.unwrap()["came"][0].clone();
    assert_eq!(fire(&broker, &["--tool", "forbidden"]).status.code(), Some(2));
    let answered = looks.find(|look| look["engines"][0]["answered"] == 1).unwrap();
    assert_eq!(answered["engines"][0]["totalHooks"], 1, "{answered}");
    assert_eq!(answered["engines"][0]["settingsHash"].as_str().unwrap().len(), 64);
    let mut once = hook(broker.folder.path());
    once.args(["fleet", "watch", "--count", "1", "--nats", &broker.url()]);
    let once = once.output().unwrap();
    let text = String::from_utf8_lossy(&once.stdout).into_owned();
    assert!(
        once.status.success() && text.contains("serving") && text.contains("1 answered"),
        "{once:?}"
    );
    engine.signal(Signal::KILL);
    engine.0.wait().unwrap();
    let gone = looks.find(|look| look["gone"].as_array().is_some_and(|gone| !gone.is_empty()));
    assert_eq!(gone.unwrap()["gone"][0], id);
}

#[test]
fn fault_70_the_unit_of_the_page_starts_an_engine() {
    let unit = include_str!("../../../../docs/examples/fleet/hook-engine.service");
    let unit = unit.replace("\\\n", " ");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let arguments = start.split_whitespace().skip(1).collect::<Vec<_>>();
    assert!(start.starts_with("/usr/local/bin/hook serve "), "{start}");
    let output = hook(folder.path()).args(arguments).output().unwrap();
    // There are no settings here; it knows all that is said to it.
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stops = unit.lines().find_map(|line| line.strip_prefix("TimeoutStopSec=")).unwrap();
    assert!(stops.parse::<u32>().unwrap() > 15, "{stops}");
}

#[test]
fn fault_69_the_audit_of_an_engine_names_who_asked() {
    let folder = tempfile::tempdir().unwrap();
    let settings = accounts::keyed(folder.path());
    let Some(broker) = Broker::start_with(&settings) else { return };
    let file = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(folder.path().join("settings.json"), settings_with(GUARD)).unwrap();
    let mut command = hook(folder.path());
    command.args(["serve", "--nats", &broker.url(), "--subject", "acme.hooks", "--nats-creds"]);
    command.arg(file("engine.nk")).args(["--settings", "settings.json", "--audit", "audit"]);
    let (mut engine, said) = Engine::joined(command.args(["--audit-level", "decisions"]));
    std::thread::spawn(move || said.for_each(drop));
    for (user, tool, code) in [("agent1", "forbidden", 2), ("agent2", "read_file", 0)] {
        let mut fire = hook(folder.path());
        fire.args(["fire", "BeforeTool", "--json", "--subject", "acme.hooks", "--tool", tool]);
        let input = json!({"tool_name": tool, "session_id": user}).to_string();
        fire.args(["--input", &input, "--nats", &broker.url(), "--nats-creds"]);
        let output = fire.arg(file(&format!("{user}.nk"))).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", json_of(&output));
    }
    engine.signal(Signal::TERM);
    engine.0.wait().unwrap();
    let text = std::fs::read_to_string(folder.path().join("audit")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (user, kind, tool) in
        [("agent1", "blocked", "forbidden"), ("agent2", "allowed", "read_file")]
    {
        let line = lines.iter().find(|line| line["kind"] == kind).unwrap();
        let key = std::fs::read_to_string(folder.path().join(format!("{user}.pub"))).unwrap();
        assert_eq!((&line["asker"], &line["tool"]), (&json!(key.trim()), &json!(tool)), "{line}");
        assert_eq!(line["session"], user, "{line}");
    }
    let verified = hook(folder.path()).args(["audit", "verify", "audit"]).output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let left = text.lines().enumerate().filter(|(number, _)| *number != 1);
    let left: String = left.map(|(_, line)| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("audit"), left).unwrap();
    let verified = hook(folder.path()).args(["audit", "verify", "audit"]).output().unwrap();
    assert_eq!(verified.status.code(), Some(1), "{verified:?}");
}
