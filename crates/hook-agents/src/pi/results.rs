//! The return values of handlers, and their native meaning.

use hook_json::JsonKind;
use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::{EventInput, EventPayload};
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::content;
use crate::claude::stderr_reason;
use crate::table::AgentEvent;

/// The reason of a call that is blocked without one.
const NO_REASON: &str = "Tool execution was blocked by a hook";

/// The fields of a return value; `None` accepts any type.
type Fields = &'static [(&'static str, Option<JsonKind>)];

const BOOL: Option<JsonKind> = Some(JsonKind::Bool);
const TEXT: Option<JsonKind> = Some(JsonKind::String);
const LIST: Option<JsonKind> = Some(JsonKind::Array);
const OBJECT: Option<JsonKind> = Some(JsonKind::Object);

/// The possible fields by event. Return values of other events are ignored.
const RETURN_FIELDS: [(&str, Fields); 11] = [
    ("tool_call", &[("block", BOOL), ("reason", TEXT), ("input", OBJECT)]),
    ("tool_result", &[("content", LIST), ("details", None), ("isError", BOOL)]),
    ("context", &[("messages", LIST)]),
    ("before_agent_start", &[("message", OBJECT)]),
    ("session_before_switch", &[("cancel", BOOL)]),
    ("session_before_branch", &[("cancel", BOOL), ("skipConversationRestore", BOOL)]),
    ("session_before_compact", &[("cancel", BOOL), ("compaction", OBJECT)]),
    ("session_before_tree", &[("cancel", BOOL), ("summary", OBJECT)]),
    ("session.compacting", &[("context", LIST), ("prompt", TEXT), ("preserveData", OBJECT)]),
    ("session_stop", &[("decision", TEXT), ("reason", TEXT)]),
    ("input", &[("action", TEXT), ("reason", TEXT)]),
];

/// The events of which only the latest return value counts, as a whole.
const LATEST: [&str; 5] = [
    "session_before_switch",
    "session_before_branch",
    "session_before_compact",
    "session_before_tree",
    "session.compacting",
];

/// Reads a hook's answer like a module's: a handler's return value on standard output. A failed
/// hook counts as a handler that throws, which denies before a tool.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    match process.code {
        Some(0) => read_return_value(event, process.stdout.trim()),
        Some(2) if event.blocks => {
            let output = Some(HookOutput::deny(stderr_reason(process.stderr)));
            ForeignAnswer { output, ..ForeignAnswer::default() }
        }
        _ if event.blocks_on_failure => {
            let output = Some(HookOutput::deny(stderr_reason(process.stderr)));
            ForeignAnswer { output, ..ForeignAnswer::default() }
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            ForeignAnswer { failure, ..ForeignAnswer::default() }
        }
    }
}

/// Reads a return value.
fn read_return_value(event: &AgentEvent, text: &str) -> ForeignAnswer {
    let known = RETURN_FIELDS.iter().find(|(name, _)| *name == event.name);
    let Some((_, known)) = known.filter(|_| !text.is_empty()) else {
        return ForeignAnswer::default();
    };
    let invalid = |reason: String| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        let hint = format!("return nothing, or an object with {}", names.join(", "));
        let failure = Some(HookFailure::InvalidAnswer(InvalidAnswer::new(reason, hint)));
        ForeignAnswer { failure, ..ForeignAnswer::default() }
    };
    let value = match RawJson::parse(text) {
        Ok(value) if value.is_null() => return ForeignAnswer::default(),
        Ok(value) => value,
        Err(_) => return invalid(format!("what {} is answered is no JSON", event.name)),
    };
    let Ok(fields) = value.to_object() else {
        return invalid(format!("what {} is answered is {}", event.name, value.kind()));
    };
    // `undefined` in a handler is at most `null` here.
    let fields_present = || fields.iter().filter(|(_, value)| !value.is_null());
    let kind_of =
        |name: &str| known.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    let mut warnings = Vec::new();
    for (name, value) in fields_present() {
        match kind_of(name) {
            Some(Some(kind)) if kind != value.kind() => {
                return invalid(format!("`{name}` is {}, and must be {kind}", value.kind()));
            }
            Some(_) => {}
            None => {
                let name = shortened(name);
                warnings.push(format!("`{name}` changes nothing on {}", event.name));
            }
        }
    }
    // Before a tool, do not guess the rest: it may have been a refusal.
    let has_decision =
        fields_present().next().is_none() || fields_present().any(|(name, _)| name != "reason");
    let is_unclear = event.blocks_on_failure && (!warnings.is_empty() || !has_decision);
    if is_unclear || !warnings.is_empty() && warnings.len() == fields_present().count() {
        return invalid(format!("{} has no word for what it is answered", event.name));
    }
    let output = Some(read_output(event, &fields));
    ForeignAnswer { output, warnings, ..ForeignAnswer::default() }
}

