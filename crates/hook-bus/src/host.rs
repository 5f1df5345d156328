//! The agent's own data, given once and used by every trigger: session, directories, whether hooks
//! are enabled, and the approver of the `ask` decision.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::ProcessedHookResult;
use hook_json::{RawJson, opaque_debug};
use hook_protocol::{HookEventName, HostContext, PolicyDecision, RequestInput};

use crate::bus::AlreadyServed;
use crate::client_hooks::ClientHooks;
use crate::system::{HookSystem, HookSystemBuilder};
use crate::triggers::{Continuations, MAX_CONTINUATIONS, ToolCall, ToolObserver, ToolStatus};

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

/// The user's answer to a hook's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// The user approves.
    Granted,
    /// The user refuses.
    Refused {
        /// The user's reason, for the model.
        reason: Option<String>,
    },
}

impl From<bool> for Approval {
    fn from(granted: bool) -> Self {
        if granted { Self::Granted } else { Self::Refused { reason: None } }
    }
}

type Approver = dyn Fn(ApprovalRequest) -> BoxFuture<'static, Approval> + Send + Sync;

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
    hooks: Hooks,
    approver: Option<Arc<Approver>>,
    pub(crate) tool_observer: Option<ToolObserver>,
    pub(crate) continuations: Arc<Continuations>,
    pub(crate) max_continuations: u32,
}

/// The hooks of an agent.
enum Hooks {
    /// A hook system of its own.
    Own(Box<OwnHooks>),
    /// A server's, for an agent that is its client.
    Client(Box<ClientHooks>),
}

struct OwnHooks {
    builder: HookSystemBuilder,
    enabled: bool,
    /// Built on first use; `None` forever if hooks are off. A system that could not be attached to
    /// its bus runs no hooks, but its guards still block.
    system: OnceLock<Option<(HookSystem, Result<(), AlreadyServed>)>>,
}

impl AgentHost {
    /// Creates an agent from a builder that sets its session, directories, settings and trust.
    pub fn new(hooks: HookSystemBuilder) -> Self {
        let own = OwnHooks { builder: hooks, enabled: true, system: OnceLock::new() };
        Self::of(Hooks::Own(Box::new(own)), Arc::default())
    }

    /// Creates an agent that is a client of a server, with what is known of its session.
    pub(crate) fn client(hooks: ClientHooks, continuations: Arc<Continuations>) -> Self {
        Self::of(Hooks::Client(Box::new(hooks)), continuations)
    }

    fn of(hooks: Hooks, continuations: Arc<Continuations>) -> Self {
        let (approver, tool_observer) = (None, None);
        let max_continuations = MAX_CONTINUATIONS;
        Self { hooks, approver, tool_observer, continuations, max_continuations }
    }

    /// Switches all hooks on (the default) or off. When off, no hook system is built (seed 000 §4).
    #[must_use]
    pub fn hooks_enabled(mut self, enabled: bool) -> Self {
        if let Hooks::Own(own) = &mut self.hooks {
            own.enabled = enabled;
        }
        self
    }

    /// Sets the function that approves requests with the decision `ask`: it returns an
    /// [`Approval`], or a `bool`. Without it they are blocked (reference/answers.md).
    #[must_use]
    pub fn approver<F>(
        mut self,
        approve: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: Into<Approval>> + Send + 'static,
    {
        self.approver = Some(Arc::new(move |request| approve(request).map(Into::into).boxed()));
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
        self.max_continuations = max;
        self
    }

    /// Returns the agent's own hook system, built on first use, or `None` if hooks are off. If
    /// another system serves the bus (see [`build`](Self::build)), it runs no hooks and its guards
    /// block.
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
        let Hooks::Own(own) = &self.hooks else { return None };
        let build = || {
            let (system, attached) = own.enabled.then(|| own.builder.clone().build_unattached())?;
            if let Err(error) = &attached {
                tracing::error!(target: "hook::event", "this agent's hooks are not run: {error}");
            }
            Some((system, attached))
        };
        own.system.get_or_init(build).as_ref()
    }

    /// Checks whether hooks are switched on.
    pub(crate) fn has_hooks(&self) -> bool {
        matches!(self.hooks, Hooks::Client(_)) || self.hook_system().is_some()
    }

    fn context(&self) -> &HostContext {
        match &self.hooks {
            Hooks::Own(own) => own.builder.context(),
            Hooks::Client(client) => &client.context,
        }
    }

    /// Returns the id of the session that events belong to.
    pub fn session_id(&self) -> &str {
        &self.context().session_id
    }

    /// Returns the agent's working directory.
    pub fn working_directory(&self) -> &str {
        &self.context().cwd
    }

    /// Returns the path of the session's transcript, or an empty string without one.
    pub fn transcript_path(&self) -> &str {
        &self.context().transcript_path
    }

    /// Returns the time limit of a request, if there is one.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        match &self.hooks {
            Hooks::Own(own) => own.builder.request_deadline(),
            Hooks::Client(client) => client.deadline,
        }
    }

    /// Fires an event; returns `None` if hooks are off. A failure becomes a warning, since the
    /// results of triggers have no field for it.
    pub(crate) async fn fire(&self, input: impl Into<RequestInput>) -> Option<ProcessedHookResult> {
        let mut processed = match &self.hooks {
            Hooks::Own(_) => self.hook_system()?.fire(input).await,
            Hooks::Client(client) => client.fire(input.into()).await,
        };
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
    pub(crate) async fn request_approval(&self, request: ApprovalRequest) -> Result<(), String> {
        let reason = request.reason.clone();
        let Some(approver) = &self.approver else {
            return Err(format!("needs confirmation: {reason}"));
        };
        match approver(request).await {
            Approval::Granted => Ok(()),
            Approval::Refused { reason: None } => Err(format!("not confirmed: {reason}")),
            Approval::Refused { reason: Some(own) } => {
                Err(format!("not confirmed: {reason} ({own})"))
            }
        }
    }
}

opaque_debug!(AgentHost);
