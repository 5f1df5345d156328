//! A hook that was started.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

use super::result::HookExecutionResult;
use super::spec::HookSpec;

/// A hook that was started.
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived, and the common inline run must not allocate"
)]
pub(crate) enum StartedHook {
    Done(HookExecutionResult),
    /// Runs while it is awaited; the work itself is done by another task or process.
    Here(BoxFuture<'static, HookExecutionResult>),
    Running {
        receiver: oneshot::Receiver<HookExecutionResult>,
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
#[doc(hidden)]
pub struct RunnerGone {
    hook: String,
}

impl StartedHook {
    pub(crate) async fn finish(self) -> Result<HookExecutionResult, RunnerGone> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Here(running) => Ok(running.await),
            Self::Running { receiver, hook, _cancel } => {
                receiver.await.map_err(|_| RunnerGone { hook: hook.display_name().to_owned() })
            }
        }
    }
}
