//! Workers that stand under `*` in settings, and say themselves which hooks they have (protocol.md §1,
//! "Workers"). Until one has said so, a guard blocks every event that can be blocked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::hook::Hook;
use super::made::of_declared;
use crate::event::Events;
use crate::run::{HandlerHook, Runner, Worker, undeclared};
use crate::settings::FailBehavior;

/// A worker that stands under `*`.
#[derive(Debug)]
pub struct OnEvery {
    pub(super) template: Arc<Hook>,
    /// Which of the worker's declarations is in force; none is 0.
    pub(super) in_force: AtomicU64,
    /// What is wrong with what it declared last.
    problem: Mutex<Option<String>>,
    /// The guards that it has declared so far: none of them goes because another process of the worker says
    /// nothing of it.
    guards: Mutex<Vec<HandlerHook>>,
}

impl OnEvery {
    /// What is to be declared, if something is that is not in force.
    pub(super) fn of(hooks: &[Arc<Hook>]) -> Vec<Arc<Self>> {
        let is_on = |hook: &&Arc<Hook>| hook.is_trusted() && hook.switched_off.is_empty();
        let on_every = hooks.iter().filter(|hook| hook.event.is_every()).filter(is_on);
        let known = on_every.filter(|hook| hook.worker().is_some());
        known
            .map(|hook| {
                Arc::new(Self {
                    template: Arc::clone(hook),
                    in_force: AtomicU64::new(0),
                    problem: Mutex::default(),
                    guards: Mutex::default(),
                })
            })
            .collect()
    }

    /// The worker.
    pub fn worker(&self) -> Option<&Arc<Worker>> {
        self.template.worker()
    }

    /// Whether the worker has said something that is not in force, or nothing yet.
    pub fn is_due(&self) -> bool {
        let said = self.worker().map_or(0, |worker| worker.declaration());
        said == 0 || said != self.in_force.load(Ordering::Acquire)
    }

    /// Whether its failure is a denial.
    pub fn is_guard(&self) -> bool {
        self.template.fail_behavior == FailBehavior::Block
    }

    /// Adds the guards that the worker declared before and does not any more; gives their names.
    pub fn keep_guards(&self, hooks: &mut Vec<HandlerHook>) -> Vec<String> {
        let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |one: &HandlerHook, other: &HandlerHook| {
            one.name() == other.name() && one.event() == other.event()
        };
        let missing = guards.iter().filter(|known| hooks.iter().all(|it| !is_same(it, known)));
        let missing: Vec<HandlerHook> = missing.cloned().collect();
        let names = missing.iter().map(|hook| hook.name().to_owned()).collect();
        hooks.extend(missing);
        *guards = hooks.iter().filter(|hook| hook.is_guard_of(hook.event())).cloned().collect();
        names
    }

    /// Notes what is wrong with what the worker declared, if something is.
    pub fn set_problem(&self, problem: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// What everybody should know who fires an event: that its hooks are not known, or not all of them.
    pub(super) fn notice(&self) -> Option<String> {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let worker = self.worker()?;
        let unknown = || (worker.declaration() == 0).then(|| worker.status().failure).flatten();
        let broken = || worker.broken().map(|why| why.to_string());
        problem.or_else(broken).or_else(unknown).map(|text| self.template.says(&text))
    }

    /// What it is shown as.
    pub fn name(&self) -> &str {
        self.template.display_name()
    }

    /// A hook as the worker declared it, with what settings say where it says nothing itself.
    pub fn complete(&self, hook: HandlerHook, says_fail_behavior: bool) -> HandlerHook {
        let hook = match says_fail_behavior {
            true => hook,
            false => hook.fail_behavior(self.template.fail_behavior),
        };
        match hook.has_timeout() {
            true => hook,
            false => hook.timeout(self.template.timeout),
        }
    }

    /// The hooks of the engine for these.
    pub(super) fn hooks(&self, declared: &[HandlerHook], runner: &Runner) -> Vec<Arc<Hook>> {
        let hooks = declared.iter().map(|hook| Arc::new(of_declared(hook, &self.template, runner)));
        hooks.collect()
    }
}

/// What blocks in the place of guards that are not known: on every event where a block means something.
/// With `has_guard` one is among the worker's hooks, whatever settings say of it.
pub(super) fn stand_ins(template: &Arc<Hook>, events: &Events, has_guard: bool) -> Vec<Arc<Hook>> {
    if template.fail_behavior != FailBehavior::Block && !has_guard {
        return Vec::new();
    }
    let blockable = events.all().filter(|event| event.row().block_means.is_some());
    blockable
        .map(|event| {
            let executor = match template.worker() {
                Some(worker) => undeclared(template.executor.label(), worker),
                None => Arc::clone(&template.executor),
            };
            Arc::new(template.on_event(event, executor))
        })
        .collect()
}
