//! The end of a server that no client uses, whose binary was replaced, or whose socket was removed.

use std::convert::Infallible;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use hook_bus::wire::SocketServer;
use tokio_util::sync::CancellationToken;

/// The maximum interval between checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Cancels `stop` after this many seconds without a client. Never does so without a number.
pub(super) fn end_unused(
    seconds: Option<u64>,
    socket: Option<&SocketServer>,
    stop: &CancellationToken,
) -> impl Future<Output = Infallible> + use<> {
    let (stop, socket_watch) =
        (stop.clone(), socket.map(|server| (server.connected(), server.path().to_owned())));
    async move {
        if let (Some(seconds), Some((mut connected, socket))) = (seconds, socket_watch) {
            let timeout = Duration::from_secs(seconds);
            let identities = || {
                [
                    std::env::current_exe().ok().as_deref().map(Identity::of),
                    Some(Identity::of(&socket)),
                ]
            };
            let initial = identities();
            let mut last_used = Instant::now();
            loop {
                tokio::select! {
                    changed = connected.changed() => {
                        if changed.is_err() {
                            break;
                        }
                        last_used = Instant::now();
                    }
                    () = tokio::time::sleep(timeout.min(CHECK_INTERVAL)) => {}
                }
                let is_unused = *connected.borrow() == 0 && last_used.elapsed() >= timeout;
                let current = identities();
                if is_unused || current != initial {
                    stop.cancel();
                    break;
                }
            }
        }
        std::future::pending().await
    }
}

/// The identity of a file, which differs once another file has its name.
#[derive(Debug, PartialEq, Eq)]
struct Identity(Option<(u64, Option<SystemTime>)>);

impl Identity {
    fn of(path: &Path) -> Self {
        let metadata = std::fs::symlink_metadata(path).ok();
        // A socket's times change with its use.
        Self(metadata.map(|metadata| {
            let modified = metadata.is_file().then(|| metadata.modified().ok()).flatten();
            (number(&metadata), modified)
        }))
    }
}

/// Returns a number that differs between the files that a name had, as far as the system has one.
fn number(metadata: &std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    metadata.len()
}
