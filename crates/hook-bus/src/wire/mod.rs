//! JSON lines: messages as they travel outside the process (protocol.md §6).

mod client;
mod lines;

pub use client::{ClientEnd, ClientMessage, serve_client};
pub use lines::{Line, LineReader, MAX_LINE};

use hook_core::{FailureCode, RawJson};

use crate::message::HookExecutionRequest;

/// The request that a line holds; a line that holds none is a request that will be answered so.
pub(crate) fn request_of(line: Line) -> HookExecutionRequest {
    let number = line.number();
    let request = match line {
        Line::Text { text, .. } => HookExecutionRequest::from_json(&text),
        Line::TooLong { length, .. } => HookExecutionRequest::invalid(
            FailureCode::InvalidRequest,
            format!("the line has {length} bytes, more than the {MAX_LINE} a message may have"),
        ),
    };
    request.with_envelope_detail("line", RawJson::from_integer(number as u64))
}
