//! The schemas of what hooks read and answer.

use serde_json::{Map, Value, json};

use super::{Field, Kind, View, document, reference};
use crate::event::input::{BASE_FIELDS, TOOL_FIELDS};
use crate::event::output::{COMMON_FIELDS, SPECIFIC_FIELDS};
use crate::event::{HookEventName, ModelPayload};
use crate::model;

/// What a hook of one event reads on its standard input; its answer is `#/$defs/EVENTOutput`
/// (protocol.md §2 and §4).
pub fn event(event: HookEventName) -> Value {
    let about = format!(
        "What a hook of {event} reads on standard input. What it answers on standard output is \
         #/$defs/{event}Output."
    );
    let mut schema = document(&format!("payloads:{event}"), event.as_str(), &about);
    schema["$ref"] = json!(reference(&input_name(event)));
    schema["$defs"] = Value::Object(definitions([event].into_iter()));
    schema
}

/// What hooks of any event read, each with its answer: `#/$defs/EVENTInput` and `EVENTOutput`.
pub fn payloads() -> Value {
    let about = "What hooks read on standard input, by event: #/$defs/EVENTInput. What they answer \
                 on standard output is #/$defs/EVENTOutput.";
    let mut schema = document("payloads", "Payloads of hooks", about);
    let inputs: Vec<Value> =
        HookEventName::all().map(|event| json!({"$ref": reference(&input_name(event))})).collect();
    schema["oneOf"] = json!(inputs);
    schema["$defs"] = Value::Object(definitions(HookEventName::all()));
    schema
}

fn input_name(event: HookEventName) -> String {
    format!("{event}Input")
}

fn definitions(events: impl Iterator<Item = HookEventName>) -> Map<String, Value> {
    let mut definitions = Map::new();
    for event in events {
        definitions.insert(input_name(event), input(event));
        definitions.insert(format!("{event}Output"), answer(event));
    }
    definitions.extend(stable_models());
    definitions
}

/// What a hook reads: every base field is there.
fn input(event: HookEventName) -> Value {
    let base = BASE_FIELDS.iter().map(|field| Field { required: true, ..*field });
    let row = event.row();
    // Of an open payload, only what matchers are compared with is known.
    let subject = row.matching.field().filter(|_| row.is_open());
    let about = "What matchers are compared with.";
    let subject = subject.map(|name| Field::required(name, Kind::Text, about));
    let of_tool = TOOL_FIELDS.iter().filter(|_| event.is_about_a_tool());
    let fields = base.chain(row.fields.iter().copied()).chain(of_tool.copied()).chain(subject);
    let fields: Vec<Field> = fields.collect();
    let mut schema = View::Written.object(&fields, true);
    schema["properties"]["hook_event_name"]["const"] = json!(event.as_str());
    schema
}

/// What a request brings for an event, as a caller writes it.
pub fn request_input(event: HookEventName) -> Value {
    let row = event.row();
    let fields: Vec<Field> = BASE_FIELDS.iter().chain(row.fields).copied().collect();
    let mut schema = View::ReadFromCaller.object(&fields, true);
    // The engine's own word on it wins, whatever is given.
    schema["properties"]["hook_event_name"] =
        json!({"description": "Not read: the event is that of the request."});
    if row.model == ModelPayload::None {
        return schema;
    }
    let mut either = Vec::new();
    for (name, older) in model::OLDER_NAMES {
        if !row.fields.iter().any(|field| field.name == name) {
            continue;
        }
        schema["properties"][older] = schema["properties"][name].clone();
        schema["properties"][older]["description"] = json!(format!("Stands for {name}."));
        either.push(json!({"anyOf": [{"required": [name]}, {"required": [older]}]}));
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|required| required != name);
        }
    }
    schema["allOf"] = json!(either);
    schema
}

/// What hooks answered, as messages repeat it: with unknown words and fields, too.
pub fn output() -> Value {
    let mut schema = View::Written.object(&COMMON_FIELDS, true);
    if let Some(decision) = schema["properties"]["decision"].as_object_mut() {
        decision.remove("enum");
        decision.insert("type".to_owned(), json!("string"));
    }
    schema
}

/// What a hook answers.
fn answer(event: HookEventName) -> Value {
    let specific: Vec<Field> =
        SPECIFIC_FIELDS.iter().filter(|field| event.row().acts_on(field.name)).copied().collect();
    let mut schema = View::Read.object(&COMMON_FIELDS, true);
    schema["description"] = json!(format!("What a hook of {event} may answer; all is optional."));
    let mut described = View::Read.object(&specific, true);
    described["type"] = json!(["object", "null"]);
    described["description"] = schema["properties"]["hookSpecificOutput"]["description"].take();
    schema["properties"]["hookSpecificOutput"] = described;
    schema
}

/// The stable form of model calls, to be defined where it is referred to.
fn stable_models() -> Map<String, Value> {
    [
        (model::REQUEST, Kind::Open(&model::REQUEST_FIELDS)),
        (model::RESPONSE, Kind::Open(&model::RESPONSE_FIELDS)),
        (model::TOOL_CONFIG, Kind::Open(&model::TOOL_CONFIG_FIELDS)),
    ]
    .into_iter()
    .map(|(name, kind)| (name.to_owned(), View::Read.kind(&kind)))
    .collect()
}
