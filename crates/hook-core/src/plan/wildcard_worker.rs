//! Workers registered under `*` in settings, which declare their hooks themselves (reference/settings.md,
//! "Workers"). Until one has declared them, a guard blocks every event that can be blocked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::hook::Hook;
use super::hook_factory::declared_hook;
use hook_protocol::event::{Events, HookEventName};
use hook_run::{HandlerHook, Runner, Worker, WorkerDeclaration, WorkerHook, undeclared_hooks};
use hook_settings::FailBehavior;

/// A worker registered under `*`.
#[derive(Debug)]
pub struct WildcardWorker {
    pub(super) template: Arc<Hook>,
    /// The number of the effective declaration; 0 if there is none.
    pub(super) effective: AtomicU64,
    /// The problem with its last declaration.
    problem: Mutex<Option<String>>,
    /// The guards that it has declared so far. A guard stays even if another process of the worker
    /// does not declare it.
    guards: Mutex<Vec<HandlerHook>>,
}

impl WildcardWorker {
    /// Returns the trusted workers among the hooks, including disabled ones.
    pub(super) fn of(hooks: &[Arc<Hook>]) -> Vec<Arc<Self>> {
        let wildcard = hooks.iter().filter(|hook| hook.event.is_wildcard() && hook.is_trusted());
        let workers = wildcard.filter(|hook| hook.worker().is_some());
        workers
            .map(|hook| {
                Arc::new(Self {
                    template: Arc::clone(hook),
                    effective: AtomicU64::new(0),
                    problem: Mutex::default(),
                    guards: Mutex::default(),
                })
            })
            .collect()
    }

    /// Returns the hook as registered in settings.
    pub fn hook(&self) -> &Arc<Hook> {
        &self.template
    }

    /// Returns the worker.
    pub fn worker(&self) -> Option<&Arc<Worker>> {
        self.template.worker()
    }

    /// Returns `true` if the worker has no declaration yet, or one that is not in effect.
    pub(crate) fn is_due(&self) -> bool {
        let declaration = self.worker().map_or(0, |worker| worker.declaration_number());
        declaration == 0 || declaration != self.effective.load(Ordering::Acquire)
    }

    /// Returns the declared hooks that belong to this entry, and its load error. A module has a
    /// part of them, any other worker all.
    pub fn own_hooks<'d>(
        &self,
        declared: &'d WorkerDeclaration,
    ) -> (Vec<&'d WorkerHook>, Option<&'d str>) {
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

    /// Returns `true` if its failure denies.
    pub fn is_guard(&self) -> bool {
        self.template.fail_behavior == FailBehavior::Block
    }

    /// Adds the guards that the worker declared before but not now; returns their names.
    pub fn keep_guards(&self, hooks: &mut Vec<HandlerHook>) -> Vec<String> {
        let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |one: &HandlerHook, other: &HandlerHook| {
            one.name() == other.name() && one.event() == other.event()
        };
        let missing = guards.iter().filter(|known| hooks.iter().all(|hook| !is_same(hook, known)));
        let missing: Vec<HandlerHook> = missing.cloned().collect();
        let names = missing.iter().map(|hook| hook.name().to_owned()).collect();
        hooks.extend(missing);
        *guards = hooks.iter().filter(|hook| hook.is_guard_of(hook.event())).cloned().collect();
        names
    }

    /// Sets or clears the problem with the worker's declaration.
    pub fn set_problem(&self, problem: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// Returns the problem with the worker's declaration.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the warning for every event if its hooks are unknown or incomplete.
    pub(crate) fn notice(&self) -> Option<String> {
        let problem = self.problem();
        let worker = self.worker()?;
        let unknown =
            || (worker.declaration_number() == 0).then(|| worker.status().failure).flatten();
        let broken = || worker.broken().map(|why| why.to_string());
        problem.or_else(broken).or_else(unknown).map(|text| self.template.format_warning(&text))
    }

    /// Returns the display name.
    pub fn name(&self) -> &str {
        self.template.display_name()
    }

    /// Fills in what a declared hook leaves out, from the settings.
    pub fn complete(&self, hook: HandlerHook) -> HandlerHook {
        let hook = match hook.has_fail_behavior() {
            true => hook,
            false => hook.fail_behavior(self.template.fail_behavior),
        };
        let hook = match self.template.module() {
            // Handlers run with the priority of their module, in the order of modules.
            Some(_) => hook.priority(self.template.priority).in_turn(),
            None => hook,
        };
        match hook.has_timeout() {
            true => hook,
            false => hook.timeout(self.template.timeout),
        }
    }

    /// Creates the engine's hooks from the declared ones.
    pub(super) fn hooks(&self, declared: &[HandlerHook], runner: &Runner) -> Vec<Arc<Hook>> {
        let hooks =
            declared.iter().map(|hook| Arc::new(declared_hook(hook, &self.template, runner)));
        hooks.collect()
    }
}

/// Returns hooks that block in place of unknown guards, on every event that can be blocked.
/// `has_guard` is set if the worker has a guard, regardless of its settings. Any other unloaded
/// module blocks only before tools. `problem` is the problem with the declaration.
pub(super) fn placeholders(
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
                Some(worker) => undeclared_hooks(template.executor.label(), worker, problem),
                None => Arc::clone(&template.executor),
            };
            Arc::new(template.placeholder_for(event, executor))
        })
        .collect()
}
