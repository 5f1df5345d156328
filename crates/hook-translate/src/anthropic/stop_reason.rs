//! Finish reasons: the names of hooks and of Anthropic.

/// The API's names.
const KNOWN: [&str; 7] = [
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
];

/// The names of an ordinary end.
const ORDINARY: [&str; 4] = ["end_turn", "stop_sequence", "tool_use", "pause_turn"];

/// Names of the stable form's reference, which a hook may use with any SDK.
const REFERENCE: [(&str, &str); 9] = [
    ("STOP", "end_turn"),
    ("MAX_TOKENS", "max_tokens"),
    ("SAFETY", "refusal"),
    ("RECITATION", "refusal"),
    ("LANGUAGE", "refusal"),
    ("BLOCKLIST", "refusal"),
    ("PROHIBITED_CONTENT", "refusal"),
    ("SPII", "refusal"),
    ("IMAGE_SAFETY", "refusal"),
];

/// Returns the name that hooks see, which does not depend on the SDK.
pub(super) fn shown(name: &str) -> &str {
    match name {
        name if ORDINARY.contains(&name) => "STOP",
        "max_tokens" | "model_context_window_exceeded" => "MAX_TOKENS",
        "refusal" => "SAFETY",
        other => other,
    }
}

/// Returns the `stop_reason` for a hook's `finishReason`, where the response had `original`.
pub(super) fn from_stable<'w>(given: &'w str, original: Option<&'w str>) -> &'w str {
    // In the stable form a tool call ends with `STOP`; it must not become an end of turn.
    let ordinary = original.filter(|original| ORDINARY.contains(original));
    match (given, ordinary) {
        ("STOP", Some(original)) => original,
        _ => REFERENCE.into_iter().find(|pair| pair.0 == given).map_or(given, |pair| pair.1),
    }
}

/// Returns `true` if the API has the name.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}
