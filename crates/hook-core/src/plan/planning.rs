//! The hooks that an event runs, with their groups and order (reference/events.md, "Plan").

use std::sync::Arc;

use super::groups::{Plan, PlannedHook};
use super::hook::Hook;
use super::registry::HookRegistry;
use super::selection::Selection;
use super::table::CachedPlan;
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::{EventInput, HookInput, HostContext, RequestInput};
use hook_settings::FailBehavior;
use hook_settings::matcher::{Facts, MatchInput};

impl HookRegistry {
    /// Returns the plan for a request. Plans are cached until a hook is enabled or disabled, so the
    /// cost does not depend on the number of hooks. If a matcher of the event tests paths or
    /// commands, each request is matched. `host` gives the agent's directory if the request does
    /// not.
    pub fn plan(&self, input: &RequestInput, host: &HostContext) -> Arc<Plan> {
        let event = input.event();
        match self.table().cached_plan(event, input.payload.match_subject()) {
            CachedPlan::Plan(plan) => plan,
            CachedPlan::Candidates(candidates) => {
                let input = MatchInput::of(input, host);
                let facts = Facts::of(&input, self.surroundings());
                let matched: Vec<_> = candidates
                    .iter()
                    .map(|candidate| candidate.clone().if_input_matches(&facts))
                    .collect();
                let is_guard =
                    |planned: &PlannedHook| planned.hook.fail_behavior == FailBehavior::Block;
                let unmatched =
                    candidates.iter().zip(&matched).filter(|(_, outcome)| outcome.is_none());
                let unmatched = unmatched.map(|(candidate, _)| candidate);
                let unmatched_guards =
                    unmatched.filter(|candidate| is_guard(candidate)).cloned().collect();
                Selection::of(matched.into_iter()).into_plan(event, unmatched_guards)
            }
        }
    }

    /// Returns the guards that did not match the original input, but match the changed one.
    pub(crate) fn late_guards(&self, plan: &Plan, changed: &EventInput) -> Vec<PlannedHook> {
        let input = MatchInput::of_event(HookInput::new(changed.clone()));
        let facts = Facts::of(&input, self.surroundings());
        let matched =
            plan.unmatched_guards.iter().map(|guard| guard.clone().if_input_matches(&facts));
        let mut late = Selection::of(matched).planned;
        // The same guard may be planned already under another matcher.
        let is_guard = |hook: &Hook| hook.fail_behavior == FailBehavior::Block;
        let is_planned = |hook: &Hook| {
            let key = hook.dedup_key();
            let mut guards = plan.hooks.iter().filter(|planned| is_guard(&planned.hook));
            key.is_some() && guards.any(|it| it.hook.dedup_key() == key)
        };
        late.retain(|guard| !is_planned(&guard.hook));
        if let Some(first) = late.first() {
            plan.late_guard.get_or_init(|| Arc::clone(&first.hook));
        }
        late
    }

    /// Returns the first enabled foreign hook that runs before a tool: it might have refused a call
    /// that cannot be parsed.
    pub fn foreign_before_tool(&self, event: HookEventName) -> Option<Arc<Hook>> {
        let hooks =
            if event.is_before_tool() { self.table().hooks(event) } else { Default::default() };
        hooks.iter().find(|hook| hook.spec.executor.foreign().is_some()).cloned()
    }

    /// Returns the first enabled hook of the event whose failure denies, regardless of its matcher.
    pub fn blocking_on_failure(&self, event: HookEventName) -> Option<Arc<Hook>> {
        let hooks = self.table().hooks(event);
        hooks.iter().find(|hook| hook.fail_behavior == FailBehavior::Block).cloned()
    }
}
