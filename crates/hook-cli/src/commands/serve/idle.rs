//! The end of a server that no client uses, whose binary was replaced, or whose socket was removed.

use std::convert::Infallible;
#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::time::{Duration, Instant, SystemTime};

use tokio_util::sync::CancellationToken;

use super::Socket;

/// The maximum interval between checks.
#[cfg(unix)]
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Cancels `stop` after this many seconds without a client. Never does so without a number.
#[cfg(unix)]
pub(super) fn end_unused(
    seconds: Option<u64>,
    socket: Option<&Socket>,
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

#[cfg(not(unix))]
pub(super) fn end_unused(
    _: Option<u64>,
    _: Option<&Socket>,
    _: &CancellationToken,
) -> impl Future<Output = Infallible> + use<> {
    std::future::pending()
}

/// The identity of a file, which differs once another file has its name.
#[cfg(unix)]
#[derive(Debug, PartialEq, Eq)]
struct Identity(Option<(u64, Option<SystemTime>)>);

#[cfg(unix)]
impl Identity {
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::symlink_metadata(path).ok();
        // A socket's times change with its use.
        Self(metadata.map(|metadata| {
            (metadata.ino(), metadata.is_file().then(|| metadata.modified().ok()).flatten())
        }))
    }
}
