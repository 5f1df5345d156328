//! What a signal does: the first one ends the hooks and then the command, a second one ends the
//! command at once.

use std::future::Future;
use std::time::Duration;

use hook_bus::HookSystem;

use crate::error::CommandError;
use crate::exit_code::{self, Status};

/// Runs `work` until it is done or a signal comes, and stays until the hooks' processes are gone.
pub(crate) async fn until_signalled(
    system: &HookSystem,
    work: impl Future<Output = Result<Status, CommandError>>,
) -> Result<Status, CommandError> {
    let mut signals = Signals::listen()?;
    let ended = tokio::select! {
        ended = work => ended,
        number = signals.next() => Ok(exit_code::signalled(number)),
    };
    // The work was dropped, which signalled the hooks that it waited for.
    tokio::select! {
        () = system.shutdown(Duration::ZERO) => ended,
        number = signals.next() => exit_code::signalled(number).exit(),
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> Result<Self, CommandError> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(CommandError::Signals);
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// The number of the next signal.
    async fn next(&mut self) -> i32 {
        use tokio::signal::unix::SignalKind;
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Result<Self, CommandError> {
        Ok(Self)
    }

    async fn next(&mut self) -> i32 {
        const INTERRUPT: i32 = 2;
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
        INTERRUPT
    }
}
