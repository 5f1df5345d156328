//! Fields of a handler's input that have no native field, or another form.

use hook_json::{JsonObject, RawJson};

use super::content;

/// Returns a field of a tool's result, whose response becomes parts.
pub(super) fn of_result(name: &str, ours: &JsonObject) -> Option<RawJson> {
    let response = ours.get("tool_response");
    match name {
        "content" => response.map(content::of_response),
        "details" => response.and_then(content::details_of),
        // A native field reports a failure.
        "isError" => None,
        _ => of_call(name, ours),
    }
}

/// Returns a field of a tool's result, with `isError` always present.
pub(super) fn of_own_result(name: &str, ours: &JsonObject) -> Option<RawJson> {
    match name {
        "isError" => ours.get("is_error").cloned().or_else(|| Some(RawJson::from_bool(false))),
        _ => of_result(name, ours),
    }
}

/// Returns a field of a tool call.
pub(super) fn of_call(name: &str, ours: &JsonObject) -> Option<RawJson> {
    let id = || ours.get("tool_call_id").cloned();
    (name == "toolCallId").then(|| id().unwrap_or_else(|| RawJson::from_text("")))
}

/// Returns a field of a model call: the agent's own messages, or else the stable ones.
pub(super) fn of_context(name: &str, ours: &JsonObject) -> Option<RawJson> {
    let stable = || ours.get("llm_request")?.to_object().ok()?.get("messages").cloned();
    let messages = || ours.get("messages").cloned().or_else(stable).unwrap_or_else(none);
    (name == "messages").then(messages)
}

/// Returns a field of the end of a run: its messages, as far as known.
pub(super) fn of_end(name: &str, ours: &JsonObject) -> Option<RawJson> {
    if name != "messages" {
        return None;
    }
    if let Some(messages) = ours.get("messages") {
        return Some(messages.clone());
    }
    let said = |role: &str, field: &str| {
        let text = ours.get(field)?.to_text().filter(|text| !text.is_empty())?;
        let mut message = JsonObject::new();
        message.insert("role", RawJson::from_text(role));
        message.insert("content", content::text_part(&text));
        Some(RawJson::from(message.to_raw()))
    };
    let said = [said("user", "prompt"), said("assistant", "prompt_response")];
    Some(RawJson::from_items(said.iter().flatten()))
}

/// Returns a field of a compression that is about to start.
pub(super) fn of_compression(name: &str, ours: &JsonObject) -> Option<RawJson> {
    let nothing = || JsonObject::new().to_raw().into();
    match name {
        "preparation" => ours.get(name).cloned().or_else(|| Some(nothing())),
        "branchEntries" => Some(none()),
        _ => None,
    }
}

/// Returns a field of a completed compression.
pub(super) fn of_compressed(name: &str, ours: &JsonObject) -> Option<RawJson> {
    match name {
        "compactionEntry" => {
            let mut entry = JsonObject::new();
            entry.insert("type", RawJson::from_text("compaction"));
            let summary = ours.get("summary").cloned();
            entry.insert("summary", summary.unwrap_or_else(|| RawJson::from_text("")));
            Some(entry.to_raw().into())
        }
        "fromExtension" => Some(RawJson::from_bool(false)),
        _ => None,
    }
}

fn none() -> RawJson {
    RawJson::from_items([])
}
