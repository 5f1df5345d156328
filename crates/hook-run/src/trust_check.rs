//! The last trust check before a hook runs.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::executor::Slots;
use super::threads::Threads;
use hook_protocol::event::input::EventInput;
use hook_protocol::failure::HookFailure;
use hook_trust::TrustedHook;

/// Warnings for the hook's user, sent when its check is done.
pub(super) type Warnings = oneshot::Receiver<Vec<String>>;

/// Checks that a hook is still trusted, and returns its slots and later warnings for its user.
///
/// Reading the hook's files may be slow, so this runs on a thread. The thread holds the slots until
/// it has finished, even if the caller is dropped, so there are never more such threads than slots.
pub(super) async fn confirm(
    granted: Arc<TrustedHook>,
    input: &EventInput,
    slots: Slots,
    threads: &Threads,
) -> Result<(Slots, Warnings), HookFailure> {
    let directory = PathBuf::from(&*input.cwd);
    let (sender, receiver) = oneshot::channel();
    let (warnings, warnings_receiver) = oneshot::channel();
    let started = threads.run(move |worker| {
        let confirmed = granted.verify(&directory).map(|()| (slots, warnings_receiver));
        // If the caller was dropped, this frees the slots.
        let _ = sender.send(confirmed);
        let texts = granted.warnings();
        worker.free();
        let _ = warnings.send(texts);
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
