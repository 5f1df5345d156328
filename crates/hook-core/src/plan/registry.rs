//! The registry: built once from settings and the host's handlers, it lists hooks and enables or
//! disables them by name.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::consent::Consent;
use super::every::{OnEvery, stand_ins};
use super::explain::{Explanation, NotRun, explain};
use super::hook::Hook;
use super::made::{HookMaker, of_handler, of_missing};
use super::notices::{losses, lost_guards, notices};
use super::shadowed::shadowed;
use super::switched_off::SwitchedOff;
use super::switches::{Disabled, disabled_by, is_on};
use super::table::PlanTable;
use hook_json::text::shortened;
use hook_protocol::event::{ByEvent, EventDefinition, Events, HookEventName};
use hook_run::{HandlerHook, Runner};
use hook_settings::matcher::{MatchInput, Surroundings};
use hook_settings::{Diagnostic, FailBehavior, HookSource, MatcherDefinition, Rule, SettingsFile};
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
    /// The first of them whose file mentions a guard.
    unread_guard: Option<Diagnostic>,
    /// Errors that make hooks of the settings unavailable, limited in number.
    losses: Vec<String>,
    /// Trusted guards that settings no longer contain, or that they disable.
    lost_guards: Vec<String>,
    /// Warnings for every caller that fires an event, by event.
    notices: ByEvent<Vec<String>>,
    /// The hooks that call a worker, by event.
    calling: ByEvent<Vec<Arc<Hook>>>,
    /// The base directories of relative paths.
    surroundings: Surroundings,
    state: RwLock<State>,
    /// Workers that declare their hooks themselves.
    on_every: Vec<Arc<OnEvery>>,
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
    fn shown(&self) -> impl Iterator<Item = &Arc<Hook>> {
        let declared = self.expanded.iter().flatten().filter(|hook| !hook.is_stand_in);
        declared.chain(self.registered.values())
    }

    /// Returns all hooks that were added after the registry was built.
    fn later(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.expanded.iter().flatten().chain(self.registered.values())
    }
}

