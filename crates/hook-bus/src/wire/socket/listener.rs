//! A socket of this user alone, whatever is spoken over it.

use std::io;
use std::path::Path;

use tokio::net::{UnixListener, UnixStream};

use super::SocketError;
use super::peer::is_permitted;
use super::place::SocketPlace;

/// A Unix socket that only its owner can use, for servers that speak something else than lines. Dropped, it
/// takes its file away.
#[derive(Debug)]
pub struct SocketListener {
    listener: UnixListener,
    place: SocketPlace,
}

impl SocketListener {
    /// Makes the socket as [`SocketServer::bind`](super::SocketServer::bind) does.
    ///
    /// # Errors
    /// When the socket cannot be there, or cannot safely.
    pub async fn bind(path: impl AsRef<Path>) -> Result<Self, SocketError> {
        let (place, listener) = SocketPlace::take(path.as_ref()).await?;
        Ok(Self { listener, place })
    }

    /// Where the socket is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// The next connection of a process of the same user, or of root; others are hung up on, and logged.
    ///
    /// # Errors
    /// When the system has none to give, as without descriptors.
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
