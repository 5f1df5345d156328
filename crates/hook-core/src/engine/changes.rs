//! What a hook changed of the input that it was told.

use crate::event::input::{EventInput, HookInput};
use crate::event::output::HookOutput;
use crate::json::{Patch, RawJson, patch};
use crate::run::HookExecutionResult;

/// What a hook's answer changes of the input `told` to it, by its event's rules (protocol.md §2). Of a
/// hook that failed, nothing.
#[doc(hidden)]
pub fn changes(result: &HookExecutionResult, told: &HookInput) -> Patch {
    let Some(output) = result.output.as_ref().filter(|_| result.success) else {
        return Patch::default();
    };
    let new = chained(told.clone(), output);
    if new.is_same(told) {
        return Patch::default();
    }
    let json = |input: &HookInput| RawJson::parse(String::from_utf8_lossy(input.json()));
    match (json(told), json(&new)) {
        (Ok(old), Ok(new)) => patch(&old, &new),
        // The engine writes valid JSON.
        _ => Patch::default(),
    }
}

/// What the next hook is told after one has answered.
pub(super) fn chained(input: HookInput, output: &HookOutput) -> HookInput {
    let mut next = EventInput::clone(&input);
    next.payload.apply(output);
    // The text of an input that did not change is not made again.
    if next.payload == input.payload { input } else { HookInput::new(next) }
}
