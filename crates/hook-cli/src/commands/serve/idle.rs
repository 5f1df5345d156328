//! The end of a server that no client uses, whose binary was replaced, or whose socket was removed.

use std::convert::Infallible;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use tokio_util::sync::CancellationToken;

use super::Socket;

/// The maximum interval between checks.
const LOOK: Duration = Duration::from_secs(5);

/// Cancels `stop` after this many seconds without a client. Never does so without a number.
#[cfg(unix)]
pub(super) fn end_unused(
    seconds: Option<u64>,
    socket: Option<&Socket>,
    stop: &CancellationToken,
) -> impl Future<Output = Infallible> + use<> {
    let (stop, watched) = (stop.clone(), socket.map(|it| (it.connected(), it.path().to_owned())));
    async move {
        if let (Some(seconds), Some((mut connected, socket))) = (seconds, watched) {
            let patience = Duration::from_secs(seconds);
            let identities = || {
                [
                    std::env::current_exe().ok().as_deref().map(Identity::of),
                    Some(Identity::of(&socket)),
                ]
            };
            let begun = identities();
            let mut since = Instant::now();
            loop {
                tokio::select! {
                    changed = connected.changed() => {
                        if changed.is_err() {
                            break;
                        }
                        since = Instant::now();
                    }
                    () = tokio::time::sleep(patience.min(LOOK)) => {}
                }
                let is_unused = *connected.borrow() == 0 && since.elapsed() >= patience;
                let now = identities();
                if is_unused || now != begun {
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
) -> impl Future<Output = Infallible> {
    std::future::pending()
}

/// The identity of a file, which differs once another file has its name.
#[derive(Debug, PartialEq, Eq)]
struct Identity(Option<(u64, Option<SystemTime>)>);

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::symlink_metadata(path).ok();
        // A socket's times change with its use.
        Self(metadata.map(|it| (it.ino(), it.is_file().then(|| it.modified().ok()).flatten())))
    }
}
