//! The `modified` field of an answer, beyond tool arguments: prompts, a response, a result.

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::{EventInput, EventPayload};
use hook_protocol::failure::InvalidAnswer;
use hook_settings::language::ForeignAnswer;

use crate::output::OUTPUTS;

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
pub(super) fn lay(answer: &mut ForeignAnswer, input: &EventInput, told: &RawObject) {
    let Some(output) = &mut answer.output else { return };
    let Some(specific) = &mut output.hook_specific_output else { return };
    let Some(modified) = specific.remove(MODIFIED) else { return };
    let mut changes = Changes::default();
    let mut note = |reason: String| {
        let hint = "leave it out, or answer `block`";
        answer.invalid.push(InvalidAnswer::new(reason, hint));
    };
    match modified.to_object() {
        Err(_) => note(format!("`modified` must be an object, found {}", modified.kind())),
        Ok(modified) => {
            let given = modified.iter().filter(|(_, value)| !value.is_null());
            for (name, value) in given {
                if let Err(reason) = changes.take(name, value, input, told) {
                    note(reason);
                }
            }
        }
    }
    if let (EventPayload::BeforeModel(call), true) = (&input.payload, changes.has_prompts()) {
        let system_prompt = call.system_prompt.as_deref().filter(|it| !it.is_empty());
        match changes.messages(&call.llm_request, call.prompt.as_deref(), system_prompt) {
            Ok(messages) => {
                let mut request = JsonObject::new();
                request.insert("messages", messages);
                changes.fields.insert("llm_request", request.to_raw());
            }
            Err(reason) => note(reason),
        }
    }
    specific.overlay(&changes.fields);
    if specific.is_empty() {
        output.hook_specific_output = None;
    }
}

impl Changes {
    fn take(
        &mut self,
        name: &str,
        value: &RawJson,
        input: &EventInput,
        told: &RawObject,
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
                let text = one_text(value, ("modified.response", "text"), told, "response")?;
                self.fields.insert("llm_response", response(&call.llm_response, &text));
            }
            ("result", EventPayload::AfterTool(call)) => {
                let text = one_text(value, ("modified.result", "output"), told, "result")?;
                let whole = result(&call.tool_response, &text).ok_or(
                    "`modified.result` cannot take the place of the tool's response, which has no text",
                )?;
                self.fields.insert("tool_response", whole);
            }
            _ => {
                let event = told.fields().get("eventType").and_then(RawJson::to_text);
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
        let is_by = |message: &JsonObject, role: &str| {
            message.get("role").and_then(RawJson::to_text).as_deref() == Some(role)
        };
        if let Some(new) = &self.prompt {
            let is_prompt = |message: &&mut JsonObject| {
                let content = message.get("content").and_then(RawJson::to_text);
                is_by(message, "user") && prompt.is_none_or(|it| content.as_deref() == Some(it))
            };
            let message = messages.iter_mut().rev().find(is_prompt);
            let message = message
                .ok_or("`modified.prompt` cannot be used: no message of the call is the prompt")?;
            message.insert("content", RawJson::from_text(new));
        }
        if let Some(new) = &self.system_prompt {
            match (messages.iter().position(|message| is_by(message, "system")), system_prompt) {
                (Some(first), _) => {
                    let mut place = 0..;
                    let is_later = |message: &JsonObject| {
                        place.next().is_some_and(|at| at > first) && is_by(message, "system")
                    };
                    let mut is_later = is_later;
                    messages.retain(|message| !is_later(message));
                    if let Some(message) = messages.get_mut(first) {
                        message.insert("content", RawJson::from_text(new));
                    }
                }
                (None, known) => {
                    let added = new.strip_prefix(known.unwrap_or_default()).ok_or(
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
        let messages: Vec<RawJson> = messages.iter().map(|it| it.to_raw().into()).collect();
        Ok(RawJson::from_items(&messages))
    }
}

/// Returns the text of a value: itself, or the `key` of an object whose other fields are as in the
/// hook's input.
fn one_text(
    value: &RawJson,
    (path, key): (&str, &str),
    told: &RawObject,
    told_as: &str,
) -> Result<String, String> {
    if let Some(text) = value.to_text() {
        return Ok(text);
    }
    let Ok(fields) = value.to_object() else {
        let found = value.kind();
        return Err(format!("`{path}` must be a string or an object, found {found}"));
    };
    let told = told.fields().get(told_as).and_then(|it| it.to_object().ok()).unwrap_or_default();
    let others = fields.iter().filter(|(name, value)| *name != key && !value.is_null());
    for (name, value) in others {
        if !told.get(name).is_some_and(|told| told.is_same_value(value)) {
            let name = hook_json::text::shortened(name);
            return Err(format!("`{path}.{name}` cannot be changed, only `{path}.{key}`"));
        }
    }
    let text = fields.get(key).and_then(RawJson::to_text);
    text.ok_or_else(|| format!("`{path}` has no text in `{key}`"))
}

/// Builds a model response that differs only in its text.
fn response(told: &RawObject, text: &str) -> RawObject {
    let told = told.fields();
    let mut new = JsonObject::new();
    new.insert("text", RawJson::from_text(text));
    if let Some(mut candidates) = told.get("candidates").and_then(RawJson::to_items)
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
fn result(told: &RawJson, output: &str) -> Option<RawJson> {
    if told.to_text().is_some() {
        return Some(RawJson::from_text(output));
    }
    if let Ok(mut fields) = told.to_object()
        && let Some(name) = output_of(&fields)
    {
        fields.insert(name, RawJson::from_text(output));
        return Some(fields.to_raw().into());
    }
    // The hook's input has the response as JSON text.
    RawJson::parse(output).ok().filter(|value| value.kind() == told.kind())
}

/// Returns the field of a tool's response that holds its output.
fn output_of(response: &JsonObject) -> Option<&'static str> {
    let is_text = |name: &&str| response.get(name).and_then(RawJson::to_text).is_some();
    OUTPUTS.into_iter().find(is_text)
}
