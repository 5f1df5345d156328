//! Blocks and changes in an output that have no effect on an event.

use std::cell::LazyCell;

use super::answer::HookOutput;
use super::decision::{Decision, PolicyDecision};
use super::fields::{is_common, is_replacing_field, is_specific, is_spelling_of, replacing_fields};
use super::mistakes::{misspelt_inside, replacing_field_for};
use super::read::{InvalidReason, MAX_REPORTED};
use crate::event::input::EventInput;
use crate::event::tool_mode::RANKED_MODES;
use crate::event::{EventPayload, HookEventName};
use crate::failure::InvalidAnswer;
use crate::model::{
    LlmRequest, LlmResponse, REQUEST_FIELDS, RESPONSE_FIELDS, TOOL_CONFIG_FIELDS, ToolConfig,
};
use hook_json::field::Field;
use hook_json::shape::{FieldReader, Required, ShapeError};
use hook_json::text::shortened;
use hook_json::{JsonKind, JsonObject, RawJson, RawObject};

impl HookOutput {
    /// Like `unapplied`, but also removes a tool response that would change
    /// nothing, so that it does not override another hook's.
    pub fn take_unapplied(&mut self, input: &EventInput) -> Vec<InvalidReason> {
        let invalid = self.unapplied(input);
        let response = self.specific("tool_response").filter(|value| !value.is_null());
        let is_removed =
            response.is_some_and(|value| check_tool_response(value, &input.payload).is_err());
        if is_removed && let Some(specific) = &mut self.hook_specific_output {
            specific.remove("tool_response");
        }
        invalid
    }

    /// Returns the parts that cannot be applied: replacements that do not fit the hook's input, and
    /// denials in fields that the event does not have. An entry has no warning if
    /// [`HookOutput::mistakes`] has one about the same part.
    pub(crate) fn unapplied(&self, input: &EventInput) -> Vec<InvalidReason> {
        let event = input.event();
        let mut invalid = Vec::new();
        if self.has_useless_retry(event) {
            let reason = format!("a retry has no effect on {event}");
            let hint = "write \"deny\" to forbid it".to_owned();
            invalid.push(InvalidReason { answer: InvalidAnswer::new(reason, hint), warning: None });
        }
        if self.extra.is_empty() && self.hook_specific_output.is_none() {
            return invalid;
        }
        let mut report = |reason: String, hint: String, warning: Option<String>| {
            if invalid.len() < MAX_REPORTED {
                invalid.push(InvalidReason { answer: InvalidAnswer::new(reason, hint), warning });
            }
        };
        if self.has_useless_denial(event) {
            report(
                format!("`hookSpecificOutput.permissionDecision` has no effect on {event}"),
                "write `decision` beside `hookSpecificOutput`".to_owned(),
                None,
            );
        }
        let payload = &input.payload;
        let input_fields = LazyCell::new(|| input.to_raw().fields());
        for (name, value) in self.extra.iter().filter(|(_, value)| !value.is_null()) {
            if let Some(field) = replacing_field_for(name, event) {
                // A hook that repeats its input changes nothing.
                if !repeats(&input_fields, field, value) {
                    report(
                        format!("`{}` has no effect beside `hookSpecificOutput`", shortened(name)),
                        format!("write it as `{field}` in `hookSpecificOutput`"),
                        None,
                    );
                }
            } else if is_spelling_of(name, "hookSpecificOutput")
                && value
                    .to_entries()
                    .iter()
                    .any(|(name, _)| replacing_field_for(name, event).is_some())
            {
                report(
                    format!("`{}` is not known", shortened(name)),
                    "did you mean `hookSpecificOutput`?".to_owned(),
                    None,
                );
            }
        }
        let specific = self.hook_specific_output.iter().flat_map(JsonObject::iter);
        let is_about_a_model = event.is_model_event();
        for (name, _) in specific.filter(|(_, value)| !value.is_null()) {
            let unknown = || format!("`hookSpecificOutput.{}` is not known", shortened(name));
            if let Some(field) =
                replacing_field_for(name, event).filter(|_| !is_replacing_field(name))
            {
                report(unknown(), format!("did you mean `{field}`?"), None);
            } else if is_about_a_model && !is_specific(name) && !is_common(name) {
                // Other agents have names of their own for the changes to a model call.
                let reason = format!("{} on {event}", unknown());
                let warning = format!("{reason}; it changes nothing");
                let warning = misspelt_inside(name, event).is_none().then_some(warning);
                let known = replacing_fields(event).collect::<Vec<_>>().join(", ");
                report(reason, format!("what can be changed is {known}"), warning);
            }
        }
        for field in replacing_fields(event) {
            let Some(value) = self.specific(field).filter(|value| !value.is_null()) else {
                continue;
            };
            if let Err(error) = check_value(field, value, payload) {
                let error = error.within(&format!("hookSpecificOutput.{field}"));
                let hint = format!("write {}", error.expected());
                let answer = InvalidAnswer::new(error.to_string(), hint);
                let warning = Some(format!("{error}; it changes nothing"));
                invalid.push(InvalidReason { answer, warning });
            }
        }
        invalid
    }

