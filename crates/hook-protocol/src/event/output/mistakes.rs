//! Parts of an output that have no effect, but were probably meant to have one.
//!
//! Unknown fields are allowed. Warnings are for fields that look like a known one, or that are in
//! an object where they are not read.

use super::answer::HookOutput;
use super::fields::{
    COMMON_FIELDS, SPECIFIC_FIELDS, is_common, is_specific, is_spelling_of, replacing_fields,
};
use crate::event::HookEventName;
use hook_json::field;
use hook_json::text::{nearest, shortened};

/// The maximum number of fields of one output that are compared with known names.
pub(super) const MAX_COMPARED: usize = 64;

/// Other agents' names for fields of `hookSpecificOutput`.
const FOREIGN_NAMES: [(&str, &str); 3] = [
    ("updatedInput", "tool_input"),
    ("model_request", "llm_request"),
    ("model_response", "llm_response"),
];

impl HookOutput {
    /// Returns warnings about parts of this output that probably do not do what was meant on that
    /// event: at most one for each kind of mistake.
    pub fn mistakes(&self, event: HookEventName) -> Vec<String> {
        let specific = self.hook_specific_output.as_ref();
        let specific_names = || specific.into_iter().flat_map(|fields| fields.iter()).map(name);
        let top_level = || self.extra.iter().map(name).take(MAX_COMPARED);
        let specific_fields =
            || specific_names().take(MAX_COMPARED).filter(|name| !is_specific(name));
        [
            top_level().find_map(|name| misspelt(name, event)),
            top_level().find(|name| is_misplaced(name, event)).map(|name| {
                let name = shortened(name);
                format!("`{name}` has no effect here; it belongs into `hookSpecificOutput`")
            }),
            specific_fields().find_map(|name| misspelt_inside(name, event)),
            specific_fields().find(|name| is_common(name)).map(|name| {
                format!(
                    "`{name}` has no effect in `hookSpecificOutput`; it belongs beside it, not \
                     into it"
                )
            }),
            self.wrong_event_name(event),
            specific_names().find(|name| is_specific(name) && !event.row().acts_on(name)).map(
                |name| format!("`hookSpecificOutput.{name}` has no effect on {}", event.as_str()),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn wrong_event_name(&self, event: HookEventName) -> Option<String> {
        let event_name = self.specific_text("hookEventName")?;
        // A hook written for another agent may use that agent's name for the event.
        let named_event = HookEventName::from_name(&event_name)
            .or_else(|| HookEventName::from_foreign_name(&event_name));
        (event_name != event.as_str() && named_event != Some(event)).then(|| {
            let shown = shortened(&event_name);
            format!("`hookEventName` says \"{shown}\", but the event is {event}")
        })
    }
}

fn name<V>((name, _): (&str, V)) -> &str {
    name
}

/// Returns `true` if the event acts on a field of that name only in `hookSpecificOutput`. A hook
/// that repeats its input makes no mistake.
fn is_misplaced(name: &str, event: HookEventName) -> bool {
    let row = event.row();
    let acts_on = is_specific(name) && row.acts_on(name) && !field::has_field(row.fields, name);
    let is_older = matches!(name, "permissionDecision" | "permissionDecisionReason");
    acts_on || is_older || replacing_field_for(name, event).is_some()
}

/// Returns the field that replaces something on that event and that a name stands for: the field's
/// own name, another spelling of it, or another agent's name.
pub(super) fn replacing_field_for(name: &str, event: HookEventName) -> Option<&'static str> {
    let native_name = FOREIGN_NAMES
        .iter()
        .find(|(foreign, _)| is_spelling_of(name, foreign))
        .map(|(_, native)| *native);
    let name = native_name.unwrap_or(name);
    replacing_fields(event).find(|field| is_spelling_of(name, field))
}

/// Returns a warning about a field beside `hookSpecificOutput` that looks like a known one.
fn misspelt(name: &str, event: HookEventName) -> Option<String> {
    // A hook that repeats its input makes no mistake.
    if is_specific(name) || event.row().fields.iter().any(|field| field.name == name) {
        return None;
    }
    let known = nearest(name, COMMON_FIELDS.iter().map(|field| field.name))?;
    Some(format!("`{}` is not known and has no effect; did you mean `{known}`?", shortened(name)))
}

/// Returns a warning about a field of `hookSpecificOutput` that looks like one the event acts on.
pub(super) fn misspelt_inside(name: &str, event: HookEventName) -> Option<String> {
    if is_common(name) {
        return None;
    }
    let known = replacing_field_for(name, event).or_else(|| {
        let known = SPECIFIC_FIELDS.iter().map(|field| field.name);
        nearest(name, known.filter(|known| event.row().acts_on(known)))
    })?;
    let name = shortened(name);
    Some(format!(
        "`hookSpecificOutput.{name}` is not known and has no effect; did you mean `{known}`?"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_json::RawJson;

    fn mistakes(event: HookEventName, text: &str) -> Vec<String> {
        let fields = RawJson::parse(text).unwrap().to_object().unwrap();
        HookOutput::read(fields, &mut Vec::new()).mistakes(event)
    }

    #[test]
    fn what_was_probably_meant_otherwise_is_said_once_for_each_kind() {
        const AFTER: HookEventName = HookEventName::AfterTool;
        const BEFORE: HookEventName = HookEventName::BeforeTool;
        const START: HookEventName = HookEventName::SessionStart;
        for (event, text, expected) in [
            (
                BEFORE,
                r#"{"descision":"deny","reasons":"r"}"#,
                "`descision` is not known and has no effect; did you mean `decision`?",
            ),
            (
                START,
                r#"{"additionalContext":"c"}"#,
                "`additionalContext` has no effect here; it belongs into `hookSpecificOutput`",
            ),
            (
                BEFORE,
                r#"{"hookSpecificOutput":{"toolInput":{},"permisionDecision":"deny"}}"#,
                "`hookSpecificOutput.toolInput` is not known and has no effect; did you mean `tool_input`?",
            ),
            (
                BEFORE,
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{}}}"#,
                "`hookSpecificOutput.updatedInput` is not known and has no effect; did you mean `tool_input`?",
            ),
            (
                BEFORE,
                r#"{"Tool-Input":{}}"#,
                "`Tool-Input` has no effect here; it belongs into `hookSpecificOutput`",
            ),
            (
                BEFORE,
                r#"{"hookSpecificOutput":{"decision":"allow","reason":"r"}}"#,
                "`decision` has no effect in `hookSpecificOutput`; it belongs beside it, not into it",
            ),
            (
                AFTER,
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}"#,
                "`hookEventName` says \"PreToolUse\", but the event is AfterTool",
            ),
            (
                START,
                r#"{"hookSpecificOutput":{"tool_input":{},"llm_request":{}}}"#,
                "`hookSpecificOutput.tool_input` has no effect on SessionStart",
            ),
        ] {
            assert_eq!(mistakes(event, text), [expected], "{text}");
        }
    }

    #[test]
    fn what_is_allowed_stays_silent() {
        const AFTER: HookEventName = HookEventName::AfterTool;
        const BEFORE: HookEventName = HookEventName::BeforeTool;
        const MODEL: HookEventName = HookEventName::AfterModel;
        for (event, text) in [
            (BEFORE, r#"{"mine":1,"hookSpecificOutput":{"theirs":1}}"#),
            (AFTER, r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedInput":{}}}"#),
            (BEFORE, r#"{"hookSpecificOutput":{"hookEventName":"before_tool"}}"#),
            (MODEL, r#"{"hookSpecificOutput":{"llm_response":{},"additionalContext":"c"}}"#),
            (
                BEFORE,
                r#"{"session_id":"s","transcript_path":"","cwd":"/","hook_event_name":"BeforeTool","timestamp":"t","tool_name":"t","prompt_response":"","stop_hook_active":true,"source":"startup"}"#,
            ),
        ] {
            assert_eq!(mistakes(event, text), [""; 0], "{text}");
        }
    }

    #[test]
    fn an_answer_of_very_many_fields_is_not_compared_without_end() {
        let mut fields = hook_json::JsonObject::new();
        for index in 0..MAX_COMPARED {
            fields.insert(format!("x{index}"), RawJson::parse("1").unwrap());
        }
        fields.insert("descision", RawJson::parse("1").unwrap());
        assert_eq!(mistakes(HookEventName::BeforeTool, fields.to_raw().as_str()), [""; 0]);
    }
}
