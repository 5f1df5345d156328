//! The plan of an event: hooks in groups.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::hook::Hook;
use hook_protocol::event::HookEventName;
use hook_run::HookKind;
use hook_settings::FailBehavior;

/// The hooks of one event, in groups that run one after the other.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The event.
    pub event: HookEventName,
    /// The hooks in plan order, each with its warning.
    pub hooks: Vec<PlannedHook>,
    /// The groups: consecutive parts of `hooks`, lower priorities first.
    pub groups: Vec<Group>,
    /// Guards that match the subject but not the paths or commands of this input. Another hook's
    /// change may make them match.
    pub(super) unmatched_guards: Vec<PlannedHook>,
    /// An unmatched guard that was called after such a change.
    pub(super) late_guard: OnceLock<Arc<Hook>>,
}

/// Hooks that run concurrently, with the input that earlier groups left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The priority of its hooks. Each hook of a `sequential` priority has its own group, as has
    /// each hook of a module; these run in turn, behind the others of their priority.
    pub priority: i32,
    /// The indices of its hooks in the plan.
    pub hooks: Range<usize>,
}

/// One hook of a plan.
#[derive(Debug, Clone)]
pub struct PlannedHook {
    /// The hook.
    pub hook: Arc<Hook>,
    /// A warning about its presence in the plan.
    pub warning: Option<String>,
}

impl Plan {
    /// Returns `true` if no hook runs.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Returns `true` if all hooks that may run are functions called in the requesting task.
    pub fn is_inline(&self) -> bool {
        let mut all = self.hooks.iter().chain(&self.unmatched_guards);
        all.all(|planned| planned.hook.kind() == HookKind::Inline)
    }

    /// Returns the first hook whose failure denies.
    pub fn blocking_on_failure(&self) -> Option<&Hook> {
        let hooks = self.hooks.iter().map(|planned| &planned.hook).chain(self.late_guard.get());
        hooks.map(|hook| &**hook).find(|hook| hook.fail_behavior == FailBehavior::Block)
    }

    /// Returns the hooks of a group with their indices in the plan.
    pub(crate) fn hooks_of(
        &self,
        group: &Group,
    ) -> impl DoubleEndedIterator<Item = (usize, &PlannedHook)> {
        let hooks = self.hooks.get(group.hooks.clone()).unwrap_or_default();
        group.hooks.clone().zip(hooks)
    }

    /// Checks whether a group consists of a hook that runs in turn.
    pub(crate) fn is_in_turn(&self, group: &Group) -> bool {
        self.hooks_of(group).any(|(_, planned)| planned.hook.in_turn)
    }

    /// Checks whether the plan has guards that a changed input may match.
    pub(crate) fn has_unmatched_guards(&self) -> bool {
        !self.unmatched_guards.is_empty()
    }
}
