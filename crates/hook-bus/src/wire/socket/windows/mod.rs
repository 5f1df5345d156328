//! A named pipe that only its owner can use, and the file that leads to it.
//!
//! | file | contents |
//! | --- | --- |
//! | `listener` | the pipe, and connections that clients make |
//! | `pipe_file` | the file at the socket's path, and the name of the pipe |

mod listener;
mod pipe_file;

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, ReadHalf, WriteHalf};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient};

use super::{Connection, SocketError};
pub(super) use listener::Accepted;
pub use listener::SocketListener;
use pipe_file::PipeFile;

/// The server's messages.
pub type ConnectionReader = ReadHalf<NamedPipeClient>;
/// The messages for the server.
pub type ConnectionWriter = WriteHalf<NamedPipeClient>;

/// The error of a pipe whose instances are all in use: `ERROR_PIPE_BUSY`.
const PIPE_BUSY: i32 = 231;

/// The interval between attempts to connect to a busy pipe: there is no wait for it without `unsafe`.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The time that a server has to accept a connection and to prove that it is the user's.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects to a server of the same user.
///
/// # Errors
/// If no server answers there, or another user's process does.
pub async fn connect(path: impl AsRef<Path>) -> Result<Connection, SocketError> {
    let path = path.as_ref();
    let failed = |source| SocketError::Connect { path: path.to_owned(), source };
    let file = PipeFile::read(path)?;
    let attempt = async {
        let mut pipe = loop {
            match ClientOptions::new().open(&file.pipe) {
                Err(error) if error.raw_os_error() == Some(PIPE_BUSY) => {
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                opened => break opened.map_err(failed)?,
            }
        };
        // Another user's process may have taken the name, but cannot read the proof.
        let mut proof = vec![0; file.proof.len()];
        match pipe.read_exact(&mut proof).await {
            Ok(_) if proof == file.proof.as_bytes() => Ok(pipe),
            _ => Err(SocketError::ForeignServer { path: path.to_owned() }),
        }
    };
    let pipe = match tokio::time::timeout(CONNECT_TIMEOUT, attempt).await {
        Ok(connected) => connected?,
        Err(_) => return Err(failed(io::ErrorKind::TimedOut.into())),
    };
    let (reader, writer) = tokio::io::split(pipe);
    Ok(Connection { reader, writer, process: None })
}
