//! Events that the host, settings or a caller at run time declare: through every door, and what is
//! refused.

use hook_bus::audit::AuditKind;
use hook_bus::{HookSystem, HookSystemBuilder};
use hook_json::JsonObject;
use hook_protocol::event::{DeclareError, MergeStrategy};
use hook_protocol::{EventDefinition, HookEventName, HookOutput, OpenInput};
use hook_run::HandlerHook;
use hook_settings::AuditLevel;
use hook_settings::{FailBehavior, HookSource, SettingsSource};
use hook_tests::{Finished, Hook, Project, Served, fields, request};
use hook_trust::{TrustPolicy, TrustStore};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

use super::{code, decision, fire, warned};

const EVENT: &str = "DeployFinished";

fn declaration() -> Value {
    json!({"matching": {"exact": "environment"}, "merge": "or-decision",
        "blockMeans": "it is rolled back"})
}

/// The same for a host.
fn definition() -> EventDefinition {
    EventDefinition::new(EVENT).matching_exactly("environment").block_means("it is rolled back")
}

/// Settings that declare the event, with a guard of production.
fn settings() -> Value {
    json!({
        "hooksConfig": {"events": {EVENT: declaration()}},
        "hooks": {EVENT: [{"matcher": "production", "hooks": [{"type": "command",
            "name": "freeze", "failBehavior": "block", "command": "echo frozen >&2; exit 2"}]}]},
    })
}

fn of(environment: &str) -> Value {
    json!({"environment": environment, "build": 7})
}

fn fired(event: HookEventName, environment: &str) -> OpenInput {
    OpenInput::new(event, fields(of(environment))).unwrap()
}

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, &[arguments, &["--settings", "settings.json"]].concat()).run()
}

#[tokio::test]
async fn an_event_that_settings_declare_goes_through_every_door() {
    let project = Project::with_settings(&settings());
    let system = project.system();
    let mut audit = system.audit(AuditLevel::Info);
    for (environment, expected) in [("production", "block"), ("staging", "proceed")] {
        let by_name = fire(&system, EVENT, of(environment)).await;
        assert_eq!((decision(&by_name), code(&by_name)), (expected, None));
        let typed = system.fire(fired(definition().event().unwrap(), environment)).await;
        assert_eq!(typed.decision.as_str(), expected);
        assert_eq!(typed.reason, by_name.processed.reason);

        let input = of(environment).to_string();
        let finished = run(&project, &["fire", EVENT, "--input", &input, "--json"]);
        assert_eq!(finished.status, if expected == "block" { 2 } else { 0 }, "{finished:?}");
        assert_eq!(finished.lines()[0]["processed"]["decision"], expected);

        let explained = run(&project, &["explain", EVENT, "--input", &input, "--json"]);
        assert_eq!(explained.lines()[0]["runs"], expected == "block", "{explained:?}");
    }
    let blocked = |entry: &hook_bus::audit::AuditEntry| entry.kind == AuditKind::Blocked;
    let mut kinds = Vec::new();
    while let Some(entry) = futures::FutureExt::now_or_never(audit.next()).flatten() {
        kinds.push((blocked(&entry), entry.event.map(HookEventName::as_str)));
    }
    assert_eq!(kinds.iter().filter(|it| **it == (true, Some(EVENT))).count(), 2, "{kinds:?}");

    let listed = run(&project, &["list", "--event", EVENT, "--json"]).lines();
    assert_eq!((&listed[0]["name"], &listed[0]["event"]), (&json!("freeze"), &json!(EVENT)));

    project.write("one.toml", &format!(
        "[[test]]\nname = \"frozen\"\nevent = \"{EVENT}\"\ninput = {{ environment = \"production\" }}\n\
         expect = {{ decision = \"block\", reason = \"frozen\", hooks = [\"freeze\"] }}\n"));
    let tested = run(&project, &["test", "one.toml"]);
    assert_eq!(tested.status, 0, "{}{}", tested.stdout, tested.stderr);

    project.write("script.jsonl", &format!("{}\n", request(EVENT, &of("production"), "c-1")));
    let answered = run(&project, &["run", "script.jsonl", "--json"]).lines();
    assert_eq!(answered[0]["processed"]["decision"], "block");

    let recording = project.path().join("session.hookrec");
    let lines = Hook::new(
        &project,
        &[
            "serve",
            "--stdio",
            "--settings",
            "settings.json",
            "--record",
            recording.to_str().unwrap(),
        ],
    )
    .stdin(format!("{}\n", request(EVENT, &of("production"), "c-1")))
    .run()
    .lines();
    let response = lines.iter().find(|line| line["type"] == "hook-execution-response").unwrap();
    assert_eq!(
        (&response["eventName"], &response["processed"]["decision"]),
        (&json!(EVENT), &json!("block"))
    );
    let traced = Hook::new(&project, &["trace", "session.hookrec"]).run();
    assert_eq!(traced.status, 0);
    for part in [EVENT, "freeze", "frozen"] {
        assert!(traced.stdout.contains(part), "{part} in {}", traced.stdout);
    }
    let replayed = run(&project, &["replay", "session.hookrec"]);
    assert_eq!(replayed.status, 0, "{}{}", replayed.stdout, replayed.stderr);
}

