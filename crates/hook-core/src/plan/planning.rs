//! The hooks that an event runs, with their groups and order (protocol.md §2, "Plan").

use std::sync::Arc;

use super::groups::{Plan, PlannedHook};
use super::hook::Hook;
use super::registry::HookRegistry;
use super::selection::Selection;
use super::table::Remembered;
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

    /// Returns the guards that did not match the original input, but match the changed one.
    pub fn late_guards(&self, plan: &Plan, changed: &EventInput) -> Vec<PlannedHook> {
        let input = MatchInput::of_event(HookInput::new(changed.clone()));
        let facts = Facts::of(&input, self.surroundings());
        let matched = plan.unmatched_guards.iter().map(|it| it.clone().asked(&facts));
        let mut late = Selection::of(matched).planned;
        // The same guard may be planned already under another matcher.
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

    /// Returns the first enabled foreign hook that runs before a tool: it might have refused a call
    /// that cannot be parsed.
    #[doc(hidden)]
    pub fn foreign_before_a_tool(&self, event: HookEventName) -> Option<Arc<Hook>> {
        let hooks =
            if event.is_before_a_tool() { self.table().hooks(event) } else { Default::default() };
        hooks.iter().find(|hook| hook.spec.executor.home().is_some()).cloned()
    }

    /// Returns the first enabled hook of the event whose failure denies, regardless of its matcher.
    #[doc(hidden)]
    pub fn blocking_on_failure(&self, event: HookEventName) -> Option<Arc<Hook>> {
        let hooks = self.table().hooks(event);
        hooks.iter().find(|hook| hook.fail_behavior == FailBehavior::Block).cloned()
    }
}
