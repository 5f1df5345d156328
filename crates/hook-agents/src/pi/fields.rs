//! Fields of a handler's input that have no native field, or another form.

use hook_json::{JsonObject, RawJson};

use super::content;

/// Returns a field of a tool's result, whose response becomes parts.
pub(super) fn result_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    let response = native.get("tool_response");
    match name {
        "content" => response.map(content::parts_of),
        "details" => response.and_then(content::details_of),
        // A native field reports a failure.
        "isError" => None,
        _ => call_field(name, native),
    }
}

/// Returns a field of a tool's result, with `isError` always present.
pub(super) fn omp_result_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "isError" => native.get("is_error").cloned().or_else(|| Some(RawJson::from_bool(false))),
        _ => result_field(name, native),
    }
}

/// Returns a field of a tool call.
pub(super) fn call_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    let id = || native.get("tool_call_id").cloned();
    (name == "toolCallId").then(|| id().unwrap_or_else(|| RawJson::from_text("")))
}

/// Returns a field of a model call: the agent's own messages, or else the stable ones.
pub(super) fn context_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    let stable = || native.get("llm_request")?.to_object().ok()?.get("messages").cloned();
    let messages = || native.get("messages").cloned().or_else(stable).unwrap_or_else(empty_list);
    (name == "messages").then(messages)
}

/// Returns a field of the end of a run: its messages, as far as known.
pub(super) fn end_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    if name != "messages" {
        return None;
    }
    if let Some(messages) = native.get("messages") {
        return Some(messages.clone());
    }
    let message_from = |role: &str, field: &str| {
        let text = native.get(field)?.to_text().filter(|text| !text.is_empty())?;
        let mut message = JsonObject::new();
        message.insert("role", RawJson::from_text(role));
        message.insert("content", content::text_part(&text));
        Some(RawJson::from(message.to_raw()))
    };
    let messages = [message_from("user", "prompt"), message_from("assistant", "prompt_response")];
    Some(RawJson::from_items(messages.iter().flatten()))
}

/// Returns a field of a compression that is about to start.
pub(super) fn compression_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    let empty_object = || JsonObject::new().to_raw().into();
    match name {
        "preparation" => native.get(name).cloned().or_else(|| Some(empty_object())),
        "branchEntries" => Some(empty_list()),
        _ => None,
    }
}

/// Returns a field of a completed compression.
pub(super) fn compressed_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "compactionEntry" => {
            let mut entry = JsonObject::new();
            entry.insert("type", RawJson::from_text("compaction"));
            let summary = native.get("summary").cloned();
            entry.insert("summary", summary.unwrap_or_else(|| RawJson::from_text("")));
            Some(entry.to_raw().into())
        }
        "fromExtension" => Some(RawJson::from_bool(false)),
        _ => None,
    }
}

fn empty_list() -> RawJson {
    RawJson::from_items([])
}
