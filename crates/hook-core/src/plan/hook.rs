//! A registered hook.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::switched_off::SwitchedOff;
use hook_json::opaque_debug;
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::HookInput;
use hook_protocol::failure::HookFailure;
use hook_run::{
    CommandIdentity, HookExecutor, HookIdentity, HookSpec, HookStart, TrustCheck, Worker,
    WorkerModule, WorkerStatus,
};
use hook_settings::matcher::Matcher;
use hook_settings::{FailBehavior, HookSource, Location, TimeoutOrigin, UpstreamRules};
use hook_trust::Trust;

/// A registered hook: its [`HookSpec`], which it derefs to, and the conditions for running it.
pub struct Hook {
    /// The executable part.
    pub(crate) spec: Arc<HookSpec>,
    /// Its name, if any.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The source of its settings.
    pub source: HookSource,
    /// The location of its definition; `None` for the host's handlers.
    pub location: Option<Location>,
    /// The matcher for tools or triggers.
    pub matcher: Matcher,
    /// Its priority: lower ones run earlier, equal ones concurrently.
    pub priority: i32,
    /// `true` if the hooks of its priority run one after the other.
    pub sequential: bool,
    /// `true` if it runs behind the others of its priority, in turn with similar hooks, as hooks of
    /// modules do. If one of them ends the event, those behind it do not run.
    pub(crate) in_turn: bool,
    /// `true` if it is a placeholder for unknown hooks.
    pub(super) is_placeholder: bool,
    /// The worker under `*` that declared this hook; disabling that worker disables it too.
    pub(super) declared_by: Option<Arc<Hook>>,
    /// The module that it is or that declared it.
    pub(super) module: Option<Arc<PathBuf>>,
    /// The origin of its timeout.
    pub timeout_origin: TimeoutOrigin,
    pub(super) trust: Trust,
    /// The reason why it blocks instead of running, if it does.
    pub(super) suspended: Option<Suspension>,
    /// The settings that disable it.
    pub(super) switched_off: Vec<SwitchedOff>,
    /// The agent in whose own file it was found.
    pub(super) agent: Option<&'static str>,
}

/// The reason why a trusted guard blocks instead of running.
#[derive(Debug, Clone)]
pub(super) enum Suspension {
    /// It has changed since it was trusted, for this reason.
    Changed(Arc<str>),
    /// Its settings file has errors and does not contain it.
    BrokenSettings {
        /// The file.
        file: PathBuf,
        /// The command that takes back the trust in it.
        revoke: Arc<str>,
    },
    /// It is not in the settings of that project any more.
    Removed {
        /// The project.
        project: PathBuf,
        /// The command that shows that it is gone, and asks.
        review: Arc<str>,
    },
}

impl Suspension {
    pub(super) fn failure(&self) -> HookFailure {
        match self {
            Self::Changed(reason) => HookFailure::Untrusted { reason: reason.to_string() },
            Self::BrokenSettings { file, revoke } => {
                HookFailure::BrokenSettings { file: file.clone(), revoke: revoke.to_string() }
            }
            Self::Removed { project, review } => {
                HookFailure::NotInSettings { project: project.clone(), review: review.to_string() }
            }
        }
    }
}

impl Hook {
    /// Returns the command, or the handler's name.
    pub fn command(&self) -> &str {
        self.executor.label()
    }

    /// Returns its own environment variables; `None` if it is not a command.
    pub fn variables(&self) -> Option<BTreeMap<&str, &str>> {
        Some(self.executor.identity()?.env)
    }

    /// Returns `true` if it was trusted, and it or a file that it runs has changed since.
    pub fn changed_since_trusted(&self) -> bool {
        matches!(self.trust, Trust::Missing { before: Some(_), .. })
    }

