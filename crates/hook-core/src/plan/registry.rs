//! The registry: built once from settings and the host's handlers, it lists hooks and enables or
//! disables them by name.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::compiled_rules::CompiledRules;
use super::explain::{Explanation, NotRun, explain};
use super::hook::Hook;
use super::hook_factory::{HookFactory, handler_hook, missing_guard_hook};
use super::notices::{lost_guards, notices, settings_errors};
use super::shadowed::shadowed;
use super::switched_off::SwitchedOff;
use super::switches::{Disabled, disabled_by, is_on};
use super::table::PlanTable;
use super::trust_decisions::TrustDecisions;
use super::wildcard_worker::{WildcardWorker, placeholders};
use hook_json::text::shortened;
use hook_protocol::event::{ByEvent, EventDefinition, Events, HookEventName, WILDCARD};
use hook_run::{HandlerHook, Runner};
use hook_settings::matcher::{HostDirectories, MatchInput};
use hook_settings::{
    Agents, Diagnostic, FailBehavior, HookSource, MatcherDefinition, PROJECT_RULES, Rule, RuleSet,
    SettingsFile, excepted_rules,
};
use hook_trust::TrustPolicy;

/// An entry of the list of hooks.
#[derive(Debug, Clone)]
pub struct HookListing {
    /// The hook.
    pub hook: Arc<Hook>,
    /// `true` if it runs for its event.
    pub enabled: bool,
    /// `true` if it is trusted; only hooks of a project can be untrusted.
    pub trusted: bool,
    /// The settings that disable it, or the host at run time.
    pub disabled_by: Vec<SwitchedOff>,
}

/// All hooks, with their state.
#[derive(Debug)]
pub struct HookRegistry {
    hooks: Vec<Arc<Hook>>,
    /// The hooks of declared events.
    on_declared: Vec<Arc<Hook>>,
    diagnostics: Vec<Diagnostic>,
    /// Errors that prevented reading a file whose hooks may run.
    unread: Vec<Diagnostic>,
    /// Errors that make hooks of the settings unavailable, limited in number.
    settings_errors: Vec<String>,
    /// Trusted guards that settings no longer contain, or that they disable.
    lost_guards: Vec<String>,
    /// Warnings for every caller that fires an event, by event.
    notices: ByEvent<Vec<String>>,
    /// The hooks that call a worker, by event.
    worker_hooks: ByEvent<Vec<Arc<Hook>>>,
    /// The base directories of relative paths.
    surroundings: HostDirectories,
    state: RwLock<State>,
    /// Workers that declare their hooks themselves.
    wildcard_workers: Vec<Arc<WildcardWorker>>,
    /// `true` if guards of departed clients are known; avoids taking the lock otherwise.
    has_lost: AtomicBool,
    /// The plans for the enabled hooks.
    table: PlanTable,
}

/// The state that changes at run time.
#[derive(Debug, Default)]
struct State {
    /// Names switched on or off at run time; these override settings.
    switches: Vec<(String, bool)>,
    /// The registered hooks, by number.
    registered: BTreeMap<u64, Arc<Hook>>,
    /// Guards of departed clients, with their ids.
    lost: Vec<(HookEventName, Box<str>)>,
    /// Hooks on single events made from hooks under `*`: first for hooks that cannot run, then for
    /// each worker its declared hooks, or placeholders that block until it has declared them.
    expanded: Vec<Vec<Arc<Hook>>>,
}

impl State {
    /// Returns the hooks that are not placeholders.
    fn listed(&self) -> impl Iterator<Item = &Arc<Hook>> {
        let declared = self.expanded.iter().flatten().filter(|hook| !hook.is_placeholder);
        declared.chain(self.registered.values())
    }

    /// Returns all hooks that were added after the registry was built.
    fn added_later(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.expanded.iter().flatten().chain(self.registered.values())
    }
}