#[tokio::test]
async fn an_event_that_a_host_declares_has_handlers_and_hooks_of_settings() {
    let mut settings = settings();
    settings.as_object_mut().unwrap().remove("hooksConfig");
    let project = Project::with_settings(&settings);
    let event = definition().event().unwrap();
    let handler = HandlerHook::inline(event, "host", |_| Ok(Some(HookOutput::allow())));
    let system = project.builder().event(definition()).unwrap().handler(handler).build().unwrap();
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!((decision(&response), response.hooks.len()), ("block", 2));
    let result = system.fire(fired(event, "staging")).await;
    assert_eq!((result.decision.as_str(), result.warnings), ("proceed", vec![]));
}

#[tokio::test]
async fn an_event_is_known_for_as_long_as_somebody_declares_it() {
    let system = HookSystem::builder("/").build().unwrap();
    system.initialize().await.unwrap();
    let known = async || code(&fire(&system, EVENT, of("x")).await).is_none();
    assert!(!known().await);
    let first = system.declare_event(definition()).unwrap();
    let second = system.declare_event(definition()).unwrap();
    assert_eq!(first.event(), second.event());
    drop(first);
    assert!(known().await);
    system.reload().await.unwrap();
    assert!(known().await, "a reload forgets none");
    let other = definition().merge(MergeStrategy::First);
    assert!(matches!(system.declare_event(other.clone()), Err(DeclareError::Exists { .. })));
    drop(second);
    assert!(!known().await);
    assert!(system.declare_event(other).is_ok(), "the name is free again");
}

#[tokio::test]
async fn an_undeclared_event_is_unsupported_at_every_door() {
    let project = Project::with_settings(&settings());
    let system = project.system();
    let response = fire(&system, "DeployFinish", of("x")).await;
    assert_eq!((code(&response), decision(&response)), (Some("unsupported_event"), "proceed"));
    assert_eq!(
        response.error().unwrap().details.get("nearest").unwrap().as_str(),
        "\"DeployFinished\""
    );
    let mut served = Served::start(&project).await;
    let answer = served.ask(&request("DeployFinish", &of("x"), "c")).await;
    assert_eq!(answer["error"]["code"], "unsupported_event");
    assert_eq!(served.finish().await.1, Some(0));
    let finished = run(&project, &["fire", "DeployFinish"]);
    assert_eq!(finished.status, 64, "{finished:?}");
    assert!(finished.stderr.contains("did you mean DeployFinished?"), "{}", finished.stderr);
    // Where nothing declares it, no door knows it.
    let system = HookSystem::builder("/").build().unwrap();
    for typed in [false, true] {
        let failure = match typed {
            true => system
                .fire(fired(definition().event().unwrap(), "x"))
                .await
                .failure
                .map(|it| it.code.as_str()),
            false => code(&fire(&system, EVENT, of("x")).await),
        };
        assert_eq!(failure, Some("unsupported_event"), "typed {typed}");
    }
}

