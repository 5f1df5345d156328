//! Workers that stand under `*` in settings, and say themselves which hooks they have (protocol.md §1,
//! "Workers"). Until one has said so, a guard blocks every event that can be blocked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::hook::Hook;
use super::made::of_declared;
use crate::event::{Events, HookEventName};
use crate::run::{Declared, HandlerHook, Runner, Worker, WorkerHook, undeclared};
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
    /// Those among these hooks that may run, also those that are off: they can be switched on.
    pub(super) fn of(hooks: &[Arc<Hook>]) -> Vec<Arc<Self>> {
        let on_every = hooks.iter().filter(|hook| hook.event.is_every() && hook.is_trusted());
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

    /// The hook that it is in settings.
    pub fn hook(&self) -> &Arc<Hook> {
        &self.template
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

    /// What its worker has declared that is its own: all of it, but where it is a module among others.
    pub fn own<'d>(&self, declared: &'d Declared) -> (Vec<&'d WorkerHook>, Option<&'d str>) {
        let Some(path) = self.template.module() else {
            return (declared.hooks.iter().collect(), None);
        };
        let path = path.to_str();
        let hooks = declared.hooks.iter().filter(|hook| hook.module.as_deref() == path);
        let module = declared.modules.iter().find(|module| Some(&*module.path) == path);
        let error =
            module.map_or(Some("the module host said nothing of it"), |it| it.error.as_deref());
        (hooks.collect(), error)
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

    /// What is wrong with what the worker declared, if something is.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What everybody should know who fires an event: that its hooks are not known, or not all of them.
    pub(super) fn notice(&self) -> Option<String> {
        let problem = self.problem();
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
    pub fn complete(&self, hook: HandlerHook) -> HandlerHook {
        let hook = match hook.has_fail_behavior() {
            true => hook,
            false => hook.fail_behavior(self.template.fail_behavior),
        };
        let hook = match self.template.module() {
            // Handlers run in the order of modules, at the place of their module.
            Some(_) => hook.priority(self.template.priority).in_turn(),
            None => hook,
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
/// With `has_guard` one is among the worker's hooks, whatever settings say of it. Whether a module has a
/// guard is not known either, but those that are guards by themselves stand before tools.
/// `problem` is what is wrong with what it has declared.
pub(super) fn stand_ins(
    template: &Arc<Hook>,
    events: &Events,
    has_guard: bool,
    problem: Option<&str>,
) -> Vec<Arc<Hook>> {
    let guards_all = template.fail_behavior == FailBehavior::Block || has_guard;
    let may_guard = |event: &HookEventName| {
        guards_all || template.module().is_some() && *event == HookEventName::BeforeTool
    };
    let problem = problem.map(|problem| match template.module() {
        Some(_) => format!("it is not loaded, and may have a guard: {problem}"),
        None => format!("what the worker says of its hooks cannot be understood: {problem}"),
    });
    let problem = problem.as_deref();
    let blockable = events.all().filter(|event| event.row().block_means.is_some());
    let blockable = blockable.filter(may_guard);
    blockable
        .map(|event| {
            let executor = match template.worker() {
                Some(worker) => undeclared(template.executor.label(), worker, problem),
                None => Arc::clone(&template.executor),
            };
            Arc::new(template.on_event(event, executor))
        })
        .collect()
}