    fn has_useless_retry(&self, event: HookEventName) -> bool {
        event.row().retry_means.is_none() && self.requested_policy(event) == PolicyDecision::Retry
    }

    fn has_useless_denial(&self, event: HookEventName) -> bool {
        !event.row().has_permission_decision
            && self
                .specific_text("permissionDecision")
                .is_some_and(|name| Decision::from_name(&name).policy() > PolicyDecision::Proceed)
    }
}

/// Returns `true` if a value equals the same field of the input, however it is written.
fn repeats(input: &JsonObject, field: &str, value: &RawJson) -> bool {
    input.get(field).is_some_and(|original| original.is_same_value(value))
}

/// Checks that a value can replace what it is meant to replace.
fn check_value(field: &str, value: &RawJson, payload: &EventPayload) -> Result<(), ShapeError> {
    if field == "tool_response" {
        return check_tool_response(value, payload);
    }
    if field == "context" {
        let is_text = |item: &RawJson| item.kind() == JsonKind::String;
        let items = value.to_items().unwrap_or_default();
        return match items.iter().find(|item| !is_text(item)) {
            Some(item) => Err(ShapeError::new("", "an array of strings", item.kind())),
            None => Ok(()),
        };
    }
    let replaced = payload.overlaid_object();
    let replaced = replaced.filter(|_| payload.event().row().chain.overlaid_field() == Some(field));
    // A value of another JSON kind was dropped when the output was read.
    let Ok(value) = &RawObject::try_from(value.clone()) else { return Ok(()) };
    match field {
        "llm_request" => {
            check_names(value, &REQUEST_FIELDS, replaced)?;
            let request = LlmRequest::read(value)?;
            let config =
                value.fields().get("toolConfig").and_then(|config| config.to_object().ok());
            match (request.tool_config, config) {
                (Some(read), Some(config)) => {
                    check_tools(&config.to_raw(), &read).map_err(|error| error.within("toolConfig"))
                }
                _ => Ok(()),
            }
        }
        "llm_response" => {
            check_names(value, &RESPONSE_FIELDS, replaced)?;
            let response = LlmResponse::read(value)?;
            let has_content = response.text.is_some()
                || response.candidates.first().is_some_and(|first| first.parts.is_some());
            let is_model_response = matches!(payload, EventPayload::AfterModel(_));
            match has_content || !is_model_response || value.fields().is_empty() {
                true => Ok(()),
                false => {
                    Err(ShapeError::new("", "`text`, or `candidates` with content", "neither"))
                }
            }
        }
        "toolConfig" => check_tools(value, &ToolConfig::read(value.fields())?),
        "message" => {
            let mut fields = FieldReader::new(value.fields());
            fields.text("customType")?;
            fields.bool("display")?;
            Ok(())
        }
        "summary" => {
            FieldReader::new(value.fields()).text("summary").required("summary", "a string")?;
            Ok(())
        }
        // A tool defines its own arguments.
        _ => Ok(()),
    }
}

fn check_tool_response(value: &RawJson, payload: &EventPayload) -> Result<(), ShapeError> {
    match payload {
        EventPayload::AfterTool(input) if input.tool_response.kind() != value.kind() => {
            let expected = "the same kind of value as the tool's own response";
            Err(ShapeError::new("", expected, value.kind()))
        }
        _ => Ok(()),
    }
}

fn check_tools(written: &RawObject, read: &ToolConfig) -> Result<(), ShapeError> {
    check_names(written, &TOOL_CONFIG_FIELDS, None)?;
    match &read.mode {
        Some(mode) if !RANKED_MODES.contains(&mode.as_str()) => {
            match RANKED_MODES.iter().any(|known| is_spelling_of(mode, known)) {
                true => Err(ShapeError::new("mode", "AUTO, ANY or NONE", shortened(mode))),
                // A mode that only an SDK knows.
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Rejects another spelling of a known name, which would be passed on and replace nothing. Also
/// rejects an unknown name that the replaced object does not have.
fn check_names(
    value: &RawObject,
    known: &'static [Field],
    original: Option<&RawObject>,
) -> Result<(), ShapeError> {
    let original_fields = original.map(RawObject::fields);
    for (name, _) in value.fields().iter() {
        let Some(field) = known.iter().find(|field| is_spelling_of(name, field.name)) else {
            if original_fields.as_ref().is_some_and(|fields| fields.get(name).is_none()) {
                let expected = "a field of the stable form, or of what it replaces";
                return Err(ShapeError::new(shortened(name), expected, "another one"));
            }
            continue;
        };
        if field.name != name {
            return Err(ShapeError::new(shortened(name), field.name, "another spelling of it"));
        }
    }
    Ok(())
}
