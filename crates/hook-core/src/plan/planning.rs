//! Which hooks an event runs, in which groups and order (protocol.md §2, "Plan").

use std::sync::Arc;

use super::groups::{Plan, PlannedHook};
use super::hook::Hook;
use super::registry::HookRegistry;
use super::selection::Selection;
use super::table::Remembered;
use crate::event::HookEventName;
use crate::event::input::{EventInput, HookInput, HostContext, RequestInput};
use crate::matcher::{Facts, MatchInput};
use crate::settings::FailBehavior;

impl HookRegistry {
    /// The plan for a request. Plans are remembered until a hook is switched on or off, so an
    /// event costs one look-up, however many hooks are registered; but where a matcher of the event
    /// asks about paths or commands, each request is looked at. `host` says where the agent works,
    /// if the request does not.
    pub fn plan(&self, input: &RequestInput, host: &HostContext) -> Arc<Plan> {
        let event = input.event();
        match self.table().remembered(event, input.payload.match_subject()) {
            Remembered::Plan(plan) => plan,
            Remembered::Candidates(candidates) => {
                let input = MatchInput::of(input, host);
                let facts = Facts::of(&input, self.surroundings());
                let asked: Vec<_> = candidates.iter().map(|it| it.clone().asked(&facts)).collect();
                let is_guard = |it: &PlannedHook| it.hook.fail_behavior == FailBehavior::Block;
                let unmatched = candidates.iter().zip(&asked).filter(|(_, asked)| asked.is_none());
                let unmatched = unmatched.map(|(candidate, _)| candidate);
                let unmatched_guards = unmatched.filter(|it| is_guard(it)).cloned().collect();
                Selection::of(asked.into_iter()).into_plan(event, unmatched_guards)
            }
        }
    }

    /// The guards that were not asked about the input as it came, and that match what hooks made of
    /// it.
    pub(crate) fn late_guards(&self, plan: &Plan, changed: &EventInput) -> Vec<PlannedHook> {
        let input = MatchInput::of_event(HookInput::new(changed.clone()));
        let facts = Facts::of(&input, self.surroundings());
        let matched = plan.unmatched_guards.iter().map(|it| it.clone().asked(&facts));
        let mut late = Selection::of(matched).planned;
        // The same guard under another matcher is asked already.
        let is_guard = |hook: &Hook| hook.fail_behavior == FailBehavior::Block;
        let is_planned = |hook: &Hook| {
            let key = hook.dedup_key();
            let mut guards = plan.hooks.iter().filter(|it| is_guard(&it.hook));
            key.is_some() && guards.any(|it| it.hook.dedup_key() == key)
        };
        late.retain(|it| !is_planned(&it.hook));
        if let Some(first) = late.first() {
            plan.late_guard.get_or_init(|| Arc::clone(&first.hook));
        }
        late
    }

    /// The first running hook of another agent that is asked before a tool: it may have refused a call that
    /// cannot be read.
    #[doc(hidden)]
    pub fn foreign_before_a_tool(&self, event: HookEventName) -> Option<Arc<Hook>> {
        let hooks =
            if event.is_before_a_tool() { self.table().hooks(event) } else { Default::default() };
        hooks.iter().find(|hook| hook.spec.executor.home().is_some()).cloned()
    }

    /// The first running hook of the event whose failure is a denial, whatever it matches.
    #[doc(hidden)]
    pub fn blocking_on_failure(&self, event: HookEventName) -> Option<Arc<Hook>> {
        let hooks = self.table().hooks(event);
        hooks.iter().find(|hook| hook.fail_behavior == FailBehavior::Block).cloned()
    }
}
