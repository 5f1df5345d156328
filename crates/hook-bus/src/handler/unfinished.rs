//! What a request that was cut off left undone.

use hook_core::text::shortened;
use hook_core::{HookExecutionResult, HookFailure, HookIdentity, NotStarted, Plan, RawJson};

/// The names of the planned hooks that were still at work, or had not begun and would have; an array.
/// `None` where all were done.
pub(crate) fn unfinished(
    plan: &Plan,
    results: &[HookExecutionResult],
    not_started: &[NotStarted],
) -> Option<RawJson> {
    let is_not_started =
        |hook: &HookIdentity| not_started.iter().any(|it| it.hook.is_same_hook(hook));
    let is_finished = |hook: &HookIdentity| {
        results.iter().any(|result| {
            result.hook.is_same_hook(hook)
                && !result.failure.as_ref().is_some_and(HookFailure::is_cut_off)
        })
    };
    // What nothing waits for is no part of the request.
    let hooks = plan.hooks.iter().filter(|planned| !planned.hook.runs_in_background());
    let hooks = hooks.map(|planned| &planned.hook.identity);
    let names: Vec<RawJson> = hooks
        .filter(|hook| !is_finished(hook) && !is_not_started(hook))
        .map(|hook| RawJson::from_text(&shortened(hook.display_name())))
        .collect();
    (!names.is_empty()).then(|| RawJson::from_items(&names))
}