/// Returns the events with these names. `*` stands for all that can be blocked.
fn events_named(names: &[String], events: &Events) -> Vec<HookEventName> {
    let mut found: Vec<HookEventName> = Vec::new();
    for name in names {
        let named: Vec<HookEventName> = match name.as_str() {
            WILDCARD => events.all().filter(|event| event.row().block_means.is_some()).collect(),
            name => {
                let undeclared = || EventDefinition::new(name).event().ok();
                events.from_name(name).or_else(undeclared).into_iter().collect()
            }
        };
        for event in named {
            if !found.contains(&event) {
                found.push(event);
            }
        }
    }
    found
}

impl HookRegistry {
    /// Registers the hooks of all sources, in run order, then the host's handlers. The runner's
    /// project owns the hooks that do not come from a project's settings ([`SettingsFile::project`]);
    /// `agents` are those whose own files were read. An event is added to `events` if a trusted guard listens to it and its declaration cannot be read.
    pub fn new(
        files: &[SettingsFile],
        handlers: &[HandlerHook],
        runner: &Runner,
        policy: &TrustPolicy,
        agents: &Agents,
        events: &mut Events,
    ) -> Self {
        let project = runner.project();
        let mut hooks = Vec::new();
        let mut diagnostics = Vec::new();
        // Indices of diagnostics that their hooks report as warnings, too.
        let mut reported_with_hooks = HashSet::new();
        let trust_decisions = TrustDecisions::of(files, runner, (policy, agents), events);
        diagnostics.extend(trust_decisions.problems);
        let unread = files
            .iter()
            .zip(trust_decisions.may_run)
            .filter(|(file, may_run)| *may_run && !file.was_read);
        // If an agent's own file is broken, that agent runs none of its hooks either. Guards of a
        // project are known from the trust store.
        let is_decided = |file: &SettingsFile| {
            file.language.is_some() || file.source == HookSource::Project && policy.uses_store()
        };
        let unread = unread.filter(|(file, _)| !is_decided(file));
        let why = |file: &SettingsFile| {
            file.diagnostics.iter().find(|diagnostic| diagnostic.is_whole_file()).cloned()
        };
        let unread = unread.filter_map(|(file, _)| why(file)).collect();
        let disabled: Vec<Disabled<'_>> = files.iter().map(Disabled::by).collect();
        let excepted = excepted_rules(files.iter().flat_map(|file| &file.rules));
        // A pack that changed decides nothing.
        let sound = files.iter().zip(&trust_decisions.packs);
        let sound = sound.filter(|(_, problem)| !problem.as_ref().is_some_and(|it| it.blocks));
        let compiled = CompiledRules::of(sound.map(|(file, _)| file), project, &excepted);
        let shadowed = shadowed(files, &trust_decisions.trust, &disabled);
        let mut pack_notices = Vec::new();
        let decided = trust_decisions.trust.into_iter().zip(trust_decisions.packs);
        for (index, (file, (trust, pack_problem))) in files.iter().zip(decided).enumerate() {
            diagnostics.extend(file.diagnostics.iter().cloned());
            let factory =
                HookFactory::new((index, file), &trust, runner, project, (&disabled, &shadowed));
            match (&file.pack, pack_problem) {
                (Some(pack), Some(problem)) if problem.blocks => {
                    let reason = problem.diagnostic.message.clone();
                    diagnostics.push(problem.diagnostic);
                    let set =
                        RuleSet::blocking(pack, &reason, events_named(&pack.locked.guards, events));
                    hooks.extend(factory.rule_hooks(&[set], false, &compiled).map(Arc::new));
                    continue;
                }
                (_, Some(problem)) => {
                    pack_notices.push(problem.diagnostic.message.clone());
                    diagnostics.push(problem.diagnostic);
                }
                (_, None) => {}
            }
            for (entry_index, (entry, trust)) in file.hooks.iter().zip(trust).enumerate() {
                let (hook, problems) = factory.hook(entry_index, entry, trust);
                // The reader has already reported unreadable matchers.
                let is_read =
                    !matches!(entry.matcher.as_deref(), Some(MatcherDefinition::Unreadable(_)));
                for problem in problems.iter().filter(|_| is_read) {
                    let location = entry.location.clone();
                    reported_with_hooks.insert(diagnostics.len());
                    diagnostics.push(Diagnostic::new(problem.rule, location, &problem.message));
                }
                hooks.push(Arc::new(hook));
            }
            let are_agreed = !file.rules.is_empty()
                && file.source == HookSource::Project
                && policy.agreed_packs(file.project(project)).contains_key(PROJECT_RULES);
            let rules = factory.rule_hooks(&file.rules, are_agreed, &compiled);
            hooks.extend(rules.map(Arc::new));
        }
        let missing_guards =
            trust_decisions.missing.iter().map(|guard| missing_guard_hook(guard, runner));
        hooks.extend(missing_guards.map(Arc::new));
        hooks.extend(handlers.iter().map(|handler| Arc::new(handler_hook(handler, runner))));
        let wildcard_workers = WildcardWorker::of(&hooks);
        // Placeholders for guards that cannot run, and for undeclared ones.
        let blocked =
            hooks.iter().filter(|hook| hook.event.is_wildcard() && hook.blocks_without_running());
        let unrun = blocked.flat_map(|hook| placeholders(hook, events, false, None)).collect();
        let unknown = wildcard_workers
            .iter()
            .map(|worker| placeholders(&worker.template, events, false, None));
        let expanded: Vec<Vec<Arc<Hook>>> = std::iter::once(unrun).chain(unknown).collect();
        let table =
            PlanTable::new(planned_hooks(hooks.iter().chain(expanded.iter().flatten()), &[]));
        let notices = notices(&hooks, &trust_decisions.missing);
        let lost_guards = lost_guards(&trust_decisions.missing);
        let mut settings_errors = settings_errors(&diagnostics, &reported_with_hooks);
        settings_errors.extend(pack_notices);
        // A missing guard under `*` concerns every event.
        let of_every = trust_decisions.missing.iter().filter(|guard| guard.event.is_wildcard());
        settings_errors.extend(of_every.filter_map(|guard| guard.notice()));
        let mut worker_hooks: ByEvent<Vec<Arc<Hook>>> = ByEvent::default();
        for hook in hooks.iter().filter(|hook| hook.worker().is_some()) {
            worker_hooks.get_or_default(hook.event).push(Arc::clone(hook));
        }
        let surroundings = HostDirectories::new(project, runner.home());
        let is_on_declared = |hook: &&Arc<Hook>| hook.event.row().is_declared();
        Self {
            surroundings,
            on_declared: hooks.iter().filter(is_on_declared).cloned().collect(),
            hooks,
            settings_errors,
            lost_guards,
            diagnostics,
            unread,
            notices,
            worker_hooks,
            state: RwLock::new(State { expanded, ..State::default() }),
            wildcard_workers,
            has_lost: AtomicBool::new(false),
            table,
        }
    }

