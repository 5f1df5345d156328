//! Hooks of other agents that need something of their host that it does not have: each run is a failure
//! that says what is missing.

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
            HomeCommand::Shell { .. } | HomeCommand::Program { .. } => HookKind::Command,
        };
        Self { label, kind, service: command.service().unwrap_or(NO_CLIENT) }
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
