//! Planning: which hooks an event runs, in which groups and order (protocol.md §2, "Plan").

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::event::{ByEvent, EventPayload, HookEventName};
use crate::input::MAX_TOOL_NAME;
use crate::matcher::MatchOutcome;
use crate::registry::{Hook, HookRegistry};
use crate::runner::HookKind;
use crate::settings::FailBehavior;
use crate::text::shortened;

/// How many plans are remembered per event. Tools have few names; with more
/// than this many, plans are made again.
const REMEMBERED_PLANS: usize = 1_024;

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
    fn of(event: HookEventName, selection: Selection) -> Self {
        let groups = selection.groups();
        Self { event, hooks: selection.planned, groups }
    }

    /// Whether no hook runs.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Whether all hooks are functions that run where the event is served.
    pub fn is_inline(&self) -> bool {
        self.hooks.iter().all(|planned| planned.hook.kind() == HookKind::Inline)
    }

    /// The first hook whose failure is a denial.
    pub fn blocking_on_failure(&self) -> Option<&Hook> {
        let mut hooks = self.hooks.iter().map(|planned| &*planned.hook);
        hooks.find(|hook| hook.fail_behavior == FailBehavior::Block)
    }

    /// The hooks of a group, with their places in the plan.
    pub(crate) fn hooks_of(
        &self,
        group: &Group,
    ) -> impl DoubleEndedIterator<Item = (usize, &PlannedHook)> {
        let hooks = self.hooks.get(group.hooks.clone()).unwrap_or_default();
        group.hooks.clone().zip(hooks)
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

    /// The plan for a payload. Plans are remembered until a hook is switched on or off, so an
    /// event costs one look-up, however many hooks are registered.
    pub fn plan(&self, payload: &EventPayload) -> Arc<Plan> {
        self.registry.table().plan(payload.event(), payload.match_subject())
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
        let table = self.registry.table();
        let mut hooks = table.hooks(event).iter();
        hooks.find(|hook| hook.fail_behavior == FailBehavior::Block).cloned()
    }
}

/// The hooks that are on, by event, with the plans made so far.
#[derive(Debug)]
pub(crate) struct PlanTable {
    events: ByEvent<EventPlans>,
}

#[derive(Debug, Default)]
struct EventPlans {
    hooks: Vec<Arc<Hook>>,
    without_subject: std::sync::OnceLock<Arc<Plan>>,
    by_subject: Mutex<HashMap<Box<str>, Arc<Plan>>>,
}

impl PlanTable {
    pub(crate) fn new(hooks: Vec<Arc<Hook>>) -> Self {
        let mut events: ByEvent<EventPlans> = ByEvent::default();
        for hook in hooks {
            events.of(hook.event).hooks.push(hook);
        }
        Self { events }
    }

    /// The hooks of an event that are on, in run order.
    pub(crate) fn hooks(&self, event: HookEventName) -> &[Arc<Hook>] {
        self.events.get(event).map_or(&[], |plans| &plans.hooks)
    }

    fn plan(&self, event: HookEventName, subject: Option<&str>) -> Arc<Plan> {
        let Some(plans) = self.events.get(event) else { return make_plan(event, &[], subject) };
        let Some(subject) = subject else {
            let plan = plans.without_subject.get_or_init(|| make_plan(event, &plans.hooks, None));
            return Arc::clone(plan);
        };
        let remembered = || plans.by_subject.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = remembered().get(subject) {
            return Arc::clone(plan);
        }
        let plan = make_plan(event, &plans.hooks, Some(subject));
        // Most names of tools are short, and what is long may be long beyond measure.
        if subject.len() > MAX_TOOL_NAME {
            return plan;
        }
        let mut remembered = remembered();
        if remembered.len() >= REMEMBERED_PLANS {
            remembered.clear();
        }
        remembered.insert(subject.into(), Arc::clone(&plan));
        plan
    }
}

fn make_plan(event: HookEventName, hooks: &[Arc<Hook>], subject: Option<&str>) -> Arc<Plan> {
    Arc::new(Plan::of(event, Selection::of(hooks, subject)))
}

/// What matching, identity and priority make of an event's hooks: behind every plan, and behind
/// every explanation of one.
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
    pub(crate) fn of(hooks: &[Arc<Hook>], subject: Option<&str>) -> Self {
        let mut planned: Vec<PlannedHook> = Vec::new();
        let mut places = Vec::with_capacity(hooks.len());
        let mut sequential = BTreeMap::new();
        let mut known = HashMap::new();
        for hook in hooks {
            let warning = match hook.matcher.matches(subject) {
                MatchOutcome::No => {
                    places.push(None);
                    continue;
                }
                MatchOutcome::Yes => None,
                MatchOutcome::GaveUp => Some(format!(
                    "matching `{}` took too many steps and counts as a match; simplify the matcher",
                    shortened(hook.matcher.text().unwrap_or_default())
                )),
            };
            if hook.sequential {
                sequential.entry(hook.priority).or_insert_with(|| Arc::clone(hook));
            }
            let candidate = PlannedHook { hook: Arc::clone(hook), warning };
            let place = match hook.identity() {
                Some(identity) => *known.entry(identity).or_insert(planned.len()),
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

    fn groups(&self) -> Vec<Group> {
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
