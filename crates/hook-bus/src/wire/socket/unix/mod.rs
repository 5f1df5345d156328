//! A Unix socket that only its owner can use.
//!
//! | file | contents |
//! | --- | --- |
//! | `listener` | the socket and its listener, for other protocols than lines |
//! | `socket_file` | the socket's file: checks of its path, creation and removal |
//! | `peer` | the process on the other end, and its disconnection |

mod listener;
mod peer;
mod socket_file;

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::{Connection, SocketError};
pub use listener::SocketListener;
pub use peer::process_group_of;
use peer::{connect_to, hung_up, is_permitted};

/// The server's messages.
pub type ConnectionReader = OwnedReadHalf;
/// The messages for the server.
pub type ConnectionWriter = OwnedWriteHalf;

/// Connects to a server of the same user, or of root.
///
/// # Errors
/// If no server answers there, or another user's process does.
pub async fn connect(path: impl AsRef<Path>) -> Result<Connection, SocketError> {
    let stream = connect_to(path.as_ref()).await?;
    let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
    let (reader, writer) = stream.into_split();
    Ok(Connection { reader, writer, process })
}

/// A connection that a client made.
pub(super) struct Accepted(UnixStream);

impl Accepted {
    /// Checks whether the client may use this server.
    pub(super) fn is_permitted(&self) -> bool {
        is_permitted(&self.0)
    }

    /// Returns the process group of the client, if the system reports it.
    pub(super) fn process_group(&self) -> Option<u32> {
        process_group_of(&self.0)
    }

    /// Returns a future that ends once the client is gone, whether or not anything is read.
    pub(super) fn disconnection(&self) -> io::Result<impl Future<Output = ()> + Send + use<>> {
        let second_handle = self.0.as_fd().try_clone_to_owned()?;
        let monitor = std::os::unix::net::UnixStream::from(second_handle);
        UnixStream::from_std(monitor).map(hung_up)
    }

    /// Returns the messages of the client, and for it.
    #[expect(clippy::unused_async, reason = "on Windows the server proves itself first")]
    pub(super) async fn open(self) -> io::Result<(OwnedReadHalf, OwnedWriteHalf)> {
        Ok(self.0.into_split())
    }
}
