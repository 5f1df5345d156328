//! Values that only Cursor sends, computed for its hooks when another agent is the client.

use std::io::Read;
use std::path::Path;

use hook_files::regular_file;
use hook_json::{JsonObject, RawJson};

use super::output::output_text;

/// The maximum length of file content in a hook's input, in bytes.
const MAX_CONTENT_BYTES: u64 = 1 << 20;

/// Returns a field about a file that is read or edited, or attached to a prompt.
pub(super) fn file_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "content" => Some(RawJson::from_text(&content(native))),
        "attachments" => Some(RawJson::from_items([])),
        _ => None,
    }
}

/// Returns a field about a shell command.
pub(super) fn shell_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "output" => Some(RawJson::from_text(&output_text(native.get("tool_response")?))),
        "sandbox" => Some(RawJson::from_bool(false)),
        _ => None,
    }
}

/// Returns a field about an MCP tool. Its arguments and result are JSON in a string.
pub(super) fn mcp_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    let text = |name: &str| Some(RawJson::from_text(&json_text(native.get(name)?)));
    match name {
        "tool_input" => text("tool_input"),
        "result_json" => text("tool_response"),
        "mcp_server_name" => {
            let tool = native.get("tool_name")?.to_text()?;
            let (server, _) = tool.strip_prefix("mcp_")?.split_once('_')?;
            Some(RawJson::from_text(server))
        }
        _ => None,
    }
}

/// Returns a field about a tool's result, which is JSON in a string, too.
pub(super) fn result_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "tool_output" => Some(RawJson::from_text(&json_text(native.get("tool_response")?))),
        "failure_type" => Some(RawJson::from_text("error")),
        "is_interrupt" => Some(RawJson::from_bool(false)),
        _ => None,
    }
}

/// Returns a field about the end of a turn.
pub(super) fn turn_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "status" => Some(RawJson::from_text("completed")),
        // The count is unknown, only whether it is zero.
        "loop_count" => {
            let active = native.get("stop_hook_active").and_then(RawJson::to_bool);
            Some(RawJson::from_u64(u64::from(active == Some(true))))
        }
        _ => None,
    }
}

/// Returns a field about a session.
pub(super) fn session_field(name: &str, native: &JsonObject) -> Option<RawJson> {
    match name {
        "session_id" => native.get("session_id").cloned(),
        "is_background_agent" => Some(RawJson::from_bool(false)),
        "final_status" => Some(RawJson::from_text("completed")),
        "reason" => {
            let is_user_reason = |reason: String| reason != "other" && reason != "clear";
            let is_user_exit =
                native.get("reason").and_then(RawJson::to_text).is_some_and(is_user_reason);
            Some(RawJson::from_text(if is_user_exit { "user_close" } else { "completed" }))
        }
        _ => None,
    }
}

fn arguments(native: &JsonObject) -> JsonObject {
    native.get("tool_input").and_then(|value| value.to_object().ok()).unwrap_or_default()
}

/// Returns the content of the file to read, up to the limit; empty if it is no regular file.
fn content(native: &JsonObject) -> String {
    let text = |fields: &JsonObject, name: &str| fields.get(name).and_then(RawJson::to_text);
    let Some(path) = text(&arguments(native), "file_path") else { return String::new() };
    let path = Path::new(&text(native, "cwd").unwrap_or_default()).join(path);
    let Ok(file) = regular_file::open(&path) else { return String::new() };
    let mut bytes = Vec::new();
    // After a read error, keep the bytes read so far.
    let _ = file.take(MAX_CONTENT_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a value as JSON text; a string as it is.
fn json_text(value: &RawJson) -> String {
    value.to_text().unwrap_or_else(|| value.as_str().to_owned())
}
