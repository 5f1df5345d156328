//! The schemas of hooks' inputs and outputs.

use serde_json::{Map, Value, json};

use super::{Field, FieldKind, View, document, reference};
use hook_protocol::event::input::{BASE_FIELDS, CALLER, TOOL_FIELDS};
use hook_protocol::event::output::{COMMON_FIELDS, SPECIFIC_FIELDS};
use hook_protocol::event::{HookEventName, ModelPayload};
use hook_protocol::model;

/// Returns the schema of one event's input on standard input; the output's is `#/$defs/EVENTOutput`
/// (reference/events.md, reference/answers.md).
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

/// Returns the schemas of all events: `#/$defs/EVENTInput` and `#/$defs/EVENTOutput`.
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
        definitions.insert(input_name(event), input_schema(event));
        definitions.insert(format!("{event}Output"), output_schema(event));
    }
    definitions.extend(stable_models());
    definitions
}

/// Returns the schema of a hook's input, in which every base field is present.
fn input_schema(event: HookEventName) -> Value {
    let base = BASE_FIELDS.iter().map(|field| Field { required: true, ..*field });
    let row = event.row();
    // Of an open payload, only the matcher's field is known.
    let subject = row.matching.field().filter(|_| row.is_open());
    let about = "What matchers are compared with.";
    let subject = subject.map(|name| Field::required(name, FieldKind::Text, about));
    let tool_fields = TOOL_FIELDS.iter().filter(|_| event.is_tool_event());
    let fields = base.chain(row.fields.iter().copied()).chain(tool_fields.copied()).chain(subject);
    let fields = fields.chain([CALLER]);
    let fields: Vec<Field> = fields.collect();
    let mut schema = View::Written.object(&fields, true);
    schema["properties"]["hook_event_name"]["const"] = json!(event.as_str());
    schema
}

/// Returns the schema of an event's input in a request, as a caller writes it.
pub fn request_input(event: HookEventName) -> Value {
    let row = event.row();
    let fields: Vec<Field> = BASE_FIELDS.iter().chain(row.fields).copied().collect();
    let mut schema = View::ReadFromCaller.object(&fields, true);
    // The request's event name wins over any given value.
    schema["properties"]["hook_event_name"] =
        json!({"description": "Not read: the event is that of the request."});
    if row.model == ModelPayload::None {
        return schema;
    }
    let mut alternatives = Vec::new();
    for (name, older) in model::OLDER_NAMES {
        if !row.fields.iter().any(|field| field.name == name) {
            continue;
        }
        schema["properties"][older] = schema["properties"][name].clone();
        schema["properties"][older]["description"] = json!(format!("Stands for {name}."));
        alternatives.push(json!({"anyOf": [{"required": [name]}, {"required": [older]}]}));
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|required| required != name);
        }
    }
    schema["allOf"] = json!(alternatives);
    schema
}

/// Returns the schema of a hook's answer in messages, including unknown names and fields.
pub fn output() -> Value {
    let mut schema = View::Written.object(&COMMON_FIELDS, true);
    if let Some(decision) = schema["properties"]["decision"].as_object_mut() {
        decision.remove("enum");
        decision.insert("type".to_owned(), json!("string"));
    }
    schema
}

/// Returns the schema of a hook's answer.
fn output_schema(event: HookEventName) -> Value {
    let specific: Vec<Field> =
        SPECIFIC_FIELDS.iter().filter(|field| event.row().acts_on(field.name)).copied().collect();
    let mut schema = View::Read.object(&COMMON_FIELDS, true);
    schema["description"] = json!(format!("What a hook of {event} may answer; all is optional."));
    let mut specific_schema = View::Read.object(&specific, true);
    specific_schema["type"] = json!(["object", "null"]);
    specific_schema["description"] =
        schema["properties"]["hookSpecificOutput"]["description"].take();
    schema["properties"]["hookSpecificOutput"] = specific_schema;
    schema
}

/// Returns the definitions of the stable model types.
fn stable_models() -> Map<String, Value> {
    [
        (model::REQUEST, FieldKind::Open(&model::REQUEST_FIELDS)),
        (model::RESPONSE, FieldKind::Open(&model::RESPONSE_FIELDS)),
        (model::TOOL_CONFIG, FieldKind::Open(&model::TOOL_CONFIG_FIELDS)),
    ]
    .into_iter()
    .map(|(name, kind)| (name.to_owned(), View::Read.kind(&kind)))
    .collect()
}