    /// Returns the agent in whose own file it was found, and which `hook trust` has to be told of.
    pub fn agent(&self) -> Option<&'static str> {
        self.agent
    }

    /// Returns the reasons why not everything it starts is known, as approved when it was trusted.
    pub fn opaque(&self) -> &[String] {
        self.trust.opaque()
    }

    /// Returns `true` if its trusted copy runs because its folder in the project has changed.
    pub fn runs_trusted_copy(&self) -> bool {
        self.trust.trusted_hook().is_some_and(|granted| granted.has_changed())
    }

    /// Returns the reason why it fails at each run, if its trusted copy is gone or was changed. Reads the copy.
    pub fn broken_copy(&self) -> Option<String> {
        Some(self.trust.trusted_hook()?.copy_failure()?.to_string())
    }

    /// Returns `true` if it runs in turn behind the others of its priority, as hooks of modules do.
    pub fn runs_in_turn(&self) -> bool {
        self.in_turn
    }

    /// Returns `true` if it is a trusted guard (`failBehavior: block`) that cannot run: because it
    /// changed, or because its settings file has errors. Its events are blocked until a user
    /// decides.
    pub fn blocks_without_running(&self) -> bool {
        self.suspended.is_some()
    }

    /// Returns `true` if the hook may run: its user trusts it, or it needs no trust.
    pub(crate) fn is_trusted(&self) -> bool {
        self.trust.is_trusted()
    }

    /// Returns the fleet of engines that it represents, if any.
    pub fn upstream(&self) -> Option<&UpstreamRules> {
        self.executor.upstream()
    }

    /// Returns the status of the worker that it calls, if any.
    pub fn worker_status(&self) -> Option<WorkerStatus> {
        self.executor.worker().map(|worker| worker.status())
    }

    /// Returns `true` if it is a placeholder for a worker's undeclared hooks.
    pub fn is_placeholder(&self) -> bool {
        self.is_placeholder
    }

    /// Returns a hook that blocks `event` in place of this hook, which listens to every event.
    pub(crate) fn placeholder_for(
        &self,
        event: HookEventName,
        executor: Arc<dyn HookExecutor>,
    ) -> Self {
        let spec = HookSpec {
            identity: HookIdentity::new(
                self.display_name(),
                executor.kind().as_str(),
                &self.source,
                event,
            ),
            event,
            timeout: self.spec.timeout,
            fail_behavior: FailBehavior::Block,
            warnings: self.spec.warnings.clone(),
            background: None,
            check: self.spec.check.clone(),
            slots: None,
            trust_rank: self.spec.trust_rank,
            may_approve: self.spec.may_approve,
            may_raise_limits: self.spec.may_raise_limits,
            kinds: Vec::new(),
            executor,
        };
        Self {
            spec: Arc::new(spec),
            name: self.name.clone(),
            description: self.description.clone(),
            source: self.source.clone(),
            location: self.location.clone(),
            matcher: Matcher::compile(None, event.row().matching, FailBehavior::Block).0,
            priority: self.priority,
            sequential: self.sequential,
            in_turn: self.in_turn,
            is_placeholder: true,
            declared_by: None,
            module: self.module.clone(),
            timeout_origin: self.timeout_origin,
            trust: self.trust.clone(),
            suspended: self.suspended.clone(),
            switched_off: self.switched_off.clone(),
            agent: self.agent,
        }
    }

    /// Returns the file of the module that it is or that declared it.
    pub fn module(&self) -> Option<&Path> {
        self.module.as_deref().map(PathBuf::as_path)
    }

    /// Returns the module as loaded by its worker, which may be an error.
    pub fn loaded_module(&self) -> Option<WorkerModule> {
        let path = self.module()?.to_str()?;
        let declared = self.executor.worker()?.last_declaration()?;
        declared.modules.iter().find(|module| module.path == path).cloned()
    }

    /// Returns the worker that it calls, if any.
    pub fn worker(&self) -> Option<&Arc<Worker>> {
        self.executor.worker()
    }

    /// Returns what it decides about an input, if it runs nothing for that, as files of rules do.
    pub(super) fn preview(&self, input: &HookInput) -> Vec<String> {
        self.executor.preview(input)
    }

    /// Returns how it is started.
    pub fn start(&self) -> HookStart<'_> {
        self.executor.start()
    }

    /// Returns the key for removing duplicates: command hooks of one event with the same key are
    /// the same hook (reference/settings.md). Host functions have no key.
    pub(super) fn dedup_key(&self) -> Option<(Option<&str>, CommandIdentity<'_>)> {
        Some((self.name.as_deref(), self.executor.identity()?))
    }

    /// Returns the reason why it blocks its event instead of running, if it does.
    pub fn suspension(&self) -> Option<String> {
        Some(self.suspended.as_ref()?.failure().to_string())
    }

    /// Returns a warning about it, in the form that callers receive.
    pub(crate) fn format_warning(&self, text: &str) -> String {
        self.identity.format_warning(text)
    }
}

impl Deref for Hook {
    type Target = HookSpec;

    fn deref(&self) -> &HookSpec {
        &self.spec
    }
}

/// The reason why a hook does not run that was never trusted.
const NEVER_TRUSTED: &str = "it is not trusted, so it does not run";

/// Returns the trust check that the runner must do.
pub(super) fn trust_check(trust: &Trust, suspended: Option<&Suspension>) -> TrustCheck {
    match trust {
        Trust::Always => TrustCheck::Nothing,
        Trust::Checked(granted) => TrustCheck::Confirm(Arc::clone(granted)),
        Trust::Missing { reason, .. } => TrustCheck::Refuse(match suspended {
            Some(suspended) => suspended.failure(),
            None => Suspension::Changed(reason.clone().unwrap_or_else(|| NEVER_TRUSTED.into()))
                .failure(),
        }),
    }
}

opaque_debug!(Hook { event, source });
