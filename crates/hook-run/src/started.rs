//! A hook that was started.

use std::sync::Arc;

use futures::future::BoxFuture;
use hook_json::opaque_debug;
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

use super::result::HookExecutionResult;
use super::spec::HookSpec;

/// A hook that was started.
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived, and the common inline run must not allocate"
)]
pub enum StartedHook {
    /// It ended on the caller's thread.
    Done(HookExecutionResult),
    /// Runs while it is awaited; the work itself is done by another task or process.
    Polled(BoxFuture<'static, HookExecutionResult>),
    /// It runs on a task.
    Running {
        /// The channel of the result.
        receiver: oneshot::Receiver<HookExecutionResult>,
        /// The hook.
        hook: Arc<HookSpec>,
        /// Ends the hook when its caller has gone away.
        _cancel: DropGuard,
    },
}

/// The error of a run whose task ended without a result.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "the task that ran hook {hook} ended without an answer: it panicked, or the async runtime is \
     shutting down"
)]
pub struct RunnerGone {
    hook: String,
}

opaque_debug!(StartedHook);

impl StartedHook {
    /// Waits for the result.
    ///
    /// # Errors
    /// Returns an error if the engine ended first.
    pub async fn finish(self) -> Result<HookExecutionResult, RunnerGone> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Polled(running) => Ok(running.await),
            Self::Running { receiver, hook, _cancel } => {
                receiver.await.map_err(|_| RunnerGone { hook: hook.display_name().to_owned() })
            }
        }
    }
}
