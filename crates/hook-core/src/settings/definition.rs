//! What settings say, read: hooks, and what holds for all of a file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::audit_level::AuditLevel;
use super::diagnostic::{Diagnostic, Place};
use super::fail_behavior::FailBehavior;
use super::matcher_definition::MatcherDefinition;
use super::paths::project_of;
use super::redaction::RedactionRules;
use super::registration::RegistrationRules;
use super::source::HookSource;
use super::upstream::UpstreamRules;
use crate::event::{EventDefinition, HookEventName};
use crate::language::{ForeignHook, Language};

/// The priority of hooks that set none.
pub const DEFAULT_PRIORITY: i32 = 100;

/// Who says how long a hook may run.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutOrigin {
    /// The hook itself.
    Hook,
    /// `defaultTimeout` of its file.
    File,
    /// The engine's own default.
    Engine,
}

impl TimeoutOrigin {
    /// The word in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::File => "file",
            Self::Engine => "engine",
        }
    }
}

/// `hooksConfig`: what holds for all hooks of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksConfig {
    /// Whether the source's hooks run at all.
    pub enabled: bool,
    /// Names (or, where a hook has none, commands) of hooks that do not run.
    pub disabled: Vec<String>,
    /// The timeout of hooks that have none; the engine's own default where this is `None`.
    pub default_timeout: Option<Duration>,
    /// The fail behaviour of hooks that have none.
    pub fail_behavior: FailBehavior,
    /// How many processes of this source's hooks may run at once; 0 is the engine's own limit.
    pub max_concurrent: usize,
    /// Which variables of the host's environment hooks get.
    pub environment: EnvironmentRules,
    /// How much an audit tells, where this file says so and may.
    pub audit_level: Option<AuditLevel>,
    /// How many hooks clients may register; none of a project's file.
    pub registration: RegistrationRules,
    /// What is left out of what is written down; of no effect where the file may not say so.
    pub redact: RedactionRules,
    /// The agents whose own hooks run as well.
    pub agents: Vec<String>,
    /// Modules beside those in `hooks` and those that are found.
    pub modules: Vec<String>,
    /// Whether `hook bridge` starts a server for its project; never of a project's file.
    pub starts_server: bool,
    /// Whether calls of agents are written down; of no effect where the file may not say so.
    pub logs_calls: bool,
}

impl Default for HooksConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            disabled: Vec::new(),
            default_timeout: None,
            fail_behavior: FailBehavior::Continue,
            max_concurrent: 0,
            environment: EnvironmentRules::default(),
            audit_level: None,
            registration: RegistrationRules::default(),
            redact: RedactionRules::default(),
            agents: Vec::new(),
            modules: Vec::new(),
            starts_server: false,
            logs_calls: true,
        }
    }
}

/// Which variables of the host's environment reach a hook.
///
/// A name may end in `*`, which stands for any ending. `deny` removes; `allow` keeps what `deny`
/// or the engine's own list (`BASH_ENV`, `ENV`, `SHELLOPTS`, `BASHOPTS`, `BASH_FUNC_*`) would
/// remove.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq, Hash, Eq)]
pub struct EnvironmentRules {
    /// Names that stay.
    pub allow: Vec<String>,
    /// Names that go.
    pub deny: Vec<String>,
}

/// How long a worker lives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct WorkerRules {
    /// Whether it is started when the settings are read, and not at its first call.
    pub eager: bool,
    /// How long it may take until it says that it is ready; 10 seconds by default.
    pub start_timeout: Duration,
    /// How long it is kept while nobody calls it; for ever by default.
    pub idle_timeout: Option<Duration>,
}

impl Default for WorkerRules {
    fn default() -> Self {
        Self { eager: false, start_timeout: Duration::from_secs(10), idle_timeout: None }
    }
}

/// One hook as it was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    /// The event it listens to.
    pub event: HookEventName,
    /// The matcher of the definition that it is in.
    pub matcher: Option<Arc<MatcherDefinition>>,
    /// Its place among the event's hooks: lower ones run earlier, equal ones together.
    pub priority: i32,
    /// Whether that definition is `sequential`.
    pub sequential: bool,
    /// Its name.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The shell command.
    pub command: String,
    /// How long it may run; the engine's default where neither it nor its file says.
    pub timeout: Option<Duration>,
    /// Who says so.
    pub timeout_origin: TimeoutOrigin,
    /// What its failure means.
    pub fail_behavior: FailBehavior,
    /// `async`: whether the event goes on without waiting for it.
    pub is_async: bool,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// Files of the project that the command only reads as data, as patterns of paths from the
    /// project's directory on: a decision to trust the hook does not cover them.
    pub data: Vec<String>,
    /// What holds for all hooks of its file.
    pub config: Arc<HooksConfig>,
    /// How long its process lives, if it is a worker, which stays alive and is called, or a module.
    pub worker: Option<WorkerRules>,
    /// The file of JavaScript or TypeScript that it is, as an absolute path, if it is a module. All modules
    /// of a file that may run share a process.
    pub module: Option<PathBuf>,
    /// Of a file in a folder of hooks what it is there for, `TYPE:TOOL:NAME`: of several the one of the source
    /// that is trusted most runs.
    pub(crate) stands_for: Option<Arc<str>>,
    /// The fleet of engines that it stands for, if it stands for one.
    #[doc(hidden)]
    pub upstream: Option<Arc<UpstreamRules>>,
    /// Where the entry stands.
    pub place: Place,
    pub(crate) spans: HookSpans,
    /// The hook as its home knows it, if it is one of another agent.
    pub(crate) home: Option<Arc<ForeignHook>>,
    /// Why it cannot be read, of a guard that cannot: it fails whenever it is to run.
    pub(crate) unreadable: Option<Arc<str>>,
}

