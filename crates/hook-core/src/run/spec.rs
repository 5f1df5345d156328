//! What the runner runs: a hook without what decided that it runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::executor::{HookExecutor, HookKind};
use super::identity::HookIdentity;
use super::slots::SlotQueue;
use crate::event::HookEventName;
use crate::failure::HookFailure;
use crate::settings::{FailBehavior, HookSource};
use crate::tool::ToolKind;
use crate::trust::Granted;

/// How many runs of one hook may go on at once that nothing waits for.
pub(crate) const MAX_BACKGROUND: usize = 8;

/// The permits of a hook that nothing waits for.
pub(crate) fn background(is_async: bool) -> Option<Arc<Semaphore>> {
    is_async.then(|| Arc::new(Semaphore::new(MAX_BACKGROUND)))
}

/// All that running a hook needs, and what is said of it meanwhile.
#[non_exhaustive]
pub struct HookSpec {
    /// What it is called in messages.
    pub identity: HookIdentity,
    /// The event it listens to.
    pub event: HookEventName,
    /// How long it may run.
    pub timeout: Duration,
    /// What its failure means.
    pub fail_behavior: FailBehavior,
    /// What its author should know at every run, such as a matcher that does not compile.
    pub warnings: Vec<String>,
    /// Its permits to run while events go on without waiting for it; absent for a hook that is waited
    /// for.
    pub(crate) background: Option<Arc<Semaphore>>,
    pub(crate) check: TrustCheck,
    /// The slots of its source, if that has its own.
    pub(crate) slots: Option<Arc<SlotQueue>>,
    /// How far its source is trusted.
    pub(crate) trust_rank: u8,
    /// Whether the slots of its source may be more than the engine's.
    pub(crate) may_raise_limits: bool,
    /// The kinds of tools that its matcher asks for: of another one, which may do the same, it approves nothing.
    pub(crate) kinds: Vec<ToolKind>,
    pub(crate) executor: Arc<dyn HookExecutor>,
}

/// What of its trust has to be looked at just before a hook runs.
#[derive(Clone)]
pub(crate) enum TrustCheck {
    /// Nothing.
    Nothing,
    /// Whether this decision still holds.
    Confirm(Arc<Granted>),
    /// It does not run, and fails with this.
    Refuse(HookFailure),
}

impl HookSpec {
    /// A hook whose failure means nothing and whose trust needs no look. Without a name it is
    /// called as its executor is.
    pub(crate) fn new(
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
            may_raise_limits: source.may_raise_limits(),
            kinds: Vec::new(),
            executor,
        }
    }

    /// Whether events go on without waiting for it (`async`).
    pub fn runs_in_background(&self) -> bool {
        self.background.is_some()
    }

    /// What the hook is run by.
    pub fn kind(&self) -> HookKind {
        self.executor.kind()
    }

    /// What the hook is shown as, and what it is switched off by: its name, else its command.
    pub fn display_name(&self) -> &str {
        self.identity.display_name()
    }

    /// The decision that must still hold just before the hook runs; `None` for one that needs none.
    ///
    /// # Errors
    /// When it may not run.
    pub(super) fn granted(&self) -> Result<Option<&Arc<Granted>>, HookFailure> {
        match &self.check {
            TrustCheck::Nothing => Ok(None),
            TrustCheck::Confirm(granted) => Ok(Some(granted)),
            TrustCheck::Refuse(failure) => Err(failure.clone()),
        }
    }
}

impl fmt::Debug for HookSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("HookSpec").field(&self.identity).finish()
    }
}
