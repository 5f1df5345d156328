//! Parsed settings: hooks, and the options of their file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::diagnostic::{Diagnostic, Location};
use super::fields::{CONFIG_FIELDS, DEFAULT_PRIORITY, HOOK_FIELDS};
use super::keywords::{AuditLevel, FailBehavior, TimeoutOrigin};
use super::matcher_definition::MatcherDefinition;
use super::pack::Pack;
use super::paths::project_of;
use super::redaction::RedactionRules;
use super::registration::RegistrationRules;
use super::rule_set::RuleSet;
use super::source::{HookSource, SettingsSource};
use super::upstream::UpstreamRules;
use super::values::{HookSpans, Values};
use crate::language::{ForeignHook, Language};
use hook_protocol::event::{EventDefinition, HookEventName};

/// `hooksConfig`: the options for all hooks of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksConfig {
    /// `true` if the source's hooks are enabled.
    pub enabled: bool,
    /// Names (or commands, for hooks without a name) of disabled hooks.
    pub disabled: Vec<String>,
    /// The timeout of hooks that set none; `None` for the engine's default.
    pub(crate) default_timeout: Option<Duration>,
    /// The fail behavior of hooks that set none.
    pub(crate) fail_behavior: FailBehavior,
    /// The most concurrent processes of this source's hooks; 0 for the engine's own limit.
    pub max_concurrent: usize,
    /// The host's environment variables that hooks receive.
    pub environment: EnvironmentRules,
    /// The level of detail of an audit, if this file sets one and may.
    pub(crate) audit_level: Option<AuditLevel>,
    /// The limits for hooks that clients register; ignored in a project's file.
    pub(crate) registration: RegistrationRules,
    /// The redaction rules for logs; ignored if the file may not set them.
    pub(crate) redact: RedactionRules,
    /// Other agents whose own hooks run as well.
    pub agents: Vec<String>,
    /// Modules in addition to those in `hooks` and those found in folders.
    pub(crate) modules: Vec<String>,
    /// `true` if `hook bridge` starts a server for its project; ignored in a project's file.
    pub starts_server: bool,
    /// `true` if calls of agents are logged; ignored if the file may not set it.
    pub(crate) logs_calls: bool,
}

impl HooksConfig {
    /// Returns the options that need no reader of their own.
    pub(super) fn of(values: &Values) -> Self {
        Self {
            enabled: values.bool("enabled"),
            disabled: values.texts("disabled"),
            default_timeout: values.duration("defaultTimeout"),
            fail_behavior: values.fail_behavior().unwrap_or_default(),
            max_concurrent: values.number("maxConcurrent").unwrap_or_default(),
            environment: EnvironmentRules::default(),
            audit_level: values.text("auditLevel").and_then(AuditLevel::from_name),
            registration: RegistrationRules::default(),
            redact: RedactionRules::default(),
            agents: values.texts("agents"),
            modules: values.texts("modules"),
            starts_server: values.text("server") == Some("auto"),
            logs_calls: values.text("log") != Some("off"),
        }
    }
}

impl Default for HooksConfig {
    fn default() -> Self {
        Self::of(&Values::none(&CONFIG_FIELDS))
    }
}

/// The host's environment variables that reach a hook.
///
/// A name may end in `*`, which matches any ending. `deny` removes a variable; `allow` keeps one
/// that `deny` or the engine's own list (`BASH_ENV`, `ENV`, `SHELLOPTS`, `BASHOPTS`, `BASH_FUNC_*`)
/// would remove.
#[derive(Debug, Clone, Default, PartialEq, Hash, Eq)]
pub struct EnvironmentRules {
    /// Names to keep.
    pub allow: Vec<String>,
    /// Names to remove.
    pub deny: Vec<String>,
}

/// The lifetime of a worker process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct WorkerRules {
    /// `true` if it is started when the settings are read, not at its first call.
    pub eager: bool,
    /// The time limit for reporting that it is ready; 10 seconds by default.
    pub start_timeout: Duration,
    /// The time without calls after which it is ended; unlimited by default.
    pub idle_timeout: Option<Duration>,
}

impl WorkerRules {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            eager: values.text("start") == Some("eager"),
            start_timeout: values.duration("startTimeout").unwrap_or(Duration::from_secs(10)),
            idle_timeout: values.duration("idleTimeout"),
        }
    }
}

impl Default for WorkerRules {
    fn default() -> Self {
        Self::of(&Values::none(&HOOK_FIELDS))
    }
}

/// A hook as defined in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    /// The event it listens to.
    pub event: HookEventName,
    /// The matcher of its definition.
    pub matcher: Option<Arc<MatcherDefinition>>,
    /// Its priority: lower ones run earlier, equal ones concurrently.
    pub priority: i32,
    /// `true` if its definition is `sequential`.
    pub sequential: bool,
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The shell command.
    pub command: String,
    /// Its timeout; `None` for the engine's default.
    pub timeout: Option<Duration>,
    /// The origin of its timeout.
    pub timeout_origin: TimeoutOrigin,
    /// The consequence of its failure.
    pub fail_behavior: FailBehavior,
    /// `async`: `true` if the event does not wait for it.
    pub is_async: bool,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// Patterns of files that the command only reads as data, relative to the project's directory.
    /// Trust in the hook does not depend on their contents.
    pub data: Vec<String>,
    /// The options of its file.
    pub config: Arc<HooksConfig>,
    /// The lifetime of its process, if it is a worker or a module.
    pub worker: Option<WorkerRules>,
    /// Its JavaScript or TypeScript file, as an absolute path, if it is a module. All enabled
    /// modules of a settings file share a process.
    pub module: Option<PathBuf>,
    /// The purpose of a file in a hook folder, as `TYPE:TOOL:NAME`. Of several files with one
    /// purpose, that of the most trusted source runs.
    pub purpose: Option<Arc<str>>,
    /// The rules of the fleet of engines that it represents, if any.
    pub upstream: Option<Arc<UpstreamRules>>,
    /// Its location.
    pub location: Location,
    pub(crate) spans: HookSpans,
    /// The hook as its own agent defines it, if it is a foreign hook.
    pub foreign: Option<Arc<ForeignHook>>,
    /// The error of an unreadable guard, which fails whenever it is called.
    pub unreadable: Option<Arc<str>>,
}

