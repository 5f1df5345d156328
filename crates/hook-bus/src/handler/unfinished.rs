//! The unfinished hooks of a request that was cut off.

use hook_core::{NotStarted, Plan};
use hook_json::RawJson;
use hook_json::text::shortened;
use hook_protocol::HookFailure;
use hook_run::{HookExecutionResult, HookIdentity};

/// Returns a JSON array with the names of the planned hooks that were running or still to start;
/// `None` if all were done.
pub(crate) fn unfinished_names(
    plan: &Plan,
    results: &[HookExecutionResult],
    not_started: &[NotStarted],
) -> Option<RawJson> {
    let is_not_started =
        |hook: &HookIdentity| not_started.iter().any(|entry| entry.hook.is_same_hook(hook));
    let is_finished = |hook: &HookIdentity| {
        results.iter().any(|result| {
            result.hook.is_same_hook(hook)
                && !result.failure.as_ref().is_some_and(HookFailure::is_interrupted)
        })
    };
    // `async` hooks are no part of the request.
    let hooks = plan.hooks.iter().filter(|planned| !planned.hook.runs_in_background());
    let hooks = hooks.map(|planned| &planned.hook.identity);
    let names: Vec<RawJson> = hooks
        .filter(|hook| !is_finished(hook) && !is_not_started(hook))
        .map(|hook| RawJson::from_text(&shortened(hook.display_name())))
        .collect();
    (!names.is_empty()).then(|| RawJson::from_items(&names))
}
