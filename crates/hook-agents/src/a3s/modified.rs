//! The `modified` field of an answer, beyond tool arguments: prompts, a response, a result.

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::{EventInput, EventPayload};
use hook_protocol::failure::InvalidAnswer;
use hook_settings::language::ForeignAnswer;

use crate::output::OUTPUT_FIELDS;

/// The field that holds the changes until the hook's input is at hand.
pub(super) const MODIFIED: &str = "modified";
const ARGUMENTS: &str = "args";

/// The requested changes, in native fields.
#[derive(Default)]
struct Changes {
    fields: JsonObject,
    prompt: Option<String>,
    system_prompt: Option<String>,
}

/// Converts a hook's changes to native fields. A change that cannot be made is an invalid answer:
/// the hook may be a guard that lets the action proceed only with that change.
pub(super) fn apply(answer: &mut ForeignAnswer, input: &EventInput, foreign_input: &RawObject) {
    let Some(output) = &mut answer.output else { return };
    let Some(specific) = &mut output.hook_specific_output else { return };
    let Some(modified) = specific.remove(MODIFIED) else { return };
    let mut changes = Changes::default();
    let mut reject = |reason: String| {
        let hint = "leave it out, or answer `block`";
        answer.invalid.push(InvalidAnswer::new(reason, hint));
    };
    match modified.to_object() {
        Err(_) => reject(format!("`modified` must be an object, found {}", modified.kind())),
        Ok(modified) => {
            let present = modified.iter().filter(|(_, value)| !value.is_null());
            for (name, value) in present {
                if let Err(reason) = changes.add(name, value, input, foreign_input) {
                    reject(reason);
                }
            }
        }
    }
    if let (EventPayload::BeforeModel(call), true) = (&input.payload, changes.has_prompts()) {
        let system_prompt = call.system_prompt.as_deref().filter(|text| !text.is_empty());
        match changes.messages(&call.llm_request, call.prompt.as_deref(), system_prompt) {
            Ok(messages) => {
                let mut request = JsonObject::new();
                request.insert("messages", messages);
                changes.fields.insert("llm_request", request.to_raw());
            }
            Err(reason) => reject(reason),
        }
    }
    specific.merge(&changes.fields);
    if specific.is_empty() {
        output.hook_specific_output = None;
    }
}

impl Changes {
    fn add(
        &mut self,
        name: &str,
        value: &RawJson,
        input: &EventInput,
        foreign_input: &RawObject,
    ) -> Result<(), String> {
        let text = || {
            let text = value.to_text();
            text.ok_or_else(|| format!("`modified.{name}` is no text, but {}", value.kind()))
        };
        match (name, &input.payload) {
            // Read already, by `answer`.
            (ARGUMENTS, EventPayload::BeforeTool(_)) if value.to_object().is_ok() => {}
            (ARGUMENTS, EventPayload::BeforeTool(_)) => {
                return Err(format!("`modified.args` must be an object, found {}", value.kind()));
            }
            ("messages", EventPayload::BeforeModel(_)) => {
                if value.to_items().is_none() {
                    let found = value.kind();
                    return Err(format!("`modified.messages` must be an array, found {found}"));
                }
                self.fields.insert("messages", value.clone());
            }
            ("prompt", EventPayload::BeforeModel(_)) => self.prompt = Some(text()?),
            ("systemPrompt", EventPayload::BeforeModel(_)) => self.system_prompt = Some(text()?),
            ("response", EventPayload::AfterModel(call)) => {
                let text =
                    changed_text(value, ("modified.response", "text"), foreign_input, "response")?;
                self.fields.insert("llm_response", response(&call.llm_response, &text));
            }
            ("result", EventPayload::AfterTool(call)) => {
                let text =
                    changed_text(value, ("modified.result", "output"), foreign_input, "result")?;
                let replaced = result(&call.tool_response, &text).ok_or(
                    "`modified.result` cannot take the place of the tool's response, which has no text",
                )?;
                self.fields.insert("tool_response", replaced);
            }
            _ => {
                let event = foreign_input.fields().get("eventType").and_then(RawJson::to_text);
                let event = event.unwrap_or_else(|| input.event().as_str().to_owned());
                let name = hook_json::text::shortened(name);
                return Err(format!("`modified.{name}` changes nothing on {event}"));
            }
        }
        Ok(())
    }

    fn has_prompts(&self) -> bool {
        self.prompt.is_some() || self.system_prompt.is_some()
    }

