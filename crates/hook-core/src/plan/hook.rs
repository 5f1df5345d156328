//! One registered hook.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::switched_off::SwitchedOff;
use crate::event::HookEventName;
use crate::failure::HookFailure;
use crate::matcher::Matcher;
use crate::run::{
    CommandIdentity, HookExecutor, HookIdentity, HookSpec, HookStart, TrustCheck, Worker,
    WorkerModule, WorkerStatus,
};
use crate::settings::{FailBehavior, HookSource, Place, TimeoutOrigin, UpstreamRules};
use crate::trust::Trust;

/// One registered hook: what is run, which it derefs to, and what decides whether it is.
pub struct Hook {
    /// What is run.
    pub(crate) spec: Arc<HookSpec>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Where it comes from.
    pub source: HookSource,
    /// Where it was written down; absent for the host's handlers.
    pub place: Option<Place>,
    /// Which tools or triggers it is for.
    pub matcher: Matcher,
    /// Its place in the plan: lower ones run earlier, equal ones together.
    pub priority: i32,
    /// Whether the hooks of its priority run one after the other.
    pub sequential: bool,
    /// Whether it runs behind the others of its priority, in turn with others like it, as hooks of modules do.
    /// What one of them ends holds for those behind it.
    pub(crate) in_turn: bool,
    /// Whether it stands for hooks that are not known.
    pub(super) is_stand_in: bool,
    /// The worker under `*` that has said it has this hook: it goes off with that.
    pub(super) declared_by: Option<Arc<Hook>>,
    /// The module that it is, or that has declared it.
    pub(super) module: Option<Arc<PathBuf>>,
    /// Who says how long it may run.
    pub timeout_origin: TimeoutOrigin,
    pub(super) trust: Trust,
    /// Why it blocks instead of running, if it does.
    pub(super) suspended: Option<Suspension>,
    /// Which settings switch it off.
    pub(super) switched_off: Vec<SwitchedOff>,
}

/// Why a trusted guard blocks instead of running.
#[derive(Debug, Clone)]
pub(super) enum Suspension {
    /// It is not any more what was trusted.
    Changed,
    /// The settings file that it should be in has errors, and it is not there.
    BrokenSettings(PathBuf),
}

impl Suspension {
    pub(super) fn failure(&self) -> HookFailure {
        match self {
            Self::Changed => HookFailure::Untrusted,
            Self::BrokenSettings(file) => HookFailure::BrokenSettings { file: file.clone() },
        }
    }
}

impl Hook {
    /// The command, or the handler's name.
    pub fn command(&self) -> &str {
        self.executor.label()
    }

    /// The variables that it is given of its own; `None` where it is no command.
    #[doc(hidden)]
    pub fn variables(&self) -> Option<BTreeMap<&str, &str>> {
        Some(self.executor.identity()?.env)
    }

    /// Whether it was trusted, and it or a file that it runs changed since.
    pub fn changed_since_trusted(&self) -> bool {
        matches!(self.trust, Trust::Missing { before: Some(_) })
    }

    /// Why not all that it starts is known, of a trusted hook of which that was agreed to.
    pub fn opaque(&self) -> &[String] {
        self.trust.opaque()
    }

    /// Whether its trusted copy runs, since its folder in the project is another one by now.
    pub fn runs_as_trusted_before(&self) -> bool {
        self.trust.granted().is_some_and(|granted| granted.was_changed())
    }

    /// Whether it runs behind the others of its priority, in turn with others like it, as hooks of modules do.
    #[doc(hidden)]
    pub fn runs_in_turn(&self) -> bool {
        self.in_turn
    }

    /// Whether it is a guard (`failBehavior: block`) that was trusted and that cannot run as it
    /// is now: because it changed, or because the settings file that it was in has errors. Its events
    /// are blocked until a person decides.
    #[doc(hidden)]
    pub fn blocks_unrun(&self) -> bool {
        self.suspended.is_some()
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.trust.is_given()
    }

    /// The fleet of engines that it stands for, if it stands for one.
    pub fn upstream(&self) -> Option<&UpstreamRules> {
        self.executor.upstream()
    }

    /// How the worker is that it calls, if it calls one.
    pub fn worker_status(&self) -> Option<WorkerStatus> {
        self.executor.worker().map(|worker| worker.status())
    }

    /// Whether it stands for hooks of a worker that has not said which they are.
    #[doc(hidden)]
    pub fn is_stand_in(&self) -> bool {
        self.is_stand_in
    }

    /// What blocks on an event in the place of this hook, which listens to every one.
    pub(super) fn on_event(&self, event: HookEventName, executor: Arc<dyn HookExecutor>) -> Self {
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
            may_raise_limits: self.spec.may_raise_limits,
            kinds: Vec::new(),
            executor,
        };
        Self {
            spec: Arc::new(spec),
            name: self.name.clone(),
            description: self.description.clone(),
            source: self.source.clone(),
            place: self.place.clone(),
            matcher: Matcher::compile(None, event.row().matching, FailBehavior::Block).0,
            priority: self.priority,
            sequential: self.sequential,
            in_turn: self.in_turn,
            is_stand_in: true,
            declared_by: None,
            module: self.module.clone(),
            timeout_origin: self.timeout_origin,
            trust: self.trust.clone(),
            suspended: self.suspended.clone(),
            switched_off: self.switched_off.clone(),
        }
    }

    /// The file of the module that it is, or that has declared it.
    pub fn module(&self) -> Option<&Path> {
        self.module.as_deref().map(PathBuf::as_path)
    }

    /// What the module says of itself that it is, once it was loaded: it may be an error.
    pub fn loaded_module(&self) -> Option<WorkerModule> {
        let path = self.module()?.to_str()?;
        let declared = self.executor.worker()?.last_declared()?;
        declared.modules.iter().find(|module| module.path == path).cloned()
    }

    /// The worker that it calls, if it calls one.
    pub fn worker(&self) -> Option<&Arc<Worker>> {
        self.executor.worker()
    }

    /// How it is started.
    #[doc(hidden)]
    pub fn start(&self) -> HookStart<'_> {
        self.executor.start()
    }

    /// Two command hooks of one event with the same key are the same hook (protocol.md §1).
    /// Functions of the host are only ever themselves.
    pub(super) fn dedup_key(&self) -> Option<(Option<&str>, CommandIdentity<'_>)> {
        Some((self.name.as_deref(), self.executor.identity()?))
    }

    /// Why it blocks its event instead of running, if it does.
    #[doc(hidden)]
    pub fn suspension(&self) -> Option<String> {
        Some(self.suspended.as_ref()?.failure().to_string())
    }

    /// A warning about it, as callers get it.
    pub(super) fn says(&self, text: &str) -> String {
        self.identity.says(text)
    }
}

impl Deref for Hook {
    type Target = HookSpec;

    fn deref(&self) -> &HookSpec {
        &self.spec
    }
}

/// What the runner has to do about a hook's trust.
pub(super) fn check_of(trust: &Trust, suspended: Option<&Suspension>) -> TrustCheck {
    match trust {
        Trust::Given => TrustCheck::Nothing,
        Trust::Checked(granted) => TrustCheck::Confirm(Arc::clone(granted)),
        Trust::Missing { .. } => {
            TrustCheck::Refuse(suspended.unwrap_or(&Suspension::Changed).failure())
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Hook")
            .field("event", &self.event)
            .field("name", &self.display_name())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
