//! The hooks there are: built once from settings and the host's handlers, listed, and switched
//! on and off by name.

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
use crate::event::{ByEvent, EventDefinition, Events, HookEventName};
use crate::matcher::{MatchInput, Surroundings};
use crate::run::{HandlerHook, Runner};
use crate::settings::{
    Diagnostic, FailBehavior, HookSource, MatcherDefinition, Rule, SettingsFile,
};
use crate::text::shortened;
use crate::trust::TrustPolicy;

/// A hook as it is listed.
#[derive(Debug, Clone)]
pub struct HookListing {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Whether it runs when its event comes.
    pub enabled: bool,
    /// Whether it may run at all; only hooks of a project can be untrusted.
    pub trusted: bool,
    /// Who switched it off: all whose settings do, or the host at run time.
    pub disabled_by: Vec<SwitchedOff>,
}

/// All hooks, and which of them are on.
#[derive(Debug)]
pub struct HookRegistry {
    hooks: Vec<Arc<Hook>>,
    /// Those of them that listen to declared events.
    on_declared: Vec<Arc<Hook>>,
    diagnostics: Vec<Diagnostic>,
    /// By which no hooks were read of a file whose hooks may run.
    unread: Vec<Diagnostic>,
    /// Of them the first whose text has a guard in it.
    unread_guard: Option<Diagnostic>,
    /// Errors because of which hooks of the settings are missing, cut to a few.
    losses: Vec<String>,
    /// Which trusted guards are gone from the settings, or are switched off by them.
    lost_guards: Vec<String>,
    /// By event: what everybody who fires it should know of its hooks.
    notices: ByEvent<Vec<String>>,
    /// By event: its hooks that call a worker.
    calling: ByEvent<Vec<Arc<Hook>>>,
    /// Where relative paths begin.
    surroundings: Surroundings,
    state: RwLock<State>,
    /// Workers that say themselves which hooks they have.
    on_every: Vec<Arc<OnEvery>>,
    /// Whether guards of clients are gone: few ever ask further.
    has_lost: AtomicBool,
    /// The plans for what is switched on now.
    table: PlanTable,
}

/// What was said at run time.
#[derive(Debug, Default)]
struct State {
    /// Which hooks are on or off, by name; wins over settings.
    switches: Vec<(String, bool)>,
    /// The hooks that were registered, by their numbers.
    registered: BTreeMap<u64, Arc<Hook>>,
    /// Guards of clients that are gone, by what those called them.
    lost: Vec<(HookEventName, Box<str>)>,
    /// What stands on events for hooks under `*`: first for those that may not run, then for each worker
    /// what it has declared, or what blocks until it has.
    expanded: Vec<Vec<Arc<Hook>>>,
}

impl State {
    /// Those of them that are hooks, and do not stand for some that are not known.
    fn shown(&self) -> impl Iterator<Item = &Arc<Hook>> {
        let declared = self.expanded.iter().flatten().filter(|hook| !hook.is_stand_in);
        declared.chain(self.registered.values())
    }

    /// All hooks that came after the registry was made.
    fn later(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.expanded.iter().flatten().chain(self.registered.values())
    }
}

impl HookRegistry {
    /// Registers the hooks of all sources, in run order, then the host's handlers. `project` is what
    /// hooks belong to that are not of a project's own settings ([`SettingsFile::project`]); `events` are
    /// those there are, to which one is added if a trusted guard listens to it and its declaration cannot
    /// be read.
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
        // Which of these are warnings of their hooks, too.
        let mut of_matchers = HashSet::new();
        let consent = Consent::of(files, project, policy, events);
        diagnostics.extend(consent.problems);
        let unread =
            files.iter().zip(consent.may_run).filter(|(it, may_run)| *may_run && !it.was_read);
        // An agent's own file that is broken has no hooks at home, either; what is wrong is said.
        let unread = unread.filter(|(it, _)| it.language.is_none());
        let why =
            |file: &SettingsFile| file.diagnostics.iter().find(|it| it.is_of_whole_file()).cloned();
        let unread: Vec<&SettingsFile> = unread.map(|(file, _)| file).collect();
        // Those of a project are known by the decisions to trust them.
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
                // That one cannot be read was said by the reader.
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
        // Guards that cannot run, and those that are not known yet.
        let blocks_unrun = hooks.iter().filter(|hook| hook.event.is_every() && hook.blocks_unrun());
        let unrun = blocks_unrun.flat_map(|hook| stand_ins(hook, events, false, None)).collect();
        let unknown = on_every.iter().map(|it| stand_ins(&it.template, events, false, None));
        let expanded: Vec<Vec<Arc<Hook>>> = std::iter::once(unrun).chain(unknown).collect();
        let table = PlanTable::new(running(hooks.iter().chain(expanded.iter().flatten()), &[]));
        let notices = notices(&hooks, &consent.missing);
        let lost_guards = lost_guards(&hooks, &consent.missing);
        let mut losses = losses(&diagnostics, &of_matchers);
        // A guard under `*` is missed on every event.
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

    /// Every hook in run order.
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

    /// Says of every hook whether it would run for an event, in which order, and why not.
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

    /// Switches every hook of that name (or, where a hook has none, command) on or off. Gives how
    /// many hooks have it.
    ///
    /// This changes what this registry plans, and nothing else: a hook system has another one
    /// after a reload, and carries over what `HookSystem::set_hook_enabled` switched.
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

