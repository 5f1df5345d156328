//! The agent's own data, given once and used by every trigger: session, directories, whether hooks
//! are enabled, and the approver of the `ask` decision.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::ProcessedHookResult;
use hook_json::RawJson;
use hook_protocol::{HookEventName, PolicyDecision, RequestInput};

use crate::bus::AlreadyServed;
use crate::system::{HookSystem, HookSystemBuilder};
use crate::triggers::{Continuations, ToolCall, ToolObserver, ToolStatus};

/// A hook's request for the user's approval.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The event of the hook.
    pub event: HookEventName,
    /// The tool's name, or the prompt; empty for a model call.
    pub subject: String,
    /// The input of the tool or model call, or its result.
    pub input: Option<RawJson>,
    /// The hook's reason.
    pub reason: String,
}

type Approver = dyn Fn(ApprovalRequest) -> BoxFuture<'static, bool> + Send + Sync;

/// An agent with its hooks. One per session.
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
    /// Built on first use; `None` forever if hooks are off. A system that could not be attached to
    /// its bus runs no hooks, but its guards still block.
    system: OnceLock<Option<(HookSystem, Result<(), AlreadyServed>)>>,
    approver: Option<Arc<Approver>>,
    pub(crate) tool_observer: Option<ToolObserver>,
    pub(crate) continuations: Continuations,
}

impl AgentHost {
    /// Creates an agent from a builder that sets its session, directories, settings and trust.
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

    /// Switches all hooks on (the default) or off. When off, no hook system is built (seed 000 §4).
    #[must_use]
    pub fn hooks_enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Sets the function that approves requests with the decision `ask`. Without it they are
    /// blocked (reference/answers.md).
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

    /// Sets a function to be called with the progress of each tool call of
    /// [`execute_tool_with_hooks`], for a display. It is called inline, so it must not block.
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

    /// Sets how many times in a row a hook may make the agent continue after a turn; 8 by default.
    #[must_use]
    pub fn max_continuations(mut self, max: u32) -> Self {
        self.continuations = Continuations::with_limit(max);
        self
    }

    /// Returns the hook system, built on first use, or `None` if hooks are off. If another system
    /// serves the bus (see [`build`](Self::build)), it runs no hooks and its guards block.
    pub fn hook_system(&self) -> Option<&HookSystem> {
        self.system().map(|(system, _)| system)
    }

    /// Builds the [`hook_system`](Self::hook_system) now, for a host that must not continue without
    /// its hooks.
    ///
    /// # Errors
    /// If another system already serves the bus. This is permanent: no hook of this host runs, and
    /// every event is answered `no_handler`, which blocks if a hook's `failBehavior` is `block`.
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

    /// Returns the id of the session that events belong to.
    pub fn session_id(&self) -> &str {
        &self.hooks.context().session_id
    }

    /// Returns the agent's working directory.
    pub fn working_directory(&self) -> &str {
        &self.hooks.context().cwd
    }

    /// Returns the path of the session's transcript, or an empty string without one.
    pub fn transcript_path(&self) -> &str {
        &self.hooks.context().transcript_path
    }

    /// Returns the time limit of a request, if there is one.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.hooks.request_deadline()
    }

    /// Fires an event; returns `None` if hooks are off. A failure becomes a warning, since the
    /// results of triggers have no field for it.
    pub(crate) async fn fire(&self, input: impl Into<RequestInput>) -> Option<ProcessedHookResult> {
        let mut processed = self.hook_system()?.fire(input).await;
        if let Some(failure) = &processed.failure {
            processed.warnings.insert(0, format!("hooks could not be asked: {failure}"));
        }
        Some(processed)
    }

    /// Resolves the decision `ask` by asking the host's user; without a user it becomes a block.
    pub(crate) async fn resolve_ask(
        &self,
        decision: PolicyDecision,
        request: ApprovalRequest,
    ) -> (PolicyDecision, String) {
        if decision != PolicyDecision::Ask {
            return (decision, request.reason);
        }
        match self.request_approval(request).await {
            Ok(()) => (PolicyDecision::Proceed, String::new()),
            Err(reason) => (PolicyDecision::Block, reason),
        }
    }

    /// Asks the host's user for approval.
    ///
    /// # Errors
    /// The reason for the model: the user refused, or there is no user to ask.
    pub async fn request_approval(&self, request: ApprovalRequest) -> Result<(), String> {
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