    /// Returns every hook in run order.
    pub fn list(&self) -> Vec<HookListing> {
        let state = read(&self.state);
        let listing = |hook: &Arc<Hook>| HookListing {
            enabled: is_on(hook, &state.switches),
            trusted: hook.trust.is_trusted(),
            disabled_by: disabled_by(hook, &state.switches),
            hook: Arc::clone(hook),
        };
        self.hooks.iter().chain(state.listed()).map(listing).collect()
    }

    /// Explains for every hook whether it would run for an event, in which order, and why not.
    pub fn explain(&self, event: HookEventName, input: &MatchInput) -> Explanation {
        let state = read(&self.state);
        let all: Vec<_> = self.hooks.iter().chain(state.added_later()).cloned().collect();
        let enabled = self.table.hooks(event);
        let obstacles = |hook: &Hook| obstacles(hook, &state.switches);
        explain(&all, &enabled, obstacles, event, (input, &self.surroundings))
    }

    pub(super) fn surroundings(&self) -> &HostDirectories {
        &self.surroundings
    }

    /// Enables or disables every hook with that name (or command, if it has no name). Returns the
    /// number of those hooks.
    ///
    /// This affects only the plans of this registry. A reload creates another one, which takes over
    /// the switches set by `HookSystem::set_hook_enabled`.
    pub fn set_enabled(&self, name: &str, enabled: bool) -> usize {
        let mut state = write(&self.state);
        state.switches.retain(|(known, _)| known != name);
        state.switches.push((name.to_owned(), enabled));
        let all = || self.hooks.iter().chain(state.added_later());
        self.table.replace(planned_hooks(all(), &state.switches));
        let named = all().filter(|hook| hook.display_name() == name && !hook.is_placeholder);
        named.count()
    }

