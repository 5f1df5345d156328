//! The specification of a hook that runs, without the reasons why it runs.

use std::sync::Arc;
use std::time::Duration;

use hook_json::opaque_debug;
use tokio::sync::Semaphore;

use super::executor::{HookExecutor, HookKind};
use super::identity::HookIdentity;
use super::slots::SlotQueue;
use hook_protocol::event::HookEventName;
use hook_protocol::failure::HookFailure;
use hook_protocol::tool::ToolKind;
use hook_settings::{FailBehavior, HookSource};
use hook_trust::TrustedHook;

/// The maximum number of concurrent background runs of one hook.
pub const MAX_BACKGROUND: usize = 8;

/// Returns the permits of a background hook.
pub fn background(is_async: bool) -> Option<Arc<Semaphore>> {
    is_async.then(|| Arc::new(Semaphore::new(MAX_BACKGROUND)))
}

/// The specification of a hook: everything that running and reporting it needs.
pub struct HookSpec {
    /// The hook's identity in messages.
    pub identity: HookIdentity,
    /// The event it listens to.
    pub event: HookEventName,
    /// The hook's timeout.
    pub timeout: Duration,
    /// The effect of the hook's failure.
    pub fail_behavior: FailBehavior,
    /// Warnings for the hook's author at every run, such as a matcher that does not compile.
    pub warnings: Vec<String>,
    /// The permits of a background hook, which events do not wait for; `None` for other hooks.
    pub background: Option<Arc<Semaphore>>,
    /// The trust check just before a run.
    pub check: TrustCheck,
    /// The slots of the hook's source, if it has its own.
    pub slots: Option<Arc<SlotQueue>>,
    /// The trust rank of the hook's source.
    pub trust_rank: u8,
    /// `true` if an approval of the hook spares the user a question.
    pub may_approve: bool,
    /// `true` if the source may have more slots than the engine.
    pub may_raise_limits: bool,
    /// The kinds of tools in the hook's matcher; it cannot approve the use of another kind.
    pub kinds: Vec<ToolKind>,
    /// The executor.
    pub executor: Arc<dyn HookExecutor>,
}

/// The trust check that is due just before a hook runs.
#[derive(Debug, Clone)]
pub enum TrustCheck {
    /// No check.
    Nothing,
    /// The decision must still hold.
    Confirm(Arc<TrustedHook>),
    /// The hook must not run, and fails with this.
    Refuse(HookFailure),
}

impl HookSpec {
    /// Creates a hook with the default fail behavior and no trust check. Without a name it gets its
    /// executor's label.
    pub fn new(
        event: HookEventName,
        name: Option<&str>,
        source: &HookSource,
        timeout: Duration,
        executor: Arc<dyn HookExecutor>,
    ) -> Self {
        let name = name.unwrap_or_else(|| executor.label());
        Self {
            identity: HookIdentity::new(name, executor.kind().as_str(), source, event),
            event,
            timeout,
            fail_behavior: FailBehavior::default(),
            warnings: Vec::new(),
            background: None,
            check: TrustCheck::Nothing,
            slots: None,
            trust_rank: source.trust_rank(),
            may_approve: source.may_approve(),
            may_raise_limits: source.may_raise_limits(),
            kinds: Vec::new(),
            executor,
        }
    }

    /// Returns `true` if events do not wait for the hook (`async`).
    pub fn runs_in_background(&self) -> bool {
        self.background.is_some()
    }

    /// Returns the kind of the hook's executor.
    pub fn kind(&self) -> HookKind {
        self.executor.kind()
    }

    /// Returns the name that the hook is shown and disabled by: its own name, or its command.
    pub fn display_name(&self) -> &str {
        self.identity.display_name()
    }

    /// Returns the trust decision that must still hold just before the hook runs, if it needs one.
    ///
    /// # Errors
    /// Returns an error if the hook may not run.
    pub(super) fn granted(&self) -> Result<Option<&Arc<TrustedHook>>, HookFailure> {
        match &self.check {
            TrustCheck::Nothing => Ok(None),
            TrustCheck::Confirm(granted) => Ok(Some(granted)),
            TrustCheck::Refuse(failure) => Err(failure.clone()),
        }
    }
}

opaque_debug!(HookSpec { identity });
