//! Requesting the states of a server's workers, and the hooks that clients registered with it.

use std::io;

use hook_json::{JsonObject, ObjectWriter, RawJson};
use hook_settings::FailBehavior;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::greeting::{error_message, parse_fields};
use super::live::LIST;
use super::message::STATUS;
use super::server_call::{ExpectedServer, ServerCallError, check_greeting};
use super::{Line, LineReader};
use crate::live::WorkerStates;

const STATES: &str = "hook-states";
const HOOKS: &str = "hook-hooks";

/// A hook that a client registered with a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredHook {
    /// The client's id of the hook.
    pub hook_id: String,
    /// The event, as the client calls it.
    pub event_name: String,
    #[serde(default)]
    config: RegisteredConfig,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegisteredConfig {
    #[serde(default)]
    fail_behavior: Option<String>,
}

impl RegisteredHook {
    /// Returns `true` if its failure blocks.
    pub fn is_guard(&self) -> bool {
        self.config.fail_behavior.as_deref() == Some(FailBehavior::Block.as_str())
    }
}

/// Requests the states of a server's workers, if it is the expected server. This changes nothing.
///
/// # Errors
/// If it is not, refuses, or disconnects before it answers.
///
/// # Cancellation
/// Dropping the future closes the connection.
pub async fn request_states<R, W>(
    reader: R,
    writer: W,
    expected: &ExpectedServer,
) -> Result<WorkerStates, ServerCallError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let text = request(reader, writer, expected, STATUS).await?;
    let fields = parse_fields(text);
    let is_answer = fields.get("type").and_then(RawJson::to_text).as_deref() == Some(STATES);
    WorkerStates::read(&fields).filter(|_| is_answer).ok_or_else(|| refused(&fields))
}

/// Requests the hooks that clients registered with a server, if it is the expected server. This changes nothing.
///
/// # Errors
/// If it is not, refuses, or disconnects before it answers.
///
/// # Cancellation
/// Dropping the future closes the connection.
pub async fn request_registered<R, W>(
    reader: R,
    writer: W,
    expected: &ExpectedServer,
) -> Result<Vec<RegisteredHook>, ServerCallError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    #[derive(Deserialize)]
    struct List {
        r#type: String,
        hooks: Vec<RegisteredHook>,
    }
    let text = request(reader, writer, expected, LIST).await?;
    match serde_json::from_str::<List>(&text) {
        Ok(list) if list.r#type == HOOKS => Ok(list.hooks),
        _ => Err(refused(&parse_fields(text))),
    }
}

/// Sends a message of that type to the expected server, and returns its answer.
async fn request<R, W>(
    reader: R,
    mut writer: W,
    expected: &ExpectedServer,
    kind: &str,
) -> Result<String, ServerCallError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(reader);
    check_greeting(&mut lines, expected).await?;
    let message = ObjectWriter::line(|object| object.text("type", kind));
    writer.write_all(&[&message[..], b"\n"].concat()).await?;
    writer.flush().await?;
    match lines.next().await? {
        Some(Line::Text { text, .. }) => Ok(text),
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}

fn refused(fields: &JsonObject) -> ServerCallError {
    let message = error_message(fields).unwrap_or_else(|| "it gave no answer".to_owned());
    ServerCallError::Refused(message)
}

/// Returns the line with the states of the workers.
pub(super) fn worker_states(states: &WorkerStates) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", STATES);
        states.write(object);
    })
}
