//! The hooks there are: built once from settings and the host's handlers, listed, and switched
//! on and off by name.

mod consent;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::event::{ByEvent, Events, HookEventName};
use crate::explain::{Explanation, NotRun, Switch, SwitchedOff, explain};
use crate::failure::HookFailure;
use crate::matcher::{MatchInput, Matcher, Surroundings};
use crate::planner::PlanTable;
use crate::runner::{
    CommandIdentity, HandlerHook, HookSpec, HookStart, Runner, TrustCheck, background,
};
use crate::settings::{
    DEFAULT_PRIORITY, Diagnostic, FailBehavior, HookEntry, HookSource, HooksConfig,
    MatcherDefinition, Place, Rule, SettingsFile, Severity, TimeoutOrigin,
};
use crate::trust::{Grant, Trust, TrustPolicy};
use consent::{Consent, MissingGuard};

/// One registered hook: what is run, which it derefs to, and what decides whether it is.
pub struct Hook {
    /// What is run.
    pub(crate) spec: Arc<HookSpec>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Where it comes from.
    pub source: HookSource,
    /// Where it was written down; absent for the host's handlers.
    pub place: Option<Place>,
    /// Which tools or triggers it is for.
    pub matcher: Matcher,
    /// Its place in the plan: lower ones run earlier, equal ones together.
    pub priority: i32,
    /// Whether the hooks of its priority run one after the other.
    pub sequential: bool,
    /// Who says how long it may run.
    pub timeout_origin: TimeoutOrigin,
    trust: Trust,
    /// Why it blocks instead of running, if it does.
    suspended: Option<Suspension>,
    /// Which settings switch it off.
    switched_off: Vec<SwitchedOff>,
}

/// Why a trusted guard blocks instead of running.
#[derive(Debug, Clone)]
enum Suspension {
    /// It is not any more what was trusted.
    Changed,
    /// The settings file that it should be in has errors, and it is not there.
    BrokenSettings(PathBuf),
}

impl Suspension {
    fn failure(&self) -> HookFailure {
        match self {
            Self::Changed => HookFailure::Untrusted,
            Self::BrokenSettings(file) => HookFailure::BrokenSettings { file: file.clone() },
        }
    }
}

impl Hook {
    /// The command, or the handler's name.
    pub fn command(&self) -> &str {
        self.executor.label()
    }

    /// Whether it was trusted, and it or a file that it runs changed since.
    pub fn changed_since_trusted(&self) -> bool {
        matches!(self.trust, Trust::Missing { before: Some(_) })
    }

    /// Whether it is a guard (`failBehavior: block`) that was trusted and that cannot run as it
    /// is now: because it changed, or because the settings file that it was in has errors. Its events
    /// are blocked until a person decides.
    pub fn blocks_unrun(&self) -> bool {
        self.suspended.is_some()
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.trust.is_given()
    }

    /// How it is started.
    pub fn start(&self) -> HookStart<'_> {
        self.executor.start()
    }

    /// Two command hooks of one event with the same key are the same hook (protocol.md §1).
    /// Functions of the host are only ever themselves.
    pub(crate) fn dedup_key(&self) -> Option<(Option<&str>, CommandIdentity<'_>)> {
        Some((self.name.as_deref(), self.executor.identity()?))
    }

    /// Why it blocks its event instead of running, if it does.
    pub fn suspension(&self) -> Option<String> {
        Some(self.suspended.as_ref()?.failure().to_string())
    }

    /// A warning about it, as callers get it.
    fn says(&self, text: &str) -> String {
        self.identity.says(text)
    }
}

impl Deref for Hook {
    type Target = HookSpec;

    fn deref(&self) -> &HookSpec {
        &self.spec
    }
}