#[tokio::test]
async fn a_guard_blocks_what_lacks_the_field_that_matchers_are_compared_with() {
    let project = Project::with_settings(&settings());
    let system = project.system();
    for input in [
        json!({}),
        json!({"environment": null}),
        json!({"environment": 7}),
        json!({"environment": ["production"]}),
        json!({"environment": "x".repeat(1025)}),
        json!({"Environment": "production"}),
    ] {
        let response = fire(&system, EVENT, input.clone()).await;
        assert_eq!(
            (code(&response), decision(&response)),
            (Some("invalid_payload"), "block"),
            "{input}"
        );
        let finished = run(&project, &["fire", EVENT, "--input", &input.to_string()]);
        assert_eq!(finished.status, 2, "{input}: {finished:?}");
    }
}

#[tokio::test]
async fn a_guard_blocks_where_the_host_means_another_event_of_that_name() {
    let project = Project::with_settings(&settings());
    let system = project.system();
    system.initialize().await.unwrap();
    // The host's own row, which it never declared for this system.
    let other = EventDefinition::new(EVENT).merge(MergeStrategy::Observe).event().unwrap();
    let fired = async || {
        let result = system.fire(OpenInput::new(other, JsonObject::new()).unwrap()).await;
        (result.failure.map(|failure| failure.code.as_str()), result.decision.as_str())
    };
    assert_eq!(fired().await, (Some("unsupported_event"), "block"));
    system.dispose();
    assert_eq!(fired().await, (Some("no_handler"), "block"));
}

fn explicit(project: &Project) -> SettingsSource {
    SettingsSource::explicit(project.settings())
}

#[tokio::test]
async fn a_guard_of_a_declared_event_blocks_when_its_settings_are_broken_now() {
    // Read again: what was in force stays so.
    let project = Project::with_settings(&settings());
    let system = project.system();
    system.initialize().await.unwrap();
    project.write("settings.json", "{");
    let _ = system.reload().await;
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!((decision(&response), response.hooks.len()), ("block", 1));

    // Never read: any event may have had a guard.
    let broken = |builder: HookSystemBuilder| builder.settings(explicit(&project)).build().unwrap();
    let system = broken(HookSystem::builder("/").strict());
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!(decision(&response), "block");
    let finished = run(&project, &["fire", EVENT, "--input", &of("production").to_string()]);
    assert_eq!(finished.status, 2, "{finished:?}");
    let strict =
        run(&project, &["fire", EVENT, "--strict", "--input", &of("production").to_string()]);
    assert_eq!(strict.status, 2, "{strict:?}");
}

#[tokio::test]
async fn a_trusted_guard_of_a_declared_event_blocks_while_its_file_cannot_be_read() {
    let project = Project::with_settings(&settings());
    let store = TrustStore::new(project.home().join("trust.json"));
    let source = SettingsSource::optional(HookSource::Project, project.settings());
    let entries = hook_settings::load(&source).unwrap().hooks;
    store.grant(&project.path(), &entries).unwrap();
    let system = || {
        let builder = HookSystem::builder(project.path()).settings(source.clone());
        builder.trust(TrustPolicy::Store(store.clone())).build().unwrap()
    };
    assert_eq!(decision(&fire(&system(), EVENT, of("production")).await), "block");
    for broken in [
        "{",
        "",
        "[]",
        "null",
        r#"{"hooks": {}, "hooksConfig": 7}"#,
        r#"{"hooks": {}"#,
        r#"{"hooksConfig": {"events": {"DeployFinished": {"merge": "no-such"}}}}"#,
    ] {
        project.write("settings.json", broken);
        let response = fire(&system(), EVENT, of("production")).await;
        assert_eq!(decision(&response), "block", "{broken:?}: {:?}", response.processed);
    }
}

