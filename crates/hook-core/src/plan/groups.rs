//! What one event runs: hooks in groups.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::hook::Hook;
use crate::event::HookEventName;
use crate::run::HookKind;
use crate::settings::FailBehavior;

/// The hooks that one event runs: groups that run one after the other.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The event.
    pub event: HookEventName,
    /// The hooks in plan order, each with what must be said about it.
    pub hooks: Vec<PlannedHook>,
    /// The groups: consecutive parts of `hooks`, lower priorities first.
    pub groups: Vec<Group>,
    /// Guards whose matchers match the subject, and not the paths or commands of this input. A
    /// hook's change may make them match.
    pub(super) unmatched_guards: Vec<PlannedHook>,
    /// One of these that is asked after all.
    pub(super) late_guard: OnceLock<Arc<Hook>>,
}

/// Hooks that run at once, each told what the groups before changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The priority of its hooks. A `sequential` priority has a group for each of its hooks, and so
    /// have hooks of modules, which run in turn behind the others of their priority.
    pub priority: i32,
    /// Which of the plan's hooks they are.
    pub hooks: Range<usize>,
}

/// One hook of a plan.
#[derive(Debug, Clone)]
pub struct PlannedHook {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Why its being in the plan deserves a warning.
    pub warning: Option<String>,
}

impl Plan {
    /// Whether no hook runs.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Whether all hooks that may run are functions that run where the event is served.
    pub fn is_inline(&self) -> bool {
        let mut all = self.hooks.iter().chain(&self.unmatched_guards);
        all.all(|planned| planned.hook.kind() == HookKind::Inline)
    }

    /// The first hook whose failure is a denial.
    #[doc(hidden)]
    pub fn blocking_on_failure(&self) -> Option<&Hook> {
        let hooks = self.hooks.iter().map(|planned| &planned.hook).chain(self.late_guard.get());
        hooks.map(|hook| &**hook).find(|hook| hook.fail_behavior == FailBehavior::Block)
    }

    /// The hooks of a group, with their places in the plan.
    pub(crate) fn hooks_of(
        &self,
        group: &Group,
    ) -> impl DoubleEndedIterator<Item = (usize, &PlannedHook)> {
        let hooks = self.hooks.get(group.hooks.clone()).unwrap_or_default();
        group.hooks.clone().zip(hooks)
    }

    /// Whether a group is a hook that runs in turn with others like it.
    pub(crate) fn is_in_turn(&self, group: &Group) -> bool {
        self.hooks_of(group).any(|(_, planned)| planned.hook.in_turn)
    }

    /// Whether the plan has guards that another input would have to be shown.
    pub(crate) fn has_unmatched_guards(&self) -> bool {
        !self.unmatched_guards.is_empty()
    }
}
