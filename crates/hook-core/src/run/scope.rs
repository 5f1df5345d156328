//! What the runs of one event share.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::live::HostServices;
use super::nesting::Nesting;
use super::result::HookExecutionResult;
use super::session_env::SessionEnv;
use super::slots::RunLane;
use super::spec::HookSpec;
use crate::event::input::HookInput;
use crate::json::RawObject;

/// Told when hooks start and finish, for progress. Called where the hook is run; must not block.
pub trait RunObserver: Send + Sync {
    /// The hook's process or function starts, after it waited for a place to run.
    fn hook_started(&self, hook: &HookSpec);

    /// The hook is over. `told` is what it was started with; absent for one that was not started.
    fn hook_finished(&self, result: &HookExecutionResult, told: Option<&HookInput>);
}

/// What becomes of the hooks of an event that nothing waits for (`async`).
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Background {
    /// They are started, and the event goes on.
    #[default]
    Start,
    /// They are left to another process.
    Leave,
    /// They alone are run, and waited for: what the other process does.
    Only,
}

/// What the runs of one event share.
#[derive(Clone, Default)]
pub struct RunScope {
    /// Cancelled when the event's hooks should end.
    pub cancel: CancellationToken,
    /// Who wants to know of starts and finishes.
    pub observer: Option<Arc<dyn RunObserver>>,
    /// On whose behalf they run.
    pub lane: RunLane,
    /// How many blocking handlers wait for them.
    pub nesting: Nesting,
    /// How many command hooks of this engine wait for it: 0 for an event from outside.
    pub depth: u32,
    /// Whether each result says what its hook was told.
    pub keeps_inputs: bool,
    /// What becomes of hooks that nothing waits for.
    pub background: Background,
    /// What hooks set for later ones of the session.
    pub session_env: SessionEnv,
    /// The request that they run for, where that is known.
    pub correlation: Option<Arc<str>>,
    /// How many engines have had that request before this one.
    pub hops: u32,
    /// What whoever asked does for hooks.
    pub host: Option<Arc<dyn HostServices>>,
    /// Whether the hooks ran before and are asked once more (protocol.md §2, "Asking again").
    pub asked_again: bool,
}

impl RunScope {
    pub(super) fn kept(&self, input: &HookInput) -> Option<RawObject> {
        self.keeps_inputs.then(|| input.to_raw())
    }
}

impl std::fmt::Debug for RunScope {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RunScope").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
