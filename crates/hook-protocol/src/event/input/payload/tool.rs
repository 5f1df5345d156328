//! Payloads of events around tool calls and their permissions.

use std::sync::Arc;

use super::{FieldValue, Payload, Subject, payload};
use crate::event::input::tool::{McpContext, ToolName};
use crate::tool::ToolKind;
use hook_json::field::Field;
use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonArray, JsonNumber, JsonObject, ObjectWriter, RawJson, RawObject};

payload! {
    /// A tool is about to run.
    BeforeToolInput {
        /// The tool.
        tool_name: ToolName,
        /// Its arguments.
        tool_input: RawObject,
    }
    optional {
        /// The MCP server that the tool comes from.
        mcp_context: Arc<McpContext>,
        /// The model's id for this call.
        tool_call_id: String,
        /// The tools that were called before, most recent last.
        recent_tools: Vec<String>,
        /// The tokens used by the conversation so far: `prompt_tokens`, `completion_tokens`,
        /// `total_tokens`.
        token_usage: RawObject,
    }
    subject: tool_name,
    arguments: tool_input,
    sample: r#"{"tool_name":"write_file","tool_input":{"path":"notes.txt","content":"Hello"}}"#,
}

payload! {
    /// A tool ran.
    AfterToolInput {
        /// The tool.
        tool_name: ToolName,
        /// The arguments it ran with.
        tool_input: RawObject,
        /// The tool's response; any value.
        tool_response: RawJson,
    }
    optional {
        /// The MCP server that the tool comes from.
        mcp_context: Arc<McpContext>,
        /// The model's id for this call.
        tool_call_id: String,
        /// The duration of the call, in milliseconds.
        duration_ms: JsonNumber,
        /// The exit code, if the tool has one.
        exit_code: i64,
        /// `true` if the tool failed. Hooks get `true` if any other field shows a failure.
        is_error: bool,
    }
    subject: tool_name,
    arguments: tool_input,
    sample: concat!(
        r#"{"tool_name":"write_file","tool_input":{"path":"notes.txt","content":"Hello"},"#,
        r#""tool_response":{"llmContent":"wrote 5 bytes to notes.txt"}}"#,
    ),
}

impl AfterToolInput {
    /// Returns `true` if the tool failed: `is_error` is `true`, the response contains an error, or
    /// a shell tool exited with a code other than 0.
    pub fn has_failed(&self) -> bool {
        let response = self.tool_response.to_object().unwrap_or_default();
        let is_marked = ["isError", "is_error"]
            .iter()
            .any(|name| response.get(name).and_then(RawJson::to_bool) == Some(true));
        let is_error = |error: &RawJson| {
            !error.is_null() && error.to_bool() != Some(false) && !error.as_str().eq("\"\"")
        };
        let own_code = || {
            let code = ["exit_code", "exitCode"].iter().find_map(|name| response.get(name))?;
            code.as_str().parse().ok()
        };
        let exit_code = || self.exit_code.or_else(own_code).unwrap_or_default();
        self.is_error == Some(true)
            || is_marked
            || response.get("error").is_some_and(is_error)
            || ToolKind::from_tool_name(self.tool_name.as_str()) == ToolKind::Shell
                && exit_code() != 0
    }
}

payload! {
    /// A tool failed.
    ToolErrorInput {
        /// The tool.
        tool_name: ToolName,
        /// The arguments it ran with.
        tool_input: RawObject,
        /// The error message.
        error: String,
    }
    optional {
        /// The model's id for this call.
        tool_call_id: String,
        /// The exit code, if the tool has one.
        exit_code: i64,
    }
    subject: tool_name,
    arguments: tool_input,
    sample: concat!(
        r#"{"tool_name":"run_shell_command","tool_input":{"command":"make"},"#,
        r#""error":"make: *** No targets.  Stop.","exit_code":2}"#,
    ),
}

payload! {
    /// All tool calls of one answer are done.
    ToolBatchInput {
        /// The calls.
        calls: JsonArray,
    }
    optional {}
    sample: r#"{"calls":[{"tool_name":"read_file","tool_input":{"path":"notes.txt"}}]}"#,
}

payload! {
    /// The user is about to be asked for permission to run a tool.
    PermissionRequestInput {
        /// The tool.
        tool_name: ToolName,
        /// Its arguments.
        tool_input: RawObject,
    }
    optional {
        /// The model's id for this call.
        tool_call_id: String,
        /// The permanent permissions offered to the user, in the agent's own format.
        suggestions: JsonArray,
    }
    subject: tool_name,
    arguments: tool_input,
    sample: r#"{"tool_name":"run_shell_command","tool_input":{"command":"make test"}}"#,
}

payload! {
    /// Permission for a tool call was granted.
    PermissionGrantedInput {
        /// The tool.
        tool_name: ToolName,
        /// Its arguments.
        tool_input: RawObject,
        /// The one who granted it, such as `user` or `hook`.
        by: String,
    }
    optional {}
    subject: tool_name,
    arguments: tool_input,
    sample: concat!(
        r#"{"tool_name":"run_shell_command","tool_input":{"command":"make test"},"#,
        r#""by":"user"}"#,
    ),
}

payload! {
    /// Permission for a tool call was refused.
    PermissionDeniedInput {
        /// The tool.
        tool_name: ToolName,
        /// Its arguments.
        tool_input: RawObject,
        /// The one who refused it, such as `user` or `hook`.
        by: String,
    }
    optional {
        /// The reason.
        reason: String,
    }
    subject: tool_name,
    arguments: tool_input,
    sample: concat!(
        r#"{"tool_name":"run_shell_command","tool_input":{"command":"make test"},"#,
        r#""by":"user","reason":"not now"}"#,
    ),
}
