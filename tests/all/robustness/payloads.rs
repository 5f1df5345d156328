//! The payloads of all events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use hook_bus::{HookExecutionRequest, HookSystem};
use hook_json::{RawJson, RawObject};
use hook_protocol::event::input::BASE_FIELDS;
use hook_protocol::{FailureCode, HookEventName};
use hook_run::HandlerHook;
use hook_settings::schema::{Field, FieldKind};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::generate::{Tree, altered, example_requests, object, one_line, recorded_cases};
use super::{LONGEST_MESSAGE, check, runtime};

const WORDS: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "timestamp",
    "tool_name",
    "tool_input",
    "tool_response",
    "mcp_context",
    "server_name",
    "server_uri",
    "prompt",
    "prompt_response",
    "stop_hook_active",
    "source",
    "startup",
    "reason",
    "exit",
    "trigger",
    "auto",
    "llm_request",
    "llm_response",
    "model_request",
    "model_response",
    "messages",
    "contents",
    "available_tools",
    "message",
    "notification_type",
    "details",
    "level",
    "sdk",
    "genai",
    "stable",
    "later",
    "tool_call_id",
    "duration_ms",
    "exit_code",
    "is_error",
    "recent_tools",
    "token_usage",
    "calls",
    "error",
    "by",
    "command_name",
    "agent_type",
    "turn_index",
    "attempt",
    "todos",
    "rules",
    "threshold",
    "aborted",
];