impl HookRegistry {
    /// Registers the hooks of all sources, in run order, then the host's handlers. `project` owns
    /// the hooks that do not come from a project's settings ([`SettingsFile::project`]). An event
    /// is added to `events` if a trusted guard listens to it and its declaration cannot be read.
    pub fn new(
        files: &[SettingsFile],
        handlers: &[HandlerHook],
        runner: &Runner,
        project: &Path,
        policy: &TrustPolicy,
        events: &mut Events,
    ) -> Self {
        let mut hooks = Vec::new();
        let mut diagnostics = Vec::new();
        // Indices of diagnostics that their hooks report as warnings, too.
        let mut of_matchers = HashSet::new();
        let consent = Consent::of(files, project, policy, events);
        diagnostics.extend(consent.problems);
        let unread =
            files.iter().zip(consent.may_run).filter(|(it, may_run)| *may_run && !it.was_read);
        // If an agent's own file is broken, that agent runs none of its hooks either.
        let unread = unread.filter(|(it, _)| it.language.is_none());
        let why =
            |file: &SettingsFile| file.diagnostics.iter().find(|it| it.is_of_whole_file()).cloned();
        let unread: Vec<&SettingsFile> = unread.map(|(file, _)| file).collect();
        // Guards of a project are known from the trust store.
        let is_decided =
            |it: &SettingsFile| it.source == HookSource::Project && policy.is_of_store();
        let with_guard = unread.iter().filter(|it| it.mentions_guard && !is_decided(it));
        let unread_guard = with_guard.clone().find_map(|file| why(file));
        let unread = unread.into_iter().filter_map(why).collect();
        let disabled: Vec<Disabled<'_>> = files.iter().map(Disabled::by).collect();
        let shadowed = shadowed(files, &consent.trust, &disabled);
        for (index, (file, trust)) in files.iter().zip(consent.trust).enumerate() {
            diagnostics.extend(file.diagnostics.iter().cloned());
            let maker =
                HookMaker::new((index, file), &trust, runner, project, (&disabled, &shadowed));
            for (at, (entry, trust)) in file.hooks.iter().zip(trust).enumerate() {
                let (hook, problems) = maker.hook(at, entry, trust);
                // The reader has already reported unreadable matchers.
                let is_read =
                    !matches!(entry.matcher.as_deref(), Some(MatcherDefinition::Unreadable(_)));
                for problem in problems.iter().filter(|_| is_read) {
                    let place = entry.place.clone();
                    of_matchers.insert(diagnostics.len());
                    diagnostics.push(Diagnostic::new(problem.rule, place, &problem.message));
                }
                hooks.push(Arc::new(hook));
            }
        }
        let behind_errors = consent.missing.iter().filter_map(|guard| of_missing(guard, runner));
        hooks.extend(behind_errors.map(Arc::new));
        hooks.extend(handlers.iter().map(|handler| Arc::new(of_handler(handler, runner))));
        let on_every = OnEvery::of(&hooks);
        // Placeholders for guards that cannot run, and for undeclared ones.
        let blocks_unrun = hooks.iter().filter(|hook| hook.event.is_every() && hook.blocks_unrun());
        let unrun = blocks_unrun.flat_map(|hook| stand_ins(hook, events, false, None)).collect();
        let unknown = on_every.iter().map(|it| stand_ins(&it.template, events, false, None));
        let expanded: Vec<Vec<Arc<Hook>>> = std::iter::once(unrun).chain(unknown).collect();
        let table = PlanTable::new(running(hooks.iter().chain(expanded.iter().flatten()), &[]));
        let notices = notices(&hooks, &consent.missing);
        let lost_guards = lost_guards(&hooks, &consent.missing);
        let mut losses = losses(&diagnostics, &of_matchers);
        // A missing guard under `*` concerns every event.
        let of_every = consent.missing.iter().filter(|guard| guard.event.is_every());
        losses.extend(of_every.filter_map(|guard| guard.notice()));
        let mut calling: ByEvent<Vec<Arc<Hook>>> = ByEvent::default();
        for hook in hooks.iter().filter(|hook| hook.worker().is_some()) {
            calling.of(hook.event).push(Arc::clone(hook));
        }
        let surroundings = Surroundings::new(project, runner.home());
        let is_on_declared = |hook: &&Arc<Hook>| hook.event.row().is_declared();
        Self {
            surroundings,
            on_declared: hooks.iter().filter(is_on_declared).cloned().collect(),
            hooks,
            losses,
            lost_guards,
            diagnostics,
            unread,
            unread_guard,
            notices,
            calling,
            state: RwLock::new(State { expanded, ..State::default() }),
            on_every,
            has_lost: AtomicBool::new(false),
            table,
        }
    }

    /// Returns every hook in run order.
    pub fn list(&self) -> Vec<HookListing> {
        let state = read(&self.state);
        let listing = |hook: &Arc<Hook>| HookListing {
            enabled: is_on(hook, &state.switches),
            trusted: hook.trust.is_given(),
            disabled_by: disabled_by(hook, &state.switches),
            hook: Arc::clone(hook),
        };
        self.hooks.iter().chain(state.shown()).map(listing).collect()
    }

    /// Explains for every hook whether it would run for an event, in which order, and why not.
    pub fn explain(&self, event: HookEventName, input: &MatchInput) -> Explanation {
        let state = read(&self.state);
        let all: Vec<_> = self.hooks.iter().chain(state.later()).cloned().collect();
        let on = self.table.hooks(event);
        let obstacles = |hook: &Hook| obstacles(hook, &state.switches);
        explain(&all, &on, obstacles, event, (input, &self.surroundings))
    }

    pub(super) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Enables or disables every hook with that name (or command, if it has no name). Returns the
    /// number of those hooks.
    ///
    /// This affects only the plans of this registry. A reload creates another one, which takes over
    /// the switches set by `HookSystem::set_hook_enabled`.
    #[doc(hidden)]
    pub fn set_enabled(&self, name: &str, enabled: bool) -> usize {
        let mut state = write(&self.state);
        state.switches.retain(|(known, _)| known != name);
        state.switches.push((name.to_owned(), enabled));
        let all = || self.hooks.iter().chain(state.later());
        self.table.replace(running(all(), &state.switches));
        let named = all().filter(|hook| hook.display_name() == name && !hook.is_stand_in);
        named.count()
    }

