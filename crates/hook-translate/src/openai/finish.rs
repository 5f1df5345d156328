//! Why the model stopped, in the words of the stable form.
//!
//! Hooks must not depend on the SDK, so they see GenAI's words, which the stable form comes from.
//! A word without a counterpart is the same on both sides.

const STOP: &str = "STOP";
const MAX_TOKENS: &str = "MAX_TOKENS";
const SAFETY: &str = "SAFETY";

/// The stable word for one of the SDK's, of either API.
pub(super) fn shown(word: &str) -> &str {
    match word {
        // A model that calls a tool has said what it had to say.
        "stop" | "tool_calls" | "function_call" | "completed" => STOP,
        "length" | "max_output_tokens" => MAX_TOKENS,
        "content_filter" => SAFETY,
        other => other,
    }
}

/// Chat's word for a stable one.
pub(super) fn of_choice(word: &str) -> &str {
    match word {
        STOP => "stop",
        MAX_TOKENS => "length",
        word if is_filtered(word) => "content_filter",
        other => other,
    }
}

/// What a response's `status` is for a stable word, and the reason where it is incomplete.
pub(super) fn of_response(word: &str) -> (&str, Option<&str>) {
    match word {
        STOP => ("completed", None),
        MAX_TOKENS => ("incomplete", Some("max_output_tokens")),
        "completed" | "failed" | "in_progress" | "cancelled" | "queued" => (word, None),
        word if is_filtered(word) => ("incomplete", Some("content_filter")),
        other => ("incomplete", Some(other)),
    }
}

/// Whether a word says that the model's answer was withheld.
fn is_filtered(word: &str) -> bool {
    [SAFETY, "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"].contains(&word)
}
