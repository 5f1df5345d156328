//! Following a server: all its messages, of all clients.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::greeting::{Greeting, HELLO, PROTOCOL_VERSION, error_message, parse_fields};
use super::message::TAIL;
use super::{Line, LineReader};

/// The beginning of a response.
const RESPONSE: &str = "{\"type\":\"hook-execution-response\"";

/// The error of following a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TailError {
    /// The other end is no hook server.
    #[error("failed to follow: what answers is no hook server (it did not say {HELLO})")]
    NotAServer,
    /// The server has another version of the protocol.
    #[error(
        "failed to follow: the server speaks version {version} of the protocol, this is version \
         {PROTOCOL_VERSION}; use the hook command that the server was started with"
    )]
    OtherVersion {
        /// The server's version.
        version: String,
    },
    /// The server refused, with its message.
    #[error("the server refused: {0}")]
    Refused(String),
    /// The connection broke.
    #[error("failed to read from the server: {0}")]
    Read(#[source] io::Error),
    /// The connection broke.
    #[error("failed to write to the server: {0}")]
    Write(#[source] io::Error),
}

/// A server's messages as lines of a recording.
///
/// The server does not wait for a slow reader; a line reports how many messages were missed.
#[derive(Debug)]
pub struct Tail<R, W> {
    lines: LineReader<R>,
    /// The first line of the recording, until it is returned.
    first: Option<Line>,
    /// Kept open: closing it ends the connection.
    _writer: W,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Tail<R, W> {
    /// Reads the greeting and subscribes to all messages. None is missed after this returns.
    ///
    /// # Errors
    /// If there is no server on the other end, or it refuses.
    pub async fn start(reader: R, mut writer: W) -> Result<Self, TailError> {
        let mut lines = LineReader::new(reader);
        match Greeting::read(&mut lines).await.map_err(TailError::Read)? {
            Greeting::Hello { protocol, .. } if protocol == PROTOCOL_VERSION.to_string() => {}
            Greeting::Hello { protocol, .. } => {
                return Err(TailError::OtherVersion { version: protocol });
            }
            Greeting::Refused(reason) => return Err(TailError::Refused(reason)),
            Greeting::Other => return Err(TailError::NotAServer),
        }
        let subscribe = format!("{{\"type\":\"{TAIL}\"}}\n");
        writer.write_all(subscribe.as_bytes()).await.map_err(TailError::Write)?;
        writer.flush().await.map_err(TailError::Write)?;
        let first = match lines.next().await.map_err(TailError::Read)? {
            // An older server that does not know the message, or one that is ending.
            Some(Line::Text { text, .. }) if text.starts_with(RESPONSE) => {
                return Err(TailError::Refused(
                    error_message(&parse_fields(text)).unwrap_or_default(),
                ));
            }
            first => first,
        };
        Ok(Self { lines, first, _writer: writer })
    }

    /// Returns the next line, starting with the first line of the recording; `None` when the server
    /// has ended.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    /// If the connection broke.
    pub async fn next(&mut self) -> Result<Option<Line>, TailError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.lines.next().await.map_err(TailError::Read),
        }
    }
}
