//! The last check, just before a hook runs, that it is still what was trusted.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::executor::Slots;
use super::threads::Threads;
use crate::event::input::EventInput;
use crate::failure::HookFailure;
use crate::trust::Granted;

/// What the hook's user should know, once that is found out.
pub(super) type Warning = oneshot::Receiver<Option<&'static str>>;

/// Gives the slots back for the run, if the hook may still run, and later what its user should know.
///
/// Reading its files may take a while, so a thread does it. It holds the slots until it is done, even
/// if the caller is dropped: so there are never more such threads than slots.
pub(super) async fn confirm(
    granted: Arc<Granted>,
    input: &EventInput,
    slots: Slots,
    threads: &Threads,
) -> Result<(Slots, Warning), HookFailure> {
    let directory = PathBuf::from(&*input.cwd);
    let (sender, receiver) = oneshot::channel();
    let (warning, warned) = oneshot::channel();
    let started = threads.run(move |worker| {
        let confirmed = granted.still_holds(&directory).map(|()| (slots, warned));
        // Where the caller was dropped, the slots become free here.
        let _ = sender.send(confirmed);
        let found = granted.warning();
        worker.free();
        let _ = warning.send(found);
    });
    if let Err(source) = started {
        let attempt = "start a thread that reads what was trusted";
        return Err(HookFailure::Io { attempt, source: source.into() });
    }
    receiver.await.unwrap_or_else(|_| {
        let source = Arc::new(io::Error::other("the thread that does it panicked"));
        Err(HookFailure::Io { attempt: "check that it is what was trusted", source })
    })
}
