//! The schema of settings.

use serde_json::{Map, Value, json};

use super::{View, document, reference};
use crate::event::{HookEventName, Matching};
use crate::settings::{DEFINITION_FIELDS, HOOK_FIELDS, TOP_LEVEL};

/// The schema of a settings file (protocol.md §1).
pub fn settings() -> Value {
    let mut schema = document(
        "settings",
        "Settings of hooks",
        "Which hooks an agent runs, and when. Other top-level keys belong to the agent.",
    );
    let file = View::Read.object(&TOP_LEVEL, true);
    if let (Value::Object(schema), Value::Object(file)) = (&mut schema, file) {
        schema.extend(file);
    }
    let mut definitions = Map::new();
    let mut events = Map::new();
    for event in HookEventName::all() {
        let row = event.row();
        let name = format!("{event}Definition");
        let list = json!({
            "description": about(event),
            "type": ["array", "null"],
            "items": {"$ref": reference(&name)},
        });
        for alias in row.aliases {
            let mut list = list.clone();
            list["description"] = json!(format!("The same as {event}."));
            events.insert((*alias).to_owned(), list);
        }
        events.insert(row.name.to_owned(), list);
        definitions.insert(name, definition(row.matching));
    }
    events.sort_keys();
    definitions.insert(
        "events".to_owned(),
        json!({"type": "object", "properties": events, "additionalProperties": false}),
    );
    definitions.insert("hook".to_owned(), View::Read.object(&HOOK_FIELDS, false));
    schema["$defs"] = Value::Object(definitions);
    schema
}

fn about(event: HookEventName) -> String {
    match event.row().block_means {
        Some(means) => format!("Hooks of {event}. A block means: {means}."),
        None => format!("Hooks of {event}. A block means nothing."),
    }
}

fn definition(matching: Matching) -> Value {
    let mut schema = View::Read.object(&DEFINITION_FIELDS, false);
    let matcher = &mut schema["properties"]["matcher"];
    match matching {
        Matching::Pattern { .. } => {}
        Matching::Always => {
            matcher["description"] =
                json!("Ignored: the event has nothing that a matcher is compared with.");
        }
        Matching::Exact { field, words } => {
            matcher["description"] = json!(format!(
                "Compared exactly with `{field}`, which is one of {}; no regular expression.",
                words.join(", ")
            ));
            matcher["examples"] = json!(words);
        }
    }
    schema
}
