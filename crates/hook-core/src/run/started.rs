//! A hook on its way.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

use super::result::HookExecutionResult;
use super::spec::HookSpec;

/// A hook on its way.
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived, and the common inline run must not allocate"
)]
pub(crate) enum StartedHook {
    Done(HookExecutionResult),
    /// It is polled where it is awaited: what it waits for goes on elsewhere.
    Here(BoxFuture<'static, HookExecutionResult>),
    Running {
        receiver: oneshot::Receiver<HookExecutionResult>,
        hook: Arc<HookSpec>,
        /// Ends the hook when its caller is gone.
        _cancel: DropGuard,
    },
}

/// The engine's runtime ended while a hook was running.
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
