//! The audit as a stream, and over the wire.

use futures::FutureExt;
use hook_bus::audit::{Audit, AuditEntry, AuditKind};
use hook_bus::{BusLimits, HookExecutionRequest, HookSystem, MessageBus, SubscriptionLimits};
use hook_protocol::{BeforeAgentInput, HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_settings::AuditLevel;
use hook_tests::{Project, Served, fields, json, request};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

/// What it tells by now.
fn told(audit: &mut Audit) -> Vec<AuditEntry> {
    std::iter::from_fn(|| audit.next().now_or_never().flatten()).collect()
}

fn kinds(entries: &[AuditEntry]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.kind.as_str()).collect()
}

fn command(name: &str, command: &str) -> Value {
    json!({"type": "command", "name": name, "command": command})
}

fn project() -> Project {
    let change = r#"echo '{"hookSpecificOutput":{"tool_input":{"b":[2],"a":1}}}'"#;
    Project::with_settings(&json!({"hooks": {"BeforeTool": [{"sequential": true, "hooks": [
        command("change", change),
        command("no", "echo because >&2; exit 2"),
        command("broken", "exit 3"),
        {"type": "command", "name": "guard", "command": "exit 4", "failBehavior": "block"},
    ]}]}}))
}

async fn fire(system: &HookSystem) {
    let input = json!({"tool_name": "t", "tool_input": {"a": 1, "b": "x"}});
    let response =
        system.bus().request(HookExecutionRequest::new("BeforeTool", fields(input))).await;
    let line = json(&response.to_json());
    assert_eq!(line["processed"]["decision"], "block");
    assert!(line["hooks"][0]["input"].is_null(), "a caller gets what it asked for");
}

#[tokio::test]
async fn what_is_registered_while_it_listens_is_told_once() {
    let system = HookSystem::builder("/").build().unwrap();
    system.initialize().await.unwrap();
    let hook = |name: &str| HandlerHook::inline(HookEventName::BeforeAgent, name, |_| Ok(None));
    let early = system.register(hook("early")).unwrap();
    let mut audit = system.audit(AuditLevel::Info);
    let late = system.register(hook("late")).unwrap();
    drop(early);
    let shown = |audit: &mut Audit| -> Vec<String> {
        let shown =
            |it: &AuditEntry| format!("{} {}", it.kind.as_str(), it.hook.as_deref().unwrap());
        told(audit).iter().map(shown).collect()
    };
    let expected = ["registered early", "registered late", "unregistered early"];
    assert_eq!(shown(&mut audit), expected);
    system.reload().await.unwrap();
    assert_eq!(shown(&mut audit), Vec::<String>::new(), "what stays is not told again");
    drop(late);
    assert_eq!(shown(&mut audit), ["unregistered late"]);
}