#[tokio::test]
async fn what_declares_no_event_is_said_with_its_place_and_declares_none() {
    for (declared, said) in [
        (json!({"merge": "no-such"}), "expected or-decision"),
        (json!({"merge": "permission"}), "expected or-decision"),
        (json!({"merge": "tool-selection"}), "expected or-decision"),
        (json!({"merge": 7}), "expected a string"),
        (json!({"matching": "environment"}), "expected an object"),
        (json!({"matching": {"exact": "a", "pattern": "b"}}), "expected `exact` or `pattern`"),
        (json!({"matching": {"exact": 7}}), "expected a string"),
        (json!({"matching": {"exact": ""}}), "1 to 256 bytes"),
        (json!({"blockMeans": true}), "expected a string"),
        (json!({"blockMeans": "x".repeat(257)}), "at most 256 bytes"),
        (json!({"merge": "observe", "blockMeans": "x"}), "what only observes cannot be blocked"),
        (json!(7), "expected an object"),
    ] {
        let project =
            Project::with_settings(&json!({"hooksConfig": {"events": {EVENT: declared}}}));
        let system = project.system();
        system.initialize().await.unwrap();
        let diagnostics = system.diagnostics().unwrap();
        let found = diagnostics.iter().find(|it| it.message.contains(said));
        let found = found.unwrap_or_else(|| panic!("{declared}: {diagnostics:?}"));
        assert_eq!(found.location.line, 1, "{declared}");
        let path = &found.location.path;
        assert!(path.starts_with("hooksConfig.events.DeployFinished"), "{declared}: {path}");
        assert_eq!(
            code(&fire(&system, EVENT, of("x")).await),
            Some("unsupported_event"),
            "{declared}"
        );
    }
    for name in ["", "7up", "a-b", "é", "a b", &"x".repeat(65)] {
        let project = Project::with_settings(&json!({"hooksConfig": {"events": {name: {}}}}));
        let system = project.system();
        system.initialize().await.unwrap();
        assert_eq!(system.diagnostics().unwrap().len(), 1, "{name}");
        assert_eq!(system.events().declared().count(), 0, "{name}");
        assert!(HookSystem::builder("/").event(EventDefinition::new(name)).is_err(), "{name}");
    }
    for name in ["BeforeTool", "before_tool"] {
        let system = HookSystem::builder("/").build().unwrap();
        let refused = system.declare_event(EventDefinition::new(name));
        assert!(matches!(refused, Err(DeclareError::BuiltIn { .. })), "{name}: {refused:?}");
    }
}

#[tokio::test]
async fn what_every_input_has_is_no_field_of_a_declared_event() {
    for field in ["cwd", "session_id", "hook_event_name", "timestamp", "transcript_path"] {
        let refused = EventDefinition::new(EVENT).matching_exactly(field).event();
        assert!(matches!(refused, Err(DeclareError::Invalid { .. })), "{field}");
        let event = EventDefinition::new(EVENT).event().unwrap();
        let payload = OpenInput::new(event, fields(json!({field: "/forged"}))).unwrap();
        let told = HandlerHook::inline(event, "h", |_| Ok(None));
        let system = HookSystem::builder("/").event(EventDefinition::new(EVENT)).unwrap();
        let result = system.handler(told).build().unwrap().fire(payload).await;
        let code = result.failure.map(|failure| failure.code.as_str());
        assert_eq!(code, Some("invalid_payload"), "{field}");
    }
    for text in ["a\nb", "a\u{202e}b"] {
        assert!(EventDefinition::new(EVENT).matching_exactly(text).event().is_err(), "{text:?}");
        assert!(EventDefinition::new(EVENT).block_means(text).event().is_err(), "{text:?}");
    }
}

