//! Finish reasons, as the stable form names them.
//!
//! Hooks must not depend on the SDK, so they see GenAI's names, which the stable form uses. A name
//! without a counterpart is the same on both sides.

const STOP: &str = "STOP";
const MAX_TOKENS: &str = "MAX_TOKENS";
const SAFETY: &str = "SAFETY";

/// Returns the stable name of a finish reason of either API.
pub(super) fn shown(reason: &str) -> &str {
    match reason {
        // A model that calls a tool has finished its text.
        "stop" | "tool_calls" | "function_call" | "completed" => STOP,
        "length" | "max_output_tokens" => MAX_TOKENS,
        "content_filter" => SAFETY,
        other => other,
    }
}

/// Returns chat's name of a stable finish reason.
pub(super) fn chat_reason(reason: &str) -> &str {
    match reason {
        STOP => "stop",
        MAX_TOKENS => "length",
        reason if is_filtered(reason) => "content_filter",
        other => other,
    }
}

/// Returns a response's `status` for a stable finish reason, and the detail of an incomplete one.
pub(super) fn response_status(reason: &str) -> (&str, Option<&str>) {
    match reason {
        STOP => ("completed", None),
        MAX_TOKENS => ("incomplete", Some("max_output_tokens")),
        "completed" | "failed" | "in_progress" | "cancelled" | "queued" => (reason, None),
        reason if is_filtered(reason) => ("incomplete", Some("content_filter")),
        other => ("incomplete", Some(other)),
    }
}

/// Returns `true` if the reason is that the answer was withheld.
fn is_filtered(reason: &str) -> bool {
    [SAFETY, "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"].contains(&reason)
}