#[tokio::test]
async fn info_tells_who_decided_and_who_failed_and_verbose_the_rest() {
    let project = project();
    let system = project.system();
    let mut info = system.audit(AuditLevel::Info);
    let mut verbose = system.audit(AuditLevel::Verbose);
    let mut off = system.audit(AuditLevel::Off);
    fire(&system).await;

    let entries = told(&mut info);
    let shown: Vec<String> = entries
        .iter()
        .map(|entry| {
            let hook = entry.hook.as_deref().unwrap_or("-");
            let reason = entry.reason.as_deref().unwrap_or("-");
            format!("{} {hook}: {reason}", entry.kind.as_str())
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    registered change: -
    registered no: -
    registered broken: -
    registered guard: -
    failed broken: Hook exited with code 3
    failed guard: Hook exited with code 4
    blocked no: because
    blocked guard: hook guard failed: Hook exited with code 4
    ");
    assert_eq!(told(&mut off), []);

    let entries = told(&mut verbose);
    assert_eq!(
        kinds(&entries),
        [
            "registered",
            "registered",
            "registered",
            "registered",
            "started",
            "completed",
            "modified",
            "started",
            "completed",
            "started",
            "failed",
            "started",
            "failed",
            "blocked",
            "blocked",
        ]
    );
    let line = json(&entries[6].to_json());
    assert_eq!((&line["hook"], &line["eventName"]), (&json!("change"), &json!("BeforeTool")));
    assert_eq!(line["changes"], json!([{"op": "replace", "path": "/tool_input/b", "value": [2]}]));
    let at = line["at"].as_str().unwrap();
    assert!(at.len() == 24 && at.ends_with('Z'), "{at}");
    assert!(line["correlationId"].is_string());
}

#[tokio::test]
async fn a_reload_registers_what_it_brings_and_unregisters_what_it_takes() {
    let settings = |names: &[&str]| {
        let hooks: Vec<Value> = names.iter().map(|name| command(name, "true")).collect();
        json!({"hooks": {"BeforeAgent": [{"hooks": hooks}]}})
    };
    let project = Project::with_settings(&settings(&["stays", "goes"]));
    let system = project.system();
    system.initialize().await.unwrap();
    // One that comes later is told what there is.
    let mut audit = system.audit(AuditLevel::Info);
    let mut shown = Vec::new();
    let mut look = |audit: &mut Audit| {
        let entries = told(audit);
        let of = |entry: &AuditEntry| {
            format!("{} {}", entry.kind.as_str(), entry.hook.as_deref().unwrap_or_default())
        };
        shown.extend(entries.iter().map(of));
        std::mem::take(&mut shown)
    };
    assert_eq!(look(&mut audit), ["registered stays", "registered goes"]);
    project.write("settings.json", &settings(&["stays", "comes"]).to_string());
    system.reload().await.unwrap();
    assert_eq!(look(&mut audit), ["unregistered goes", "registered comes"]);
    system.reload().await.unwrap();
    assert_eq!(look(&mut audit), [""; 0]);
    // What is switched off is not in force.
    let off = json!({"hooksConfig": {"disabled": ["comes"]}, "hooks": settings(&["stays", "comes"])["hooks"]});
    project.write("settings.json", &off.to_string());
    system.reload().await.unwrap();
    assert_eq!(look(&mut audit), ["unregistered comes"]);
    // Whatever says how a hook runs makes it another one.
    for (key, value) in
        [("env", json!({"A": "1"})), ("timeout", json!(7_000)), ("failBehavior", json!("block"))]
    {
        let mut changed = settings(&["stays"]);
        changed["hooks"]["BeforeAgent"][0]["hooks"][0][key] = value;
        project.write("settings.json", &changed.to_string());
        system.reload().await.unwrap();
        assert_eq!(look(&mut audit), ["unregistered stays", "registered stays"], "{key}");
    }
}

#[tokio::test]
async fn a_slow_reader_delays_no_answer_and_is_told_what_it_missed() {
    const REQUESTS: u64 = 100;
    let subscription = SubscriptionLimits { messages: 10, ..SubscriptionLimits::default() };
    let bus = MessageBus::with_limits(BusLimits { subscription, ..BusLimits::default() });
    let deny =
        HandlerHook::inline(HookEventName::BeforeAgent, "no", |_| Ok(Some(HookOutput::deny("no"))));
    let system = HookSystem::builder(".").bus(bus).handler(deny).build().unwrap();
    let mut audit = system.audit(AuditLevel::Info);
    for _ in 0..REQUESTS {
        let result = system.fire_before_agent(BeforeAgentInput::new("x")).await;
        assert_eq!(result.reason.as_deref(), Some("no"));
    }
    let entries = told(&mut audit);
    let gap = entries.iter().find(|entry| entry.kind == AuditKind::Lagged).unwrap();
    // A request, a start, an end and a response of each.
    assert_eq!(gap.missed, 4 * REQUESTS - 10);
    let line = json(&gap.to_json());
    assert_eq!((&line["kind"], &line["missed"]), (&json!("lagged"), &json!(4 * REQUESTS - 10)));
    assert_eq!(entries.last().unwrap().kind, AuditKind::Blocked);
}

#[tokio::test]
async fn without_a_level_the_settings_say_how_much() {
    let with_level = |level: Option<&str>| {
        json!({"hooksConfig": {"auditLevel": level},
            "hooks": {"BeforeAgent": [{"hooks": [command("a", "true")]}]}})
    };
    for (level, expected) in [
        (Some("off"), &[][..]),
        (Some("info"), &["registered"]),
        (None, &["registered"]),
        (Some("decisions"), &["registered", "allowed"]),
        (Some("verbose"), &["registered", "started", "completed", "allowed"]),
    ] {
        let project = Project::with_settings(&with_level(level));
        let system = project.system();
        let mut audit = system.audit(None);
        system.fire_before_agent(BeforeAgentInput::new("x")).await;
        assert_eq!(kinds(&told(&mut audit)), expected, "{level:?}");
    }
}

#[tokio::test]
async fn a_client_is_told_what_it_asks_for_until_it_wants_no_more() {
    let project = project();
    let mut served = Served::start(&project).await;
    let audit = |level: &str| json!({"type": "hook-audit", "level": level});
    let refused = served.ask(&audit("loud")).await;
    assert_eq!(refused["error"]["code"], "invalid_request");
    let message = refused["error"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "field `level`: expected one of off, info, decisions, verbose; found \"loud\""
    );
    served.send(format!("{}\n", audit("verbose"))).await;
    let input = json!({"tool_name": "t", "tool_input": {"b": "x"}});
    served.send(format!("{}\n", request("BeforeTool", &input, "c-1"))).await;
    let (mut kinds, mut changes) = (Vec::new(), Value::Null);
    while kinds.len() < 16 {
        let line = served.receive().await;
        if line["type"] == "hook-audit" {
            kinds.push(line["kind"].as_str().unwrap().to_owned());
            if line["kind"] != "registered" {
                assert_eq!(line["correlationId"], "c-1");
            }
            if line["kind"] == "modified" {
                changes = line["changes"].clone();
            }
        } else {
            kinds.push(line["type"].as_str().unwrap().to_owned());
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    let expected = [
        "blocked",
        "completed",
        "failed",
        "hook-execution-response",
        "modified",
        "registered",
        "started",
    ];
    assert_eq!(kinds, expected);
    let expected = json!([{"op": "add", "path": "/tool_input/a", "value": 1},
        {"op": "replace", "path": "/tool_input/b", "value": [2]}]);
    assert_eq!(changes, expected);
    served.send(format!("{}\n", audit("off"))).await;
    let response = served.ask(&request("BeforeTool", &input, "c-2")).await;
    assert_eq!(response["correlationId"], "c-2");
    let (rest, code) = served.finish().await;
    assert_eq!((rest.len(), code), (0, Some(0)), "{rest:?}");
}
