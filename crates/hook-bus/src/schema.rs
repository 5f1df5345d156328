//! JSON Schema of the messages (reference/messages.md). Those of settings and payloads are in
//! [`hook_settings::schema`].
//!
//! ```
//! use hook_protocol::Events;
//!
//! let schema = hook_bus::schema::named("messages", &Events::built_in()).unwrap();
//! assert_eq!(schema["$defs"]["hello"]["properties"]["type"]["const"], "hook-hello");
//! ```

use hook_protocol::event::EVENT_NAME_PATTERN;
use hook_protocol::{Events, FailureCode, HookEventName};
use hook_settings::schema::{View, document, output, request_input};
use hook_translate::Sdk;
use serde_json::{Map, Value, json};

use crate::message::fields::{CLIENT_MESSAGES, ENGINE_MESSAGES, ERROR, REQUEST, RESPONSE, defined};
use crate::message::live_fields::{FROM_ENGINE, TO_ENGINE};

/// Returns the schema of all messages, of clients (`#/$defs/client`) and of the engine
/// (`#/$defs/engine`).
pub(crate) fn messages() -> Value {
    let mut definitions = Map::new();
    definitions.insert("request".to_owned(), request());
    definitions.insert("response".to_owned(), response());
    for (name, fields) in CLIENT_MESSAGES.iter().chain(&TO_ENGINE) {
        definitions.insert((*name).to_owned(), View::Read.object(fields, true));
    }
    for (name, fields) in ENGINE_MESSAGES.iter().chain(&FROM_ENGINE) {
        definitions.insert((*name).to_owned(), View::Written.object(fields, true));
    }
    let client = [
        &["request"][..],
        &CLIENT_MESSAGES.map(|(name, _)| name),
        &TO_ENGINE.map(|(name, _)| name),
    ]
    .concat();
    let engine = [
        &["response"][..],
        &ENGINE_MESSAGES.map(|(name, _)| name),
        &FROM_ENGINE.map(|(name, _)| name),
    ]
    .concat();
    for (name, members) in [("client", client), ("engine", engine)] {
        definitions.insert(name.to_owned(), one_of(&members));
    }
    for event in HookEventName::all() {
        definitions.insert(format!("{event}Input"), input(event));
    }
    definitions.insert(defined::EVENT.to_owned(), event_name());
    definitions.insert(defined::OUTPUT.to_owned(), output());
    let mut error = View::Written.object(&ERROR, true);
    error["properties"]["code"]["enum"] = json!(FailureCode::ALL.map(FailureCode::as_str));
    definitions.insert(defined::ERROR.to_owned(), error);

    let description = "One JSON object a line. What a client sends is #/$defs/client, what the engine \
                 sends #/$defs/engine.";
    let mut schema = document("messages", "Messages of the hook engine", description);
    // Some types are sent in both directions.
    schema["anyOf"] = one_of(&["client", "engine"])["oneOf"].take();
    schema["$defs"] = Value::Object(definitions);
    schema
}

fn reference(name: &str) -> Value {
    json!({"$ref": hook_settings::schema::reference(name)})
}

fn one_of(names: &[&str]) -> Value {
    json!({"oneOf": names.iter().map(|name| reference(name)).collect::<Vec<_>>()})
}

/// Returns the schema of an event's name: a built-in event or a declared one.
fn event_name() -> Value {
    let names: Vec<&str> = HookEventName::all().map(HookEventName::as_str).collect();
    json!({
        "description": "The event.",
        "type": "string",
        "pattern": EVENT_NAME_PATTERN,
        "examples": names,
    })
}

/// Returns the schema of a request: `input` (or its alias `payload`) has its event's schema.
fn request() -> Value {
    let mut schema = View::Read.object(&REQUEST, true);
    let names_of = |event: HookEventName| {
        let row = event.row();
        std::iter::once(row.name).chain(row.aliases.iter().copied())
    };
    schema["properties"]["eventName"] = event_name();
    schema["properties"]["input"] = json!({
        "description": "The event's input.",
        "type": "object",
    });
    schema["properties"]["payload"] = json!({"description": "Stands for input.", "type": "object"});
    schema["anyOf"] = json!([{"required": ["input"]}, {"required": ["payload"]}]);
    let event_rule = |event: HookEventName| {
        let input = reference(&format!("{event}Input"));
        json!({
            "if": {"properties": {"eventName": {"enum": names_of(event).collect::<Vec<_>>()}}},
            "then": {"properties": {"input": input, "payload": input}},
        })
    };
    schema["allOf"] = HookEventName::all().map(event_rule).collect();
    schema
}

fn input(event: HookEventName) -> Value {
    let mut schema = request_input(event);
    if event.row().model != hook_protocol::event::ModelPayload::None {
        schema["properties"]["sdk"] = json!({
            "description": "Which SDK's form the model payload has; guessed without it.",
            "enum": Sdk::ALL.map(|sdk| Some(sdk.as_str())).into_iter().chain([None]).collect::<Vec<_>>(),
        });
    }
    if event.row().model == hook_protocol::event::ModelPayload::RequestAndResponse {
        schema["properties"]["chunk"] = json!({
            "description": "Whether llm_response is one chunk of a stream; also told by its shape.",
            "type": ["boolean", "null"],
        });
    }
    schema
}

/// Returns the schema of a response: with results of hooks if it succeeded, else with an error.
fn response() -> Value {
    let mut schema = View::Written.object(&RESPONSE, true);
    schema["if"] = json!({"properties": {"success": {"const": true}}});
    schema["then"] = json!({"required": ["output", "processed", "hooks"]});
    schema["else"] = json!({"required": ["error"]});
    schema
}

/// The names, besides those of events, that [`named`] accepts.
pub const NAMES: [&str; 3] = ["settings", "messages", "payloads"];

/// Returns a schema by its name: one of [`NAMES`], or an event, for the schema of its payload.
pub fn named(name: &str, events: &Events) -> Option<Value> {
    match name {
        "settings" => Some(hook_settings::schema::settings()),
        "messages" => Some(messages()),
        "payloads" => Some(hook_settings::schema::payloads()),
        event => events.from_name(event).map(hook_settings::schema::event),
    }
}