/// What the runner has to do about a hook's trust.
fn check_of(trust: &Trust, suspended: Option<&Suspension>) -> TrustCheck {
    match trust {
        Trust::Given => TrustCheck::Nothing,
        Trust::Checked(granted) => TrustCheck::Confirm(Arc::clone(granted)),
        Trust::Missing { .. } => {
            TrustCheck::Refuse(suspended.unwrap_or(&Suspension::Changed).failure())
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Hook")
            .field("event", &self.event)
            .field("name", &self.display_name())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

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
    diagnostics: Vec<Diagnostic>,
    /// By which no hooks were read of a file whose hooks may run.
    unread: Vec<Diagnostic>,
    /// Errors because of which hooks of the settings are missing, cut to a few.
    losses: Vec<String>,
    /// Which trusted guards are gone from the settings, or are switched off by them.
    lost_guards: Vec<String>,
    /// By event: what everybody who fires it should know of its hooks.
    notices: ByEvent<Vec<String>>,
    /// Where relative paths begin.
    surroundings: Surroundings,
    state: RwLock<State>,
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
        let why =
            |file: &SettingsFile| file.diagnostics.iter().find(|it| it.is_of_whole_file()).cloned();
        let unread = unread.filter_map(|(file, _)| why(file)).collect();
        let disabled: Vec<Disabled<'_>> = files.iter().map(Disabled::by).collect();
        for (file, trust) in files.iter().zip(consent.trust) {
            diagnostics.extend(file.diagnostics.iter().cloned());
            let default_timeout = runner.limits().timeout;
            let project = file.project(project);
            let commands = runner.commands(&file.config, project);
            for (entry, trust) in file.hooks.iter().zip(trust) {
                let changed = trust.before().filter(|before| is_guard(before, entry));
                let matcher = entry.matcher.clone();
                let (matcher, problems) = match (&trust, changed) {
                    (_, Some(before)) => (matcher_of(before, entry.event), Vec::new()),
                    (Trust::Missing { .. }, None) => (Matcher::unused(matcher), Vec::new()),
                    _ => {
                        let matching = entry.event.row().matching;
                        Matcher::compile(matcher, matching, entry.fail_behavior)
                    }
                };
                let suspended = changed.map(|_| Suspension::Changed);
                // That one cannot be read was said by the reader.
                let is_read =
                    !matches!(entry.matcher.as_deref(), Some(MatcherDefinition::Unreadable(_)));
                for problem in problems.iter().filter(|_| is_read) {
                    let place = entry.place.clone();
                    of_matchers.insert(diagnostics.len());
                    diagnostics.push(Diagnostic::new(problem.rule, place, &problem.message));
                }
                let timeout = entry.timeout.unwrap_or(default_timeout);
                let executor = commands.executor(&entry.command, &entry.env);
                let (event, name) = (entry.event, entry.name.as_deref());
                let spec = HookSpec {
                    // What blocks in place of running is waited for.
                    background: background(entry.is_async && suspended.is_none()),
                    fail_behavior: match suspended {
                        Some(_) => FailBehavior::Block,
                        None => entry.fail_behavior,
                    },
                    warnings: problems
                        .into_iter()
                        .map(|it| it.message)
                        .chain(trust.warning())
                        .collect(),
                    slots: commands.slots.clone(),
                    check: check_of(&trust, suspended.as_ref()),
                    ..HookSpec::new(event, name, &file.source, timeout, executor)
                };
                hooks.push(Arc::new(Hook {
                    spec: Arc::new(spec),
                    name: entry.name.clone(),
                    description: entry.description.clone(),
                    source: file.source.clone(),
                    place: Some(entry.place.clone()),
                    matcher,
                    priority: entry.priority,
                    sequential: entry.sequential,
                    timeout_origin: entry.timeout_origin,
                    trust,
                    suspended,
                    switched_off: switched_off(entry, file, &disabled),
                }));
            }
        }
        let behind_errors = consent.missing.iter().filter_map(|guard| of_missing(guard, runner));
        hooks.extend(behind_errors.map(Arc::new));
        hooks.extend(handlers.iter().map(|handler| Arc::new(of_handler(handler, runner))));
        let table = PlanTable::new(running(&hooks, &[]));
        let notices = notices(&hooks, &consent.missing);
        let lost_guards = lost_guards(&hooks, &consent.missing);
        let losses = losses(&diagnostics, &of_matchers);
        let surroundings = Surroundings::new(project, runner.home());
        Self {
            surroundings,
            hooks,
            losses,
            lost_guards,
            diagnostics,
            unread,
            notices,
            state: RwLock::default(),
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
        self.hooks.iter().chain(state.registered.values()).map(listing).collect()
    }

    /// Says of every hook whether it would run for an event, in which order, and why not.
    pub fn explain(&self, event: HookEventName, input: &MatchInput) -> Explanation {
        let state = read(&self.state);
        let all: Vec<_> = self.hooks.iter().chain(state.registered.values()).cloned().collect();
        let on = self.table.hooks(event);
        let obstacles = |hook: &Hook| obstacles(hook, &state.switches);
        explain(&all, &on, obstacles, event, (input, &self.surroundings))
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// See [`Planner::set_enabled`](crate::Planner::set_enabled).
    pub(crate) fn set_enabled(&self, name: &str, enabled: bool) -> usize {
        let mut state = write(&self.state);
        state.switches.retain(|(known, _)| known != name);
        state.switches.push((name.to_owned(), enabled));
        let all = || self.hooks.iter().chain(state.registered.values());
        self.table.replace(running(all(), &state.switches));
        all().filter(|hook| hook.display_name() == name).count()
    }

    /// Registers a function of the host as a hook, behind all others of its event; one of that number
    /// that is there stays. What it costs depends on the event's hooks alone.
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
    pub fn unregister(&self, number: u64) -> Option<Arc<Hook>> {
        let mut state = write(&self.state);
        let hook = state.registered.remove(&number)?;
        self.table.remove(&hook);
        Some(hook)
    }

    /// What was switched at run time, so that it can be carried over to a reloaded registry.
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
    pub fn unread_guards(&self, event: HookEventName) -> Option<&Diagnostic> {
        let of_store = self.diagnostics.iter().find(|it| it.rule == Rule::TrustStore);
        let may_be_trusted = |hook: &Arc<Hook>| {
            !hook.is_trusted() && hook.event == event && hook.fail_behavior == FailBehavior::Block
        };
        let of_store = of_store.filter(|_| self.hooks.iter().any(may_be_trusted));
        of_store.or_else(|| self.unread.first())
    }

    /// What everybody who fires that event should know, whichever of its hooks run: errors in
    /// settings, by which hooks are missing; matchers of its hooks that cannot do what they seem to;
    /// and hooks of it that do not run because they are not trusted.
    pub fn notices(&self, event: Option<HookEventName>) -> impl Iterator<Item = &str> {
        let of_event =
            event.and_then(|event| self.notices.get(event)).map_or(&[][..], Vec::as_slice);
        self.losses.iter().chain(of_event).map(String::as_str)
    }

    /// A warning for each guard that the user trusted and that guards nothing now: it is gone from the
    /// project's settings, or they switch it off. Those of an event are among its
    /// [`notices`](Self::notices).
    pub fn lost_guards(&self) -> &[String] {
        &self.lost_guards
    }

    /// How many hooks are registered.
    pub fn len(&self) -> usize {
        self.hooks.len() + read(&self.state).registered.len()
    }

    /// Whether no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The plans for what is switched on now.
    pub(crate) fn table(&self) -> &PlanTable {
        &self.table
    }
}

fn read(state: &RwLock<State>) -> RwLockReadGuard<'_, State> {
    state.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(state: &RwLock<State>) -> RwLockWriteGuard<'_, State> {
    state.write().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a hook that changed is a guard, as it was trusted. Where the decision does not say, as it is
/// now.
fn is_guard(before: &Grant, entry: &HookEntry) -> bool {
    before.fail_behavior().unwrap_or(entry.fail_behavior) == FailBehavior::Block
}

/// The matcher that a guard was trusted with; everything, if the decision does not say.
fn matcher_of(before: &Grant, event: HookEventName) -> Matcher {
    let definition = before.matcher().flatten().map(Arc::new);
    Matcher::compile(definition, event.row().matching, FailBehavior::Block).0
}

/// A guard that may be missing because its settings have errors: as it was trusted.
fn of_missing(guard: &MissingGuard, runner: &Runner) -> Option<Hook> {
    let file = guard.broken().cloned()?;
    let grant = &guard.grant;
    let env = grant.seen.as_ref().map_or(&[][..], |seen| &seen.env);
    let commands = runner.commands(&HooksConfig::default(), guard.project());
    let executor = commands.executor(&grant.command, env);
    let trust = Trust::Missing { before: Some(Arc::clone(grant)) };
    let suspended = Suspension::BrokenSettings(file.clone());
    let (name, timeout) = (grant.name.as_deref(), runner.limits().timeout);
    let spec = HookSpec {
        fail_behavior: FailBehavior::Block,
        check: check_of(&trust, Some(&suspended)),
        ..HookSpec::new(guard.event, name, &HookSource::Project, timeout, executor)
    };
    Some(Hook {
        spec: Arc::new(spec),
        name: grant.name.clone(),
        description: None,
        source: HookSource::Project,
        place: Some(Place::of_file(&file)),
        matcher: matcher_of(grant, guard.event),
        priority: DEFAULT_PRIORITY,
        sequential: false,
        timeout_origin: TimeoutOrigin::Engine,
        trust,
        suspended: Some(suspended),
        switched_off: Vec::new(),
    })
}

fn of_handler(handler: &HandlerHook, runner: &Runner) -> Hook {
    let matching = handler.event.row().matching;
    let (matcher, problems) =
        Matcher::compile(handler.matcher.clone(), matching, handler.fail_behavior);
    let (event, name) = (handler.event, Some(&*handler.name));
    let timeout = handler.timeout.unwrap_or(runner.limits().timeout);
    let executor = runner.handler(handler);
    let is_guard = handler.fail_behavior == FailBehavior::Block;
    let spec = HookSpec {
        background: background(handler.background && !is_guard),
        fail_behavior: handler.fail_behavior,
        warnings: problems.into_iter().map(|it| it.message).collect(),
        ..HookSpec::new(event, name, &HookSource::InProcess, timeout, executor)
    };
    Hook {
        spec: Arc::new(spec),
        name: Some(handler.name.clone()),
        description: None,
        source: HookSource::InProcess,
        place: None,
        matcher,
        priority: handler.priority,
        sequential: handler.sequential,
        timeout_origin: match handler.timeout {
            Some(_) => TimeoutOrigin::Hook,
            None => TimeoutOrigin::Engine,
        },
        trust: Trust::Given,
        suspended: None,
        switched_off: Vec::new(),
    }
}

/// The first few errors but those that are said of their hooks, and how many more there are.
fn losses(diagnostics: &[Diagnostic], said_of_hooks: &HashSet<usize>) -> Vec<String> {
    let errors = diagnostics
        .iter()
        .enumerate()
        .filter(|(index, it)| it.severity == Severity::Error && !said_of_hooks.contains(index));
    let mut losses = errors.map(|(_, it)| it.to_string()).collect();
    shorten(&mut losses, "errors in settings");
    losses
}

/// Cuts a list that goes into every response to its first few, and says how many more there are.
fn shorten(notices: &mut Vec<String>, what: &str) {
    const SHOWN: usize = 8;
    let more = notices.len().saturating_sub(SHOWN);
    if more > 0 {
        notices.truncate(SHOWN);
        notices.push(format!("there are {more} more {what}"));
    }
}

/// The names that a file switches off, to be looked up for every hook.
struct Disabled<'f> {
    file: &'f SettingsFile,
    names: HashSet<&'f str>,
}

impl<'f> Disabled<'f> {
    fn by(file: &'f SettingsFile) -> Self {
        Self { file, names: file.config.disabled.iter().map(String::as_str).collect() }
    }
}

/// Everybody who says that the hook does not run: its own source, and those that are trusted more.
fn switched_off(
    entry: &HookEntry,
    own: &SettingsFile,
    disabled: &[Disabled<'_>],
) -> Vec<SwitchedOff> {
    let by = |switch, file: &SettingsFile| SwitchedOff {
        switch,
        source: file.source.clone(),
        file: file.path.clone(),
    };
    let name = entry.display_name();
    let enabled = (!own.config.enabled).then(|| by(Switch::Enabled, own));
    let listed = disabled
        .iter()
        .filter(|Disabled { file, names }| file.governs(own) && names.contains(name))
        .map(|disabled| by(Switch::Disabled, disabled.file));
    enabled.into_iter().chain(listed).collect()
}

fn switch_of(hook: &Hook, switches: &[(String, bool)]) -> Option<bool> {
    switches.iter().find(|(name, _)| name == hook.display_name()).map(|(_, enabled)| *enabled)
}

fn is_on(hook: &Hook, switches: &[(String, bool)]) -> bool {
    switch_of(hook, switches).unwrap_or(hook.switched_off.is_empty())
}

/// Who keeps a hook off. The host's word at run time counts alone.
fn disabled_by(hook: &Hook, switches: &[(String, bool)]) -> Vec<SwitchedOff> {
    match switch_of(hook, switches) {
        Some(true) => Vec::new(),
        Some(false) => {
            vec![SwitchedOff { switch: Switch::Host, source: HookSource::InProcess, file: None }]
        }
        None => hook.switched_off.clone(),
    }
}

/// By event: what is wrong with its hooks. One that settings switch off is left
/// out: it is meant not to run.
fn notices(hooks: &[Arc<Hook>], missing: &[MissingGuard]) -> ByEvent<Vec<String>> {
    /// The notices of an event, and how many of its hooks are not trusted.
    type Found = (Vec<String>, usize);
    let mut found: ByEvent<Found> = ByEvent::default();
    for hook in hooks {
        let (notices, untrusted) = found.of(hook.event);
        if let Some(why) = hook.suspended.as_ref().filter(|_| hook.switched_off.is_empty()) {
            notices.push(hook.says(&why.failure().to_string()));
        } else if let Some(notice) = switched_off_since_trusted(hook) {
            notices.push(notice);
        } else if !hook.trust.is_given() {
            *untrusted += 1;
        }
        if hook.switched_off.is_empty() {
            notices.extend(hook.warnings.iter().map(|warning| hook.says(warning)));
        }
    }
    for guard in missing {
        found.of(guard.event).0.extend(guard.notice());
    }
    found.map(|(mut notices, untrusted)| {
        shorten(&mut notices, "warnings about hooks of this event");
        if untrusted > 0 {
            let hooks = if untrusted == 1 { "hook is" } else { "hooks are" };
            notices.push(format!(
                "{untrusted} {hooks} not trusted and did not run; the user can review what would run \
                 with `hook trust`"
            ));
        }
        notices
    })
}

/// Which trusted guards are gone, or off, for all events. One guard may have been trusted several
/// times.
fn lost_guards(hooks: &[Arc<Hook>], missing: &[MissingGuard]) -> Vec<String> {
    let missing = missing.iter().filter_map(MissingGuard::notice);
    let mut known = HashSet::new();
    hooks
        .iter()
        .filter_map(|hook| switched_off_since_trusted(hook))
        .chain(missing)
        .filter(|notice| known.insert(notice.clone()))
        .collect()
}

/// That a guard was on when it was trusted and its own settings switch it off now. Where the user
/// switches it off, it is off.
fn switched_off_since_trusted(hook: &Hook) -> Option<String> {
    hook.suspended.as_ref()?;
    let was_on = hook.trust.before().is_some_and(Grant::was_enabled);
    let by_others = hook.switched_off.iter().any(|by| by.source != HookSource::Project);
    let by = hook.switched_off.first().filter(|_| was_on && !by_others)?;
    let file = by.file.as_ref().map(|file| format!(", {}", file.display())).unwrap_or_default();
    Some(hook.says(&format!(
        "this trusted guard is off now, by {by}{file}; switch it on, agree to that with `hook \
         trust`, or take back its trust with `hook trust --revoke`"
    )))
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
    let is_planned = |hook: &Arc<Hook>| hook.trust.is_given() || hook.blocks_unrun();
    let on = hooks.into_iter().filter(|hook| is_planned(hook) && is_on(hook, switches));
    on.cloned().collect()
}
