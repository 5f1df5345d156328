//! What a request that was cut off left undone.

use std::sync::Arc;

use hook_core::text::shortened;
use hook_core::{Hook, HookExecutionResult, HookFailure, Plan, RawJson};

/// The names of the planned hooks that were still at work, or had not begun; an array. `None` where
/// all were done.
pub(crate) fn unfinished(plan: &Plan, results: &[HookExecutionResult]) -> Option<RawJson> {
    let is_finished = |hook: &Arc<Hook>| {
        results.iter().any(|result| {
            Arc::ptr_eq(&result.hook, hook)
                && !matches!(result.failure, Some(HookFailure::Cancelled))
        })
    };
    let hooks = plan.hooks.iter().map(|planned| &planned.hook);
    // What nothing waits for is no part of the request.
    let hooks = hooks.filter(|hook| !hook.runs_in_background());
    let names: Vec<RawJson> = hooks
        .filter(|hook| !is_finished(hook))
        .map(|hook| RawJson::from_text(&shortened(hook.display_name())))
        .collect();
    (!names.is_empty()).then(|| RawJson::from_items(&names))
}