    /// Returns the messages of a call with the requested prompts.
    fn messages(
        &self,
        request: &RawObject,
        prompt: Option<&str>,
        system_prompt: Option<&str>,
    ) -> Result<RawJson, String> {
        let messages = request.fields().get("messages").and_then(RawJson::to_items);
        let messages = messages.unwrap_or_default();
        let mut messages: Vec<JsonObject> =
            messages.iter().filter_map(|message| message.to_object().ok()).collect();
        let has_role = |message: &JsonObject, role: &str| {
            message.get("role").and_then(RawJson::to_text).as_deref() == Some(role)
        };
        if let Some(new) = &self.prompt {
            let is_prompt = |message: &&mut JsonObject| {
                let content = message.get("content").and_then(RawJson::to_text);
                has_role(message, "user")
                    && prompt.is_none_or(|expected| content.as_deref() == Some(expected))
            };
            let message = messages.iter_mut().rev().find(is_prompt);
            let message = message
                .ok_or("`modified.prompt` cannot be used: no message of the call is the prompt")?;
            message.insert("content", RawJson::from_text(new));
        }
        if let Some(new) = &self.system_prompt {
            match (messages.iter().position(|message| has_role(message, "system")), system_prompt) {
                (Some(first), _) => {
                    let mut positions = 0..;
                    let is_later_system = |message: &JsonObject| {
                        positions.next().is_some_and(|position| position > first)
                            && has_role(message, "system")
                    };
                    let mut is_later_system = is_later_system;
                    messages.retain(|message| !is_later_system(message));
                    if let Some(message) = messages.get_mut(first) {
                        message.insert("content", RawJson::from_text(new));
                    }
                }
                (None, existing) => {
                    let added = new.strip_prefix(existing.unwrap_or_default()).ok_or(
                        "`modified.systemPrompt` cannot be used: the system prompt stands outside of \
                         the conversation, where text can be added behind it and nothing replaced",
                    )?;
                    let mut message = JsonObject::new();
                    message.insert("role", RawJson::from_text("system"));
                    message.insert("content", RawJson::from_text(added.trim_start()));
                    messages.insert(0, message);
                }
            }
        }
        let messages: Vec<RawJson> =
            messages.iter().map(|message| message.to_raw().into()).collect();
        Ok(RawJson::from_items(&messages))
    }
}

/// Returns the text of a value: itself, or the `key` of an object whose other fields are as in the
/// hook's input.
fn changed_text(
    value: &RawJson,
    (path, key): (&str, &str),
    foreign_input: &RawObject,
    original_field: &str,
) -> Result<String, String> {
    if let Some(text) = value.to_text() {
        return Ok(text);
    }
    let Ok(fields) = value.to_object() else {
        let found = value.kind();
        return Err(format!("`{path}` must be a string or an object, found {found}"));
    };
    let original = foreign_input
        .fields()
        .get(original_field)
        .and_then(|object| object.to_object().ok())
        .unwrap_or_default();
    let others = fields.iter().filter(|(name, value)| *name != key && !value.is_null());
    for (name, value) in others {
        if !original.get(name).is_some_and(|original_value| original_value.is_same_value(value)) {
            let name = hook_json::text::shortened(name);
            return Err(format!("`{path}.{name}` cannot be changed, only `{path}.{key}`"));
        }
    }
    let text = fields.get(key).and_then(RawJson::to_text);
    text.ok_or_else(|| format!("`{path}` has no text in `{key}`"))
}

/// Builds a model response that differs only in its text.
fn response(original: &RawObject, text: &str) -> RawObject {
    let original = original.fields();
    let mut new = JsonObject::new();
    new.insert("text", RawJson::from_text(text));
    if let Some(mut candidates) = original.get("candidates").and_then(RawJson::to_items)
        && let Some(first) = candidates.first_mut()
        && let Ok(mut candidate) = first.to_object()
    {
        let content = candidate.get("content").and_then(|content| content.to_object().ok());
        let mut content = content.unwrap_or_default();
        if content.get("role").is_none() {
            content.insert("role", RawJson::from_text("model"));
        }
        content.insert("parts", RawJson::from_items([&RawJson::from_text(text)]));
        candidate.insert("content", content.to_raw());
        *first = candidate.to_raw().into();
        new.insert("candidates", RawJson::from_items(&candidates));
    }
    new.to_raw()
}

/// Builds a tool response that differs only in its output.
fn result(original: &RawJson, output: &str) -> Option<RawJson> {
    if original.to_text().is_some() {
        return Some(RawJson::from_text(output));
    }
    if let Ok(mut fields) = original.to_object()
        && let Some(name) = output_field(&fields)
    {
        fields.insert(name, RawJson::from_text(output));
        return Some(fields.to_raw().into());
    }
    // The hook's input has the response as JSON text.
    RawJson::parse(output).ok().filter(|value| value.kind() == original.kind())
}

/// Returns the field of a tool's response that holds its output.
fn output_field(response: &JsonObject) -> Option<&'static str> {
    let is_text = |name: &&str| response.get(name).and_then(RawJson::to_text).is_some();
    OUTPUT_FIELDS.into_iter().find(is_text)
}