    /// Registers a function of the host as a hook, behind all others of its event. If the number is
    /// taken, the existing hook stays. The cost depends only on the number of hooks of the event.
    #[doc(hidden)]
    pub fn register(&self, number: u64, handler: &HandlerHook, runner: &Runner) -> Arc<Hook> {
        let mut state = write(&self.state);
        if let Some(known) = state.registered.get(&number) {
            return Arc::clone(known);
        }
        let hook = Arc::new(of_handler(handler, runner));
        state.registered.insert(number, Arc::clone(&hook));
        if is_on(&hook, &state.switches) {
            self.table.add(Arc::clone(&hook));
        }
        hook
    }

    /// Removes a registered hook. Requests in flight keep their plans.
    #[doc(hidden)]
    pub fn unregister(&self, number: u64) -> Option<Arc<Hook>> {
        let mut state = write(&self.state);
        let hook = state.registered.remove(&number)?;
        self.table.remove(&hook);
        Some(hook)
    }

    /// Returns the switches set at run time, for a reloaded registry.
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub fn unread_guards(&self, event: HookEventName) -> Option<&Diagnostic> {
        let of_store = self.diagnostics.iter().find(|it| it.rule == Rule::TrustStore);
        let may_be_trusted = |hook: &Arc<Hook>| {
            let is_of_event = hook.event == event || hook.event.is_every();
            !hook.is_trusted() && is_of_event && hook.fail_behavior == FailBehavior::Block
        };
        let of_store = of_store.filter(|_| self.hooks.iter().any(may_be_trusted));
        of_store.or_else(|| self.unread.first())
    }

    /// Returns the error of an unreadable settings file whose text mentions a guard, if any.
    #[doc(hidden)]
    pub fn unread_guard(&self) -> Option<&Diagnostic> {
        self.unread_guard.as_ref()
    }

    /// Returns a guard of a declared event with that name that the event no longer plans or obeys:
    /// the event was declared differently when the guard was read, registered or trusted, or is not
    /// declared any more. Built-in events have none.
    #[doc(hidden)]
    pub fn displaced_guard(&self, name: &str, event: Option<HookEventName>) -> Option<Arc<Hook>> {
        if event.is_some_and(|event| !event.row().is_declared()) {
            return None;
        }
        let state = read(&self.state);
        let is_unheeded = |hook: &Hook| {
            Some(hook.event) != event
                || hook.blocks_unrun() && hook.event.row().merge.only_observes()
        };
        let is_displaced = |hook: &&Arc<Hook>| {
            hook.event.row().is_declared()
                && hook.fail_behavior == FailBehavior::Block
                && hook.event.as_str() == name
                && is_unheeded(hook)
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
        let is_missing = |stands: &&Vec<Arc<Hook>>| {
            stands.first().is_some_and(|first| first.is_stand_in)
                && stands.iter().all(|hook| hook.event != event)
        };
        let stands = state.expanded.iter().find(is_missing)?;
        let is_on = |hook: &&Arc<Hook>| is_on(hook, &state.switches);
        stands.first().filter(is_on).cloned()
    }

    /// Returns the warnings for every caller that fires the event: errors in settings that make
    /// hooks unavailable, ineffective matchers of its hooks, and its untrusted hooks.
    #[doc(hidden)]
    pub fn notices(&self, event: Option<HookEventName>) -> impl Iterator<Item = &str> {
        let of_event =
            event.and_then(|event| self.notices.get(event)).map_or(&[][..], Vec::as_slice);
        // A hook under `*` may concern any event.
        let every = EventDefinition::every().filter(|every| Some(*every) != event);
        let of_every =
            every.and_then(|every| self.notices.get(every)).map_or(&[][..], Vec::as_slice);
        self.losses.iter().chain(of_event).chain(of_every).map(String::as_str)
    }

    /// Returns the workers that declare their hooks themselves.
    #[doc(hidden)]
    pub fn on_every(&self) -> &[Arc<OnEvery>] {
        &self.on_every
    }

    /// Returns the enabled workers without a declaration, or with one that is not in effect yet.
    #[doc(hidden)]
    pub fn due(&self) -> Vec<Arc<OnEvery>> {
        let state = read(&self.state);
        let is_on = |worker: &&Arc<OnEvery>| is_on(&worker.template, &state.switches);
        self.on_every.iter().filter(|worker| worker.is_due()).filter(is_on).cloned().collect()
    }

    /// Makes the placeholders of a worker block. With `has_guard`, the worker has a guard that
    /// cannot be parsed; without it, there may be a guard, as in a module that is not loaded.
    #[doc(hidden)]
    pub fn block_for(&self, worker: &Arc<OnEvery>, events: &Events, has_guard: bool) {
        let problem = worker.problem();
        let stands = stand_ins(&worker.template, events, has_guard, problem.as_deref());
        self.expand(worker, stands);
    }

    /// Applies a worker's declaration with the given number.
    #[doc(hidden)]
    pub fn declare(
        &self,
        worker: &Arc<OnEvery>,
        number: u64,
        hooks: &[HandlerHook],
        runner: &Runner,
    ) {
        self.expand(worker, worker.hooks(hooks, runner));
        worker.in_force.store(number, Ordering::Release);
    }

    /// Replaces the hooks or placeholders of a worker.
    fn expand(&self, worker: &Arc<OnEvery>, hooks: Vec<Arc<Hook>>) {
        let Some(index) = self.on_every.iter().position(|known| Arc::ptr_eq(known, worker)) else {
            return;
        };
        let mut state = write(&self.state);
        if let Some(expanded) = state.expanded.get_mut(index + 1) {
            *expanded = hooks;
        }
        self.table.replace(running(self.hooks.iter().chain(state.later()), &state.switches));
    }

    /// Sets the lost guards of departed clients. Each becomes a warning to every caller that fires
    /// its event.
    #[doc(hidden)]
    pub fn set_lost_registrations<'l>(
        &self,
        lost: impl Iterator<Item = &'l (HookEventName, Box<str>)>,
    ) {
        let mut state = write(&self.state);
        state.lost = lost.cloned().collect();
        self.has_lost.store(!state.lost.is_empty(), Ordering::Release);
    }

