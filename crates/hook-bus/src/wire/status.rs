//! Requesting the states of a server's workers.

use std::io;

use hook_json::{ObjectWriter, RawJson};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::ask::{AskError, Expected, greet};
use super::greeting::{error_of, fields_of};
use super::message::STATUS;
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
pub async fn ask_states<R, W>(
    reader: R,
    mut writer: W,
    expected: &Expected,
) -> Result<WorkerStates, AskError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(reader);
    greet(&mut lines, expected).await?;
    let message = ObjectWriter::line(|object| object.text("type", STATUS));
    writer.write_all(&[&message[..], b"\n"].concat()).await?;
    writer.flush().await?;
    let Some(Line::Text { text, .. }) = lines.next().await? else {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    };
    let fields = fields_of(text);
    let is_answer = fields.get("type").and_then(RawJson::to_text).as_deref() == Some(STATES);
    WorkerStates::read(&fields).filter(|_| is_answer).ok_or_else(|| {
        AskError::Refused(error_of(&fields).unwrap_or_else(|| "it gave no answer".to_owned()))
    })
}

/// Returns the line with the states of the workers.
pub(super) fn worker_states(states: &WorkerStates) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", STATES);
        states.write(object);
    })
}
