//! What an agent says of itself once, so that every trigger function knows it: its session, its
//! directories, whether it has hooks at all, and who may confirm what hooks ask about.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::{HookEventName, PolicyDecision, ProcessedHookResult, RawJson, RequestInput};

use crate::bus::AlreadyServed;
use crate::system::{HookSystem, HookSystemBuilder};
use crate::triggers::{Continuations, ToolCall, ToolObserver, ToolStatus};

/// A hook asks whether something may happen.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The event that the hook answered to.
    pub event: HookEventName,
    /// The tool's name, or the prompt; empty for a model call.
    pub subject: String,
    /// What the tool or the model would be called with, or what it gave.
    pub input: Option<RawJson>,
    /// Why the hook asks.
    pub reason: String,
}

type Approver = dyn Fn(ApprovalRequest) -> BoxFuture<'static, bool> + Send + Sync;

/// An agent as its hooks see it. One per session.
///
/// ```
/// use hook_bus::{AgentHost, HookSystem};
///
/// let host = AgentHost::new(HookSystem::builder(".").session_id("s-1")).max_continuations(3);
/// assert!(host.hook_system().is_some());
///
/// let host = AgentHost::new(HookSystem::builder(".")).hooks_enabled(false);
/// assert!(host.hook_system().is_none(), "and every trigger function does nothing but its work");
/// ```
pub struct AgentHost {
    hooks: HookSystemBuilder,
    enabled: bool,
    /// Built when it is first asked for; `None` for good where hooks are off. One that could not be
    /// attached to its bus runs no hooks, but its guards still block.
    system: OnceLock<Option<(HookSystem, Result<(), AlreadyServed>)>>,
    approver: Option<Arc<Approver>>,
    pub(crate) tool_observer: Option<ToolObserver>,
    pub(crate) continuations: Continuations,
}

impl AgentHost {
    /// An agent whose hooks are settled by a builder: session, directories, settings, trust.
    pub fn new(hooks: HookSystemBuilder) -> Self {
        Self {
            hooks,
            enabled: true,
            system: OnceLock::new(),
            approver: None,
            tool_observer: None,
            continuations: Continuations::default(),
        }
    }

    /// Switches hooks on or off as a whole; they are on by default. Off, no hook system is ever
    /// built (seed 000 §4).
    #[must_use]
    pub fn hooks_enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Who decides where a hook asks. Without anybody, what needs confirmation is blocked
    /// (protocol.md §8).
    #[must_use]
    pub fn approver<F>(
        mut self,
        approve: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        self.approver = Some(Arc::new(move |request| approve(request).boxed()));
        self
    }

    /// Who is told where a tool call of [`execute_tool_with_hooks`] stands, for a display. It is
    /// called in between, so it must not block.
    ///
    /// [`execute_tool_with_hooks`]: crate::triggers::execute_tool_with_hooks
    #[must_use]
    pub fn tool_observer(
        mut self,
        observe: impl Fn(&ToolCall, ToolStatus<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.tool_observer = Some(Arc::new(observe));
        self
    }

    /// How often in a row a hook may make the agent go on at the end of a turn; 8 by default.
    #[must_use]
    pub fn max_continuations(mut self, most: u32) -> Self {
        self.continuations = Continuations::at_most(most);
        self
    }

    /// The hook system: built on first use, once, and absent where hooks are off. Where another
    /// system serves the bus (see [`build`](Self::build)) it runs no hooks, and its guards block.
    pub fn hook_system(&self) -> Option<&HookSystem> {
        self.system().map(|(system, _)| system)
    }

    /// [`hook_system`](Self::hook_system), built now: for a host that must not go on without its
    /// hooks.
    ///
    /// # Errors
    /// When another system serves the bus already. It stays so: no hook of this host is run, and
    /// every event is answered `no_handler`, which blocks where a hook's `failBehavior` says so.
    pub fn build(&self) -> Result<Option<&HookSystem>, AlreadyServed> {
        match self.system() {
            Some((system, attached)) => (*attached).map(|()| Some(system)),
            None => Ok(None),
        }
    }

    fn system(&self) -> Option<&(HookSystem, Result<(), AlreadyServed>)> {
        let build = || {
            let (system, attached) = self.enabled.then(|| self.hooks.clone().build_unattached())?;
            if let Err(error) = &attached {
                tracing::error!(target: "hook::event", "this agent's hooks are not run: {error}");
            }
            Some((system, attached))
        };
        self.system.get_or_init(build).as_ref()
    }

    /// The session that events belong to.
    pub fn session_id(&self) -> &str {
        &self.hooks.context().session_id
    }

    /// The agent's working directory.
    pub fn working_directory(&self) -> &str {
        &self.hooks.context().cwd
    }

    /// The file with the session's transcript; empty where there is none.
    pub fn transcript_path(&self) -> &str {
        &self.hooks.context().transcript_path
    }

    /// How long a request may take, if there is a limit.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.hooks.request_deadline()
    }

    /// Fires an event; `None` where hooks are off. A failure is among the warnings, since the
    /// results of triggers have no other place for it.
    pub(crate) async fn fire(&self, input: impl Into<RequestInput>) -> Option<ProcessedHookResult> {
        let mut processed = self.hook_system()?.fire(input).await;
        if let Some(failure) = &processed.failure {
            processed.warnings.insert(0, format!("hooks could not be asked: {failure}"));
        }
        Some(processed)
    }

    /// Turns an ask into the answer of the host's user; without a user it is a block.
    pub(crate) async fn confirmed(
        &self,
        decision: PolicyDecision,
        request: ApprovalRequest,
    ) -> (PolicyDecision, String) {
        if decision != PolicyDecision::Ask {
            return (decision, request.reason);
        }
        match self.confirm(request).await {
            Ok(()) => (PolicyDecision::Proceed, String::new()),
            Err(reason) => (PolicyDecision::Block, reason),
        }
    }

    /// Asks the host's user.
    ///
    /// # Errors
    /// Why not, for the model: the answer was no, or there is no user to ask.
    pub async fn confirm(&self, request: ApprovalRequest) -> Result<(), String> {
        let reason = request.reason.clone();
        let Some(approver) = &self.approver else {
            return Err(format!("needs confirmation: {reason}"));
        };
        match approver(request).await {
            true => Ok(()),
            false => Err(format!("not confirmed: {reason}")),
        }
    }
}

impl fmt::Debug for AgentHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentHost")
            .field("session_id", &self.session_id())
            .field("enabled", &self.enabled)
            .field("built", &self.system.get().is_some())
            .finish_non_exhaustive()
    }
}
