//! Variables that SessionStart hooks set for later hooks of their session.

use hook_bus::{HookExecutionRequest, HookSystem};
use hook_settings::{HookSource, SettingsSource};
use hook_tests::{Project, Served, fields, request};
use hook_trust::TrustPolicy;
use serde_json::{Value, json};

fn setting(env: &Value) -> Value {
    let answer = json!({"hookSpecificOutput": {"env": env}});
    json!([{"hooks": [{"type": "command", "name": "sets", "command": format!("echo '{answer}'")}]}])
}

/// A hook that says what it finds.
fn telling() -> Value {
    json!([{"hooks": [{"type": "command", "name": "tells", "env": {"OWN": "own"},
        "command": r#"printf '{"systemMessage":"%s|%s|%s"}' "$GREETING" "$OWN" "$HOOK_SESSION_ID""#}]}])
}

/// What the hook of a session finds.
async fn told(system: &HookSystem, session: &str) -> String {
    let input = fields(json!({"prompt": "p", "session_id": session}));
    let response = system.bus().request(HookExecutionRequest::new("BeforeAgent", input)).await;
    response.processed.system_message.unwrap_or_default()
}

async fn begin(system: &HookSystem, session: &str) -> Vec<String> {
    let input = fields(json!({"source": "startup", "session_id": session}));
    let response = system.bus().request(HookExecutionRequest::new("SessionStart", input)).await;
    response.processed.warnings
}

#[tokio::test]
async fn later_hooks_of_the_session_find_what_was_set() {
    let env = json!({"GREETING": "hello", "OWN": "theirs", "HOOK_SESSION_ID": "forged"});
    let project = Project::with_settings(
        &json!({"hooks": {"SessionStart": setting(&env), "BeforeAgent": telling()}}),
    );
    let system = project.system();
    assert_eq!(told(&system, "a").await, "|own|a", "before the session begins");
    let warnings = begin(&system, "a").await;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("hook sets: env.HOOK_SESSION_ID was not set"), "{warnings:?}");
    assert_eq!(told(&system, "a").await, "hello|own|a");
    assert_eq!(told(&system, "b").await, "|own|b", "another session");
    system.reload().await.unwrap();
    assert_eq!(told(&system, "a").await, "hello|own|a", "after a reload");
    // A session that begins again has what is set then.
    let nothing = json!({"hooks": {"SessionStart": setting(&json!({})), "BeforeAgent": telling()}});
    project.write("settings.json", &nothing.to_string());
    system.reload().await.unwrap();
    begin(&system, "a").await;
    assert_eq!(told(&system, "a").await, "|own|a");
}

#[tokio::test]
async fn a_hook_that_is_trusted_more_gets_nothing_of_one_that_is_trusted_less() {
    for (setter, finder, finds) in [
        (HookSource::Project, HookSource::Project, true),
        (HookSource::Project, HookSource::User, false),
        (HookSource::User, HookSource::Project, true),
        (HookSource::User, HookSource::User, true),
        (HookSource::User, HookSource::System, false),
    ] {
        let project = Project::new();
        let sets = json!({"hooks": {"SessionStart": setting(&json!({"GREETING": "hello"}))}});
        let sets = project.write("sets.json", &sets.to_string());
        let tells =
            project.write("tells.json", &json!({"hooks": {"BeforeAgent": telling()}}).to_string());
        let system = HookSystem::builder(project.path())
            .settings(SettingsSource::optional(setter.clone(), sets))
            .settings(SettingsSource::optional(finder.clone(), tells))
            .trust(TrustPolicy::Everything)
            .build()
            .unwrap();
        begin(&system, "s").await;
        let expected = if finds { "hello|own|s" } else { "|own|s" };
        assert_eq!(told(&system, "s").await, expected, "{setter} sets, {finder} finds");
    }
}

#[tokio::test]
async fn clients_of_one_server_have_the_sessions_they_name() {
    let project = Project::with_settings(&json!({"hooks": {
        "SessionStart": setting(&json!({"GREETING": "hello"})), "BeforeAgent": telling()}}));
    let mut served = Served::start(&project).await;
    served
        .ask(&request("SessionStart", &json!({"source": "startup", "session_id": "s"}), "1"))
        .await;
    let answer =
        served.ask(&request("BeforeAgent", &json!({"prompt": "p", "session_id": "s"}), "2")).await;
    assert_eq!(answer["processed"]["systemMessage"], "hello|own|s");
    assert_eq!(served.finish().await.1, Some(0));
}