/// Returns the variables of a hook by name. Of duplicates the last counts; their order is
/// irrelevant.
pub fn variables(env: &[(String, String)]) -> BTreeMap<&str, &str> {
    env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Byte ranges of other parts of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileSpans {
    pub(crate) default_timeout: Option<Range<usize>>,
    /// The range of `upstream`.
    pub(crate) upstream: Option<Range<usize>>,
    /// The range of each name in `disabled`.
    pub(crate) disabled: Vec<Range<usize>>,
    /// The range and JSON path of each empty list of hooks.
    pub(crate) empty: Vec<(Range<usize>, String)>,
    /// Hooks under names of unknown events, parsed as hooks of the nearest event: they are checked
    /// but never run.
    pub(crate) unknown_event_hooks: Vec<HookEntry>,
    /// The number of problems that are only counted.
    pub(crate) unreported: usize,
}

impl HookEntry {
    /// Returns a hook of a file with the defaults of that file.
    pub fn of_file(event: HookEventName, config: &Arc<HooksConfig>, location: Location) -> Self {
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
            purpose: None,
            location,
            spans: HookSpans::default(),
            foreign: None,
            unreadable: None,
        }
    }

    /// Checks whether it is a native command: not a foreign hook, a fleet, or unreadable.
    pub(crate) fn is_native_command(&self) -> bool {
        self.foreign.is_none() && self.unreadable.is_none() && self.upstream.is_none()
    }

    /// Returns the name for display and for switches: its name, or else its command.
    pub fn display_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }
}

/// The contents of one settings file.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// The source that the file belongs to.
    pub source: HookSource,
    /// The file's path.
    pub path: Option<PathBuf>,
    /// The project that the file belongs to, if its path does not show it.
    pub(crate) project: Option<PathBuf>,
    /// The agent that the file belongs to, if it is a foreign one.
    pub language: Option<&'static dyn Language>,
    /// `hooksConfig`.
    pub config: Arc<HooksConfig>,
    /// The hooks, in the order of the file.
    pub hooks: Vec<HookEntry>,
    /// The files of rules next to it.
    pub rules: Vec<RuleSet>,
    /// The pack that it belongs to.
    pub pack: Option<Arc<Pack>>,
    /// The events that it declares.
    pub declared: Vec<EventDefinition>,
    /// The problems found in it.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of entries by which a foreign file calls hooks. They are not hooks themselves.
    pub entries: usize,
    /// `true` if settings were read: `false` if the file is unreadable or not a JSON object.
    pub was_read: bool,
    pub(crate) spans: FileSpans,
}

impl SettingsFile {
    /// Returns a file without contents.
    pub(super) fn new(source: HookSource, path: Option<PathBuf>) -> Self {
        Self {
            source,
            path,
            project: None,
            language: None,
            config: Arc::default(),
            hooks: Vec::new(),
            rules: Vec::new(),
            pack: None,
            declared: Vec::new(),
            diagnostics: Vec::new(),
            entries: 0,
            was_read: false,
            spans: FileSpans::default(),
        }
    }

    /// Returns a file of a foreign source, or of one that cannot be read, without contents.
    pub(super) fn of(source: &SettingsSource) -> Self {
        Self {
            project: source.project.clone(),
            language: source.language,
            ..Self::new(source.source.clone(), Some(source.path.clone()))
        }
    }

    /// Returns `true` if it declares the event.
    pub fn declares(&self, event: HookEventName) -> bool {
        self.declared.iter().any(|definition| definition.matches_row(event.row()))
    }

    /// Returns the names of unknown events for which it has guards. Always empty for a project's
    /// file, which may be untrusted.
    pub fn unknown_event_guards(&self) -> impl Iterator<Item = &str> {
        let is_trusted_source = self.source != HookSource::Project;
        let guards =
            self.spans.unknown_event_hooks.iter().filter(move |entry| {
                is_trusted_source && entry.fail_behavior == FailBehavior::Block
            });
        guards.filter_map(|entry| entry.location.path.strip_prefix("hooks.")?.split('[').next())
    }

    /// Returns the names of its hooks and of its files of rules, by which they are switched off.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let rules = self.rules.iter().map(|set| set.name.as_str());
        self.hooks.iter().map(HookEntry::display_name).chain(rules)
    }

    /// Returns the project that the file's hooks belong to: for a project's settings the one that
    /// contains the file, for its packs the one that names them, otherwise the host's.
    pub fn project<'p>(&'p self, host: &'p Path) -> &'p Path {
        let by_path = || self.path.as_deref().and_then(project_of);
        let own = self.project.as_deref().or_else(by_path);
        let own = own.filter(|_| self.source == HookSource::Project);
        own.or_else(|| self.pack.as_ref()?.project.as_deref()).unwrap_or(host)
    }
}
