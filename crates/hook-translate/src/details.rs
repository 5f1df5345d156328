//! Facts of a model call other than its text: prompts, tools, tool calls and token counts. Hooks
//! get them as separate fields (docs/model-sdks.md), for all SDKs.
//!
//! Malformed content is ignored here; the translation itself reports it.

use hook_json::{JsonArray, JsonObject, RawJson, RawObject};
use hook_protocol::model::LlmResponse;

use crate::{Sdk, json};

/// The facts of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestDetails {
    /// The text of the user's last message.
    pub prompt: Option<String>,
    /// The system prompt: the SDK's own field, else the system messages at the start of the
    /// conversation.
    pub system_prompt: Option<String>,
    /// The names of the tools that the model may call.
    pub tools: Option<JsonArray>,
}

/// The facts of a complete response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseDetails {
    /// The tool calls of the model: `{"tool_name", "tool_input", "tool_call_id"?}`.
    pub tool_calls: Option<JsonArray>,
    /// The token counts: `prompt_tokens`, `completion_tokens`, `total_tokens`.
    pub usage: Option<RawObject>,
}

/// Returns the facts of an SDK's request, whose stable form is `stable`.
pub fn request_details(sdk: Sdk, request: &RawObject, stable: &RawObject) -> RequestDetails {
    let fields = request.fields();
    let messages = items(json::given(&stable.fields(), "messages"));
    let messages: Vec<(String, String)> = messages.iter().filter_map(message).collect();
    let prompt = messages.iter().rev().find(|(role, _)| role == "user");
    let config = || object(json::given(&fields, "config")?);
    let system_prompt = match sdk {
        Sdk::GenAi => {
            config().and_then(|config| json::given(&config, "systemInstruction").cloned())
        }
        Sdk::OpenAiResponses => json::given(&fields, "instructions").cloned(),
        Sdk::Anthropic => json::given(&fields, "system").cloned(),
        Sdk::OpenAiChat | Sdk::Stable => None,
    };
    let leading_system_messages = || {
        let system = messages.iter().take_while(|(role, _)| role == "system");
        joined(system.map(|(_, text)| text.clone()))
    };
    let tools = match sdk {
        Sdk::GenAi => config().and_then(|config| json::given(&config, "tools").cloned()),
        Sdk::Stable => None,
        _ => json::given(&fields, "tools").cloned(),
    };
    let names = items(tools.as_ref());
    let names: Vec<RawJson> =
        names.iter().flat_map(tool_names).map(|name| RawJson::from_text(&name)).collect();
    RequestDetails {
        prompt: prompt.map(|(_, text)| text.clone()),
        system_prompt: system_prompt.as_ref().and_then(text_of).or_else(leading_system_messages),
        tools: tools.and_then(|_| JsonArray::try_from(RawJson::from_items(&names)).ok()),
    }
}

/// Returns the facts of an SDK's complete response, whose stable form is `stable`.
pub fn response_details(sdk: Sdk, response: &RawObject, stable: &RawObject) -> ResponseDetails {
    let fields = response.fields();
    let calls: Vec<RawJson> = match sdk {
        Sdk::GenAi => genai_calls(&fields),
        Sdk::OpenAiChat => chat_calls(&fields),
        Sdk::OpenAiResponses => {
            let call = |item: &RawJson| {
                let item = object(item)?;
                let arguments = match kind(&item).as_str() {
                    "function_call" => arguments(json::given(&item, "arguments")),
                    "custom_tool_call" => json::given(&item, "input").cloned(),
                    _ => return None,
                };
                tool_call(&item, arguments, json::given(&item, "call_id"))
            };
            items(json::given(&fields, "output")).iter().filter_map(call).collect()
        }
        Sdk::Anthropic => {
            let call = |block: &RawJson| {
                let block = object(block).filter(|block| kind(block) == "tool_use")?;
                let input = json::given(&block, "input").cloned();
                tool_call(&block, input, json::given(&block, "id"))
            };
            items(json::given(&fields, "content")).iter().filter_map(call).collect()
        }
        Sdk::Stable => Vec::new(),
    };
    let calls = (sdk != Sdk::Stable).then(|| RawJson::from_items(&calls));
    ResponseDetails {
        tool_calls: calls.and_then(|calls| JsonArray::try_from(calls).ok()),
        usage: usage(stable),
    }
}

/// Returns the names of a tool, or of all functions of a GenAI tool.
pub fn tool_names(tool: &RawJson) -> Vec<String> {
    if let Some(name) = tool.to_text() {
        return vec![name];
    }
    let Some(fields) = object(tool) else { return Vec::new() };
    let name = |fields: &JsonObject| json::given(fields, "name")?.to_text();
    let nested = |field: &str| name(&object(json::given(&fields, field)?)?);
    let functions = items(json::given(&fields, "functionDeclarations"));
    let functions: Vec<String> =
        functions.iter().filter_map(|function| name(&object(function)?)).collect();
    if !functions.is_empty() {
        return functions;
    }
    let tool_name = name(&fields).or_else(|| nested("function")).or_else(|| nested("custom"));
    let tool_name = tool_name.or_else(|| json::given(&fields, "type")?.to_text());
    match tool_name {
        Some(name) => vec![name],
        // GenAI's built-in tools have no name but their field: `{"googleSearch": {}}`.
        None => fields.iter().map(|(name, _)| name.to_owned()).collect(),
    }
}

