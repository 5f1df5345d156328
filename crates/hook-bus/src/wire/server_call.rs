//! Calling a server on an agent's behalf.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::bridge::{BRIDGE_ANSWER, BridgeMessage};
use super::greeting::{Greeting, PROTOCOL_VERSION, error_message, parse_fields};
use super::{Line, LineReader};
use crate::bridge::BridgeAnswer;

/// The time limit for a server's greeting, which is the first line that it sends.
const GREETING_TIMEOUT: Duration = Duration::from_secs(1);

/// The properties that a server must have to be called: then it answers like a local engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedServer {
    /// The project that it serves.
    pub project: String,
    /// The hash of its settings and their trust: `HookSystem::settings_hash`.
    pub settings_hash: String,
}

/// The error of calling a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerCallError {
    /// The other end is no hook server.
    #[error("what answers is no hook server")]
    NotAServer,
    /// The server has another version.
    #[error("it is version {version}, and this is {}", env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        /// The server's version.
        version: String,
    },
    /// The server serves another project.
    #[error("it serves another project, {project}")]
    OtherProject {
        /// The server's project.
        project: String,
    },
    /// The server's settings are not the current ones. `ask` tells it to reload them.
    #[error("its settings, or what is trusted of them, are not those that there are now")]
    OtherSettings,
    /// The server refused, with its message.
    #[error("it refused: {0}")]
    Refused(String),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Connection(#[from] io::Error),
}

/// Sends an agent's call to a server, if it is the expected one.
///
/// # Errors
/// If it is not, refuses, or disconnects before it answers: then its hooks may have run.
///
/// # Cancellation
/// Dropping the future closes the connection, which cancels the hooks.
pub async fn call_server<R, W>(
    reader: R,
    mut writer: W,
    expected: &ExpectedServer,
    message: &BridgeMessage,
) -> Result<BridgeAnswer, ServerCallError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(reader);
    match check_greeting(&mut lines, expected).await {
        Err(ServerCallError::OtherSettings) => {
            // Make it reload, so that the next call succeeds.
            writer.write_all(b"{\"type\":\"hook-reload\"}\n").await?;
            writer.flush().await?;
            let _ = lines.next().await?;
            return Err(ServerCallError::OtherSettings);
        }
        result => result?,
    }
    let mut line = message.line();
    line.push(b'\n');
    writer.write_all(&line).await?;
    writer.flush().await?;
    let Some(Line::Text { text, .. }) = lines.next().await? else {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    };
    let fields = parse_fields(text);
    let is_answer = fields
        .get("type")
        .and_then(|kind| kind.to_text())
        .is_some_and(|kind| kind == BRIDGE_ANSWER);
    match BridgeAnswer::read(&fields).filter(|_| is_answer) {
        Some(bridged) => Ok(bridged),
        None => {
            let reason = error_message(&fields).unwrap_or_else(|| "it gave no answer".to_owned());
            Err(ServerCallError::Refused(reason))
        }
    }
}

/// Reads a server's greeting and checks that it is the expected server.
///
/// # Errors
/// If it is not.
pub(super) async fn check_greeting<R: AsyncRead + Unpin>(
    lines: &mut LineReader<R>,
    expected: &ExpectedServer,
) -> Result<(), ServerCallError> {
    let greeting = tokio::time::timeout(GREETING_TIMEOUT, Greeting::read(lines)).await;
    match greeting.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
        Greeting::Hello { protocol, version, .. }
            if protocol != PROTOCOL_VERSION.to_string() || version != env!("CARGO_PKG_VERSION") =>
        {
            Err(ServerCallError::OtherVersion { version })
        }
        Greeting::Hello { project, .. } if project != expected.project => {
            Err(ServerCallError::OtherProject { project })
        }
        Greeting::Hello { settings_hash, .. }
            if settings_hash.as_ref() != Some(&expected.settings_hash) =>
        {
            Err(ServerCallError::OtherSettings)
        }
        Greeting::Hello { .. } => Ok(()),
        Greeting::Refused(reason) => Err(ServerCallError::Refused(reason)),
        Greeting::Other => Err(ServerCallError::NotAServer),
    }
}
