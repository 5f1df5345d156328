//! Construction of hooks from settings, trust and the host's handlers.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::compiled_rules::CompiledRules;
use super::hook::{Hook, Suspension, trust_check};
use super::shadowed::Shadowed;
use super::switched_off::SwitchedOff;
use super::switches::{Disabled, switched_off};
use super::trust_decisions::MissingGuard;
use hook_protocol::event::HookEventName;
use hook_run::{
    ExecutorFactory, HandlerHook, HookExecutor, HookIdentity, HookSpec, Runner, Worker, background,
};
use hook_settings::language::ForeignHook;
use hook_settings::matcher::{Matcher, MatcherProblem};
use hook_settings::{
    DEFAULT_PRIORITY, FailBehavior, HookEntry, HookSource, HooksConfig, Location,
    MatcherDefinition, RuleSet, SettingsFile, TimeoutOrigin, WorkerRules,
};
use hook_trust::{Grant, Trust, agent_of};

/// The shared parts of all hooks of one file.
pub(super) struct HookFactory<'f> {
    file: &'f SettingsFile,
    runner: &'f Runner,
    project: &'f Path,
    /// Only made for files with hooks: it looks at each directory of `PATH`.
    executors: OnceCell<ExecutorFactory>,
    default_timeout: Duration,
    disabled: &'f [Disabled<'f>],
    /// The file's index, and the shadowed hooks of all files.
    index: usize,
    shadowed: &'f Shadowed,
    /// The enabled module workers, each with its modules.
    modules: Vec<(Vec<PathBuf>, Arc<Worker>)>,
}