fn genai_calls(response: &JsonObject) -> Vec<RawJson> {
    let parts = || {
        let first = items(json::given(response, "candidates")).into_iter().next()?;
        let content = object(json::given(&object(&first)?, "content")?)?;
        Some(items(json::given(&content, "parts")))
    };
    let call = |part: &RawJson| {
        let call = object(json::given(&object(part)?, "functionCall")?)?;
        tool_call(&call, json::given(&call, "args").cloned(), json::given(&call, "id"))
    };
    parts().unwrap_or_default().iter().filter_map(call).collect()
}

fn chat_calls(response: &JsonObject) -> Vec<RawJson> {
    let message = || {
        let first = items(json::given(response, "choices")).into_iter().next()?;
        object(json::given(&object(&first)?, "message")?)
    };
    let Some(message) = message() else { return Vec::new() };
    let call = |call: &RawJson| {
        let call = object(call)?;
        let id = json::given(&call, "id");
        if let Some(custom) = json::given(&call, "custom").and_then(object) {
            return tool_call(&custom, json::given(&custom, "input").cloned(), id);
        }
        let function = object(json::given(&call, "function")?)?;
        tool_call(&function, arguments(json::given(&function, "arguments")), id)
    };
    let legacy_call = json::given(&message, "function_call").and_then(object);
    let legacy_call = legacy_call.and_then(|function| {
        tool_call(&function, arguments(json::given(&function, "arguments")), None)
    });
    let calls = items(json::given(&message, "tool_calls"));
    calls.iter().filter_map(call).chain(legacy_call).collect()
}

/// Returns a tool call in the form that hooks get.
fn tool_call(
    named: &JsonObject,
    arguments: Option<RawJson>,
    id: Option<&RawJson>,
) -> Option<RawJson> {
    let mut call = JsonObject::new();
    call.insert("tool_name", json::given(named, "name")?.clone());
    call.insert("tool_input", arguments.unwrap_or_else(|| RawObject::empty().into()));
    if let Some(id) = id {
        call.insert("tool_call_id", id.clone());
    }
    Some(call.to_raw().into())
}

/// Returns arguments that OpenAI writes as a string with JSON. Other strings are returned
/// unchanged.
fn arguments(encoded: Option<&RawJson>) -> Option<RawJson> {
    let encoded = encoded?;
    let parsed = encoded.to_text().and_then(|text| RawObject::parse(text).ok());
    Some(parsed.map_or_else(|| encoded.clone(), Into::into))
}

/// Returns the counts of a stable response, with the sum if the total is missing.
fn usage(stable: &RawObject) -> Option<RawObject> {
    let counts = LlmResponse::read(stable).ok()?.usage_metadata?;
    let number = |count: &Option<RawJson>| count.as_ref().and_then(RawJson::to_u64);
    let known_counts =
        number(&counts.prompt_token_count).zip(number(&counts.candidates_token_count));
    let sum = || known_counts.and_then(|(prompt, answer)| prompt.checked_add(answer));
    let total = counts.total_token_count.or_else(|| sum().map(RawJson::from_u64));
    let mut usage = JsonObject::new();
    for (name, count) in [
        ("prompt_tokens", counts.prompt_token_count),
        ("completion_tokens", counts.candidates_token_count),
        ("total_tokens", total),
    ] {
        if let Some(count) = count {
            usage.insert(name, count);
        }
    }
    (!usage.is_empty()).then(|| usage.to_raw())
}

/// Returns the role and the text of a stable message.
fn message(message: &RawJson) -> Option<(String, String)> {
    let fields = object(message)?;
    Some((json::given(&fields, "role")?.to_text()?, json::given(&fields, "content")?.to_text()?))
}

/// Returns the text of a string, a content with `parts`, a block with `text`, or a list of these.
fn text_of(value: &RawJson) -> Option<String> {
    let text = |value: &RawJson| {
        value.to_text().or_else(|| json::given(&object(value)?, "text")?.to_text())
    };
    let parts = |content: &RawJson| {
        let parts = items(json::given(&object(content)?, "parts"));
        joined(parts.iter().filter_map(text))
    };
    let value_text = |value: &RawJson| text(value).or_else(|| parts(value));
    match value.to_items() {
        Some(values) => joined(values.iter().filter_map(value_text)),
        None => value_text(value),
    }
}

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn kind(fields: &JsonObject) -> String {
    json::given(fields, "type").and_then(RawJson::to_text).unwrap_or_default()
}

fn items(list: Option<&RawJson>) -> Vec<RawJson> {
    list.and_then(RawJson::to_items).unwrap_or_default()
}

fn object(value: &RawJson) -> Option<JsonObject> {
    value.to_object().ok()
}
