//! Requesting the states of a server's workers.

use std::io;

use hook_json::{ObjectWriter, RawJson};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::greeting::{error_message, parse_fields};
use super::message::STATUS;
use super::server_call::{ExpectedServer, ServerCallError, check_greeting};
use super::{Line, LineReader};
use crate::live::WorkerStates;

const STATES: &str = "hook-states";

/// Requests the states of a server's workers, if it is the expected server. This changes nothing.
///
/// # Errors
/// If it is not, refuses, or disconnects before it answers.
///
/// # Cancellation
/// Dropping the future closes the connection.
pub async fn request_states<R, W>(
    reader: R,
    mut writer: W,
    expected: &ExpectedServer,
) -> Result<WorkerStates, ServerCallError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(reader);
    check_greeting(&mut lines, expected).await?;
    let message = ObjectWriter::line(|object| object.text("type", STATUS));
    writer.write_all(&[&message[..], b"\n"].concat()).await?;
    writer.flush().await?;
    let Some(Line::Text { text, .. }) = lines.next().await? else {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    };
    let fields = parse_fields(text);
    let is_answer = fields.get("type").and_then(RawJson::to_text).as_deref() == Some(STATES);
    WorkerStates::read(&fields).filter(|_| is_answer).ok_or_else(|| {
        ServerCallError::Refused(
            error_message(&fields).unwrap_or_else(|| "it gave no answer".to_owned()),
        )
    })
}

/// Returns the line with the states of the workers.
pub(super) fn worker_states(states: &WorkerStates) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", STATES);
        states.write(object);
    })
}
