//! The factory of executors for the hooks of one settings file.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::{CommandContext, CommandExecutor};
use super::executor::HookExecutor;
use super::host_service::HostServiceExecutor;
#[cfg(feature = "http")]
use super::http::HttpExecutor;
use super::live::{CallTarget, LiveExecutor, Programs};
use super::rules::RulesExecutor;
use super::slots::SlotQueue;
use super::unavailable::Unavailable;
use super::upstream::{UpstreamExecutor, Upstreams};
use super::worker::{ModuleSpec, Worker, WorkerSpec, Workers};
use hook_settings::language::{ForeignCommand, ForeignHook};
use hook_settings::{EnvironmentRules, HookEntry, HookSource, UpstreamRules, WorkerRules};
use hook_trust::{Trust, module_digest};

/// Creates executors for the hooks of one source.
#[derive(Debug)]
pub struct ExecutorFactory {
    pub(super) context: Arc<CommandContext>,
    #[cfg(feature = "http")]
    pub(super) client: Arc<super::http::Client>,
    pub(super) workers: Arc<Workers>,
    /// The programs that the source's live hooks may have the engine run.
    pub(super) programs: Arc<Programs>,
    /// The directory of the settings file.
    pub(super) folder: PathBuf,
    /// The rules for the environment variables that the source's hooks inherit.
    pub(super) rules: EnvironmentRules,
    /// The clients of remote fleets, if the host has any.
    pub(super) upstreams: Option<Arc<dyn Upstreams>>,
    /// The slots of the source, if it has its own.
    pub slots: Option<Arc<SlotQueue>>,
}

impl ExecutorFactory {
    /// Returns the executor of a native command; a trusted command runs from its copy.
    pub fn executor(
        &self,
        command: &str,
        env: &[(String, String)],
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let context = Arc::clone(&self.context);
        let script =
            trust.trusted_hook().map_or_else(|| command.to_owned(), |granted| granted.command());
        let variables = self.variables(trust);
        let command = command.to_owned();
        Arc::new(CommandExecutor::new(
            command,
            (script, variables),
            context.environment.own(env),
            context,
        ))
    }

    /// Returns the variables that a native hook gets beside its own.
    fn variables(&self, trust: &Trust) -> Vec<(OsString, OsString)> {
        let folder = || ("HOOK_DIR".into(), self.folder.as_os_str().to_owned());
        trust.trusted_hook().map_or_else(|| vec![folder()], |granted| granted.variables())
    }

    /// Returns the executor of a native worker.
    pub fn worker(
        &self,
        entry: &HookEntry,
        rules: &WorkerRules,
        source: &HookSource,
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let spec = WorkerSpec {
            command: entry.command.clone(),
            script: trust.trusted_hook().map(|granted| granted.command()),
            variables: self.variables(trust),
            env: self.context.environment.own(&entry.env),
            environment: self.rules.clone(),
            rules: rules.clone(),
            source: source.clone(),
            granted: trust.files().map(str::to_owned),
            modules: Vec::new(),
        };
        let granted = vec![trust.trusted_hook().cloned()];
        let worker = self.workers.get(spec, granted, &self.context);
        self.worker_call_executor(entry, worker)
    }

    /// Returns the worker that loads all modules of one process, each with its trusted files.
    pub fn module_worker(
        &self,
        modules: &[(&HookEntry, &Trust)],
        rules: &WorkerRules,
        source: &HookSource,
    ) -> Arc<Worker> {
        let module_spec = |(entry, trust): &(&HookEntry, &Trust)| {
            let path = entry.module.clone().unwrap_or_default();
            let label = entry.display_name().to_owned();
            let granted = trust.files().map(str::to_owned);
            let loaded = granted.or_else(|| Some(module_digest(&path)));
            let file =
                trust.trusted_hook().and_then(|copy| copy.module()).unwrap_or_else(|| path.clone());
            ModuleSpec { path, file, label, loaded, is_granted: trust.trusted_hook().is_some() }
        };
        let spec = WorkerSpec {
            command: modules
                .iter()
                .map(|(entry, _)| module_path(entry))
                .collect::<Vec<_>>()
                .join(", "),
            script: None,
            variables: modules.first().map(|(_, trust)| self.variables(trust)).unwrap_or_default(),
            env: modules
                .first()
                .map(|(entry, _)| self.context.environment.own(&entry.env))
                .unwrap_or_default(),
            environment: self.rules.clone(),
            rules: rules.clone(),
            source: source.clone(),
            granted: None,
            modules: modules.iter().map(module_spec).collect(),
        };
        let granted = modules.iter().map(|(_, trust)| trust.trusted_hook().cloned()).collect();
        self.workers.get(spec, granted, &self.context)
    }

    /// Returns the executor that calls a worker for a hook.
    pub fn worker_call_executor(
        &self,
        entry: &HookEntry,
        worker: Arc<Worker>,
    ) -> Arc<dyn HookExecutor> {
        let (label, id) = (&entry.command, entry.display_name());
        let session = CallTarget::Worker(worker);
        let running = &self.context.running;
        let programs = Some(Arc::clone(&self.programs));
        Arc::new(LiveExecutor::new(label, id, entry.event, None, session, running, programs))
    }

    /// Returns the executor of a foreign hook, shown as `label`.
    pub fn foreign_executor(
        &self,
        label: &str,
        foreign: &Arc<ForeignHook>,
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let (label, context) = (label.to_owned(), Arc::clone(&self.context));
        match &foreign.command {
            ForeignCommand::Shell { .. } | ForeignCommand::Program { .. } => {
                let granted = trust.trusted_hook();
                let foreign =
                    granted.map_or_else(|| Arc::clone(foreign), |copy| copy.foreign_hook(foreign));
                let variables = granted.map(|copy| copy.variables()).unwrap_or_default();
                Arc::new(CommandExecutor::for_foreign(label, foreign, variables, context))
            }
            #[cfg(feature = "http")]
            ForeignCommand::Http(_) => {
                let client = Arc::clone(&self.client);
                Arc::new(HttpExecutor::new(label, Arc::clone(foreign), context, client))
            }
            other => match other.service() {
                Some(service) => {
                    Arc::new(HostServiceExecutor::new(label, Arc::clone(foreign), service, context))
                }
                None => Arc::new(Unavailable::http(&label)),
            },
        }
    }

    /// Returns the executor of a file of rules, by its index among them.
    pub fn rules(
        label: &str,
        rules: (Arc<hook_rules::Rules>, usize),
        project: &Path,
        home: Option<&OsStr>,
    ) -> Arc<dyn HookExecutor> {
        Arc::new(RulesExecutor::new(label, rules, project, home.map(Path::new)))
    }

    /// Returns the executor that asks a fleet of engines.
    pub fn upstream(&self, rules: &UpstreamRules) -> Arc<dyn HookExecutor> {
        match &self.upstreams {
            Some(upstreams) => Arc::new(UpstreamExecutor::new(rules, &**upstreams)),
            None => Arc::new(Unavailable::upstream(rules)),
        }
    }

    /// Returns the executor of a guard that cannot be read, which fails with `why`.
    pub fn unreadable(label: &str, why: &Arc<str>) -> Arc<dyn HookExecutor> {
        Arc::new(Unavailable::unreadable(label, why))
    }
}

/// Returns the path of an entry's module.
fn module_path(entry: &HookEntry) -> String {
    entry.module.as_deref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}