#[tokio::test]
async fn a_mistake_in_a_declaration_is_shown_where_it_is_and_said_once_more_of_its_hooks() {
    for (declared, place, said, suggested) in [
        (json!({"matchin": {}}), "matchin", "unknown key `matchin`", Some("matching")),
        (json!({"matching": {"exactly": "x"}}), "matching.exactly", "unknown key", Some("exact")),
        (json!({"merge": "or_decision"}), "merge", "did you mean \"or-decision\"?", None),
        (json!({"matching": {}}), "matching", "found neither", None),
    ] {
        let mut settings = settings();
        settings["hooksConfig"]["events"][EVENT] = declared.clone();
        let project = Project::with_settings(&settings);
        let system = project.system();
        system.initialize().await.unwrap();
        let diagnostics = system.diagnostics().unwrap();
        let [first, of_hooks] = &diagnostics[..] else { panic!("{declared}: {diagnostics:?}") };
        assert_eq!(first.location.path, format!("hooksConfig.events.{EVENT}.{place}"));
        assert!(first.message.contains(said), "{}", first.message);
        assert_eq!(first.suggestion.as_deref(), suggested, "{declared}");
        assert!(of_hooks.message.contains("is not declared"), "{}", of_hooks.message);
        // The guard waits for its event to be declared.
        let response = fire(&system, EVENT, of("production")).await;
        assert_eq!(decision(&response), "block", "{declared}");
    }
}

#[tokio::test]
async fn a_guard_blocks_when_its_event_means_something_else_or_nothing_now() {
    let mut settings = settings();
    settings.as_object_mut().unwrap().remove("hooksConfig");
    let project = Project::with_settings(&settings);
    let system = project.builder().build().unwrap();
    let declared = system.declare_event(definition()).unwrap();
    let row = declared.event();
    system.initialize().await.unwrap();
    assert_eq!(decision(&fire(&system, EVENT, of("production")).await), "block");
    assert_eq!(decision(&fire(&system, EVENT, of("staging")).await), "proceed");
    drop(declared);
    // By name and typed alike.
    let undeclared = async || {
        let named = fire(&system, EVENT, of("staging")).await;
        let typed = system.fire(fired(row, "staging")).await;
        assert_eq!(code(&named), typed.failure.map(|failure| failure.code.as_str()));
        assert_eq!(decision(&named), typed.decision.as_str());
        (code(&named), decision(&named))
    };
    assert_eq!(undeclared().await, (Some("unsupported_event"), "block"));
    for other in [
        definition().merge(MergeStrategy::First),
        EventDefinition::new(EVENT).merge(MergeStrategy::Observe),
        EventDefinition::new(EVENT).matching_pattern("build"),
    ] {
        let declared = system.declare_event(other.clone()).unwrap();
        let response = fire(&system, EVENT, of("staging")).await;
        assert_eq!(decision(&response), "block", "{other:?}");
        assert_ne!(code(&response), None, "{other:?}");
        drop(declared);
    }
    // Declared as it was, or read again, it is asked.
    let declared = system.declare_event(definition()).unwrap();
    assert_eq!(decision(&fire(&system, EVENT, of("staging")).await), "proceed");
    drop(declared);
    let other = system.declare_event(definition().merge(MergeStrategy::First)).unwrap();
    system.reload().await.unwrap();
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!((code(&response), response.hooks.len()), (None, 1));
    drop(other);

    // A guard that the host registered is none that can be lost, either.
    let system = HookSystem::builder("/").build().unwrap();
    let declared = system.declare_event(definition()).unwrap();
    let guard = HandlerHook::inline(row, "guard", |_| Ok(None)).fail_behavior(FailBehavior::Block);
    let _guard = system.register(guard).unwrap();
    assert_eq!(decision(&fire(&system, EVENT, of("x")).await), "proceed");
    drop(declared);
    assert_eq!(decision(&fire(&system, EVENT, of("x")).await), "block");
}