/// A field's name, what it must be, and whether it must be there.
type Rule = (&'static str, FieldKind, bool);

/// What the table of the event says, and what the door does not look at in a caller's payload.
fn rules(event: HookEventName) -> Vec<Rule> {
    let rule = |field: &Field| match field.kind {
        FieldKind::Model(_) => (field.name, FieldKind::AnyObject, field.required),
        kind => (field.name, kind, field.required),
    };
    event.row().fields.iter().map(rule).collect()
}

fn base() -> Vec<Rule> {
    let own = BASE_FIELDS.iter().filter(|field| field.name != "hook_event_name");
    own.map(|field| (field.name, field.kind, field.required)).collect()
}

fn is_model_event(event: HookEventName) -> bool {
    rules(event).iter().any(|(name, ..)| *name == "llm_request")
}

fn fits(value: &Tree, kind: &FieldKind) -> bool {
    let leaf = value.to_string();
    let text = || RawJson::parse(leaf.as_str()).unwrap().to_text();
    let number = || serde_json::from_str::<serde_json::Number>(&leaf).ok();
    match kind {
        FieldKind::Any => true,
        FieldKind::Text => text().is_some(),
        FieldKind::Bool => leaf == "true" || leaf == "false",
        FieldKind::Number => number().is_some(),
        FieldKind::Unsigned(0, None) => RawJson::parse(leaf.as_str()).unwrap().to_u64().is_some(),
        FieldKind::Integer(i64::MIN, i64::MAX) => leaf.parse::<i64>().is_ok(),
        // An odd leaf may be an empty list or object.
        FieldKind::AnyObject => leaf.starts_with('{'),
        FieldKind::List => leaf.starts_with('['),
        FieldKind::ListOf(FieldKind::Text) => {
            let items = RawJson::parse(leaf.as_str()).unwrap().to_items();
            items.is_some_and(|items| items.iter().all(|item| item.to_text().is_some()))
        }
        FieldKind::NonEmpty(longest) => text().is_some_and(|text| {
            !text.is_empty() && longest.is_none_or(|longest| text.len() <= longest)
        }),
        FieldKind::ShortText(most) => {
            text().is_some_and(|text| text.len() <= *most && !text.contains('\0'))
        }
        FieldKind::OneOf(words) => text().is_some_and(|text| words.contains(&text.as_str())),
        FieldKind::Open(fields) => {
            let rules: Vec<Rule> =
                fields.iter().map(|field| (field.name, field.kind, field.required)).collect();
            leaf.starts_with('{') && !value.repeats_a_field() && follows(value, &rules)
        }
        other => panic!("{other:?} has no rule here"),
    }
}

/// Whether an object follows rules; `null` is absence, except where any value may be.
fn follows(object: &Tree, rules: &[Rule]) -> bool {
    rules.iter().all(|(name, kind, required)| match object.get(name) {
        None => !required,
        Some(null) if null.to_string() == "null" => matches!(kind, FieldKind::Any) || !required,
        Some(value) => fits(value, kind),
    })
}

/// The input with older names of fields as the newer ones that they stand for.
fn canonical(event: HookEventName, mut input: Tree) -> Tree {
    let aliases = [("model_request", "llm_request"), ("model_response", "llm_response")];
    for (older, name) in aliases.into_iter().filter(|_| is_model_event(event)) {
        let absent = input.get(name).is_none_or(|value| value.to_string() == "null");
        if let (true, Some(value)) = (absent, input.get(older).cloned())
            && let Tree::Object(fields) = &mut input
        {
            fields.retain(|(own, _)| own != older);
            fields.push((name.to_owned(), value));
        }
    }
    input
}

/// An event and an input that was right for it or for another, or may be anything.
fn events() -> impl Strategy<Value = (HookEventName, Tree)> {
    let requests = example_requests().into_iter().map(|mut request| request["input"].take());
    let recorded = recorded_cases().into_iter().map(|mut case| case["input"].take());
    let sample = |event: HookEventName| -> Value {
        serde_json::from_str(event.sample_input().as_str()).unwrap()
    };
    let samples = HookEventName::all().map(sample);
    let inputs: Vec<Tree> =
        requests.chain(recorded).chain(samples).map(|input| (&input).into()).collect();
    let all: Vec<HookEventName> = HookEventName::all().collect();
    // Inputs by the events that they are right for, so that each event has its share.
    let right: HashMap<HookEventName, Vec<Tree>> = all
        .iter()
        .map(|event| {
            let fitting = inputs.iter().filter(|input| follows(input, &rules(*event)));
            (*event, fitting.cloned().collect())
        })
        .collect();
    select(all).prop_flat_map(move |event| {
        let input = prop_oneof![1 => object(WORDS), 3 => altered(right[&event].clone(), WORDS)];
        (Just(event), input)
    })
}

#[test]
fn an_input_is_accepted_exactly_if_it_follows_the_protocol_and_unknown_fields_pass() {
    let told = Arc::new(Mutex::new(None));
    let builder = HookEventName::all().fold(HookSystem::builder("."), |builder, event| {
        let told = Arc::clone(&told);
        builder.handler(HandlerHook::inline(event, "listens", move |input| {
            *told.lock().unwrap() = Some(input.to_raw().clone());
            Ok(None)
        }))
    });
    let system = builder.build().unwrap();
    let runtime = runtime();
    check(1_500, events(), |(event, input)| {
        let text = RawJson::parse(input.to_string()).unwrap();
        let request = HookExecutionRequest::unchecked(event.as_str(), text);
        *told.lock().unwrap() = None;
        let response = runtime.block_on(system.bus().request(request));
        let told: Option<RawObject> = told.lock().unwrap().take();

        let repeats = input.repeats_a_field();
        let input = canonical(event, input);
        let rules = rules(event);
        let is_right = !repeats && follows(&input, &base()) && follows(&input, &rules);
        match response.error() {
            None => {}
            Some(failure) if failure.code == FailureCode::TranslationFailed => {
                prop_assert!(is_model_event(event) && is_right);
                prop_assert!(told.is_none());
                return Ok(());
            }
            Some(failure) => {
                prop_assert_eq!(failure.code, FailureCode::InvalidPayload, "{}", failure);
                let field = failure.details.get("field").and_then(RawJson::to_text).unwrap();
                prop_assert!(failure.message.len() < LONGEST_MESSAGE, "{failure}");
                let names = field.split('.').next().unwrap();
                let is_known = base().iter().chain(&rules).any(|(name, ..)| *name == names);
                prop_assert!(is_known || repeats, "{field}");
            }
        }
        prop_assert_eq!(response.success(), is_right, "{:?}", response.error());
        prop_assert_eq!(told.is_some(), is_right);
        let Some(told) = told else { return Ok(()) };

        let told = told.fields();
        let translated = ["llm_request", "llm_response", "sdk"];
        for (name, _) in input.fields() {
            let given = input.get(name).unwrap().to_string();
            let base = base();
            let known = base.iter().chain(&rules).find(|(known, ..)| known == name);
            let passes = match known {
                // A field of the engine's own, or what a model's payload says of itself.
                None => {
                    name != "hook_event_name"
                        && !(is_model_event(event) && translated.contains(&name.as_str()))
                }
                Some((_, FieldKind::AnyObject | FieldKind::List | FieldKind::Any, _)) => {
                    !translated.contains(&name.as_str()) && given != "null"
                }
                Some(_) => false,
            };
            if passes {
                let given = one_line(&given);
                prop_assert_eq!(
                    told.get(name).map(RawJson::as_str),
                    Some(given.as_str()),
                    "{}",
                    name
                );
            }
        }
        let own = told.get("hook_event_name").and_then(RawJson::to_text);
        prop_assert_eq!(own.as_deref(), Some(event.as_str()));
        Ok(())
    });
}
