//! A private socket for any protocol.

use std::io;
use std::path::Path;

use tokio::net::{UnixListener, UnixStream};

use super::peer::is_permitted;
use super::socket_file::SocketFile;
use super::{Accepted, SocketError};

/// A Unix socket that only its owner can use, for servers of other protocols than lines. Dropping
/// it removes its file.
#[derive(Debug)]
pub struct SocketListener {
    /// Dropped first: whoever finds no file may listen there.
    file: SocketFile,
    listener: UnixListener,
}

impl SocketListener {
    /// Creates the socket as [`SocketServer::bind`](crate::wire::SocketServer::bind) does.
    ///
    /// # Errors
    /// If the socket cannot be created, or not safely.
    pub async fn bind(path: impl AsRef<Path>) -> Result<Self, SocketError> {
        let (file, listener) = SocketFile::create(path.as_ref()).await?;
        Ok(Self { listener, file })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the next connection, of whichever user.
    pub(in super::super) async fn accept_any(&self) -> io::Result<Accepted> {
        self.listener.accept().await.map(|(stream, _)| Accepted(stream))
    }

    /// Returns the next connection of a process of the same user or of root; others are closed and
    /// logged.
    ///
    /// # Errors
    /// If the system cannot accept, for example without free descriptors.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            if is_permitted(&stream) {
                return Ok(stream);
            }
            tracing::warn!(target: "hook::serve", "client refused: it is another user's");
        }
    }
}
