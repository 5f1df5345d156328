//! The changes that a hook makes to its input.

use hook_json::{Patch, RawJson, patch};
use hook_protocol::event::input::{EventInput, HookInput};
use hook_protocol::event::output::HookOutput;
use hook_run::HookExecutionResult;

/// Returns the changes that a hook's output makes to its input, by its event's rules
/// (reference/events.md). The patch is empty if the hook failed.
pub fn changes(result: &HookExecutionResult, original: &HookInput) -> Patch {
    let Some(output) = result.output.as_ref().filter(|_| result.success) else {
        return Patch::default();
    };
    let new = with_changes(original.clone(), output);
    if new.ptr_eq(original) {
        return Patch::default();
    }
    let json = |input: &HookInput| RawJson::parse(String::from_utf8_lossy(input.json()));
    match (json(original), json(&new)) {
        (Ok(old), Ok(new)) => patch(&old, &new),
        // The engine writes valid JSON.
        _ => Patch::default(),
    }
}

/// Returns the input of the next hook: `input` with an output's changes.
pub(super) fn with_changes(input: HookInput, output: &HookOutput) -> HookInput {
    let mut next = EventInput::clone(&input);
    next.payload.apply(output);
    // Keep the serialized text of an unchanged input.
    if next.payload == input.payload { input } else { HookInput::new(next) }
}
