//! The schema of settings.

use serde_json::{Map, Value, json};

use super::{View, document, reference};
use crate::{DEFINITION_FIELDS, HOOK_FIELDS, TOP_LEVEL};
use hook_protocol::event::{HookEventName, Matching, WILDCARD};

/// Returns the schema of a settings file (reference/settings.md).
pub fn settings() -> Value {
    let mut schema = document(
        "settings",
        "Settings of hooks",
        "Which hooks an agent runs, and when. Other top-level keys belong to the agent.",
    );
    // For editors.
    schema["allowComments"] = json!(true);
    schema["allowTrailingCommas"] = json!(true);
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
            "description": description(event),
            "type": ["array", "null"],
            "items": native_or_foreign(&name, FOREIGN_DEFINITION),
        });
        for alias in row.aliases {
            let mut list = list.clone();
            list["description"] = json!(format!("The same as {event}."));
            events.insert((*alias).to_owned(), list);
        }
        events.insert(row.name.to_owned(), list);
        definitions.insert(name, definition(row.matching));
    }
    definitions.insert(EVERY_DEFINITION.to_owned(), definition(Matching::Always));
    events.insert(
        WILDCARD.to_owned(),
        json!({
            "description": "Workers and modules, which say themselves which events are their own.",
            "type": ["array", "null"],
            "items": native_or_foreign(EVERY_DEFINITION, FOREIGN_DEFINITION),
        }),
    );
    events.sort_keys();
    definitions.insert(
        "events".to_owned(),
        json!({"type": "object", "properties": events, "additionalProperties": {
            "description": "Hooks in the language of the agent that calls an event so.",
            "type": ["array", "null"],
            "minItems": 1,
            "items": {"$ref": reference(FOREIGN_DEFINITION)},
        }}),
    );
    definitions.insert(FOREIGN_DEFINITION.to_owned(), foreign_definition());
    definitions.insert("hook".to_owned(), hook());
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// The schema name of a definition for every event.
const EVERY_DEFINITION: &str = "everyDefinition";

/// The schema name of a definition in an agent's language.
const FOREIGN_DEFINITION: &str = "definitionInLanguage";

/// Returns a schema that selects one of two definitions by `language`.
fn native_or_foreign(native: &str, foreign: &str) -> Value {
    json!({
        "if": {"type": "object", "properties": {"language": {"type": "string"}},
            "required": ["language"]},
        "then": {"$ref": reference(foreign)},
        "else": {"$ref": reference(native)},
    })
}

/// Returns the schema of a definition in an agent's language, with the native fields it may have.
fn foreign_definition() -> Value {
    let text = |about: &str| json!({"description": about, "type": ["string", "null"]});
    let native = View::Read.object(&HOOK_FIELDS, false);
    let property = |name: &str| native["properties"][name].clone();
    let fields = json!({
        "language": property("language"),
        "failBehavior": property("failBehavior"),
        "priority": property("priority"),
        "description": property("description"),
        "pluginRoot": text(
            "The directory of the plugin that the hooks come with; a relative path begins at the project."
        ),
    });
    let mut schema = json!({"type": "object", "properties": fields});
    schema["description"] = json!("Hooks of another agent, as they are in its own settings.");
    // Each hook may have its own `language`.
    schema["anyOf"] = json!([
        {"required": ["language"]},
        {"required": ["hooks"], "properties": {"hooks": {
            "type": "array", "minItems": 1, "items": {"type": "object", "required": ["language"]},
        }}},
    ]);
    schema
}

fn hook() -> Value {
    let mut native = View::Read.object(&HOOK_FIELDS, false);
    native["properties"]["language"] = json!({"type": "null"});
    // The field required besides the type.
    let requires = |name: &str| json!({"required": [name], "properties": {name: {"type": "string", "pattern": "\\S"}}});
    native["if"] = json!({"properties": {"type": {"const": "module"}}, "required": ["type"]});
    (native["then"], native["else"]) = (requires("path"), requires("command"));
    json!({
        "if": {"type": "object", "properties": {"language": {"type": "string"}},
            "required": ["language"]},
        "then": foreign_definition(),
        "else": native,
    })
}

fn description(event: HookEventName) -> String {
    match event.row().block_means {
        Some(means) => format!("Hooks of {event}. A block means: {means}."),
        None => format!("Hooks of {event}. A block means nothing."),
    }
}

fn definition(matching: Matching) -> Value {
    let mut schema = View::Read.object(&DEFINITION_FIELDS, false);
    schema["properties"]["language"] = json!({"type": "null"});
    let matcher = &mut schema["properties"]["matcher"];
    match matching {
        Matching::Pattern { .. } => {}
        Matching::Always => {
            matcher["description"] =
                json!("Ignored: the event has nothing that a matcher is compared with.");
        }
        Matching::Exact { field, keywords: words } => {
            matcher["description"] = json!(format!(
                "Compared exactly with `{field}`, which is one of {}; no regular expression.",
                words.join(", ")
            ));
            matcher["examples"] = json!(words);
        }
    }
    schema
}
