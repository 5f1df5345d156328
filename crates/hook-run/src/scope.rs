//! The shared state of the runs of one event.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::identity::HookIdentity;
use super::live::HostServices;
use super::nesting::Nesting;
use super::result::HookExecutionResult;
use super::session_env::SessionEnv;
use super::slots::FairnessKey;
use hook_json::{RawObject, opaque_debug};
use hook_protocol::event::input::HookInput;

/// Notified when hooks start and finish. Called where the hook runs, so it must not block.
pub trait RunObserver: Send + Sync {
    /// Called when the hook's process or function starts, after its wait for a slot.
    fn hook_started(&self, hook: &HookIdentity, timeout: Duration);

    /// Called when the hook has finished, with its input; `None` if it was not started.
    fn hook_finished(&self, result: &HookExecutionResult, input: Option<&HookInput>);
}

/// The handling of an event's background hooks (`async`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// They are started, and the event goes on without them.
    #[default]
    Start,
    /// They are left to another process.
    Skip,
    /// Only they run, and the event waits for them: the task of the other process.
    Only,
}

/// The shared state of the runs of one event.
#[derive(Clone, Default)]
pub struct RunScope {
    /// Cancelled to end the event's hooks.
    pub cancel: CancellationToken,
    /// The observer of starts and finishes.
    pub observer: Option<Arc<dyn RunObserver>>,
    /// The fairness key of their caller.
    pub fairness_key: FairnessKey,
    /// The number of blocking handlers that wait for the event.
    pub nesting: Nesting,
    /// The number of command hooks of this engine that wait for the event; 0 for an external one.
    pub depth: u32,
    /// `true` if each result includes the hook's input.
    pub keeps_inputs: bool,
    /// The handling of background hooks.
    pub background: Background,
    /// The variables that hooks set for later hooks of the session.
    pub session_env: SessionEnv,
    /// The request that the hooks run for, if known.
    pub correlation: Option<Arc<str>>,
    /// The number of engines that handled the request before this one.
    pub hops: u32,
    /// The services that the caller offers to hooks.
    pub host: Option<Arc<dyn HostServices>>,
    /// `true` if the hooks run again after a change (reference/events.md, "Asking again").
    pub is_recheck: bool,
}

impl RunScope {
    pub(super) fn kept_input(&self, input: &HookInput) -> Option<RawObject> {
        self.keeps_inputs.then(|| input.to_raw())
    }
}

opaque_debug!(RunScope { cancel });