    /// Registers a function of the host as a hook, behind all others of its event. If the number is
    /// taken, the existing hook stays. The cost depends only on the number of hooks of the event.
    pub fn register(&self, number: u64, handler: &HandlerHook, runner: &Runner) -> Arc<Hook> {
        let mut state = write(&self.state);
        if let Some(known) = state.registered.get(&number) {
            return Arc::clone(known);
        }
        let hook = Arc::new(handler_hook(handler, runner));
        state.registered.insert(number, Arc::clone(&hook));
        if is_on(&hook, &state.switches) {
            self.table.add(Arc::clone(&hook));
        }
        hook
    }

    /// Removes a registered hook. Requests in flight keep their plans.
    pub fn unregister(&self, number: u64) -> Option<Arc<Hook>> {
        let mut state = write(&self.state);
        let hook = state.registered.remove(&number)?;
        self.table.remove(&hook);
        Some(hook)
    }

    /// Returns the switches set at run time, for a reloaded registry.
    pub fn switches(&self) -> Vec<(String, bool)> {
        read(&self.state).switches.clone()
    }

    /// Returns all diagnostics of the settings.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the reason why guards (`failBehavior: block`) of an event may be unknown: an
    /// unreadable settings file whose hooks may run, or an unreadable trust store. `None` if all
    /// guards are known. Settings of an untrusted project are ignored, since none of their hooks
    /// would run.
    pub fn unread_guards(&self, event: Option<HookEventName>) -> Option<&Diagnostic> {
        let of_store =
            self.diagnostics.iter().find(|diagnostic| diagnostic.rule == Rule::TrustStore);
        let may_be_trusted = |hook: &Arc<Hook>| {
            let is_of_event =
                event.is_none_or(|event| hook.event == event || hook.event.is_wildcard());
            !hook.is_trusted() && is_of_event && hook.fail_behavior == FailBehavior::Block
        };
        let of_store = of_store.filter(|_| self.hooks.iter().any(may_be_trusted));
        of_store.or_else(|| self.unread.first())
    }

    /// Returns a guard of a declared event with that name that the event no longer plans or obeys:
    /// the event was declared differently when the guard was read, registered or trusted, or is not
    /// declared any more. Built-in events have none.
    pub fn displaced_guard(&self, name: &str, event: Option<HookEventName>) -> Option<Arc<Hook>> {
        if event.is_some_and(|event| !event.row().is_declared()) {
            return None;
        }
        let state = read(&self.state);
        let is_ignored = |hook: &Hook| {
            Some(hook.event) != event
                || hook.blocks_without_running() && hook.event.row().merge.is_observe_only()
        };
        let is_displaced = |hook: &&Arc<Hook>| {
            hook.event.row().is_declared()
                && hook.fail_behavior == FailBehavior::Block
                && hook.event.as_str() == name
                && is_ignored(hook)
                && is_planned(hook)
                && is_on(hook, &state.switches)
        };
        let displaced = self.on_declared.iter().chain(state.registered.values()).find(is_displaced);
        displaced.cloned().or_else(|| self.unexpanded_guard(&state, event))
    }

