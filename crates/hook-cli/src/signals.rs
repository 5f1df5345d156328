//! Signal handling. The first signal is passed on to the hooks and ends them, so that everything is
//! answered, then ends the command. A second one kills the remaining processes.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures::FutureExt;
use futures::future::FusedFuture;
use hook_bus::HookSystem;
use hook_run::EndSignal;
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::exit_code::{self, Status};

/// The time limit for async hooks once a command is done.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit for a command's last output once its hooks are gone.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs `work` until it is done, then waits until the hooks' processes are gone. A signal cancels
/// `stop`, upon which the work ends by itself.
pub(crate) async fn until_signalled(
    system: &HookSystem,
    hangup: Hangup,
    stop: &CancellationToken,
    work: impl Future<Output = Result<Status, CommandError>>,
) -> Result<Status, CommandError> {
    until_drained(system, hangup, stop, std::future::ready(()), work).await
}

/// Does the same as [`until_signalled`], but the first signal ends the hooks only after `drained`.
/// Another signal ends that wait.
pub(crate) async fn until_drained(
    system: &HookSystem,
    hangup: Hangup,
    stop: &CancellationToken,
    drained: impl Future<Output = ()>,
    work: impl Future<Output = Result<Status, CommandError>>,
) -> Result<Status, CommandError> {
    let mut signals = Signals::listen(hangup)?;
    let mut work = pin!(work.fuse());
    let number = tokio::select! {
        ended = &mut work => {
            // Waits only for async hooks, and for processes that hooks left behind.
            kill_when_signalled(system, &mut signals, system.shutdown(SHUTDOWN_TIMEOUT)).await;
            return ended;
        }
        number = signals.next() => number,
    };
    system.set_end_signal(signal_for_hooks(number));
    stop.cancel();
    tokio::select! {
        biased;
        () = drained => {}
        _ = &mut work => {}
        _ = signals.next() => {}
    }
    // The shutdown ends the work's hooks; its output about them is still printed.
    let shutdown_hooks = async {
        system.shutdown(Duration::ZERO).await;
        tokio::time::sleep(FLUSH_TIMEOUT).await;
    };
    let finish_work = async {
        if !work.is_terminated() {
            let _ = work.await;
        }
    };
    let finish = async {
        tokio::select! {
            () = finish_work => system.shutdown(Duration::ZERO).await,
            () = shutdown_hooks => {}
        }
    };
    kill_when_signalled(system, &mut signals, finish).await;
    Ok(exit_code::from_signal(number))
}

/// Waits for a signal that ends the command, and returns its exit code.
pub(crate) async fn next_signal() -> Result<Status, CommandError> {
    Ok(exit_code::from_signal(Signals::listen(Hangup::Ends)?.next().await))
}

/// Waits for `end`. A signal kills the remaining hooks, another one ends the command.
async fn kill_when_signalled(
    system: &HookSystem,
    signals: &mut Signals,
    end: impl Future<Output = ()>,
) {
    let mut end = pin!(end);
    tokio::select! {
        () = &mut end => return,
        _ = signals.next() => system.kill(),
    }
    tokio::select! {
        () = end => {}
        number = signals.next() => exit_code::from_signal(number).exit(),
    }
}

/// Returns the signal to pass on to hooks for a signal to the command.
fn signal_for_hooks(number: i32) -> EndSignal {
    match number {
        1 => EndSignal::HangUp,
        2 => EndSignal::Interrupt,
        3 => EndSignal::Quit,
        _ => EndSignal::Terminate,
    }
}

/// The effect of a hangup on a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hangup {
    /// The command ends, as with any other signal.
    Ends,
    /// The command handles the signal itself.
    HandledElsewhere,
}

#[cfg(unix)]
struct Signals {
    listening: Vec<(i32, tokio::signal::unix::Signal)>,
}

#[cfg(unix)]
impl Signals {
    fn listen(hangup: Hangup) -> Result<Self, CommandError> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit()];
        if hangup == Hangup::Ends {
            kinds.push(SignalKind::hangup());
        }
        let mut listening = Vec::new();
        for kind in kinds {
            listening.push((kind.as_raw_value(), signal(kind).map_err(CommandError::Signals)?));
        }
        Ok(Self { listening })
    }

    /// Waits for the next signal, and returns its number.
    async fn next(&mut self) -> i32 {
        use futures::stream::{FuturesUnordered, StreamExt};

        let each = self.listening.iter_mut().map(async |(number, signal)| {
            signal.recv().await;
            *number
        });
        // Each future is polled only after it was woken.
        let mut each: FuturesUnordered<_> = each.collect();
        match each.next().await {
            Some(number) => number,
            None => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen(_: Hangup) -> Result<Self, CommandError> {
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
