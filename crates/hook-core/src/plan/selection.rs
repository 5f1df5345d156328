//! Selection of an event's hooks by matcher and identity.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use super::groups::{Group, Plan, PlannedHook};
use super::hook::Hook;
use hook_json::text::shortened;
use hook_protocol::event::HookEventName;
use hook_settings::FailBehavior;
use hook_settings::matcher::{Facts, FilterOutcome, HostDirectories, MatchInput, MatchOutcome};

impl PlannedHook {
    /// Returns the hook if its matcher matches the subject.
    pub(super) fn of(hook: &Arc<Hook>, subject: Option<&str>) -> Option<Self> {
        let warning = match hook.matcher.matches(subject) {
            MatchOutcome::No => return None,
            MatchOutcome::Yes => None,
            MatchOutcome::GaveUp => Some(format!(
                "matching `{}` took too many steps and counts as a match; simplify the matcher",
                shortened(hook.matcher.text().unwrap_or_default())
            )),
        };
        Some(Self { hook: Arc::clone(hook), warning })
    }

    /// Returns the hook if its matcher also matches the input.
    pub(crate) fn if_input_matches(mut self, facts: &Facts<'_>) -> Option<Self> {
        match self.hook.matcher.check(facts) {
            FilterOutcome::Yes => {}
            FilterOutcome::GaveUp(why) => drop(self.warning.get_or_insert(why)),
            FilterOutcome::No(_) => return None,
        }
        Some(self)
    }
}

/// The selected hooks of an event, used by plans and explanations.
#[derive(Debug)]
pub(super) struct Selection {
    /// The hooks that run, in plan order.
    pub(super) planned: Vec<PlannedHook>,
    /// For each hook, the index of its copy in the plan; `None` if its matcher does not match.
    pub(super) plan_indices: Vec<Option<usize>>,
    /// For each sequential priority, the first hook that is `sequential`.
    pub(super) sequential: BTreeMap<i32, Arc<Hook>>,
}

impl Selection {
    /// Matches the hooks of one event against an input.
    pub(super) fn matching(
        hooks: &[Arc<Hook>],
        input: &MatchInput,
        surroundings: &HostDirectories,
    ) -> Self {
        let facts = Facts::of(input, surroundings);
        let matched = |hook| PlannedHook::of(hook, input.subject())?.if_input_matches(&facts);
        Self::of(hooks.iter().map(matched))
    }

    /// Selects from hooks that match; `None` marks one that does not match.
    pub(super) fn of(matched: impl Iterator<Item = Option<PlannedHook>>) -> Self {
        let matched: Vec<Option<PlannedHook>> = matched.collect();
        let mut planned: Vec<PlannedHook> = Vec::new();
        let mut plan_indices = Vec::with_capacity(matched.len());
        let mut sequential = BTreeMap::new();
        let mut known = HashMap::new();
        for candidate in &matched {
            let Some(candidate) = candidate else {
                plan_indices.push(None);
                continue;
            };
            let hook = &candidate.hook;
            if hook.sequential {
                sequential.entry(hook.priority).or_insert_with(|| Arc::clone(hook));
            }
            let candidate = candidate.clone();
            let index = match hook.dedup_key() {
                Some(key) => *known.entry(key).or_insert(planned.len()),
                None => planned.len(),
            };
            plan_indices.push(Some(index));
            // Duplicates run once, at the position of the first. The copy of the most trusted
            // source runs; among equals, guards come first, then foreground hooks.
            let strength = |hook: &Hook| {
                let guards = hook.fail_behavior == FailBehavior::Block;
                (hook.source.trust_rank(), guards, !hook.runs_in_background())
            };
            match planned.get_mut(index) {
                None => planned.push(candidate),
                Some(first) if strength(hook) > strength(&first.hook) => *first = candidate,
                Some(_) => {}
            }
        }
        let mut selection = Self { planned, plan_indices, sequential };
        selection.sort();
        selection
    }

    /// Sorts the hooks by priority, with those that run in turn last; equal ones keep their order.
    fn sort(&mut self) {
        let sort_key = |planned: &PlannedHook| (planned.hook.priority, planned.hook.in_turn);
        if self.planned.is_sorted_by_key(sort_key) {
            return;
        }
        let hooks = std::mem::take(&mut self.planned);
        let mut sorted: Vec<(usize, PlannedHook)> = hooks.into_iter().enumerate().collect();
        sorted.sort_by_key(|(_, planned)| sort_key(planned));
        let mut moved = vec![0; sorted.len()];
        for (new, (old, _)) in sorted.iter().enumerate() {
            moved[*old] = new;
        }
        for index in self.plan_indices.iter_mut().flatten() {
            *index = moved[*index];
        }
        self.planned = sorted.into_iter().map(|(_, planned)| planned).collect();
    }

    /// Returns the plan of an event. A changed input might match `unmatched_guards`.
    pub(super) fn into_plan(
        self,
        event: HookEventName,
        unmatched_guards: Vec<PlannedHook>,
    ) -> Arc<Plan> {
        Arc::new(Plan {
            event,
            groups: self.groups(),
            hooks: self.planned,
            unmatched_guards,
            late_guard: OnceLock::new(),
        })
    }

    /// Returns the groups of the hooks that run.
    pub(super) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (index, planned) in self.planned.iter().enumerate() {
            let priority = planned.hook.priority;
            match groups.last_mut() {
                Some(last)
                    if last.priority == priority
                        && !planned.hook.in_turn
                        && !self.sequential.contains_key(&priority) =>
                {
                    last.hooks.end = index + 1;
                }
                _ => groups.push(Group { priority, hooks: index..index + 1 }),
            }
        }
        groups
    }
}
