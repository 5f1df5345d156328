//! Stage 9: one record per hook, one summary per event, a diagnostic per failure (requirements.md
//! DELTA-HTEL-001 to -003). Nothing is built while no subscriber listens.

use hook_core::{ProcessedHookResult, StageFailure};
use hook_json::text::{OneLine, OutputExcerpt, one_line};
use hook_protocol::{HookEventName, RequestInput};
use hook_run::HookExecutionResult;

use crate::message::CorrelationId;

/// The number of bytes of a hook's output that a record shows.
const SHOWN_OUTPUT: usize = 4 * 1024;

/// Returns the tool of an event for its summary, or `None` if no subscriber listens.
pub(crate) fn tool(input: &RequestInput) -> Option<Box<str>> {
    let payload = &input.payload;
    let is_enabled = || tracing::enabled!(target: "hook::event", tracing::Level::DEBUG);
    payload
        .tool_input()
        .filter(|_| is_enabled())
        .and_then(|_| payload.match_subject())
        .map(Box::from)
}

/// Checks whether hooks changed something besides their decision.
fn is_modified(event: HookEventName, processed: &ProcessedHookResult) -> bool {
    let is_decision = |name: &&&str| **name == "cancel" || name.starts_with("permissionDecision");
    let mut changes = event.row().answers.iter().filter(|name| !is_decision(name));
    let outputs = &processed.aggregated.all_outputs;
    changes.any(|name| outputs.iter().any(|output| output.specific(name).is_some()))
}

/// Records an event whose hooks ran, even if it was cancelled before all of them finished.
pub(crate) fn event(
    event: HookEventName,
    tool: Option<&str>,
    id: &CorrelationId,
    hooks: &[HookExecutionResult],
    processed: &ProcessedHookResult,
) {
    for result in hooks {
        hook(event, id, result);
    }
    let failures = hooks.iter().filter(|result| !result.success).count();
    tracing::debug!(
        target: "hook::event",
        correlation_id = %OneLine(id),
        event = event.as_str(),
        tool = tool.map(|tool| display(OneLine(tool))),
        hooks = hooks.len(),
        succeeded = hooks.len() - failures,
        failed = failures,
        duration_ms = processed.aggregated.total_duration.as_secs_f64() * 1e3,
        decision = processed.decision.as_str(),
        modified = is_modified(event, processed),
        "event fired"
    );
}

/// Records one hook. Its name comes from its author and the id from the caller: both are untrusted.
fn hook(event: HookEventName, id: &CorrelationId, result: &HookExecutionResult) {
    let name = result.hook.display_name();
    tracing::debug!(
        target: "hook::run",
        correlation_id = %OneLine(id),
        event = event.as_str(),
        hook = &*one_line(name),
        kind = result.hook.kind(),
        duration_ms = result.duration.as_secs_f64() * 1e3,
        success = result.success,
        exit_code = result.process.exit_code,
        stdout = %OutputExcerpt::new(&result.process.stdout.bytes, SHOWN_OUTPUT),
        stderr = %OutputExcerpt::new(&result.process.stderr.bytes, SHOWN_OUTPUT),
        error = result.failure.as_ref().map(|failure| display(OneLine(failure))),
        "hook finished"
    );
    if let Some(failure) = &result.failure {
        tracing::warn!(
            target: "hook::run",
            correlation_id = %OneLine(id),
            event = event.as_str(),
            hook = &*one_line(name),
            error = %OneLine(failure),
            "hook failed"
        );
    }
    for warning in &result.warnings {
        tracing::warn!(
            target: "hook::run",
            correlation_id = %OneLine(id),
            event = event.as_str(),
            hook = &*one_line(name),
            "{}",
            OneLine(warning)
        );
    }
}

/// Records an event for which a stage failed.
pub(crate) fn failure(event: Option<HookEventName>, id: &CorrelationId, failure: &StageFailure) {
    tracing::warn!(
        target: "hook::event",
        correlation_id = %OneLine(id),
        event = event.map(HookEventName::as_str),
        code = failure.code.as_str(),
        stage = failure.code.stage(),
        "event not completed: {}",
        OneLine(failure)
    );
}
