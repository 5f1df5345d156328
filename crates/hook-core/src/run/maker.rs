//! What runs the hooks of one settings file.

use std::sync::Arc;

use super::command::{CommandContext, CommandExecutor};
use super::executor::HookExecutor;
use super::hosted::HostedExecutor;
#[cfg(feature = "http")]
use super::http::HttpExecutor;
use super::live::{CallTarget, LiveExecutor, Programs};
use super::slots::SlotQueue;
use super::unserved::{Unreadable, Unserved};
use super::worker::{WorkerTerms, Workers};
use crate::language::{HomeCommand, HomeHook};
use crate::settings::{EnvironmentRules, HookEntry, HookSource, WorkerRules};
use crate::trust::Trust;

/// Makes executors for the hooks of one source.
#[derive(Debug)]
pub(crate) struct ExecutorMaker {
    pub(super) context: Arc<CommandContext>,
    #[cfg(feature = "http")]
    pub(super) client: Arc<super::http::Client>,
    pub(super) workers: Arc<Workers>,
    /// What its hooks that stay alive may have the engine run.
    pub(super) programs: Arc<Programs>,
    /// What of the host's environment the source's hooks get.
    pub(super) rules: EnvironmentRules,
    pub(crate) slots: Option<Arc<SlotQueue>>,
}

impl ExecutorMaker {
    /// What runs a command of ours.
    pub(crate) fn executor(
        &self,
        command: &str,
        env: &[(String, String)],
    ) -> Arc<dyn HookExecutor> {
        let context = Arc::clone(&self.context);
        Arc::new(CommandExecutor::new(command.to_owned(), env.to_vec(), context))
    }

    /// What calls a worker of ours.
    pub(crate) fn worker(
        &self,
        entry: &HookEntry,
        rules: &WorkerRules,
        source: &HookSource,
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let terms = WorkerTerms {
            command: entry.command.clone(),
            env: entry.env.clone(),
            environment: self.rules.clone(),
            rules: rules.clone(),
            source: source.clone(),
            granted: trust.files().map(str::to_owned),
        };
        let worker = self.workers.get(terms, trust.granted().cloned(), &self.context);
        let (label, id) = (&entry.command, entry.display_name());
        let session = CallTarget::Worker(worker);
        let running = &self.context.running;
        let programs = Some(Arc::clone(&self.programs));
        Arc::new(LiveExecutor::new(label, id, entry.event, None, session, running, programs))
    }

    /// What runs a hook of another agent, which is shown as `label`.
    pub(crate) fn home_executor(&self, label: &str, home: &Arc<HomeHook>) -> Arc<dyn HookExecutor> {
        let (label, context) = (label.to_owned(), Arc::clone(&self.context));
        match &home.command {
            HomeCommand::Shell { .. } | HomeCommand::Program { .. } => {
                Arc::new(CommandExecutor::of_home(label, Arc::clone(home), context))
            }
            #[cfg(feature = "http")]
            HomeCommand::Http(_) => {
                let client = Arc::clone(&self.client);
                Arc::new(HttpExecutor::new(label, Arc::clone(home), context, client))
            }
            other => match other.service() {
                Some(service) => Arc::new(HostedExecutor::new(label, Arc::clone(home), service)),
                None => Arc::new(Unserved { label }),
            },
        }
    }

    /// What stands for a guard that cannot be read, and why not.
    pub(crate) fn unreadable(&self, label: &str, why: &Arc<str>) -> Arc<dyn HookExecutor> {
        Arc::new(Unreadable { label: label.to_owned(), why: Arc::clone(why) })
    }
}
