//! Model calls in A3S's own form of models, tools and tool calls.

use hook_json::{JsonObject, RawJson, RawObject};

use super::super::verdict::put;
use super::AGENT;
use hook_translate::details::tool_names;
use hook_translate::json;

/// Returns the value of an A3S field that is no copy of a native field.
pub(super) fn value(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "model" => foreign_model(&json::given(native, "llm_request")?.to_object().ok()?),
        "tools" => {
            let tools = json::given(native, "tools")?.to_items()?;
            let names = tools.iter().flat_map(tool_names).map(|name| foreign_tool(&name));
            let names: Vec<RawJson> = names.map(|name| RawJson::from_text(&name)).collect();
            Some(RawJson::from_items(&names))
        }
        "response.toolCalls" => {
            let calls = json::given(native, "tool_calls")?.to_items()?;
            Some(RawJson::from_items(&calls.iter().map(foreign_tool_call).collect::<Vec<_>>()))
        }
        _ => None,
    }
}

/// Returns the model of a stable request with its settings: `{"name", "temperature"?, …}`.
fn foreign_model(request: &JsonObject) -> Option<RawJson> {
    let mut model = JsonObject::new();
    model.insert("name", json::given(request, "model")?.clone());
    if let Some(config) = json::given(request, "config").and_then(|config| config.to_object().ok())
    {
        json::overlay_given(&mut model, &config);
    }
    Some(model.to_raw().into())
}

fn foreign_tool(name: &str) -> String {
    AGENT.foreign_call(None, name, &RawObject::empty()).0
}

/// Converts a tool call to `{"id"?, "name", "args"}`. Calls in an agent's own form stay unchanged.
fn foreign_tool_call(call: &RawJson) -> RawJson {
    let Ok(fields) = call.to_object() else { return call.clone() };
    let Some(name) = json::given(&fields, "tool_name").and_then(RawJson::to_text) else {
        return call.clone();
    };
    let arguments = json::given(&fields, "tool_input").cloned();
    let arguments = arguments.map(RawObject::try_from);
    let (name, arguments) = match arguments {
        Some(Ok(arguments)) => {
            let (name, arguments) = AGENT.foreign_call(None, &name, &arguments);
            (name, Some(arguments.into()))
        }
        Some(Err(other)) => (foreign_tool(&name), Some(other)),
        None => (foreign_tool(&name), None),
    };
    let mut converted = JsonObject::new();
    if let Some(id) = json::given(&fields, "tool_call_id") {
        converted.insert("id", id.clone());
    }
    put(&mut converted, "name", Some(name.as_str()));
    converted.insert("args", arguments.unwrap_or_else(|| RawObject::empty().into()));
    converted.to_raw().into()
}

/// Adds the stable request of a model call from A3S.
pub(super) fn request(foreign: &JsonObject, native: &mut JsonObject) {
    let mut request = JsonObject::new();
    if let Some(model) = json::given(foreign, "model") {
        let fields = model.to_object().ok();
        let name = fields.as_ref().and_then(|fields| json::given(fields, "name"));
        if let Some(name) = name.or(Some(model)).filter(|name| name.to_text().is_some()) {
            request.insert("model", name.clone());
        }
        let config = fields.unwrap_or_default();
        let config = config.iter().filter(|(name, _)| *name != "name");
        let config = config.map(|(name, value)| (name.to_owned(), value.clone()));
        request.insert("config", config.collect::<JsonObject>().to_raw());
    }
    let message = |role: &str, field: &str| {
        let text = json::given(foreign, field)?.to_text()?;
        let mut message = JsonObject::new();
        put(&mut message, "role", Some(role));
        put(&mut message, "content", Some(text.as_str()));
        Some(RawJson::from(message.to_raw()))
    };
    let messages = [message("system", "systemPrompt"), message("user", "prompt")];
    request.insert("messages", RawJson::from_items(messages.iter().flatten()));
    native.insert("llm_request", request.to_raw());
    put(native, "sdk", Some("stable"));
}

/// Adds the stable request and response of a model call from A3S.
pub(super) fn request_and_response(foreign: &JsonObject, native: &mut JsonObject) {
    request(foreign, native);
    let response = json::given(foreign, "response").and_then(|response| response.to_object().ok());
    let text = response.as_ref().and_then(|response| json::given(response, "text")?.to_text());
    let mut stable = JsonObject::new();
    put(&mut stable, "text", text.as_deref());
    native.insert("llm_response", stable.to_raw());
    if let Some(calls) = json::given(native, "tool_calls").and_then(RawJson::to_items) {
        let calls: Vec<RawJson> = calls.iter().map(native_tool_call).collect();
        native.insert("tool_calls", RawJson::from_items(&calls));
    }
}

/// Converts a tool call to the native form.
fn native_tool_call(call: &RawJson) -> RawJson {
    let Ok(fields) = call.to_object() else { return call.clone() };
    let Some(name) = json::given(&fields, "name").and_then(RawJson::to_text) else {
        return call.clone();
    };
    let arguments = json::given(&fields, "args").cloned().map(RawObject::try_from);
    let arguments = arguments.and_then(Result::ok).unwrap_or_else(RawObject::empty);
    let (name, arguments) = AGENT.native_call(None, &name, &arguments);
    let mut converted = JsonObject::new();
    put(&mut converted, "tool_name", Some(name.as_str()));
    converted.insert("tool_input", arguments);
    if let Some(id) = json::given(&fields, "id") {
        converted.insert("tool_call_id", id.clone());
    }
    converted.to_raw().into()
}
