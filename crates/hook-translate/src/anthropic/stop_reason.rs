//! Why the model stopped, in a hook's word and in Anthropic's.

/// The words that the API knows.
const OWN: [&str; 7] = [
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
];

/// Those of them that say that nothing went wrong.
const ORDINARY: [&str; 4] = ["end_turn", "stop_sequence", "tool_use", "pause_turn"];

/// Words of the stable form's reference, which a hook may use whatever the SDK.
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

/// The word that hooks see, which does not depend on the SDK.
pub(super) fn shown(own: &str) -> &str {
    match own {
        own if ORDINARY.contains(&own) => "STOP",
        "max_tokens" | "model_context_window_exceeded" => "MAX_TOKENS",
        "refusal" => "SAFETY",
        other => other,
    }
}

/// The `stop_reason` that a hook's `finishReason` stands for, where the response had `original`.
pub(super) fn of_hook<'w>(given: &'w str, original: Option<&'w str>) -> &'w str {
    // A tool call ends with `STOP` elsewhere; it must not become an end of turn by that.
    let ordinary = original.filter(|original| ORDINARY.contains(original));
    match (given, ordinary) {
        ("STOP", Some(original)) => original,
        _ => REFERENCE.into_iter().find(|word| word.0 == given).map_or(given, |word| word.1),
    }
}

/// Whether the API knows the word.
pub(super) fn is_known(word: &str) -> bool {
    OWN.contains(&word)
}
