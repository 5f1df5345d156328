//! Hooks that cannot run: `http` hooks in a build without a client, guards that cannot be read, and
//! hooks of workers that have not declared them. Each run fails with the reason.

use std::sync::Arc;

use super::answer::Answer;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart};
use super::worker::Worker;
use hook_protocol::failure::HookFailure;

/// The missing service of a build without an HTTP client.
const NO_CLIENT: &str = "an HTTP client (the feature `http` of hook-core)";

/// The failure of a worker that has not declared its hooks.
const NOT_DECLARED: &str = "the worker has not said which events its hooks listen to";

/// An `http` hook in a build without an HTTP client.
#[derive(Debug)]
pub(super) struct UnavailableHttpHook {
    pub(super) label: String,
}

/// A guard that cannot be read.
#[derive(Debug)]
pub(super) struct UnreadableGuard {
    pub(super) label: String,
    pub(super) why: Arc<str>,
}

/// The placeholder for the hooks of a worker that has not declared them.
#[derive(Debug)]
struct UndeclaredHooks {
    label: String,
    worker: Arc<Worker>,
    /// The problem of the worker's declaration.
    problem: Option<Box<str>>,
}

/// Returns the placeholder for the hooks of a worker whose declaration is missing, or is invalid
/// because of `problem`.
pub fn undeclared_hooks(
    label: &str,
    worker: &Arc<Worker>,
    problem: Option<&str>,
) -> Arc<dyn HookExecutor> {
    let (worker, problem) = (Arc::clone(worker), problem.map(Box::from));
    Arc::new(UndeclaredHooks { label: label.to_owned(), worker, problem })
}

impl HookExecutor for UndeclaredHooks {
    fn kind(&self) -> HookKind {
        self.worker.kind()
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Called
    }

    fn worker(&self) -> Option<&Arc<Worker>> {
        Some(&self.worker)
    }

    fn execute(&self, _call: HookCall) -> Execution {
        let reason = match (&self.problem, self.worker.status().failure) {
            (Some(problem), _) => problem.to_string(),
            (None, Some(failure)) => format!("{NOT_DECLARED}: {failure}"),
            (None, None) => NOT_DECLARED.to_owned(),
        };
        Execution::Done(Answer::failed(HookFailure::Live { reason }).into())
    }
}

impl HookExecutor for UnreadableGuard {
    fn kind(&self) -> HookKind {
        HookKind::Command
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Missing("what it takes to read this hook")
    }

    fn execute(&self, _call: HookCall) -> Execution {
        let failure = HookFailure::Unreadable { reason: self.why.to_string() };
        Execution::Done(Answer::failed(failure).into())
    }
}

impl HookExecutor for UnavailableHttpHook {
    fn kind(&self) -> HookKind {
        HookKind::Http
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Missing(NO_CLIENT)
    }

    fn execute(&self, _call: HookCall) -> Execution {
        let failure = HookFailure::NoService { kind: HookKind::Http.as_str(), service: NO_CLIENT };
        Execution::Done(Answer::failed(failure).into())
    }
}
