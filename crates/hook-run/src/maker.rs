//! The factory of executors for the hooks of one settings file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::command::{CommandContext, CommandExecutor};
use super::executor::HookExecutor;
use super::hosted::HostedExecutor;
#[cfg(feature = "http")]
use super::http::HttpExecutor;
use super::live::{CallTarget, LiveExecutor, Programs};
use super::slots::SlotQueue;
use super::unserved::{Unreadable, Unserved};
use super::upstream::{UpstreamExecutor, Upstreams};
use super::worker::{ModuleTerms, Worker, WorkerTerms, Workers};
use hook_settings::language::{ForeignCommand, ForeignHook};
use hook_settings::{EnvironmentRules, HookEntry, HookSource, UpstreamRules, WorkerRules};
use hook_trust::{Trust, module_digest};

/// Creates executors for the hooks of one source.
#[derive(Debug)]
pub struct ExecutorMaker {
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

impl ExecutorMaker {
    /// Returns the executor of a native command; a trusted command runs from its copy.
    pub fn executor(
        &self,
        command: &str,
        env: &[(String, String)],
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let context = Arc::clone(&self.context);
        let script = trust.granted().map_or_else(|| command.to_owned(), |it| it.command());
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
        trust.granted().map_or_else(|| vec![folder()], |it| it.variables())
    }

    /// Returns the executor of a native worker.
    pub fn worker(
        &self,
        entry: &HookEntry,
        rules: &WorkerRules,
        source: &HookSource,
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let terms = WorkerTerms {
            command: entry.command.clone(),
            script: trust.granted().map(|it| it.command()),
            variables: self.variables(trust),
            env: self.context.environment.own(&entry.env),
            environment: self.rules.clone(),
            rules: rules.clone(),
            source: source.clone(),
            granted: trust.files().map(str::to_owned),
            modules: Vec::new(),
        };
        let granted = vec![trust.granted().cloned()];
        let worker = self.workers.get(terms, granted, &self.context);
        self.calling(entry, worker)
    }

    /// Returns the worker that loads all modules of one process, each with its trusted files.
    pub fn module_worker(
        &self,
        modules: &[(&HookEntry, &Trust)],
        rules: &WorkerRules,
        source: &HookSource,
    ) -> Arc<Worker> {
        let terms_of = |(entry, trust): &(&HookEntry, &Trust)| {
            let path = entry.module.clone().unwrap_or_default();
            let label = entry.display_name().to_owned();
            let granted = trust.files().map(str::to_owned);
            let loaded = granted.or_else(|| Some(module_digest(&path)));
            let file = trust.granted().and_then(|it| it.module()).unwrap_or_else(|| path.clone());
            ModuleTerms { path, file, label, loaded, is_granted: trust.granted().is_some() }
        };
        let terms = WorkerTerms {
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
            modules: modules.iter().map(terms_of).collect(),
        };
        let granted = modules.iter().map(|(_, trust)| trust.granted().cloned()).collect();
        self.workers.get(terms, granted, &self.context)
    }

    /// Returns the executor that calls a worker for a hook.
    pub fn calling(&self, entry: &HookEntry, worker: Arc<Worker>) -> Arc<dyn HookExecutor> {
        let (label, id) = (&entry.command, entry.display_name());
        let session = CallTarget::Worker(worker);
        let running = &self.context.running;
        let programs = Some(Arc::clone(&self.programs));
        Arc::new(LiveExecutor::new(label, id, entry.event, None, session, running, programs))
    }

    /// Returns the executor of a foreign hook, shown as `label`.
    pub fn home_executor(
        &self,
        label: &str,
        home: &Arc<ForeignHook>,
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let (label, context) = (label.to_owned(), Arc::clone(&self.context));
        match &home.command {
            ForeignCommand::Shell { .. } | ForeignCommand::Program { .. } => {
                let granted = trust.granted();
                let home = granted.map_or_else(|| Arc::clone(home), |it| it.home(home));
                let variables = granted.map(|it| it.variables()).unwrap_or_default();
                Arc::new(CommandExecutor::of_home(label, home, variables, context))
            }
            #[cfg(feature = "http")]
            ForeignCommand::Http(_) => {
                let client = Arc::clone(&self.client);
                Arc::new(HttpExecutor::new(label, Arc::clone(home), context, client))
            }
            other => match other.service() {
                Some(service) => {
                    Arc::new(HostedExecutor::new(label, Arc::clone(home), service, context))
                }
                None => Arc::new(Unserved { label }),
            },
        }
    }

    /// Returns the executor that asks a fleet of engines.
    pub fn upstream(&self, rules: &UpstreamRules) -> Arc<dyn HookExecutor> {
        Arc::new(UpstreamExecutor::new(rules, self.upstreams.as_ref()))
    }

    /// Returns the executor of a guard that cannot be read, which fails with `why`.
    pub fn unreadable(&self, label: &str, why: &Arc<str>) -> Arc<dyn HookExecutor> {
        Arc::new(Unreadable { label: label.to_owned(), why: Arc::clone(why) })
    }
}

/// Returns the path of an entry's module.
fn module_path(entry: &HookEntry) -> String {
    entry.module.as_deref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}
