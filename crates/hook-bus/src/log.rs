//! Stage 9: one record for each hook, one summary for each event, a diagnostic for each failure
//! (requirements.md DELTA-HTEL-001 to -003). Nothing is built while nobody listens.

use std::fmt;

use hook_core::{HookEventName, HookExecutionResult, ProcessedHookResult, StageFailure};

use crate::message::CorrelationId;

/// How much of a hook's output a record shows.
const SHOWN_OUTPUT: usize = 4 * 1024;

/// Records an event whose hooks ran, also where it was cut off before all of them were done.
pub(crate) fn event(
    event: HookEventName,
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
        correlation_id = %id,
        event = event.as_str(),
        hooks = hooks.len(),
        succeeded = hooks.len() - failures,
        failed = failures,
        duration_ms = processed.aggregated.total_duration.as_secs_f64() * 1e3,
        decision = processed.decision.as_str(),
        "event fired"
    );
}

/// Records one hook.
fn hook(event: HookEventName, id: &CorrelationId, result: &HookExecutionResult) {
    let name = result.hook.display_name();
    tracing::debug!(
        target: "hook::run",
        correlation_id = %id,
        event = event.as_str(),
        hook = name,
        kind = result.hook.kind().as_str(),
        duration_ms = result.duration.as_secs_f64() * 1e3,
        success = result.success,
        exit_code = result.process.exit_code,
        stdout = %Shown(&result.process.stdout.bytes),
        stderr = %Shown(&result.process.stderr.bytes),
        error = result.failure.as_ref().map(tracing::field::display),
        "hook finished"
    );
    if let Some(failure) = &result.failure {
        tracing::warn!(
            target: "hook::run",
            correlation_id = %id,
            event = event.as_str(),
            hook = name,
            error = %failure,
            "hook failed"
        );
    }
    for warning in &result.warnings {
        tracing::warn!(
            target: "hook::run",
            correlation_id = %id,
            event = event.as_str(),
            hook = name,
            "{warning}"
        );
    }
}

/// Records an event that a stage failed for.
pub(crate) fn failure(event: Option<HookEventName>, id: &CorrelationId, failure: &StageFailure) {
    tracing::warn!(
        target: "hook::event",
        correlation_id = %id,
        event = event.map(HookEventName::as_str),
        code = failure.code.as_str(),
        stage = failure.code.stage(),
        "event not completed: {failure}"
    );
}

/// What a hook wrote, escaped, so that it cannot pretend to be a record of its own.
struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(SHOWN_OUTPUT)];
        for chunk in shown.utf8_chunks() {
            write!(formatter, "{}", chunk.valid().escape_debug())?;
            for byte in chunk.invalid() {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        match self.0.len() - shown.len() {
            0 => Ok(()),
            cut => write!(formatter, "… ({cut} more bytes)"),
        }
    }
}