#[tokio::test]
async fn settings_of_the_user_say_what_an_event_means_whoever_declared_it_before() {
    let project = Project::with_settings(&json!({}));
    let system = project.system();
    system.initialize().await.unwrap();
    let observed = EventDefinition::new(EVENT).merge(MergeStrategy::Observe);
    let declared = system.declare_event(observed).unwrap();
    assert_eq!(decision(&fire(&system, EVENT, of("production")).await), "proceed");
    project.write("settings.json", &settings().to_string());
    system.reload().await.unwrap();
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!((code(&response), decision(&response)), (None, "block"));
    drop(declared);
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!((code(&response), decision(&response)), (None, "block"));
}

#[tokio::test]
async fn a_trusted_guard_blocks_when_its_event_is_declared_otherwise() {
    let project = Project::with_settings(&settings());
    let store = TrustStore::new(project.home().join("trust.json"));
    let source = SettingsSource::optional(HookSource::Project, project.settings());
    let entries = hook_settings::load(&source).unwrap().hooks;
    store.grant(&project.path(), &entries).unwrap();
    let system = || {
        let builder = HookSystem::builder(project.path()).settings(source.clone());
        builder.trust(TrustPolicy::Store(store.clone())).build().unwrap()
    };
    assert_eq!(decision(&fire(&system(), EVENT, of("staging")).await), "proceed");
    for changed in [
        json!({"matching": {"exact": "environment"}, "merge": "observe"}),
        json!({"matching": {"exact": "build"}, "blockMeans": "it is rolled back"}),
        json!({"matching": {"pattern": "environment"}, "blockMeans": "it is rolled back"}),
        json!({"matching": {"exact": "environment"}, "blockMeans": "nothing much"}),
        json!({"blockMeans": "it is rolled back"}),
    ] {
        let mut theirs = settings();
        theirs["hooksConfig"]["events"][EVENT] = changed.clone();
        project.write("settings.json", &theirs.to_string());
        // Asked about what it would have let go on before: it cannot tell.
        let mut input = of("production");
        input["build"] = json!("7");
        let response = fire(&system(), EVENT, input).await;
        assert_eq!(decision(&response), "block", "{changed}: {:?}", response.processed);
    }
}

#[tokio::test]
async fn a_project_that_is_not_trusted_declares_nothing_that_anybody_else_is_bound_by() {
    // A guard of the user's on an event that only the agent declares.
    let mut own = settings();
    own.as_object_mut().unwrap().remove("hooksConfig");
    let observed: Value = json!({"merge": "observe"});
    let many: serde_json::Map<String, Value> = (0..100)
        .map(|it| (format!("Aaa{it:03}"), json!({})))
        .chain([(EVENT.to_owned(), observed)])
        .collect();
    let project = Project::new();
    std::fs::create_dir_all(project.home().join(".config/hooks")).unwrap();
    std::fs::write(project.home().join(".config/hooks/settings.json"), own.to_string()).unwrap();
    let theirs = json!({"hooksConfig": {"events": many}});
    project.write("inner/.hooks/settings.json", &theirs.to_string());
    let system = native(&project, true);
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!(decision(&response), "block", "its guard knows no such event");
    let _declared = system.declare_event(definition()).unwrap();
    system.reload().await.unwrap();
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!((code(&response), decision(&response), response.hooks.len()), (None, "block", 1));
    let response = fire(&system, EVENT, of("staging")).await;
    assert_eq!(decision(&response), "proceed");
}

#[tokio::test]
async fn there_are_a_hundred_declared_events_and_the_next_one_is_refused() {
    let name = |number: usize| format!("Many{number:03}");
    let events: serde_json::Map<String, Value> = (0..101).map(|it| (name(it), json!({}))).collect();
    let project = Project::with_settings(&json!({"hooksConfig": {"events": events}}));
    let system = project.system();
    system.initialize().await.unwrap();
    let diagnostics = system.diagnostics().unwrap();
    let found = diagnostics.iter().filter(|it| it.message.contains("100 declared events already"));
    assert_eq!(found.count(), 1, "{diagnostics:?}");
    assert_eq!(code(&fire(&system, &name(99), json!({})).await), None);
    assert_eq!(code(&fire(&system, &name(100), json!({})).await), Some("unsupported_event"));
    let refused = system.declare_event(definition());
    assert!(matches!(refused, Err(DeclareError::TooMany { limit: 100, .. })), "{refused:?}");
    assert!(system.declare_event(EventDefinition::new(name(0))).is_ok(), "one that is there");
}

