//! The process on the other end of a socket, and its disconnection.

use std::io;
use std::path::Path;

use rustix::process::geteuid;
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::SocketError;

/// Checks whether the process on the other end runs as this user, or as root, which may do anything
/// anyway.
pub(super) fn is_permitted(stream: &UnixStream) -> bool {
    match stream.peer_cred() {
        Ok(peer) => peer.uid() == geteuid().as_raw() || peer.uid() == 0,
        Err(_) => false,
    }
}

/// Returns the process group of the process that connected, if the system reports it. Each request
/// compares it with those of running hooks, so that a hook's client without its token does not wait
/// for the slot that its own hook holds.
pub fn process_group_of(stream: &UnixStream) -> Option<u32> {
    let peer = stream.peer_cred().ok()?.pid()?;
    let group = rustix::process::getpgid(rustix::process::Pid::from_raw(peer)).ok()?;
    u32::try_from(group.as_raw_nonzero().get()).ok()
}

/// Connects to a server of the same user, or of root.
pub(super) async fn connect_to(path: &Path) -> Result<UnixStream, SocketError> {
    let stream = UnixStream::connect(path)
        .await
        .map_err(|source| SocketError::Connect { path: path.to_owned(), source })?;
    if !is_permitted(&stream) {
        return Err(SocketError::ForeignServer { path: path.to_owned() });
    }
    Ok(stream)
}

/// Waits until the other end is closed in both directions. A client that only closed its output
/// still reads.
pub(super) async fn hung_up(stream: UnixStream) {
    loop {
        match stream.ready(Interest::WRITABLE).await {
            Ok(ready) if ready.is_write_closed() => return,
            Ok(_) => {
                // Clear readiness, to wait for the next change.
                let _ = stream
                    .try_io(Interest::WRITABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
            }
            // The runtime has ended.
            Err(_) => return,
        }
    }
}