    /// Registers a function of the host as a hook, behind all others of its event; one of that number
    /// that is there stays. What it costs depends on the event's hooks alone.
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

    /// Takes a registered hook out again. Requests in flight keep their plans.
    #[doc(hidden)]
    pub fn unregister(&self, number: u64) -> Option<Arc<Hook>> {
        let mut state = write(&self.state);
        let hook = state.registered.remove(&number)?;
        self.table.remove(&hook);
        Some(hook)
    }

    /// What was switched at run time, so that it can be carried over to a reloaded registry.
    #[doc(hidden)]
    pub fn switches(&self) -> Vec<(String, bool)> {
        read(&self.state).switches.clone()
    }

    /// Everything that is wrong with the settings.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Why guards of an event (`failBehavior: block`) may be missing: a settings file whose hooks may
    /// run and of which nothing could be read, or a trust store that could not be. `None` where all
    /// guards are known. Settings of a project that is not trusted do not count, since none of
    /// their hooks would run.
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

    /// Why a guard is missing: a settings file of which nothing could be read, and whose text has one in it.
    #[doc(hidden)]
    pub fn unread_guard(&self) -> Option<&Diagnostic> {
        self.unread_guard.as_ref()
    }

    /// A guard of a declared event of that name whose denial the event does not have in its plan, or does
    /// not heed: the event was declared otherwise when the guard was read, registered or trusted, or
    /// is not declared any more. Built-in events have none.
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

    /// A guard under `*` that blocks what can be blocked, and has nothing that stands for it on this event,
    /// which was declared after the settings were read.
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

    /// What everybody who fires that event should know, whichever of its hooks run: errors in
    /// settings, by which hooks are missing; matchers of its hooks that cannot do what they seem to;
    /// and hooks of it that do not run because they are not trusted.
    #[doc(hidden)]
    pub fn notices(&self, event: Option<HookEventName>) -> impl Iterator<Item = &str> {
        let of_event =
            event.and_then(|event| self.notices.get(event)).map_or(&[][..], Vec::as_slice);
        // What stands under `*` may be of any.
        let every = EventDefinition::every().filter(|every| Some(*every) != event);
        let of_every =
            every.and_then(|every| self.notices.get(every)).map_or(&[][..], Vec::as_slice);
        self.losses.iter().chain(of_event).chain(of_every).map(String::as_str)
    }

    /// Workers that say themselves which hooks they have.
    #[doc(hidden)]
    pub fn on_every(&self) -> &[Arc<OnEvery>] {
        &self.on_every
    }

    /// Those of them that are on, and have said something that is not in force, or nothing yet.
    #[doc(hidden)]
    pub fn due(&self) -> Vec<Arc<OnEvery>> {
        let state = read(&self.state);
        let is_on = |worker: &&Arc<OnEvery>| is_on(&worker.template, &state.switches);
        self.on_every.iter().filter(|worker| worker.is_due()).filter(is_on).cloned().collect()
    }

    /// Has what stands for a worker's hooks block, since a guard is among them that cannot be understood; without
    /// `has_guard` since one may be, as in a module that is not loaded.
    #[doc(hidden)]
    pub fn block_for(&self, worker: &Arc<OnEvery>, events: &Events, has_guard: bool) {
        let problem = worker.problem();
        let stands = stand_ins(&worker.template, events, has_guard, problem.as_deref());
        self.expand(worker, stands);
    }

    /// Puts into force what a worker has declared, as the declaration of that number.
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

    /// Puts hooks in the place of what stood for a worker's.
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

    /// Says which guards of clients are gone with their clients: each is a warning to everybody who fires its
    /// event.
    #[doc(hidden)]
    pub fn set_lost_registrations<'l>(
        &self,
        lost: impl Iterator<Item = &'l (HookEventName, Box<str>)>,
    ) {
        let mut state = write(&self.state);
        state.lost = lost.cloned().collect();
        self.has_lost.store(!state.lost.is_empty(), Ordering::Release);
    }

    /// What everybody who fires that event should know of guards whose clients are gone.
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

    /// That workers of an event's hooks are started no more.
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

    /// Starts the workers that are to be there before their first call. Those that cannot be say so in
    /// the log, and at their first call.
    #[doc(hidden)]
    pub fn start_workers(&self) {
        for hook in self.hooks.iter().filter(|hook| hook.is_trusted()) {
            let is_on = is_on(hook, &read(&self.state).switches);
            if let Some(worker) = hook.worker().filter(|_| is_on) {
                worker.start_if_eager();
            }
        }
    }

    /// A warning for each guard that the user trusted and that guards nothing now: it is gone from the
    /// project's settings, or they switch it off. Those of an event are among its
    /// [`notices`](Self::notices).
    #[doc(hidden)]
    pub fn lost_guards(&self) -> &[String] {
        &self.lost_guards
    }

    /// How many hooks are registered.
    pub fn len(&self) -> usize {
        self.hooks.len() + read(&self.state).shown().count()
    }

    /// Whether no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The plans for what is switched on now.
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

/// What keeps a hook from running whatever the event is about.
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

/// Whether a hook that is on is in plans: it may run, or blocks in place of running.
fn is_planned(hook: &Hook) -> bool {
    hook.trust.is_given() || hook.blocks_unrun()
}