/// The variables of a hook by name. Of two with the same name the last counts, and their order means
/// nothing.
pub(crate) fn variables(env: &[(String, String)]) -> BTreeMap<&str, &str> {
    env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Where parts of a hook stand in the text of its file, in bytes; a place takes more room, and
/// few are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HookSpans {
    pub(crate) matcher: Option<Range<usize>>,
    pub(crate) command: Option<Range<usize>>,
    pub(crate) timeout: Option<Range<usize>>,
    pub(crate) is_async: Option<Range<usize>>,
    pub(crate) start_timeout: Option<Range<usize>>,
    pub(crate) idle_timeout: Option<Range<usize>>,
    pub(crate) module: Option<Range<usize>>,
}

/// Where other parts of a file stand in its text.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileSpans {
    pub(crate) default_timeout: Option<Range<usize>>,
    /// Of `upstream`.
    pub(crate) upstream: Option<Range<usize>>,
    /// Of each name in `disabled`.
    pub(crate) disabled: Vec<Range<usize>>,
    /// Of each empty list of hooks, with its JSON path.
    pub(crate) empty: Vec<(Range<usize>, String)>,
    /// Hooks under names that are no events, taken for those of the nearest event: they are checked
    /// and never run.
    pub(crate) unplaced: Vec<HookEntry>,
    /// How many problems of the file are only counted.
    pub(crate) unreported: usize,
}

impl HookEntry {
    /// A hook of a file for which nothing is said but what that says of all of its hooks.
    pub(crate) fn of_file(event: HookEventName, config: &Arc<HooksConfig>, place: Place) -> Self {
        Self {
            event,
            matcher: None,
            priority: DEFAULT_PRIORITY,
            sequential: false,
            name: None,
            description: None,
            command: String::new(),
            timeout: config.default_timeout,
            timeout_origin: match config.default_timeout {
                Some(_) => TimeoutOrigin::File,
                None => TimeoutOrigin::Engine,
            },
            fail_behavior: config.fail_behavior,
            is_async: false,
            env: Vec::new(),
            data: Vec::new(),
            config: Arc::clone(config),
            worker: None,
            upstream: None,
            module: None,
            stands_for: None,
            place,
            spans: HookSpans::default(),
            home: None,
            unreadable: None,
        }
    }

    /// Whether it is a command of ours, and no hook of another agent, no fleet, nor one that cannot be read.
    pub(crate) fn is_ours(&self) -> bool {
        self.home.is_none() && self.unreadable.is_none() && self.upstream.is_none()
    }

    /// What the hook is shown as, and what it is switched off by: its name, else its command.
    pub fn display_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }
}

/// What was read from one settings file.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// What the file is to the engine.
    pub source: HookSource,
    /// The file.
    pub path: Option<PathBuf>,
    /// The project whose file it is, where its path does not say so.
    pub(crate) project: Option<PathBuf>,
    /// The agent whose file it is, if it is not ours.
    #[doc(hidden)]
    pub language: Option<&'static dyn Language>,
    /// `hooksConfig`.
    pub config: Arc<HooksConfig>,
    /// The hooks, in the order of the file.
    pub hooks: Vec<HookEntry>,
    /// The events that it declares.
    pub declared: Vec<EventDefinition>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// How many entries another agent's file has by which that asks hooks. They are no hooks themselves.
    #[doc(hidden)]
    pub entries: usize,
    /// Whether settings were read at all: not of a file that cannot be read or is no JSON object.
    pub(crate) was_read: bool,
    /// Whether its text has a guard in it, where it was not read: by a comma too few, such as that of a file
    /// that people write.
    pub(crate) mentions_guard: bool,
    pub(crate) spans: FileSpans,
}

impl SettingsFile {
    /// Whether it declares that event.
    #[doc(hidden)]
    pub fn declares(&self, event: HookEventName) -> bool {
        self.declared.iter().any(|definition| definition.is_of(event.row()))
    }

    /// The names of events that it has guards of and that are not known: they would guard if the events
    /// were. None of a project's, which may not be trusted.
    #[doc(hidden)]
    pub fn unplaced_guards(&self) -> impl Iterator<Item = &str> {
        let counts = self.source != HookSource::Project;
        let guards = self
            .spans
            .unplaced
            .iter()
            .filter(move |entry| counts && entry.fail_behavior == FailBehavior::Block);
        guards.filter_map(|entry| entry.place.path.strip_prefix("hooks.")?.split('[').next())
    }

    /// The project that the file's hooks belong to: the one whose settings these are, by where the
    /// file stands; that of the host for all others.
    #[doc(hidden)]
    pub fn project<'p>(&'p self, host: &'p Path) -> &'p Path {
        let by_path = || self.path.as_deref().and_then(project_of);
        let own = self.project.as_deref().or_else(by_path);
        own.filter(|_| self.source == HookSource::Project).unwrap_or(host)
    }
}
