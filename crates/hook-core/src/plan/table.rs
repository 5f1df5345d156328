//! The enabled hooks by event, with cached plans.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::groups::{Plan, PlannedHook};
use super::hook::Hook;
use super::selection::Selection;
use hook_protocol::event::input::MAX_TOOL_NAME;
use hook_protocol::event::{ByEvent, HookEventName};

/// The number of plans cached per event. Tools have few names; beyond this number the cache is
/// cleared.
const MAX_CACHED_PLANS: usize = 1_024;

/// The enabled hooks by event, with cached plans. The cost of adding a hook does not depend on the
/// number of hooks of other events.
#[derive(Debug)]
pub(super) struct PlanTable {
    events: RwLock<ByEvent<EventPlans>>,
}

/// Shared with concurrent planners; a change made meanwhile copies the data.
#[derive(Debug, Default, Clone)]
struct EventPlans {
    hooks: Arc<Vec<Arc<Hook>>>,
    cache: Arc<PlanCache>,
}

/// The plans of one event, valid while its hooks stay the same.
#[derive(Debug, Default)]
struct PlanCache {
    without_subject: OnceLock<CachedPlan>,
    by_subject: Mutex<HashMap<Box<str>, CachedPlan>>,
}

/// The cached result for one subject.
#[derive(Debug, Clone)]
pub(super) enum CachedPlan {
    /// A plan that fits every request.
    Plan(Arc<Plan>),
    /// The hooks whose matchers match the subject, some of which must also match the input. They
    /// are matched before duplicates are removed: a hook runs if any of its matchers matches.
    Candidates(Arc<[PlannedHook]>),
}

impl PlanTable {
    pub(super) fn new(hooks: Vec<Arc<Hook>>) -> Self {
        Self { events: RwLock::new(by_event(hooks)) }
    }

    /// Replaces all hooks.
    pub(super) fn replace(&self, hooks: Vec<Arc<Hook>>) {
        *self.write() = by_event(hooks);
    }

    /// Adds a hook behind all others of its event.
    pub(super) fn add(&self, hook: Arc<Hook>) {
        let mut events = self.write();
        let plans = events.get_or_default(hook.event);
        Arc::make_mut(&mut plans.hooks).push(hook);
        plans.cache = Arc::default();
    }

    /// Removes a hook.
    pub(super) fn remove(&self, hook: &Arc<Hook>) {
        let mut events = self.write();
        let plans = events.get_or_default(hook.event);
        let hooks = Arc::make_mut(&mut plans.hooks);
        // Hooks that come and go are at the end.
        if let Some(index) = hooks.iter().rposition(|known| Arc::ptr_eq(known, hook)) {
            hooks.remove(index);
        }
        plans.cache = Arc::default();
    }

    /// The hooks of an event that are on, in run order.
    pub(super) fn hooks(&self, event: HookEventName) -> Arc<Vec<Arc<Hook>>> {
        self.read().get(event).map(|plans| Arc::clone(&plans.hooks)).unwrap_or_default()
    }

    pub(super) fn cached_plan(&self, event: HookEventName, subject: Option<&str>) -> CachedPlan {
        let events = self.read();
        let Some(plans) = events.get(event) else { return compute_plan(event, &[], subject) };
        if let Some(cached) = plans.cache.get(subject) {
            return cached;
        }
        let plans = plans.clone();
        drop(events);
        let plan = compute_plan(event, &plans.hooks, subject);
        plans.cache.insert(subject, &plan);
        plan
    }

    fn read(&self) -> RwLockReadGuard<'_, ByEvent<EventPlans>> {
        self.events.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, ByEvent<EventPlans>> {
        self.events.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn by_event(hooks: Vec<Arc<Hook>>) -> ByEvent<EventPlans> {
    let mut events: ByEvent<EventPlans> = ByEvent::default();
    for hook in hooks {
        Arc::make_mut(&mut events.get_or_default(hook.event).hooks).push(hook);
    }
    events
}

impl PlanCache {
    fn get(&self, subject: Option<&str>) -> Option<CachedPlan> {
        match subject {
            None => self.without_subject.get().cloned(),
            Some(subject) => self.by_subject().get(subject).cloned(),
        }
    }

    fn insert(&self, subject: Option<&str>, plan: &CachedPlan) {
        let Some(subject) = subject else {
            // Another thread may have set the same plan meanwhile.
            let _ = self.without_subject.set(plan.clone());
            return;
        };
        // Tool names are short; longer subjects may have any length and are not cached.
        if subject.len() > MAX_TOOL_NAME {
            return;
        }
        let mut by_subject = self.by_subject();
        if by_subject.len() >= MAX_CACHED_PLANS {
            by_subject.clear();
        }
        by_subject.insert(subject.into(), plan.clone());
    }

    fn by_subject(&self) -> std::sync::MutexGuard<'_, HashMap<Box<str>, CachedPlan>> {
        self.by_subject.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the plan or the candidates of an event's hooks, in run order, for a subject.
fn compute_plan(event: HookEventName, hooks: &[Arc<Hook>], subject: Option<&str>) -> CachedPlan {
    let candidates = hooks.iter().filter_map(|hook| PlannedHook::of(hook, subject));
    let candidates: Vec<PlannedHook> = candidates.collect();
    match candidates.iter().any(|candidate| candidate.hook.matcher.has_conditions()) {
        true => CachedPlan::Candidates(candidates.into()),
        false => {
            let selection = Selection::of(candidates.into_iter().map(Some));
            CachedPlan::Plan(selection.into_plan(event, Vec::new()))
        }
    }
}
