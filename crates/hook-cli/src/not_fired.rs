//! The response of `hook fire --json` for an event that no engine received, so that readers get one
//! line whatever fails.

use std::ffi::OsString;
use std::io::Write;

use hook_bus::{CorrelationId, HookExecutionResponse};
use hook_core::StageFailure;
use hook_protocol::{FailureCode, HookEventName};

use crate::exit_code::{self, Failure, Status};
use crate::output::message_line;

/// Returns `true` if an invalid command line requests a response.
pub(crate) fn is_wanted(arguments: &[OsString]) -> bool {
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    has("fire") && has("--json")
}

/// Prints the response for an event that was not fired. `status` decides whether it blocks.
pub(crate) fn print(event: Option<&str>, failure: Failure, why: &str, status: Status) {
    let code = match failure {
        Failure::Usage => FailureCode::InvalidRequest,
        Failure::Input => FailureCode::InvalidPayload,
        Failure::Internal | Failure::ClosedOutput => FailureCode::PlanningFailed,
        Failure::Panic => FailureCode::InternalError,
    };
    let event = event.and_then(HookEventName::from_name);
    let response = HookExecutionResponse::rejected(
        CorrelationId::generate(),
        event,
        StageFailure::new(code, format!("the event was not fired: {why}")),
        status == exit_code::BLOCKED,
    );
    // A closed stdout leaves no way to report this.
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(&message_line(&response.to_json())).and_then(|()| stdout.flush());
}
