//! Calling a server on an agent's behalf.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::bridge::{BRIDGED, BridgeMessage, read_bridged};
use super::greeting::PROTOCOL_VERSION;
use super::greeting::{Greeting, error_of, fields_of};
use super::{Line, LineReader};
use crate::bridge::Bridged;

/// The time limit for a server's greeting, which is the first line that it sends.
const GREETING: Duration = Duration::from_secs(1);

/// The properties that a server must have to be called: then it answers like a local engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The project that it serves.
    pub project: String,
    /// The hash of its settings and their trust: `HookSystem::settings_hash`.
    pub settings_hash: String,
}

/// The error of calling a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
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
    /// The server's settings are not the current ones. [`ask`] tells it to reload them.
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
pub async fn ask<R, W>(
    reader: R,
    mut writer: W,
    expected: &Expected,
    message: &BridgeMessage,
) -> Result<Bridged, AskError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(reader);
    match greet(&mut lines, expected).await {
        Err(AskError::OtherSettings) => {
            // Make it reload, so that the next call succeeds.
            writer.write_all(b"{\"type\":\"hook-reload\"}\n").await?;
            writer.flush().await?;
            let _ = lines.next().await?;
            return Err(AskError::OtherSettings);
        }
        greeted => greeted?,
    }
    let mut line = message.line();
    line.push(b'\n');
    writer.write_all(&line).await?;
    writer.flush().await?;
    let Some(Line::Text { text, .. }) = lines.next().await? else {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    };
    let fields = fields_of(text);
    let is_answer =
        fields.get("type").and_then(|kind| kind.to_text()).is_some_and(|kind| kind == BRIDGED);
    match read_bridged(&fields).filter(|_| is_answer) {
        Some(bridged) => Ok(bridged),
        None => {
            let why = error_of(&fields).unwrap_or_else(|| "it gave no answer".to_owned());
            Err(AskError::Refused(why))
        }
    }
}

/// Reads a server's greeting and checks that it is the expected server.
///
/// # Errors
/// If it is not.
pub(super) async fn greet<R: AsyncRead + Unpin>(
    lines: &mut LineReader<R>,
    expected: &Expected,
) -> Result<(), AskError> {
    let greeting = tokio::time::timeout(GREETING, Greeting::read(lines)).await;
    match greeting.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
        Greeting::Hello { protocol, version, .. }
            if protocol != PROTOCOL_VERSION.to_string() || version != env!("CARGO_PKG_VERSION") =>
        {
            Err(AskError::OtherVersion { version })
        }
        Greeting::Hello { project, .. } if project != expected.project => {
            Err(AskError::OtherProject { project })
        }
        Greeting::Hello { settings_hash, .. }
            if settings_hash.as_ref() != Some(&expected.settings_hash) =>
        {
            Err(AskError::OtherSettings)
        }
        Greeting::Hello { .. } => Ok(()),
        Greeting::Refused(why) => Err(AskError::Refused(why)),
        Greeting::Other => Err(AskError::NotAServer),
    }
}
