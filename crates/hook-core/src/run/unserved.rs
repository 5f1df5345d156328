//! Hooks of other agents that need something of their host that it does not have: each run is a failure
//! that says what is missing. And guards of theirs that cannot be read: each run is a failure, too.

use std::sync::Arc;

use super::answer::Answer;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart};
use crate::failure::HookFailure;
use crate::language::HomeCommand;

/// What is missing where a build has no HTTP client.
const NO_CLIENT: &str = "an HTTP client (the feature `http` of hook-core)";

/// A hook that cannot run here.
#[derive(Debug)]
pub(super) struct Unserved {
    label: String,
    kind: HookKind,
    service: &'static str,
}

impl Unserved {
    pub(super) fn new(label: String, command: &HomeCommand) -> Self {
        let kind = match command {
            HomeCommand::Http(_) => HookKind::Http,
            HomeCommand::Prompt { .. } => HookKind::Prompt,
            HomeCommand::Agent { .. } => HookKind::Agent,
            HomeCommand::McpTool { .. } => HookKind::McpTool,
            HomeCommand::Shell { .. } | HomeCommand::Program { .. } | HomeCommand::Called => {
                HookKind::Command
            }
        };
        Self { label, kind, service: command.service().unwrap_or(NO_CLIENT) }
    }
}

/// A guard that cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) label: String,
    pub(super) why: Arc<str>,
}

impl HookExecutor for Unreadable {
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

impl HookExecutor for Unserved {
    fn kind(&self) -> HookKind {
        self.kind
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Missing(self.service)
    }

    fn execute(&self, _call: HookCall) -> Execution {
        let failure = HookFailure::NoService { kind: self.kind.as_str(), service: self.service };
        Execution::Done(Answer::failed(failure).into())
    }
}
