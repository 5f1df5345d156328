//! Makes hooks of what settings, trust and the host say.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::consent::MissingGuard;
use super::hook::{Hook, Suspension, check_of};
use super::switches::{Disabled, switched_off};
use crate::event::HookEventName;
use crate::matcher::{Matcher, MatcherProblem};
use crate::run::{
    ExecutorMaker, HandlerHook, HookIdentity, HookKind, HookSpec, Runner, background,
};
use crate::settings::{
    DEFAULT_PRIORITY, FailBehavior, HookEntry, HookSource, HooksConfig, Place, SettingsFile,
    TimeoutOrigin,
};
use crate::trust::{Grant, Trust};

/// What the hooks of one file have in common.
pub(super) struct HookMaker<'f> {
    file: &'f SettingsFile,
    executors: ExecutorMaker,
    default_timeout: Duration,
    disabled: &'f [Disabled<'f>],
}

impl<'f> HookMaker<'f> {
    /// Makes the hooks of a file. `project` is the host's; `disabled` what all files switch off.
    pub(super) fn new(
        file: &'f SettingsFile,
        runner: &Runner,
        project: &Path,
        disabled: &'f [Disabled<'f>],
    ) -> Self {
        let executors = runner.executors(&file.config, file.project(project));
        Self { file, executors, default_timeout: runner.limits().timeout, disabled }
    }

    /// The hook of an entry, and what is wrong with its matcher.
    pub(super) fn hook(&self, entry: &HookEntry, trust: Trust) -> (Hook, Vec<MatcherProblem>) {
        let file = self.file;
        let changed = trust.before().filter(|before| is_guard(before, entry));
        let matcher = entry.matcher.clone();
        let (matcher, problems) = match (&trust, changed) {
            (_, Some(before)) => (matcher_of(before, entry.event), Vec::new()),
            (Trust::Missing { .. }, None) => (Matcher::unused(matcher), Vec::new()),
            _ => match &entry.home {
                Some(home) => (Matcher::of_home(matcher, Arc::clone(home)), Vec::new()),
                None => Matcher::compile(matcher, entry.event.row().matching, entry.fail_behavior),
            },
        };
        let suspended = changed.map(|_| Suspension::Changed);
        let of_matcher = problems.iter().map(|it| it.message.clone());
        let timeout = entry.timeout.unwrap_or(self.default_timeout);
        let executor = match (&entry.unreadable, &entry.home) {
            (Some(why), _) => self.executors.unreadable(&entry.command, why),
            (None, Some(home)) => self.executors.home_executor(&entry.command, home),
            (None, None) => match &entry.worker {
                Some(rules) => self.executors.worker(entry, rules, &file.source, &trust),
                None => self.executors.executor(&entry.command, &entry.env),
            },
        };
        let (event, name) = (entry.event, entry.name.as_deref());
        let spec = HookSpec {
            // What blocks in place of running is waited for.
            background: background(entry.is_async && suspended.is_none()),
            fail_behavior: match suspended {
                Some(_) => FailBehavior::Block,
                None => entry.fail_behavior,
            },
            warnings: of_matcher.chain(trust.warning()).collect(),
            slots: self.executors.slots.clone(),
            check: check_of(&trust, suspended.as_ref()),
            ..HookSpec::new(event, name, &file.source, timeout, executor)
        };
        let hook = Hook {
            spec: Arc::new(spec),
            name: entry.name.clone(),
            description: entry.description.clone(),
            source: file.source.clone(),
            place: Some(entry.place.clone()),
            matcher,
            priority: entry.priority,
            sequential: entry.sequential,
            is_registered: false,
            is_stand_in: false,
            timeout_origin: entry.timeout_origin,
            trust,
            suspended,
            switched_off: switched_off(entry, file, self.disabled),
        };
        (hook, problems)
    }
}

/// Whether a hook that changed is a guard, as it was trusted. Where the decision does not say, as it is
/// now.
fn is_guard(before: &Grant, entry: &HookEntry) -> bool {
    before.fail_behavior().unwrap_or(entry.fail_behavior) == FailBehavior::Block
}

/// The matcher that a guard was trusted with; everything, if the decision does not say.
fn matcher_of(before: &Grant, event: HookEventName) -> Matcher {
    // What it is compared with now may be another field, and that of another agent's hook was compared by
    // its home's rules.
    let is_same = before.event_matches_alike(event) && !before.is_of_home();
    let definition = before.matcher().flatten().filter(|_| is_same).map(Arc::new);
    Matcher::compile(definition, event.row().matching, FailBehavior::Block).0
}

/// A guard that may be missing because its settings have errors: as it was trusted.
pub(super) fn of_missing(guard: &MissingGuard, runner: &Runner) -> Option<Hook> {
    let file = guard.broken().cloned()?;
    let grant = &guard.grant;
    let env = grant.seen.as_ref().map_or(&[][..], |seen| &seen.env);
    let commands = runner.executors(&HooksConfig::default(), guard.project());
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
        is_registered: false,
        is_stand_in: false,
        timeout_origin: TimeoutOrigin::Engine,
        trust,
        suspended: Some(suspended),
        switched_off: Vec::new(),
    })
}

/// A hook that a worker under `*` declared: it is trusted, switched off and shown as that is.
pub(super) fn of_declared(declared: &HandlerHook, worker: &Hook, runner: &Runner) -> Hook {
    let hook = of_handler(declared, runner);
    let spec = HookSpec {
        identity: HookIdentity::new(
            declared.name(),
            HookKind::Worker.as_str(),
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
        may_raise_limits: worker.spec.may_raise_limits,
        executor: Arc::clone(&hook.spec.executor),
    };
    Hook {
        spec: Arc::new(spec),
        source: worker.source.clone(),
        place: worker.place.clone(),
        trust: worker.trust.clone(),
        switched_off: worker.switched_off.clone(),
        ..hook
    }
}

pub(super) fn of_handler(handler: &HandlerHook, runner: &Runner) -> Hook {
    let (matcher, problems) = handler.compiled_matcher();
    let (event, name) = (handler.event, Some(&*handler.name));
    let timeout = handler.timeout.unwrap_or(runner.limits().timeout);
    let executor = runner.handler(handler);
    let is_guard = handler.fail_behavior == FailBehavior::Block;
    let spec = HookSpec {
        background: background(handler.background && !is_guard),
        fail_behavior: handler.fail_behavior,
        warnings: problems.into_iter().map(|it| it.message).collect(),
        ..HookSpec::new(event, name, &handler.source, timeout, executor)
    };
    Hook {
        spec: Arc::new(spec),
        name: Some(handler.name.clone()),
        description: None,
        source: handler.source.clone(),
        place: None,
        matcher,
        priority: handler.priority,
        sequential: handler.sequential,
        is_registered: false,
        is_stand_in: false,
        timeout_origin: match handler.timeout {
            Some(_) => TimeoutOrigin::Hook,
            None => TimeoutOrigin::Engine,
        },
        trust: Trust::Given,
        suspended: None,
        switched_off: Vec::new(),
    }
}
