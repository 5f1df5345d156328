//! The configuration of the design: what is read of it, and what is answered with a key of ours.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{Client, answered, decision, fire, system_with};

/// The design's own defaults.
fn design() -> Value {
    json!({"hooks": {"enabled": true, "maxHooksPerEvent": 10, "maxTotalHooks": 50,
        "defaultTimeout": 5000, "failBehavior": "continue", "auditLevel": "info"}})
}

#[test]
fn each_key_of_the_designs_configuration_is_answered_with_ours() {
    let project = Project::with_settings(&design());
    let checked = Hook::new(&project, &["check", "settings.json"]).run();
    for (key, ours) in [
        ("enabled", "`hooksConfig.enabled`"),
        ("enabled", "`hooksConfig.registration.maxTotal`"),
        ("maxHooksPerEvent", "`hooksConfig.registration.maxPerEvent`"),
        ("maxTotalHooks", "`hooksConfig.registration.maxTotal`"),
        ("defaultTimeout", "`hooksConfig.defaultTimeout`"),
        ("defaultTimeout", "`hooksConfig.registration.defaultTimeout`"),
        ("failBehavior", "`hooksConfig.failBehavior`"),
        ("failBehavior", "`hooksConfig.registration.failBehavior`"),
        ("auditLevel", "`hooksConfig.auditLevel`"),
    ] {
        let said = checked.stdout.lines().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("`hooks.{key}` is not read")), "{key}: {checked:?}");
        assert!(said.contains(ours), "{key} {ours}: {checked:?}");
    }
    assert!(!checked.stdout.contains("unknown event"), "{checked:?}");
}

#[tokio::test]
async fn a_fail_behavior_where_the_design_has_it_makes_guards_all_the_same() {
    for (behavior, config, expected) in [
        (json!("block"), json!({}), "block"),
        (json!("Block"), json!({}), "block"),
        (json!(7), json!({}), "block"),
        (json!("continue"), json!({}), "proceed"),
        (
            json!("block"),
            json!({"failBehavior": "continue", "registration": {"failBehavior": "continue"}}),
            "proceed",
        ),
    ] {
        let settings = json!({"hooksConfig": config, "hooks": {"failBehavior": behavior,
            "BeforeTool": [{"hooks": [{"type": "command", "command": "exit 1"}]}]}});
        let (_project, system) = system_with(settings.clone()).await;
        let input = json!({"tool_name": "t", "tool_input": {}});
        let response = fire(&system, "BeforeTool", input).await;
        assert_eq!(decision(&response), expected, "{settings}");
        // Of those that clients register, too.
        let mut settings = settings;
        settings["hooks"]["BeforeTool"] = json!([]);
        let (_project, system) = system_with(settings.clone()).await;
        let mut clients = [Client::new(&system, json!({}), json!({"error": "lost"}))];
        let input = json!({"tool_name": "t", "tool_input": {}});
        let (_, response) = answered(&system, &mut clients, "BeforeTool", input).await;
        assert_eq!(decision(&response), expected, "{settings}");
    }
}

#[tokio::test]
async fn settings_say_what_the_failure_of_a_registered_hook_means_that_does_not_say_it() {
    let of = |behavior: &str| json!({"hooksConfig": {"registration": {"failBehavior": behavior}}, "hooks": {}});
    for (settings, own, expected) in [
        (of("block"), None, "block"),
        (of("block"), Some("continue"), "proceed"),
        (of("continue"), Some("block"), "block"),
        (of("continue"), None, "proceed"),
        (of("blok"), None, "block"),
        (json!({"hooks": {}}), None, "proceed"),
    ] {
        let (_project, system) = system_with(settings.clone()).await;
        let hook = match own {
            Some(own) => json!({"config": {"failBehavior": own}}),
            None => json!({}),
        };
        let mut clients = [Client::new(&system, hook, json!({"error": "lost"}))];
        let input = json!({"tool_name": "t", "tool_input": {}});
        let (_, response) = answered(&system, &mut clients, "BeforeTool", input).await;
        assert_eq!(decision(&response), expected, "{settings} {own:?}");
    }
}