    /// Returns a blocking guard under `*` without a placeholder on this event, which was declared
    /// after the settings were read.
    fn unexpanded_guard(&self, state: &State, event: Option<HookEventName>) -> Option<Arc<Hook>> {
        let event = event.filter(|event| event.row().block_means.is_some())?;
        let is_missing = |placeholders: &&Vec<Arc<Hook>>| {
            placeholders.first().is_some_and(|first| first.is_placeholder)
                && placeholders.iter().all(|hook| hook.event != event)
        };
        let placeholders = state.expanded.iter().find(is_missing)?;
        let is_on = |hook: &&Arc<Hook>| is_on(hook, &state.switches);
        placeholders.first().filter(is_on).cloned()
    }

    /// Returns the warnings for every caller that fires the event: errors in settings that make
    /// hooks unavailable, ineffective matchers of its hooks, and its untrusted hooks.
    pub fn notices(&self, event: Option<HookEventName>) -> impl Iterator<Item = &str> {
        let of_event =
            event.and_then(|event| self.notices.get(event)).map_or(&[][..], Vec::as_slice);
        // A hook under `*` may concern any event.
        let every = EventDefinition::wildcard().filter(|every| Some(*every) != event);
        let of_every =
            every.and_then(|every| self.notices.get(every)).map_or(&[][..], Vec::as_slice);
        self.settings_errors.iter().chain(of_event).chain(of_every).map(String::as_str)
    }

    /// Returns the workers that declare their hooks themselves.
    pub fn wildcard_workers(&self) -> &[Arc<WildcardWorker>] {
        &self.wildcard_workers
    }

    /// Returns the enabled workers without a declaration, or with one that is not in effect yet.
    pub fn due_workers(&self) -> Vec<Arc<WildcardWorker>> {
        let state = read(&self.state);
        let is_on = |worker: &&Arc<WildcardWorker>| is_on(&worker.template, &state.switches);
        self.wildcard_workers
            .iter()
            .filter(|worker| worker.is_due())
            .filter(is_on)
            .cloned()
            .collect()
    }

    /// Makes the placeholders of a worker block. With `has_guard`, the worker has a guard that
    /// cannot be parsed; without it, there may be a guard, as in a module that is not loaded.
    pub fn block_for(&self, worker: &Arc<WildcardWorker>, events: &Events, has_guard: bool) {
        let problem = worker.problem();
        let placeholders = placeholders(&worker.template, events, has_guard, problem.as_deref());
        self.expand(worker, placeholders);
    }

    /// Applies a worker's declaration with the given number.
    pub fn declare(
        &self,
        worker: &Arc<WildcardWorker>,
        number: u64,
        hooks: &[HandlerHook],
        runner: &Runner,
    ) {
        self.expand(worker, worker.hooks(hooks, runner));
        worker.effective.store(number, Ordering::Release);
    }

    /// Replaces the hooks or placeholders of a worker.
    fn expand(&self, worker: &Arc<WildcardWorker>, hooks: Vec<Arc<Hook>>) {
        let Some(index) = self.wildcard_workers.iter().position(|known| Arc::ptr_eq(known, worker))
        else {
            return;
        };
        let mut state = write(&self.state);
        if let Some(expanded) = state.expanded.get_mut(index + 1) {
            *expanded = hooks;
        }
        self.table
            .replace(planned_hooks(self.hooks.iter().chain(state.added_later()), &state.switches));
    }

