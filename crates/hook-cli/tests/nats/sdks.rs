//! Askers in all languages at real engines: over TLS, as users of whom each may do its own work alone.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use futures::StreamExt;
use hook_bus::HookExecutionResponse;
use hook_remote::nats::{NatsBus, NatsOptions};
use serde_json::json;

use super::broker::Broker;
use super::{Engine, accounts, await_file, hook};

/// A broker with an engine whose guard knows three tools.
struct Place {
    broker: Broker,
    url: String,
    authority: String,
    _engine: Engine,
}

impl Place {
    fn credentials(&self, name: &str) -> String {
        self.broker.path(name).display().to_string()
    }

    /// The askers that there are, each as a command that asks about a tool as that user.
    fn askers(&self, user: &str, tool: &str, deadline: &str) -> Vec<(&'static str, Command)> {
        let folder = self.broker.folder.path();
        let file = self.credentials(user);
        let mut shell = hook(folder);
        shell.args([
            "fire",
            "BeforeTool",
            "--json",
            "--nats",
            &self.url,
            "--subject",
            "acme.hooks",
        ]);
        shell.args(["--nats-creds", &file, "--tool", tool, "--timeout", deadline]);
        if !self.authority.is_empty() {
            shell.args(["--nats-ca", &self.authority]);
        }
        vec![("the shell", shell)]
    }

    /// What comes of asking about that tool as that user, in each language.
    fn ask(&self, user: &str, tool: &str) -> Vec<(&'static str, serde_json::Value)> {
        let asked = self.askers(user, tool, "30000").into_iter().map(|(language, mut asker)| {
            let output = asker.stdin(Stdio::null()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let answer = serde_json::from_str(&text);
            (language, answer.unwrap_or_else(|_| panic!("{language}: {output:?}")))
        });
        asked.collect()
    }
}

const GUARD: &str = r#"
given=$(cat)
case $given in *'"idempotencyKey":"forged"'*) echo 'forged' >&2; exit 2;; esac
case $given in
*forbidden*) echo 'not that' >&2; exit 2;;
*endless*) trap 'touch ended; exit 1' TERM; touch begun; sleep 1000 & wait;;
esac
"#;

/// One of these settings, whose engine is that user.
fn place(settings: &str, files: &Path, engine: &str, is_encrypted: bool) -> Option<Place> {
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/certificate");
    let certificate = certificates.join("localhost.pem");
    let key = certificates.join("localhost.key.pem");
    let tls = format!("tls {{ cert_file: {certificate:?}, key_file: {key:?} }}\n");
    let broker = match is_encrypted {
        true => Broker::start_with(&format!("{tls}{settings}"))?,
        false => Broker::start_with(settings)?,
    };
    for file in std::fs::read_dir(files).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), broker.folder.path().join(file.file_name())).unwrap();
    }
    let (url, authority) = match is_encrypted {
        true => (format!("tls://localhost:{}", broker.port), certificate.display().to_string()),
        false => (broker.url(), String::new()),
    };
    std::fs::write(broker.path("guard.sh"), GUARD).unwrap();
    let command = json!({"type": "command", "command": "sh guard.sh", "failBehavior": "block"});
    let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [command]}]}});
    std::fs::write(broker.path("settings.json"), hooks.to_string()).unwrap();
    let mut serve = hook(broker.folder.path());
    serve.args([
        "serve",
        "--settings",
        "settings.json",
        "--subject",
        "acme.hooks",
        "--nats-events",
    ]);
    serve.args(["--nats", &url, "--nats-creds"]).arg(broker.path(engine));
    if is_encrypted {
        serve.args(["--nats-ca", &authority]);
    }
    let (engine, said) = Engine::joined(&mut serve);
    std::thread::spawn(move || said.for_each(drop));
    Some(Place { broker, url, authority, _engine: engine })
}

fn agents_are_answered(place: &Place, user: &str, may_not_ask: &str) {
    for (language, answer) in place.ask(user, "forbidden") {
        assert_eq!(answer["processed"]["decision"], "block", "{language}: {answer}");
        assert_eq!(answer["processed"]["reason"], "not that", "{language}: {answer}");
        assert!(answer["engine"]["id"].is_string(), "{language}: {answer}");
    }
    for (language, answer) in place.ask(user, "read_file") {
        assert_eq!(answer["processed"]["decision"], "proceed", "{language}: {answer}");
    }
    // One that may not ask is told so at once, and consents to nothing.
    for (language, answer) in place.ask(may_not_ask, "read_file") {
        assert_eq!(answer["error"]["code"], "unanswered", "{language}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("does not let this"), "{language}: {message}");
        assert_eq!(answer["processed"]["decision"], "block", "{language}: {answer}");
    }
}

/// `--nats-events`, to a program in Rust.
fn an_operator_sees_what_happens(place: &Place) {
    let options = NatsOptions::new(&*place.url).subject("acme.hooks");
    let options = options.certificate_authority(&place.authority);
    let options = options.credentials(place.credentials("operator.nk"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let seen = runtime.block_on(async {
        let bus = NatsBus::with(options).unwrap();
        let mut responses = bus.subscribe::<HookExecutionResponse>().await.unwrap();
        let mut asker = place.askers("agent1.nk", "forbidden", "30000").remove(0).1;
        let asked = tokio::task::spawn_blocking(move || asker.output().unwrap());
        let seen = tokio::time::timeout(Duration::from_secs(30), responses.next()).await;
        asked.await.unwrap();
        seen.expect("it is published").unwrap().unwrap()
    });
    assert_eq!(seen.processed.reason.as_deref(), Some("not that"), "{seen:?}");
}

#[test]
fn askers_in_all_languages_are_answered_over_tls_where_each_may_do_its_own_work_alone() {
    let files = tempfile::tempdir().unwrap();
    let settings = accounts::keyed(files.path());
    let Some(place) = place(&settings, files.path(), "engine.nk", true) else { return };
    agents_are_answered(&place, "agent1.nk", "engine.nk");
    an_operator_sees_what_happens(&place);
    // What nobody waits for any more ends at the engine, whose hooks run in its folder.
    for (language, mut asker) in place.askers("agent2.nk", "endless", "1500") {
        let [begun, ended] = ["begun", "ended"].map(|name| place.broker.path(name));
        for file in [&begun, &ended] {
            let _ = std::fs::remove_file(file);
        }
        let output = asker.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("deadline_exceeded"), "{language}: {output:?}");
        await_file(&begun);
        await_file(&ended);
    }
}

#[test]
fn askers_in_all_languages_are_answered_with_credentials_of_an_account() {
    let files = tempfile::tempdir().unwrap();
    let settings = accounts::with_credentials(files.path());
    let Some(place) = place(&settings, files.path(), "engine.creds", false) else { return };
    agents_are_answered(&place, "agent1.creds", "engine.creds");
}

#[test]
fn plain_text_to_another_machine_is_for_tests_alone() {
    let folder = tempfile::tempdir().unwrap();
    let fire = |more: &[&str]| {
        let mut command = hook(folder.path());
        // An address that nobody has (RFC 5737).
        command.args(["fire", "BeforeTool", "--nats", "nats://192.0.2.1", "--timeout", "300"]);
        let output = command.args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        format!("{output:?}")
    };
    assert!(fire(&[]).contains("can be read on the way"));
    let said = fire(&["--nats-insecure"]);
    assert!(!said.contains("can be read on the way") && said.contains("deadline passed"), "{said}");
}
