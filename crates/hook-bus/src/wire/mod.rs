//! JSON lines: the messages outside the process (reference/messages.md).

mod bridge;
mod client;
mod greeting;
mod line_budget;
mod live;
mod message;
mod queues;
mod server_call;
mod services;
mod socket;
mod status;
mod stdio;
mod tail;
mod trigger;
mod triggers;

pub use bridge::BridgeMessage;
pub use client::{ClientEnd, serve_client};
pub use hook_run::lines::{Line, LineReader, MAX_LINE};
pub use server_call::{ExpectedServer, ServerCallError, call_server};
#[cfg(unix)]
pub use socket::process_group_of;
pub use socket::{
    Connection, ConnectionReader, ConnectionWriter, MAX_CLIENTS, SocketError, SocketListener,
    SocketServer, connect, default_socket_path, sockets_with_saved_guards,
};
pub use status::{RegisteredHook, request_registered, request_states};
pub use stdio::serve_stdio;
pub use tail::{Tail, TailError};

use hook_json::{RawJson, RawObject};
use hook_protocol::FailureCode;

use crate::message::{HookExecutionRequest, RequestFields};

/// Parses a request from a line; an invalid line becomes an invalid request, which is answered.
pub fn parse_request(line: Line) -> HookExecutionRequest {
    let number = line.number();
    match parse(line) {
        Ok(object) => request_from(number, &RequestFields::find(&object)),
        Err(message) => unparsable_request(number, message),
    }
}

/// Parses the object of a line.
fn parse(line: Line) -> Result<RawObject, String> {
    match line {
        Line::Text { text, .. } => RawObject::parse(text).map_err(|error| {
            format!(
                "expected a message as one JSON object: {} at column {}",
                error.reason(),
                error.column()
            )
        }),
        Line::TooLong { length, .. } => Err(too_long(length)),
    }
}

fn too_long(length: u64) -> String {
    match length > MAX_LINE as u64 {
        true => format!("the line has {length} bytes, more than the {MAX_LINE} a message may have"),
        false => format!(
            "the line has {length} bytes, and unfinished lines of other clients take all the room \
             that this server has for them; send it again later"
        ),
    }
}

fn request_from(number: usize, fields: &RequestFields<'_>) -> HookExecutionRequest {
    HookExecutionRequest::from_fields(fields).with_envelope_detail("line", || line_number(number))
}

/// Creates the invalid request for a message with these fields.
fn malformed_request(
    number: usize,
    fields: &RequestFields<'_>,
    message: impl Into<String>,
) -> HookExecutionRequest {
    HookExecutionRequest::malformed(fields, message)
        .with_envelope_detail("line", || line_number(number))
}

/// Creates the invalid request for a line without an object.
fn unparsable_request(number: usize, message: impl Into<String>) -> HookExecutionRequest {
    HookExecutionRequest::invalid(FailureCode::InvalidRequest, message)
        .with_envelope_detail("line", || line_number(number))
}

fn line_number(number: usize) -> RawJson {
    RawJson::from_u64(number as u64)
}
