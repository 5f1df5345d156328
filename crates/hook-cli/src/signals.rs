//! What a signal does: the first one is handed on to the hooks and ends them, so that everything is
//! answered, and then the command; a second one kills what is left.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures::FutureExt;
use futures::future::FusedFuture;
use hook_bus::HookSystem;
use hook_core::EndSignal;
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::exit_code::{self, Status};

/// How long async hooks may go on when a command is done.
pub(crate) const AT_END: Duration = Duration::from_secs(10);

/// How long a command may take to say its last words once its hooks are gone.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs `work` until it is done, and stays until the hooks' processes are gone. A signal makes
/// `stop` known to the work, which then comes to its end by itself.
pub(crate) async fn until_signalled(
    system: &HookSystem,
    hangup: Hangup,
    stop: &CancellationToken,
    work: impl Future<Output = Result<Status, CommandError>>,
) -> Result<Status, CommandError> {
    until_drained(system, hangup, stop, std::future::ready(()), work).await
}

/// The same, where hooks are not told to end by the first signal before `drained` is over: another signal
/// ends that.
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
            // Only async hooks, and processes that hooks left behind, are waited for.
            kill_when_signalled(system, &mut signals, system.shutdown(AT_END)).await;
            return ended;
        }
        number = signals.next() => number,
    };
    system.end_hooks_with(signal_for_hooks(number));
    stop.cancel();
    tokio::select! {
        biased;
        () = drained => {}
        _ = &mut work => {}
        _ = signals.next() => {}
    }
    // Its hooks end with the shutdown; what it has to say of them is still said.
    let hooks_gone = async {
        system.shutdown(Duration::ZERO).await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    let work_over = async {
        if !work.is_terminated() {
            let _ = work.await;
        }
    };
    let finish = async {
        tokio::select! {
            () = work_over => system.shutdown(Duration::ZERO).await,
            () = hooks_gone => {}
        }
    };
    kill_when_signalled(system, &mut signals, finish).await;
    Ok(exit_code::signalled(number))
}

/// Waits for the end. A signal kills what is left of the hooks, another one ends the command.
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
        number = signals.next() => exit_code::signalled(number).exit(),
    }
}

/// The signal that hooks get when the command got this one.
fn signal_for_hooks(number: i32) -> EndSignal {
    match number {
        1 => EndSignal::HangUp,
        2 => EndSignal::Interrupt,
        3 => EndSignal::Quit,
        _ => EndSignal::Terminate,
    }
}

/// What a hangup means to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hangup {
    /// Its end, like any other signal.
    Ends,
    /// Something else, which the command looks after.
    IsHeardElsewhere,
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

    /// The number of the next signal.
    async fn next(&mut self) -> i32 {
        use futures::stream::{FuturesUnordered, StreamExt};

        let each = self.listening.iter_mut().map(async |(number, signal)| {
            signal.recv().await;
            *number
        });
        // Each is asked only when it was woken.
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