    /// Returns the warnings about an event's lost guards of departed clients.
    #[doc(hidden)]
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
                    "hook {id}: this guard of {event} is gone with the client that had registered it, \
                     and only that client can bring it back, with its token; restart the server to \
                     forget the guard"
                )
            })
            .collect()
    }

    /// Returns warnings about workers of the event's hooks that are no longer restarted.
    #[doc(hidden)]
    pub fn broken_workers(&self, event: Option<HookEventName>) -> impl Iterator<Item = String> {
        let calling =
            event.and_then(|event| self.calling.get(event)).map_or(&[][..], Vec::as_slice);
        let broken = calling.iter().filter_map(|hook| Some((hook, hook.worker()?.broken()?)));
        let is_on = |hook: &Hook| is_planned(hook) && is_on(hook, &read(&self.state).switches);
        let broken = broken.filter(move |(hook, _)| is_on(hook));
        let on_every = self.on_every.iter().filter(move |worker| is_on(&worker.template));
        let on_every = on_every.filter_map(|worker| worker.notice());
        broken.map(|(hook, why)| hook.says(&why.to_string())).chain(on_every)
    }

    /// Starts the eager workers. Failures are logged, and reported at the first call.
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub fn lost_guards(&self) -> &[String] {
        &self.lost_guards
    }

    /// Returns the number of registered hooks.
    pub fn len(&self) -> usize {
        self.hooks.len() + read(&self.state).shown().count()
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
    let untrusted = (!hook.trust.is_given() && !hook.blocks_unrun())
        .then(|| NotRun::Untrusted { changed: hook.changed_since_trusted() });
    let disabled = disabled_by(hook, switches).into_iter().map(NotRun::Disabled);
    untrusted.into_iter().chain(disabled).collect()
}

fn running<'h>(
    hooks: impl IntoIterator<Item = &'h Arc<Hook>>,
    switches: &[(String, bool)],
) -> Vec<Arc<Hook>> {
    let on = hooks.into_iter().filter(|hook| is_planned(hook) && is_on(hook, switches));
    on.cloned().collect()
}

/// Checks whether an enabled hook is planned: it may run, or it blocks without running.
fn is_planned(hook: &Hook) -> bool {
    hook.trust.is_given() || hook.blocks_unrun()
}