impl<'f> HookFactory<'f> {
    /// Creates the maker for a file with the given trust. `project` is the host's; `disabled` are
    /// the names that any file disables.
    pub(super) fn new(
        (index, file): (usize, &'f SettingsFile),
        trust: &[Trust],
        runner: &'f Runner,
        project: &'f Path,
        (disabled, shadowed): (&'f [Disabled<'f>], &'f Shadowed),
    ) -> Self {
        let mut factory = Self {
            file,
            runner,
            project,
            executors: OnceCell::new(),
            default_timeout: runner.limits().timeout,
            disabled,
            index,
            shadowed,
            modules: Vec::new(),
        };
        factory.modules = factory.module_workers(trust);
        factory
    }

    fn executors(&self) -> &ExecutorFactory {
        self.executors.get_or_init(|| {
            let Self { file, runner, project, .. } = self;
            let folder = file.path.as_deref().and_then(Path::parent).unwrap_or(project);
            let is_project = file.source == HookSource::Project;
            runner.executors(&file.config, (file.project(project), folder), is_project)
        })
    }

    /// Returns one worker for each set of enabled modules with equal rules and variables.
    fn module_workers(&self, trust: &[Trust]) -> Vec<(Vec<PathBuf>, Arc<Worker>)> {
        type GroupKey<'e> = (&'e WorkerRules, &'e [(String, String)]);
        let mut groups: Vec<(GroupKey<'_>, Vec<(&HookEntry, &Trust)>)> = Vec::new();
        for (index, (entry, trust)) in self.file.hooks.iter().zip(trust).enumerate() {
            let Some(rules) = entry.worker.as_ref().filter(|_| entry.module.is_some()) else {
                continue;
            };
            let is_on = self.switched_off(index, entry).is_empty();
            if !(trust.is_trusted() && is_on) {
                continue;
            }
            let key: GroupKey<'_> = (rules, &entry.env);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, modules)) => modules.push((entry, trust)),
                None => groups.push((key, vec![(entry, trust)])),
            }
        }
        let worker = |((rules, _), modules): (GroupKey<'_>, Vec<(&HookEntry, &Trust)>)| {
            let worker = self.executors().module_worker(&modules, rules, &self.file.source);
            (modules.iter().filter_map(|(entry, _)| entry.module.clone()).collect(), worker)
        };
        groups.into_iter().map(worker).collect()
    }

    /// Returns the executor that calls a module.
    fn module(
        &self,
        path: &Path,
        entry: &HookEntry,
        rules: &WorkerRules,
        trust: &Trust,
    ) -> Arc<dyn HookExecutor> {
        let known = self.modules.iter().find(|(paths, _)| paths.iter().any(|known| known == path));
        let worker = match known {
            Some((_, worker)) => Arc::clone(worker),
            // A module that may not run; this worker is never started.
            None => self.executors().module_worker(&[(entry, trust)], rules, &self.file.source),
        };
        self.executors().worker_call_executor(entry, worker)
    }

    /// Returns the hooks of rules next to the file, one for each event that they are about. Rules that the
    /// user agreed to are not switched off by their own project.
    pub(super) fn rule_hooks(
        &self,
        sets: &[RuleSet],
        are_agreed: bool,
        compiled: &CompiledRules<'_>,
    ) -> impl Iterator<Item = Hook> {
        let set_hooks = move |set: &RuleSet| {
            let rules = || {
                let rules = compiled.of_file(self.file, &set.file, self.project)?;
                let project = self.file.project(self.project);
                Some(ExecutorFactory::rules(&set.name, rules, project, self.runner.home()))
            };
            let executor = match &set.unreadable {
                None => rules(),
                Some(_) => None,
            };
            let why = set.unreadable.as_deref().unwrap_or("its rules are not compiled");
            let executor =
                executor.unwrap_or_else(|| ExecutorFactory::unreadable(&set.name, &why.into()));
            let hook = |event: HookEventName| {
                let name = Some(set.name.as_str());
                let source = &self.file.source;
                let spec = HookSpec {
                    fail_behavior: FailBehavior::Block,
                    ..HookSpec::new(
                        event,
                        name,
                        source,
                        self.default_timeout,
                        Arc::clone(&executor),
                    )
                };
                Hook {
                    spec: Arc::new(spec),
                    name: Some(set.name.clone()),
                    description: None,
                    source: source.clone(),
                    location: Some(Location::of_file(&set.path)),
                    matcher: Matcher::compile(None, event.row().matching, FailBehavior::Block).0,
                    priority: DEFAULT_PRIORITY,
                    sequential: false,
                    in_turn: false,
                    is_placeholder: false,
                    declared_by: None,
                    module: None,
                    timeout_origin: TimeoutOrigin::Engine,
                    trust: Trust::Always,
                    suspended: None,
                    switched_off: switched_off(&set.name, self.file, self.disabled)
                        .into_iter()
                        .filter(|by| !are_agreed || by.source != HookSource::Project)
                        .collect(),
                    agent: None,
                }
            };
            set.events().into_iter().map(hook).collect::<Vec<_>>()
        };
        sets.iter().flat_map(set_hooks)
    }

    /// Returns the settings that disable an entry.
    fn switched_off(&self, entry_index: usize, entry: &HookEntry) -> Vec<SwitchedOff> {
        let mut by = switched_off(entry.display_name(), self.file, self.disabled);
        by.extend(self.shadowed.get(&(self.index, entry_index)).cloned());
        by
    }

    /// Returns the hook of an entry, and the problems with its matcher.
    pub(super) fn hook(
        &self,
        at: usize,
        entry: &HookEntry,
        trust: Trust,
    ) -> (Hook, Vec<MatcherProblem>) {
        let file = self.file;
        let guards = trust.before().is_some_and(|before| is_guard(before, entry));
        // A module may have guards of its own, regardless of its settings.
        let changed = trust.before().filter(|_| guards || entry.module.is_some());
        let matcher = entry.matcher.clone();
        let (matcher, problems) = match (&trust, changed) {
            (_, Some(before)) => {
                (trusted_matcher(before, entry.event, entry.foreign.as_ref()), Vec::new())
            }
            (Trust::Missing { .. }, None) => (Matcher::disabled(matcher), Vec::new()),
            _ => {
                let matching = entry.event.row().matching;
                Matcher::of(matcher, entry.foreign.as_ref(), matching, entry.fail_behavior)
            }
        };
        let matcher = matcher.in_project(file.project(self.project));
        let reason = trust.changed_reason().cloned().unwrap_or_default();
        let suspended = changed.map(|_| Suspension::Changed(reason));
        let mut switched_off = self.switched_off(at, entry);
        if changed.is_some_and(Grant::was_enabled) {
            // A project switches a trusted guard off once its user agrees.
            switched_off.retain(|by| by.source != HookSource::Project);
        }
        let matcher_warnings = problems.iter().map(|problem| problem.message.clone());
        let timeout = entry.timeout.unwrap_or(self.default_timeout);
        let executor = match (&entry.unreadable, &entry.foreign) {
            (Some(why), _) => ExecutorFactory::unreadable(&entry.command, why),
            (None, Some(foreign)) => {
                self.executors().foreign_executor(&entry.command, foreign, &trust)
            }
            (None, None) => match (&entry.upstream, &entry.worker) {
                (Some(rules), _) => self.executors().upstream(rules),
                (None, Some(rules)) if let Some(path) = &entry.module => {
                    self.module(path, entry, rules, &trust)
                }
                (None, Some(rules)) => self.executors().worker(entry, rules, &file.source, &trust),
                (None, None) => self.executors().executor(&entry.command, &entry.env, &trust),
            },
        };
        let (event, name) = (entry.event, entry.name.as_deref());
        let spec = HookSpec {
            // A hook that blocks without running is not a background hook.
            background: background(entry.is_async && suspended.is_none()),
            fail_behavior: match guards {
                true => FailBehavior::Block,
                false => entry.fail_behavior,
            },
            warnings: matcher_warnings.collect(),
            slots: self.executors().slots.clone(),
            check: trust_check(&trust, suspended.as_ref()),
            kinds: matcher.kinds().to_vec(),
            ..HookSpec::new(event, name, &file.source, timeout, executor)
        };
        let hook = Hook {
            spec: Arc::new(spec),
            name: entry.name.clone(),
            description: entry.description.clone(),
            source: file.source.clone(),
            location: Some(entry.location.clone()),
            matcher,
            priority: entry.priority,
            sequential: entry.sequential,
            in_turn: entry.module.is_some(),
            is_placeholder: false,
            declared_by: None,
            module: entry.module.clone().map(Arc::new),
            timeout_origin: entry.timeout_origin,
            trust,
            suspended,
            switched_off,
            agent: agent_of(entry),
        };
        (hook, problems)
    }
}

/// Checks whether a changed hook was trusted as a guard, or is one now if that was not recorded.
fn is_guard(before: &Grant, entry: &HookEntry) -> bool {
    before.is_guard()
        || before.fail_behavior().is_none() && entry.fail_behavior == FailBehavior::Block
}

/// Returns the matcher that a guard was trusted with; one that matches everything if not recorded.
fn trusted_matcher(
    before: &Grant,
    event: HookEventName,
    foreign: Option<&Arc<ForeignHook>>,
) -> Matcher {
    let everything = || Matcher::compile(None, event.row().matching, FailBehavior::Block).0;
    let Some(definition) = before.matcher() else { return everything() };
    // The field to compare may differ now.
    if !before.has_same_event_matching(event) {
        return everything();
    }
    // A foreign hook was matched by its agent's rules.
    let foreign = match (before.foreign_event(), foreign) {
        (None, _) => None,
        (Some((language, foreign_event)), Some(foreign)) if language == foreign.language.name() => {
            let text = definition.as_ref().and_then(MatcherDefinition::as_text);
            Some(Arc::new(ForeignHook {
                event: foreign_event.to_owned(),
                matcher: text.map(str::to_owned),
                condition: before.foreign_condition().map(str::to_owned),
                ..(**foreign).clone()
            }))
        }
        (Some(_), _) => return everything(),
    };
    let definition = definition.map(Arc::new);
    let matching = event.row().matching;
    Matcher::of(definition, foreign.as_ref(), matching, FailBehavior::Block).0
}

/// Returns the hook for a missing guard, as it was trusted: its copy if it is gone, else a hook that
/// blocks.
pub(super) fn missing_guard_hook(guard: &MissingGuard, runner: &Runner) -> Hook {
    let grant = &guard.grant;
    let (trust, suspended, file) = match &guard.running {
        Some(granted) => {
            let file = granted.entry().location.file.as_deref().cloned();
            (Trust::Checked(Arc::clone(granted)), None, file)
        }
        None => {
            let suspended = guard.suspension();
            let file = match &suspended {
                Suspension::BrokenSettings { file, .. } => Some(file.clone()),
                Suspension::Changed(_) | Suspension::Removed { .. } => None,
            };
            let trust = Trust::Missing { before: Some(Arc::clone(grant)), reason: None };
            (trust, Some(suspended), file)
        }
    };
    let entry = guard.running.as_ref().map(|granted| granted.entry());
    let env = grant.seen.as_ref().map_or(&[][..], |seen| &seen.env);
    let config = entry.map_or_else(HooksConfig::default, |entry| (*entry.config).clone());
    let commands = runner.executors(&config, (guard.project(), guard.project()), true);
    let executor = match &guard.foreign {
        Some(foreign) => commands.foreign_executor(&grant.command, foreign, &trust),
        None => commands.executor(&grant.command, env, &trust),
    };
    let name = grant.name.as_deref();
    let timeout = entry.and_then(|entry| entry.timeout).unwrap_or(runner.limits().timeout);
    let spec = HookSpec {
        fail_behavior: FailBehavior::Block,
        check: trust_check(&trust, suspended.as_ref()),
        ..HookSpec::new(guard.event, name, &HookSource::Project, timeout, executor)
    };
    Hook {
        spec: Arc::new(spec),
        name: grant.name.clone(),
        description: None,
        source: HookSource::Project,
        location: file.map(Location::of_file),
        matcher: trusted_matcher(grant, guard.event, guard.foreign.as_ref())
            .in_project(guard.project()),
        priority: entry.map_or(DEFAULT_PRIORITY, |entry| entry.priority),
        sequential: entry.is_some_and(|entry| entry.sequential),
        in_turn: false,
        is_placeholder: false,
        declared_by: None,
        module: None,
        timeout_origin: TimeoutOrigin::Engine,
        trust,
        suspended,
        switched_off: Vec::new(),
        agent: None,
    }
}

/// Returns a hook declared by a worker under `*`, with that worker's trust, switches and location.
pub(super) fn declared_hook(declared: &HandlerHook, worker: &Arc<Hook>, runner: &Runner) -> Hook {
    let hook = handler_hook(declared, runner);
    let spec = HookSpec {
        identity: HookIdentity::new(
            declared.name(),
            worker.kind().as_str(),
            &worker.source,
            declared.event(),
        ),
        event: hook.spec.event,
        timeout: hook.spec.timeout,
        fail_behavior: hook.spec.fail_behavior,
        warnings: hook.spec.warnings.clone(),
        background: hook.spec.background.clone(),
        check: worker.spec.check.clone(),
        slots: None,
        trust_rank: worker.spec.trust_rank,
        may_approve: worker.spec.may_approve,
        may_raise_limits: worker.spec.may_raise_limits,
        kinds: Vec::new(),
        executor: Arc::clone(&hook.spec.executor),
    };
    Hook {
        spec: Arc::new(spec),
        source: worker.source.clone(),
        location: worker.location.clone(),
        module: worker.module.clone(),
        trust: worker.trust.clone(),
        declared_by: Some(Arc::clone(worker)),
        ..hook
    }
}

pub(super) fn handler_hook(handler: &HandlerHook, runner: &Runner) -> Hook {
    let (matcher, problems) = handler.compiled_matcher();
    let (event, name) = (handler.event, Some(&*handler.name));
    let timeout = handler.timeout.unwrap_or(runner.limits().timeout);
    let executor = runner.handler(handler);
    let is_guard = handler.fail_behavior == FailBehavior::Block;
    let spec = HookSpec {
        background: background(handler.background && !is_guard),
        fail_behavior: handler.fail_behavior,
        warnings: problems.into_iter().map(|problem| problem.message).collect(),
        ..HookSpec::new(event, name, &handler.source, timeout, executor)
    };
    Hook {
        spec: Arc::new(spec),
        name: Some(handler.name.clone()),
        description: None,
        source: handler.source.clone(),
        location: None,
        matcher,
        priority: handler.priority,
        sequential: handler.sequential,
        in_turn: handler.in_turn,
        is_placeholder: false,
        declared_by: None,
        module: None,
        timeout_origin: match handler.timeout {
            Some(_) => TimeoutOrigin::Hook,
            None => TimeoutOrigin::Engine,
        },
        trust: Trust::Always,
        suspended: None,
        switched_off: Vec::new(),
        agent: None,
    }
}
