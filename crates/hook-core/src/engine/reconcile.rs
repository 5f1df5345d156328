//! The changes of hooks that run concurrently, reconciled. All of them receive the same input: a
//! field that an answer only repeats is not a change, and does not undo the change of another hook.

use std::collections::HashMap;

use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::EventPayload;
use hook_protocol::event::output::HookOutput;
use hook_run::HookExecutionResult;

/// The fields of `hookSpecificOutput` that replace parts of the caller's data.
const REPLACING_FIELDS: [&str; 3] = ["tool_input", "llm_request", "llm_response"];

/// A changed field with its new value, or `None` if the field was removed.
type Change = (String, Option<RawJson>);

/// The hook that last set each field, to warn if another hook sets it differently.
#[derive(Default)]
pub(super) struct Reconciler {
    last_changes: HashMap<(&'static str, String), (String, Option<RawJson>)>,
}

impl Reconciler {
    /// Reconciles the answer of a hook with earlier answers, which have changed the input since
    /// that hook received it. Returns `true` if the answer was adjusted.
    pub(super) fn reconcile(
        &mut self,
        result: &mut HookExecutionResult,
        original: &EventPayload,
        current: &EventPayload,
    ) -> bool {
        let Some(output) = &mut result.output else { return false };
        let chained = original.event().row().chain.overlaid_field();
        let mut is_adjusted = false;
        for field in REPLACING_FIELDS {
            let Some(given) = output.specific_object(field) else { continue };
            let replaces = field == "tool_input" && output.replaces_tool_input();
            let objects = original.overlaid_object().zip(current.overlaid_object());
            let objects = objects.filter(|_| chained == Some(field));
            let original_fields = objects.map(|(told, _)| told.fields()).unwrap_or_default();
            let changes = changes(&given.fields(), &original_fields, replaces && objects.is_some());
            if let Some((old, latest)) = objects
                && old != latest
            {
                let new = match replaces {
                    true => apply_changes(latest, &changes),
                    false => without_repeated(&given, &changes, latest),
                };
                is_adjusted |= new != given;
                set(output, field, new);
            }
            let hook = result.hook.display_name();
            for (name, value) in changes {
                let warning = self.record((field, name), hook, value);
                result.warnings.extend(warning);
            }
        }
        is_adjusted
    }

    /// Records a change; returns a warning if another hook changed the field differently.
    fn record(
        &mut self,
        (field, name): (&'static str, String),
        hook: &str,
        value: Option<RawJson>,
    ) -> Option<String> {
        let shown = shortened(&name);
        let set = (hook.to_owned(), value.clone());
        let (earlier, before) = self.last_changes.insert((field, name), set)?;
        let is_same = match (&before, &value) {
            (Some(before), Some(value)) => before.is_same_value(value),
            (before, value) => before.is_none() && value.is_none(),
        };
        let verb = |is_there: bool, set: &'static str| if is_there { set } else { "taken away" };
        let (was, is) = (verb(before.is_some(), "set"), verb(value.is_some(), "replaced"));
        (!is_same).then(|| {
            format!("{field}.{shown} was {was} by hook {earlier} and is {is} by hook {hook}")
        })
    }
}

/// Returns the fields of an answer that differ from the hook's input.
fn changes(given: &JsonObject, original: &JsonObject, replaces: bool) -> Vec<Change> {
    let is_new = |name: &str, value: &RawJson| {
        original.get(name).is_none_or(|old| !old.is_same_value(value))
    };
    let new = given.iter().filter(|(name, value)| is_new(name, value));
    let new = new.map(|(name, value)| (name.to_owned(), Some(value.clone())));
    let gone = original.iter().filter(|(name, _)| replaces && given.get(name).is_none());
    new.chain(gone.map(|(name, _)| (name.to_owned(), None))).collect()
}

/// Applies changes to the current arguments.
fn apply_changes(current: &RawObject, changes: &[Change]) -> RawObject {
    let mut fields = current.fields();
    for (name, value) in changes {
        match value {
            Some(value) => fields.insert(name.as_str(), value.clone()),
            None => drop(fields.remove(name)),
        }
    }
    fields.to_raw()
}

/// Returns the fields of an answer, without unchanged ones that another hook has changed.
fn without_repeated(given: &RawObject, changes: &[Change], current: &RawObject) -> RawObject {
    let current_fields = current.fields();
    let given = given.fields();
    let is_change = |name: &str| changes.iter().any(|(changed, _)| changed == name);
    let is_kept = |name: &str, value: &RawJson| {
        is_change(name)
            || current_fields.get(name).is_some_and(|latest| latest.is_same_value(value))
    };
    let kept = given.iter().filter(|(name, value)| is_kept(name, value));
    kept.map(|(name, value)| (name.to_owned(), value.clone())).collect::<JsonObject>().to_raw()
}

fn set(output: &mut HookOutput, field: &str, value: RawObject) {
    if let Some(specific) = &mut output.hook_specific_output {
        specific.insert(field, value);
    }
}