/// A guard of production that denies, on the event as its own file declares it.
fn native(project: &Project, home: bool) -> HookSystem {
    let config_home = project.home().join(".config");
    let builder = HookSystem::builder(project.path().join("inner"));
    let builder = builder.native_settings(home.then_some(config_home.as_path()));
    builder
        .trust(TrustPolicy::Store(TrustStore::new(project.home().join("trust.json"))))
        .build()
        .unwrap()
}

#[tokio::test]
async fn who_is_trusted_more_says_what_an_event_means() {
    let disarmed = [
        json!({"merge": "observe"}),
        json!({"matching": {"exact": "region"}, "merge": "or-decision", "blockMeans": "x"}),
        json!({"matching": {"pattern": "build"}}),
        json!({"merge": "first"}),
    ];
    for declared in disarmed {
        let theirs = json!({"hooksConfig": {"events": {EVENT: declared}}}).to_string();
        // The user's own guard, against a project that nobody trusts.
        let project = Project::new();
        std::fs::create_dir_all(project.home().join(".config/hooks")).unwrap();
        std::fs::write(project.home().join(".config/hooks/settings.json"), settings().to_string())
            .unwrap();
        project.write("inner/.hooks/settings.json", &theirs);
        let response = fire(&native(&project, true), EVENT, of("production")).await;
        assert_eq!(decision(&response), "block", "user: {declared}");

        // A project's trusted guard, against one below it that nobody trusts.
        let project = Project::new();
        project.write(".git/HEAD", "");
        let outer = project.write(".hooks/settings.json", &settings().to_string());
        project.write("inner/.hooks/settings.json", &theirs);
        let store = TrustStore::new(project.home().join("trust.json"));
        let source = SettingsSource::optional(HookSource::Project, outer);
        store.grant(&project.path(), &hook_settings::load(&source).unwrap().hooks).unwrap();
        let response = fire(&native(&project, false), EVENT, of("production")).await;
        assert_eq!(decision(&response), "block", "outer project: {declared}");
    }
}

#[tokio::test]
async fn a_full_table_of_a_project_leaves_room_for_the_events_of_those_who_are_trusted_more() {
    let many: serde_json::Map<String, Value> =
        (0..100).map(|it| (format!("Aaa{it:03}"), json!({}))).collect();
    let project = Project::new();
    std::fs::create_dir_all(project.home().join(".config/hooks")).unwrap();
    std::fs::write(project.home().join(".config/hooks/settings.json"), settings().to_string())
        .unwrap();
    project
        .write("inner/.hooks/settings.json", &json!({"hooksConfig": {"events": many}}).to_string());
    let response = fire(&native(&project, true), EVENT, of("production")).await;
    assert_eq!(decision(&response), "block");
}

#[tokio::test]
async fn what_a_project_declares_otherwise_than_its_host_is_said_and_changes_nothing() {
    let mut theirs = settings();
    theirs["hooksConfig"]["events"][EVENT]["merge"] = json!("observe");
    theirs["hooksConfig"]["events"][EVENT].as_object_mut().unwrap().remove("blockMeans");
    let project = Project::with_settings(&theirs);
    let system = project.builder().event(definition()).unwrap().build().unwrap();
    let response = fire(&system, EVENT, of("production")).await;
    assert_eq!(decision(&response), "block");
    assert!(warned(&response, "there is one of that name that means something else"));
    let guard = HandlerHook::inline(definition().event().unwrap(), "guard", |_| Err("no".into()));
    let system = HookSystem::builder("/").event(definition()).unwrap();
    let system = system.handler(guard.fail_behavior(FailBehavior::Block)).build().unwrap();
    assert_eq!(decision(&fire(&system, EVENT, of("x")).await), "block");
}