    /// Sets the lost guards of departed clients. Each becomes a warning to every caller that fires
    /// its event.
    pub fn set_lost_registrations<'l>(
        &self,
        lost: impl Iterator<Item = &'l (HookEventName, Box<str>)>,
    ) {
        let mut state = write(&self.state);
        state.lost = lost.cloned().collect();
        self.has_lost.store(!state.lost.is_empty(), Ordering::Release);
    }

    /// Returns the warnings about an event's lost guards of departed clients.
    pub fn lost_registrations(&self, event: Option<HookEventName>) -> Vec<String> {
        if !self.has_lost.load(Ordering::Acquire) {
            return Vec::new();
        }
        let state = read(&self.state);
        let of_event = state.lost.iter().filter(|(lost, _)| Some(*lost) == event);
        of_event
            .map(|(event, id)| {
                let id = shortened(id);
                format!(
                    "hook {id}: this guard of {event} is gone with the client that had registered it, so \
                     nothing checks {event} in its place; start that program again, or restart the \
                     server to end this warning"
                )
            })
            .collect()
    }

    /// Returns warnings about workers of the event's hooks that are no longer restarted.
    pub fn broken_workers(&self, event: Option<HookEventName>) -> impl Iterator<Item = String> {
        let worker_hooks =
            event.and_then(|event| self.worker_hooks.get(event)).map_or(&[][..], Vec::as_slice);
        let broken = worker_hooks.iter().filter_map(|hook| Some((hook, hook.worker()?.broken()?)));
        let is_on = |hook: &Hook| is_planned(hook) && is_on(hook, &read(&self.state).switches);
        let broken = broken.filter(move |(hook, _)| is_on(hook));
        let wildcard_workers =
            self.wildcard_workers.iter().filter(move |worker| is_on(&worker.template));
        let on_every = wildcard_workers.filter_map(|worker| worker.notice());
        broken.map(|(hook, why)| hook.format_warning(&why.to_string())).chain(on_every)
    }

    /// Starts the eager workers. Failures are logged, and reported at the first call.
    pub fn start_workers(&self) {
        for hook in self.hooks.iter().filter(|hook| hook.is_trusted()) {
            let is_on = is_on(hook, &read(&self.state).switches);
            if let Some(worker) = hook.worker().filter(|_| is_on) {
                worker.start_if_eager();
            }
        }
    }

    /// Returns a warning for each trusted guard that is missing from the project's settings or
    /// disabled by them. The warnings of one event are among its [`notices`](Self::notices).
    pub fn lost_guards(&self) -> &[String] {
        &self.lost_guards
    }

    /// Returns the number of registered hooks.
    pub fn len(&self) -> usize {
        self.hooks.len() + read(&self.state).listed().count()
    }

    /// Returns `true` if no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the plans for the enabled hooks.
    pub(super) fn table(&self) -> &PlanTable {
        &self.table
    }
}

fn read(state: &RwLock<State>) -> RwLockReadGuard<'_, State> {
    state.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(state: &RwLock<State>) -> RwLockWriteGuard<'_, State> {
    state.write().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the reasons why a hook does not run for any input.
fn obstacles(hook: &Hook, switches: &[(String, bool)]) -> Vec<NotRun> {
    let untrusted = (!hook.trust.is_trusted() && !hook.blocks_without_running())
        .then(|| NotRun::Untrusted { changed: hook.changed_since_trusted() });
    let disabled = disabled_by(hook, switches).into_iter().map(NotRun::Disabled);
    untrusted.into_iter().chain(disabled).collect()
}

fn planned_hooks<'h>(
    hooks: impl IntoIterator<Item = &'h Arc<Hook>>,
    switches: &[(String, bool)],
) -> Vec<Arc<Hook>> {
    let enabled = hooks.into_iter().filter(|hook| is_planned(hook) && is_on(hook, switches));
    enabled.cloned().collect()
}

/// Checks whether an enabled hook is planned: it may run, or it blocks without running.
fn is_planned(hook: &Hook) -> bool {
    hook.trust.is_trusted() || hook.blocks_without_running()
}
