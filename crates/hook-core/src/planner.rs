//! Planning: which hooks an event runs, in which groups and order (protocol.md §2, "Plan").

mod table;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::event::HookEventName;
use crate::input::{EventInput, HostContext, RequestInput};
use crate::matcher::{Facts, FilterOutcome, MatchInput, MatchOutcome, Surroundings};
use crate::registry::{Hook, HookRegistry};
use crate::runner::HookKind;
use crate::settings::FailBehavior;
use crate::text::shortened;
pub(crate) use table::PlanTable;
use table::Remembered;

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
    unmatched_guards: Vec<PlannedHook>,
    /// One of these that is asked after all.
    late_guard: OnceLock<Arc<Hook>>,
}

/// Hooks that run at once, each told what the groups before changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The priority of its hooks. A `sequential` priority has a group for each of its hooks.
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

    /// Whether the plan has guards that another input would have to be shown.
    pub(crate) fn has_unmatched_guards(&self) -> bool {
        !self.unmatched_guards.is_empty()
    }
}

/// Finds the hooks for events.
#[derive(Debug)]
pub struct Planner {
    registry: Arc<HookRegistry>,
}

impl Planner {
    /// Plans from what is registered.
    pub fn new(registry: Arc<HookRegistry>) -> Self {
        Self { registry }
    }

    /// The plan for a request. Plans are remembered until a hook is switched on or off, so an
    /// event costs one look-up, however many hooks are registered; but where a matcher of the event
    /// asks about paths or commands, each request is looked at. `host` says where the agent works,
    /// if the request does not.
    pub fn plan(&self, input: &RequestInput, host: &HostContext) -> Arc<Plan> {
        let event = input.event();
        match self.registry.table().remembered(event, input.payload.match_subject()) {
            Remembered::Plan(plan) => plan,
            Remembered::Candidates(candidates) => {
                let input = MatchInput::of(input, host);
                let facts = Facts::of(&input, self.registry.surroundings());
                let asked: Vec<_> = candidates.iter().map(|it| it.clone().asked(&facts)).collect();
                let is_guard = |it: &PlannedHook| it.hook.fail_behavior == FailBehavior::Block;
                let unmatched = candidates.iter().zip(&asked).filter(|(_, asked)| asked.is_none());
                let unmatched = unmatched.map(|(candidate, _)| candidate);
                let unmatched_guards = unmatched.filter(|it| is_guard(it)).cloned().collect();
                to_plan(event, Selection::of(asked.into_iter()), unmatched_guards)
            }
        }
    }

    /// The guards that were not asked about the input as it came, and that match what hooks made of
    /// it.
    pub(crate) fn late_guards(&self, plan: &Plan, changed: &EventInput) -> Vec<PlannedHook> {
        let input = MatchInput::of_event(changed);
        let facts = Facts::of(&input, self.registry.surroundings());
        let matched = plan.unmatched_guards.iter().map(|it| it.clone().asked(&facts));
        let mut late = Selection::of(matched).planned;
        // The same hook under another matcher is asked already.
        let is_planned = |hook: &Hook| {
            let key = hook.dedup_key();
            key.is_some() && plan.hooks.iter().any(|it| it.hook.dedup_key() == key)
        };
        late.retain(|it| !is_planned(&it.hook));
        if let Some(first) = late.first() {
            plan.late_guard.get_or_init(|| Arc::clone(&first.hook));
        }
        late
    }

    /// Switches every hook of that name (or, where a hook has none, command) on or off. Gives how
    /// many hooks have it.
    ///
    /// This changes what this planner plans, and nothing else: a hook system has another planner
    /// after a reload, and carries over what `HookSystem::set_hook_enabled` switched.
    pub fn set_enabled(&self, name: &str, enabled: bool) -> usize {
        self.registry.set_enabled(name, enabled)
    }

    /// The first running hook of the event whose failure is a denial, whatever it matches.
    pub fn blocking_on_failure(&self, event: HookEventName) -> Option<Arc<Hook>> {
        let hooks = self.registry.table().hooks(event);
        hooks.iter().find(|hook| hook.fail_behavior == FailBehavior::Block).cloned()
    }
}

/// What the hooks of an event, in run order, make of that subject.
fn remember(event: HookEventName, hooks: &[Arc<Hook>], subject: Option<&str>) -> Remembered {
    let candidates = hooks.iter().filter_map(|hook| PlannedHook::of(hook, subject));
    let candidates: Vec<PlannedHook> = candidates.collect();
    match candidates.iter().any(|it| it.hook.matcher.filter().is_some()) {
        true => Remembered::Candidates(candidates.into()),
        false => {
            let selection = Selection::of(candidates.into_iter().map(Some));
            Remembered::Plan(to_plan(event, selection, Vec::new()))
        }
    }
}