/// Converts an object with fields of valid types.
fn read_output(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let flag = |name: &str| fields.get(name).and_then(RawJson::to_bool) == Some(true);
    let mut output = HookOutput::default();
    let refuses = match event.name {
        "tool_call" => flag("block"),
        "input" => text("action").as_deref() == Some("handled"),
        "session_stop" => text("decision").as_deref() == Some("block"),
        "session_before_compact" => flag("cancel"),
        _ => false,
    };
    if refuses {
        output.decision = Some(Decision::Deny);
        let reason = text("reason").filter(|reason| !reason.trim().is_empty());
        let is_call = event.name == "tool_call";
        output.reason = reason.or_else(|| is_call.then(|| NO_REASON.to_owned()));
    }
    let is_latest = LATEST.contains(&event.name);
    // The native fields of the return value.
    let names: &[(&str, &str)] = match event.name {
        "tool_call" => &[("input", "updatedInput")],
        "tool_result" => &[(CONTENT, CONTENT), (DETAILS, DETAILS), (IS_ERROR, IS_ERROR)],
        "context" => &[(MESSAGES, MESSAGES)],
        "before_agent_start" => &[("message", "message")],
        "session_before_switch" => &[("cancel", "cancel")],
        "session_before_branch" => {
            &[("cancel", "cancel"), ("skipConversationRestore", "skipConversationRestore")]
        }
        "session_before_compact" => &[("compaction", "compaction")],
        "session_before_tree" => &[("cancel", "cancel"), ("summary", "summary")],
        "session.compacting" => {
            &[("context", "context"), ("prompt", "prompt"), ("preserveData", "preserveData")]
        }
        _ => &[],
    };
    for (foreign, native) in names {
        let value = fields.get(foreign).filter(|value| !value.is_null()).cloned();
        // A field that the latest return value lacks is cleared, even if an earlier one had it.
        let value = value.or_else(|| is_latest.then(RawJson::null));
        if let Some(value) = value {
            output.hook_specific_output.get_or_insert_default().insert(*native, value);
        }
    }
    output
}

const CONTENT: &str = "content";
const DETAILS: &str = "details";
const IS_ERROR: &str = "isError";
const MESSAGES: &str = "messages";

/// Converts content and details that a handler returns to a whole tool response.
pub(super) fn complete_result(answer: &mut ForeignAnswer, input: &EventInput, _: &RawObject) {
    let EventPayload::AfterTool(call) = &input.payload else { return };
    let Some(specific) =
        answer.output.as_mut().and_then(|output| output.hook_specific_output.as_mut())
    else {
        return;
    };
    let (content, details) = (specific.remove(CONTENT), specific.remove(DETAILS));
    if specific.remove(IS_ERROR).is_some() {
        answer.warnings.push("`isError` changes nothing: a handler cannot say that".to_owned());
    }
    if content.is_none() && details.is_none() {
        return;
    }
    let mut lost = Vec::new();
    let response =
        content::with_changes(&call.tool_response, content.as_ref(), details.as_ref(), &mut lost);
    specific.insert("tool_response", response);
    answer.warnings.extend(lost.into_iter().map(|lost| format!("{lost} is left out")));
}

/// Does the same, but ignores return values for a failed tool: its result is the tool's error.
pub(super) fn complete_omp_result(
    answer: &mut ForeignAnswer,
    input: &EventInput,
    input_json: &RawObject,
) {
    let has_failed =
        matches!(&input.payload, EventPayload::AfterTool(told) if told.is_error == Some(true));
    let specific = answer.output.as_mut().and_then(|output| output.hook_specific_output.as_mut());
    if let Some(specific) = specific.filter(|specific| has_failed && !specific.is_empty()) {
        *specific = JsonObject::new();
        let warning = "what a handler returns for a tool that failed changes nothing";
        answer.warnings.push(warning.to_owned());
    }
    complete_result(answer, input, input_json);
}

/// Moves messages back to their origin: the stable request, if the agent sent none of its own.
pub(super) fn complete_messages(answer: &mut ForeignAnswer, input: &EventInput, _: &RawObject) {
    let EventPayload::BeforeModel(call) = &input.payload else { return };
    let specific = answer.output.as_mut().and_then(|output| output.hook_specific_output.as_mut());
    let (None, Some(specific)) = (&call.messages, specific) else { return };
    if let Some(messages) = specific.remove(MESSAGES) {
        let mut request = JsonObject::new();
        request.insert(MESSAGES, messages);
        specific.insert("llm_request", request.to_raw());
    }
}
