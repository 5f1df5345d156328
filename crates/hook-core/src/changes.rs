//! What a hook changed of the input that it was told.

use crate::json::{Patch, RawJson, patch};
use crate::pipeline::chained;
use crate::runner::{HookExecutionResult, HookInput};

/// What a hook's answer changes of the input `told` to it, by its event's rules (protocol.md §2). Of a
/// hook that failed, nothing.
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