fn to_plan(
    event: HookEventName,
    selection: Selection,
    unmatched_guards: Vec<PlannedHook>,
) -> Arc<Plan> {
    Arc::new(Plan {
        event,
        groups: selection.groups(),
        hooks: selection.planned,
        unmatched_guards,
        late_guard: OnceLock::new(),
    })
}

impl PlannedHook {
    /// The hook, if its matcher matches the subject.
    fn of(hook: &Arc<Hook>, subject: Option<&str>) -> Option<Self> {
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

    /// The hook, if its matcher matches the input, too.
    fn asked(mut self, facts: &Facts<'_>) -> Option<Self> {
        match self.hook.matcher.filter().map(|filter| filter.ask(facts)) {
            None | Some(FilterOutcome::Yes) => {}
            Some(FilterOutcome::GaveUp(why)) => drop(self.warning.get_or_insert(why)),
            Some(FilterOutcome::No(_)) => return None,
        }
        Some(self)
    }
}

/// What matching and identity make of an event's hooks: behind every plan, and behind every
/// explanation of one.
#[derive(Debug)]
pub(crate) struct Selection {
    /// The hooks that run, in plan order.
    pub(crate) planned: Vec<PlannedHook>,
    /// For each hook its place in the plan, where it or the same hook of another source runs;
    /// `None` where its matcher does not match.
    pub(crate) places: Vec<Option<usize>>,
    /// For each priority with one, the first hook that has its hooks run one after the other.
    pub(crate) sequential: BTreeMap<i32, Arc<Hook>>,
}

impl Selection {
    /// Matches these hooks of one event with an input.
    pub(crate) fn matching(
        hooks: &[Arc<Hook>],
        input: &MatchInput,
        surroundings: &Surroundings,
    ) -> Self {
        let facts = Facts::of(input, surroundings);
        let matched = |hook| PlannedHook::of(hook, input.subject())?.asked(&facts);
        Self::of(hooks.iter().map(matched))
    }

    /// Of hooks that match, or `None` in the place of one that does not.
    fn of(matched: impl Iterator<Item = Option<PlannedHook>>) -> Self {
        let matched: Vec<Option<PlannedHook>> = matched.collect();
        let mut planned: Vec<PlannedHook> = Vec::new();
        let mut places = Vec::with_capacity(matched.len());
        let mut sequential = BTreeMap::new();
        let mut known = HashMap::new();
        for candidate in &matched {
            let Some(candidate) = candidate else {
                places.push(None);
                continue;
            };
            let hook = &candidate.hook;
            if hook.sequential {
                sequential.entry(hook.priority).or_insert_with(|| Arc::clone(hook));
            }
            let candidate = candidate.clone();
            let place = match hook.dedup_key() {
                Some(key) => *known.entry(key).or_insert(planned.len()),
                None => planned.len(),
            };
            places.push(Some(place));
            // The same hook twice runs once, at the first place, as the most trusted wrote it.
            match planned.get_mut(place) {
                None => planned.push(candidate),
                Some(first) if hook.source.trust_rank() > first.hook.source.trust_rank() => {
                    *first = candidate;
                }
                Some(_) => {}
            }
        }
        let mut selection = Self { planned, places, sequential };
        selection.sort();
        selection
    }

    /// Brings the hooks into the order of their priorities; equal ones stay as they are.
    fn sort(&mut self) {
        if self.planned.is_sorted_by_key(|planned| planned.hook.priority) {
            return;
        }
        let hooks = std::mem::take(&mut self.planned);
        let mut sorted: Vec<(usize, PlannedHook)> = hooks.into_iter().enumerate().collect();
        sorted.sort_by_key(|(_, planned)| planned.hook.priority);
        let mut moved = vec![0; sorted.len()];
        for (new, (old, _)) in sorted.iter().enumerate() {
            moved[*old] = new;
        }
        for place in self.places.iter_mut().flatten() {
            *place = moved[*place];
        }
        self.planned = sorted.into_iter().map(|(_, planned)| planned).collect();
    }

    /// The groups of the hooks that run.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (place, planned) in self.planned.iter().enumerate() {
            let priority = planned.hook.priority;
            match groups.last_mut() {
                Some(last)
                    if last.priority == priority && !self.sequential.contains_key(&priority) =>
                {
                    last.hooks.end = place + 1;
                }
                _ => groups.push(Group { priority, hooks: place..place + 1 }),
            }
        }
        groups
    }
}
