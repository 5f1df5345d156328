//! Hooks of a plan that do not start because of earlier outputs (reference/events.md, "Groups").

use std::sync::Arc;

use crate::plan::Hook;
use hook_protocol::event::HookEventName;
use hook_protocol::event::output::PolicyDecision;
use hook_run::{HookExecutionResult, HookIdentity};
use hook_settings::FailBehavior;

/// A hook that was not started, with the hook that ended the plan before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotStarted {
    /// The hook.
    pub hook: HookIdentity,
    /// The name of the hook of an earlier priority whose answer prevented the start.
    pub ended_by: Box<str>,
}

/// The decisions of earlier hooks to end or skip. A decision applies to later priorities, not to
/// its own; among hooks that run in turn, it also applies to those behind it.
#[derive(Default)]
pub(super) struct EarlyEnd {
    effective: EndDecisions,
    /// The decisions of the current priority.
    current: EndDecisions,
    /// The decisions of its hooks that run in turn.
    current_in_turn: EndDecisions,
    priority: Option<i32>,
}

#[derive(Default)]
struct EndDecisions {
    /// The hook that ended everything.
    all: Option<Arc<Hook>>,
    /// The most trusted hook that skips the remaining ones.
    remaining: Option<Arc<Hook>>,
    /// The first module command of a name: no other module's command of that name runs.
    command: Option<Arc<Hook>>,
}

/// Checks whether a hook is a command of a module.
fn is_command(hook: &Hook) -> bool {
    hook.event == HookEventName::Command && hook.module().is_some()
}

impl EarlyEnd {
    /// Begins a group of a priority; `is_in_turn` is set for a group of one hook that runs in turn.
    pub(super) fn begin_group(&mut self, priority: i32, is_in_turn: bool) {
        let is_new = self.priority.replace(priority) != Some(priority);
        let previous = match (is_new, is_in_turn) {
            (true, _) => std::mem::take(&mut self.current),
            (false, true) => std::mem::take(&mut self.current_in_turn),
            (false, false) => return,
        };
        if is_new {
            self.current_in_turn = EndDecisions::default();
        }
        self.effective.all = self.effective.all.take().or(previous.all);
        self.effective.command = self.effective.command.take().or(previous.command);
        if let Some(hook) = previous.remaining {
            self.effective.skip(&hook);
        }
    }

    /// Records the output of a hook.
    pub(super) fn record(
        &mut self,
        event: HookEventName,
        hook: &Arc<Hook>,
        result: &HookExecutionResult,
    ) {
        let policy = result.output.as_ref().map(|output| output.policy(event));
        let ends = match policy {
            Some(PolicyDecision::Stop | PolicyDecision::Retry) => true,
            Some(PolicyDecision::Block) => event.row().block_means.is_some(),
            Some(PolicyDecision::Ask | PolicyDecision::Proceed) | None => false,
        };
        let skip_remaining = result.output.as_ref().and_then(|output| output.skip_remaining);
        let skips = result.success && skip_remaining == Some(true);
        self.current.add(hook, ends, skips);
        if hook.in_turn {
            self.current_in_turn.add(hook, ends, skips);
        }
    }

    /// Returns the hook that prevents `hook` from starting, if any. Guards are never skipped, and a
    /// hook cannot skip one that is more trusted.
    pub(super) fn prevented_by(&self, hook: &Hook) -> Option<&Arc<Hook>> {
        let skips = |by: &&Arc<Hook>| {
            hook.fail_behavior != FailBehavior::Block
                && hook.source.trust_rank() <= by.source.trust_rank()
        };
        // If several commands share a name, only the first runs, trusted or not.
        let command = self.effective.command.as_ref().filter(|_| is_command(hook));
        let all = self.effective.all.as_ref().or(command);
        all.or_else(|| self.effective.remaining.as_ref().filter(skips))
    }
}

impl EndDecisions {
    fn add(&mut self, hook: &Arc<Hook>, ends: bool, skips: bool) {
        if ends && self.all.is_none() {
            self.all = Some(Arc::clone(hook));
        }
        if skips {
            self.skip(hook);
        }
        if is_command(hook) {
            self.command.get_or_insert_with(|| Arc::clone(hook));
        }
    }

    fn skip(&mut self, by: &Arc<Hook>) {
        let rank = |hook: &Arc<Hook>| hook.source.trust_rank();
        if self.remaining.as_ref().is_none_or(|current| rank(current) < rank(by)) {
            self.remaining = Some(Arc::clone(by));
        }
    }
}
