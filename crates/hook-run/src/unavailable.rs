//! Hooks that cannot run: the host lacks a service for them, they are guards that cannot be read, or
//! hooks of workers that have not declared them. Each run fails with the reason.

use std::sync::Arc;

use super::answer::Answer;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart};
use super::worker::Worker;
use hook_protocol::failure::HookFailure;
use hook_settings::UpstreamRules;

/// The missing service of a build without an HTTP client.
const NO_CLIENT: &str = "an HTTP client (the feature `http` of hook-core)";

/// The missing service of a host without a fleet client.
const NO_FLEET: &str = "a way to fleets of engines (the feature `remote` of hook-cli)";

/// The failure of a worker that has not declared its hooks.
const NOT_DECLARED: &str = "the worker has not said which events its hooks listen to";

/// A hook that fails whenever it is called.
#[derive(Debug)]
pub(super) struct Unavailable {
    kind: HookKind,
    label: String,
    start: HookStart<'static>,
    failure: HookFailure,
    worker: Option<Arc<Worker>>,
    upstream: Option<UpstreamRules>,
}

impl Unavailable {
    fn new(kind: HookKind, label: &str, missing: &'static str, failure: HookFailure) -> Self {
        let start = HookStart::Missing(missing);
        Self { kind, label: label.to_owned(), start, failure, worker: None, upstream: None }
    }

    fn without(kind: HookKind, label: &str, service: &'static str) -> Self {
        let failure = HookFailure::NoService { kind: kind.as_str(), service };
        Self::new(kind, label, service, failure)
    }

    /// Returns an `http` hook in a build without an HTTP client.
    pub(super) fn http(label: &str) -> Self {
        Self::without(HookKind::Http, label, NO_CLIENT)
    }

    /// Returns the hook of a fleet in a host without a client of fleets.
    pub(super) fn upstream(rules: &UpstreamRules) -> Self {
        let upstream = Some(rules.clone());
        Self { upstream, ..Self::without(HookKind::Upstream, &rules.nats, NO_FLEET) }
    }

    /// Returns a guard that cannot be read.
    pub(super) fn unreadable(label: &str, why: &str) -> Self {
        let failure = HookFailure::Unreadable { reason: why.to_owned() };
        Self::new(HookKind::Command, label, "what it takes to read this hook", failure)
    }
}

/// Returns the placeholder for the hooks of a worker whose declaration is missing, or is invalid
/// because of `problem`.
pub fn undeclared_hooks(
    label: &str,
    worker: &Arc<Worker>,
    problem: Option<&str>,
) -> Arc<dyn HookExecutor> {
    let failure = HookFailure::Live { reason: problem.unwrap_or(NOT_DECLARED).to_owned() };
    let hook = Unavailable::new(worker.kind(), label, NOT_DECLARED, failure);
    let worker = Some(Arc::clone(worker));
    Arc::new(Unavailable { start: HookStart::Called, worker, ..hook })
}

impl HookExecutor for Unavailable {
    fn kind(&self) -> HookKind {
        self.kind
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn start(&self) -> HookStart<'_> {
        self.start
    }

    fn worker(&self) -> Option<&Arc<Worker>> {
        self.worker.as_ref()
    }

    fn upstream(&self) -> Option<&UpstreamRules> {
        self.upstream.as_ref()
    }

    fn execute(&self, _call: HookCall) -> Execution {
        let died = self.worker.as_ref().and_then(|worker| worker.status().failure);
        let failure = match (&self.failure, died) {
            (HookFailure::Live { reason }, Some(died)) if reason == NOT_DECLARED => {
                HookFailure::Live { reason: format!("{NOT_DECLARED}: {died}") }
            }
            (failure, _) => failure.clone(),
        };
        Execution::Done(Answer::failed(failure).into())
    }
}
