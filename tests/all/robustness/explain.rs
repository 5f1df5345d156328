//! What is explained and what is planned: whatever the settings, the same.

use std::fs;
use std::sync::Arc;

use hook_bus::HookSystem;
use hook_core::NotRun;
use hook_protocol::{EventPayload, HookEventName, RequestInput};
use hook_run::HandlerHook;
use hook_settings::{HookSource, SettingsSource};
use hook_tests::{Project, fields, host};
use hook_trust::TrustPolicy;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{check, runtime};

/// Few of everything, so that hooks are the same, switched off and not matched often enough.
const NAMES: &[&str] = &["one", "two"];
const COMMANDS: &[&str] = &["exit 0", "exit 2"];
const MATCHERS: &[&str] = &[
    "edit",
    "write",
    "e",
    "",
    "*",
    "^(?!edit)",
    "[edit",
    "startup",
    "startup|resume",
    "resume",
    r#"{"tool":"edit"}"#,
    r#"{"toolPattern":"e","pathPattern":"*.env"}"#,
    r#"{"pathPattern":["a/**","!a/b"]}"#,
    r#"{"commandPattern":"^ls"}"#,
    r#"{"pathPattern":"["}"#,
    r#"{"path":"a"}"#,
    "{}",
];

/// An event, and what it may be about.
const EVENTS: &[(&str, &[&str])] = &[
    ("BeforeTool", &["edit", "write", "[edit"]),
    ("SessionStart", &["startup", "resume"]),
    ("Notification", &[""]),
];

fn payload(event: &str, subject: &str) -> EventPayload {
    let input = match event {
        "BeforeTool" => json!({"tool_name": subject, "tool_input": {"path": "a/b.env"}}),
        "SessionStart" => json!({"source": subject}),
        _ => json!({"message": "m", "details": {"path": "a/b", "command": "ls -l"}}),
    };
    let event = HookEventName::from_name(event).unwrap();
    RequestInput::read(event, fields(input)).unwrap().payload
}

fn hook() -> impl Strategy<Value = Value> {
    (prop::option::of(select(NAMES)), select(COMMANDS)).prop_map(|(name, command)| {
        let mut hook = json!({"type": "command", "command": command});
        if let Some(name) = name {
            hook["name"] = name.into();
        }
        hook
    })
}

fn definition() -> impl Strategy<Value = Value> {
    let hooks = prop::collection::vec(hook(), 0..4);
    (prop::option::of(select(MATCHERS)), prop::bool::weighted(0.2), hooks).prop_map(
        |(matcher, sequential, hooks)| {
            let mut definition = json!({"sequential": sequential, "hooks": hooks});
            if let Some(matcher) = matcher {
                let object =
                    matcher.starts_with('{').then(|| serde_json::from_str(matcher).unwrap());
                definition["matcher"] = object.unwrap_or_else(|| matcher.into());
            }
            definition
        },
    )
}

fn file() -> impl Strategy<Value = Value> {
    let disabled = prop::collection::vec(select(&["one", "two", "exit 0"][..]), 0..2);
    let definitions = prop::collection::vec((select(EVENTS), definition()), 0..6);
    (prop::bool::weighted(0.9), disabled, definitions).prop_map(|(enabled, disabled, all)| {
        let mut hooks = json!({});
        for ((event, _), definition) in all {
            match hooks[event].as_array_mut() {
                Some(definitions) => definitions.push(definition),
                None => hooks[event] = json!([definition]),
            }
        }
        json!({"hooksConfig": {"enabled": enabled, "disabled": disabled}, "hooks": hooks})
    })
}

#[test]
fn the_hooks_that_are_said_to_run_are_those_of_the_plan_in_its_order() {
    let project = Project::new();
    let runtime = runtime();
    let files = [
        ("project.json", HookSource::Project),
        ("user.json", HookSource::User),
        ("system.json", HookSource::System),
        ("named.json", HookSource::Explicit),
    ];
    let switches = prop::collection::vec((select(NAMES), any::<bool>()), 0..2);
    let inputs = (prop::collection::vec(file(), files.len()), any::<bool>(), switches);
    check(300, inputs, |(written, trusted, switches)| {
        let handler = HandlerHook::inline(HookEventName::BeforeTool, "one", |_| Ok(None));
        let mut builder =
            HookSystem::builder(project.path()).handler(handler).trust(match trusted {
                true => TrustPolicy::Everything,
                false => TrustPolicy::Nothing,
            });
        for ((name, source), settings) in files.iter().zip(&written) {
            let path = project.path().join(name);
            fs::write(&path, settings.to_string()).unwrap();
            builder = builder.settings(SettingsSource::optional(source.clone(), path));
        }
        let system = builder.build().unwrap();
        runtime.block_on(system.initialize()).unwrap();
        for (name, enabled) in switches {
            system.set_hook_enabled(name, enabled).unwrap();
        }
        let registry = system.registry().unwrap();
        for (event, subjects) in EVENTS {
            for subject in *subjects {
                let payload = payload(event, subject);
                let plan = registry.plan(&payload.clone().into(), &host());
                let explanation = system.explain(&payload.clone().into()).unwrap();

                let running: Vec<_> = explanation.running().collect();
                prop_assert_eq!(running.len(), plan.hooks.len());
                for (place, (said, planned)) in running.iter().zip(&plan.hooks).enumerate() {
                    prop_assert!(Arc::ptr_eq(&said.hook, &planned.hook));
                    prop_assert_eq!(said.plan_index, Some(place));
                }
                let because = explanation.sequential_because.values().next();
                prop_assert_eq!(because.is_none(), plan.groups.len() <= 1 && because.is_none());
                prop_assert!(because.is_none_or(|hook| hook.sequential));

                prop_assert_eq!(explanation.hooks.len(), registry.len());
                for listing in registry.list() {
                    let hook = &listing.hook;
                    let said: Vec<_> =
                        explanation.hooks.iter().filter(|it| Arc::ptr_eq(&it.hook, hook)).collect();
                    prop_assert_eq!(said.len(), 1, "each hook once");
                    let reasons = &said[0].reasons;
                    prop_assert_eq!(reasons.is_empty(), said[0].runs());
                    // Why it does not run is so.
                    let has = |code: &str| reasons.iter().any(|reason| reason.code() == code);
                    let other = hook.event != payload.event();
                    prop_assert_eq!(has("other_event"), other);
                    prop_assert_eq!(has("disabled"), !listing.enabled);
                    prop_assert_eq!(has("untrusted"), !listing.trusted);
                    for reason in reasons {
                        if let NotRun::Duplicate { of } = reason {
                            prop_assert!(running.iter().any(|it| Arc::ptr_eq(&it.hook, of)));
                            prop_assert_eq!((&of.name, of.command()), (&hook.name, hook.command()));
                            prop_assert!(of.source.trust_rank() >= hook.source.trust_rank());
                        }
                    }
                }
            }
        }
        Ok(())
    });
}
