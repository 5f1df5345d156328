//! Who is on the other end of a socket, and whether it still is.

use std::io;
use std::path::Path;

use rustix::process::geteuid;
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::SocketError;

/// Whether the process on the other end runs as this user, or as root, who can do anything anyway.
pub(super) fn is_permitted(stream: &UnixStream) -> bool {
    match stream.peer_cred() {
        Ok(peer) => peer.uid() == geteuid().as_raw() || peer.uid() == 0,
        Err(_) => false,
    }
}

/// The process group of the process that connected, where the system tells it. It is looked for
/// among those of running hooks with each request, so that a hook's client that does not know of its
/// token does not wait for the slot that its own hook holds.
pub fn group_of(stream: &UnixStream) -> Option<u32> {
    let peer = stream.peer_cred().ok()?.pid()?;
    let group = rustix::process::getpgid(rustix::process::Pid::from_raw(peer)).ok()?;
    u32::try_from(group.as_raw_nonzero().get()).ok()
}

/// Connects to a server of the same user, or of root.
///
/// # Errors
/// When nothing answers there, or another user's process does.
pub async fn connect(path: impl AsRef<Path>) -> Result<UnixStream, SocketError> {
    let path = path.as_ref();
    let stream = UnixStream::connect(path)
        .await
        .map_err(|source| SocketError::Connect { path: path.to_owned(), source })?;
    if !is_permitted(&stream) {
        return Err(SocketError::ForeignServer { path: path.to_owned() });
    }
    Ok(stream)
}

/// Waits until the other end is closed in both directions. One that only has nothing more to say
/// still reads.
pub(super) async fn hung_up(stream: UnixStream) {
    loop {
        match stream.ready(Interest::WRITABLE).await {
            Ok(ready) if ready.is_write_closed() => return,
            Ok(_) => {
                // Heard of again when something changes.
                let _ = stream
                    .try_io(Interest::WRITABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
            }
            // The runtime ends.
            Err(_) => return,
        }
    }
}
