//! The project, settings, trust and hook system that the common options select.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_bus::wire::{MAX_LINE, sockets_with_saved_guards};
use hook_bus::{HookSystem, HookSystemBuilder};
use hook_core::HookListing;
use hook_files::regular_file;
use hook_json::text::{PathText, one_line, shortened};
use hook_protocol::{Events, HookEventName};
use hook_settings::check::CheckContext;
use hook_settings::language::Language;
use hook_settings::{
    Agents, HookSource, IN_PROJECT, MAX_PROJECT_DEPTH, Pack, SettingsFile, SettingsSource,
    config_home, declare_events, discover, guarded_directories, has_hook_folder, has_settings,
    is_searchable, load, nearest_project, unsafe_user_folder,
};
use hook_trust::{TrustPolicy, TrustStore, review_command};

use hook_agents::{Agent, AgentRequest};

use crate::error::CommandError;
use crate::fleet;
use crate::options::{Common, NamedAgent};
use crate::output::Printer;

/// The context of a command, resolved once before it does anything.
#[derive(Debug)]
pub(crate) struct Context {
    common: Common,
    cwd: PathBuf,
    project: PathBuf,
    /// The other directories that the agent works in.
    workspace: Vec<PathBuf>,
    config_home: Option<PathBuf>,
    /// `true` if only the project's own settings and named ones apply.
    is_hermetic: bool,
    /// A pack whose hooks alone run.
    pack: Option<Pack>,
}

/// An unknown event name.
pub(crate) struct UnknownEvent {
    /// The error message.
    pub(crate) message: String,
    /// `true` if all settings that may declare the event were readable.
    pub(crate) is_complete: bool,
}

impl From<UnknownEvent> for CommandError {
    fn from(unknown: UnknownEvent) -> Self {
        match unknown.is_complete {
            true => Self::Usage(unknown.message),
            false => Self::UnreadEvent(unknown.message),
        }
    }
}

/// The time that `hook bridge` reserves to answer before its agent stops waiting.
const MARGIN: Duration = Duration::from_secs(5);

/// Returns the time that hooks have to answer an agent that waits for `patience`.
pub(crate) fn answer_deadline(timeout: Duration) -> Duration {
    timeout.saturating_sub(MARGIN.min(timeout / 3))
}

/// The maximum number of blocking guards that warnings name; the rest are only counted.
const MAX_SHOWN_GUARDS: usize = 3;

/// Enabled hooks that do not run because they are not trusted.
pub(crate) struct Untrusted<'h> {
    /// Guards that were trusted before, and block instead of running.
    pub(crate) blocking: Vec<&'h HookListing>,
    pub(crate) others: Vec<&'h HookListing>,
}

impl<'h> Untrusted<'h> {
    pub(crate) fn among(hooks: impl IntoIterator<Item = &'h HookListing>) -> Self {
        let (blocking, others) = hooks
            .into_iter()
            .filter(|listing| listing.enabled && !listing.trusted)
            .partition(|listing| listing.hook.blocks_without_running());
        Self { blocking, others }
    }
}

impl Context {
    pub(crate) fn new(common: Common) -> Result<Self, CommandError> {
        Self::with_project(common, existing_directory)
    }

    /// Creates a context for a project that may no longer exist.
    pub(crate) fn allowing_missing_project(common: Common) -> Result<Self, CommandError> {
        Self::with_project(common, |project, cwd| {
            existing_directory(project, cwd).or_else(|_| Ok(cwd.join(project)))
        })
    }

    fn with_project(
        common: Common,
        find: impl Fn(&Path, &Path) -> Result<PathBuf, CommandError>,
    ) -> Result<Self, CommandError> {
        let cwd = std::env::current_dir().map_err(CommandError::WorkingDirectory)?;
        let project = match &common.project {
            Some(project) => find(project, &cwd)?,
            None if is_searchable(&cwd) => nearest_project(&cwd),
            None => cwd.clone(),
        };
        Ok(Self {
            common,
            cwd,
            project,
            workspace: Vec::new(),
            config_home: config_home(),
            is_hermetic: false,
            pack: None,
        })
    }

    /// Returns `true` if `--strict` is given.
    pub(crate) fn is_strict(&self) -> bool {
        self.common.strict
    }

    /// Switches to the project that the agent works in, unless `--project` is given.
    pub(crate) fn at_paths_of(mut self, call: &AgentRequest) -> Self {
        if self.common.project.is_some() {
            return self;
        }
        let trust = self.trust_policy();
        let workspace = call.workspace();
        let named = call.directories_with(&self.common.settings);
        let mut all = named.iter().chain(&workspace);
        if let Some(deep) = all.clone().find(|path| !is_searchable(path)) {
            self.project = deep.clone();
            return self;
        }
        // A project that was moved away keeps its guards.
        let is_there = |path: &&PathBuf| {
            let has_saved_guards = |path: &Path| sockets_with_saved_guards(path).next().is_some();
            path.is_dir()
                || trust.knows_any(path.ancestors())
                || path.ancestors().any(has_saved_guards)
        };
        let directories: Vec<PathBuf> = match all.find(is_there).cloned() {
            Some(path) if path.is_dir() => {
                self.project = nearest_project(&path);
                std::iter::once(path).chain(workspace).collect()
            }
            Some(path) => {
                self.project = nearest_project(&path);
                named.into_iter().chain(workspace).collect()
            }
            None => named.into_iter().chain(workspace).collect(),
        };
        self.workspace = self.with_other_guards(&directories);
        self
    }

    /// Returns those of the directories that have hooks, rules or guards of programs which the project
    /// and those around it do not have.
    fn with_other_guards(&self, directories: &[PathBuf]) -> Vec<PathBuf> {
        let mut others: Vec<PathBuf> = directories.to_vec();
        others.retain(|directory| *directory != self.project);
        if others.is_empty() || !self.common.settings.is_empty() {
            return Vec::new();
        }
        let (known, trust) = (guarded_directories(&self.project), self.trust_policy());
        others.retain(|directory| {
            let mut around = guarded_directories(directory);
            around.retain(|directory| !known.contains(directory));
            let has_guards = |directory: &PathBuf| {
                has_settings(directory) || sockets_with_saved_guards(directory).next().is_some()
            };
            around.iter().any(has_guards)
                || !around.is_empty() && trust.knows_any(around.iter().map(PathBuf::as_path))
        });
        others
    }

    /// Returns the directories that the agent works in beside the project.
    pub(crate) fn workspace(&self) -> &[PathBuf] {
        &self.workspace
    }

    /// Restricts this context to the project's own settings and named ones.
    pub(crate) fn hermetic(mut self) -> Self {
        self.common.no_user = true;
        self.is_hermetic = true;
        self
    }

    /// Returns the context in which only the hooks and rules of a pack run.
    pub(crate) fn of_pack(&self, pack: Pack, project: &Path) -> Self {
        Self {
            common: Common::of_no_options(self.common.json),
            cwd: project.to_path_buf(),
            project: project.to_path_buf(),
            workspace: Vec::new(),
            config_home: None,
            is_hermetic: true,
            pack: Some(pack),
        }
    }

    /// Returns the project's files and, unless excluded, those of the user and the machine.
    fn discovered(&self) -> Vec<SettingsSource> {
        if let Some(pack) = &self.pack {
            return vec![SettingsSource::of_pack(pack.clone())];
        }
        let mut sources = discover(&self.project, self.user_files());
        sources.retain(|source| {
            let is_of_project = source.pack.as_ref().is_some_and(|pack| pack.project.is_some());
            !self.is_hermetic || source.source == HookSource::Project || is_of_project
        });
        self.trust_policy().with_agreed_packs(sources, &self.project)
    }

    /// Returns this context, or an error if the project controls the user's folders.
    pub(crate) fn check_misplaced(self) -> Result<Self, CommandError> {
        match self.misplaced() {
            None => Ok(self),
            Some(error) => Err(error),
        }
    }

    /// Returns the error if the project controls the content of the user's folders, or is too deep to be searched around.
    pub(crate) fn misplaced(&self) -> Option<CommandError> {
        let too_deep = |directory: &Path| {
            let shown = shortened(&directory.to_string_lossy());
            format!(
                "{shown} is more than {MAX_PROJECT_DEPTH} folders deep, where hooks are not looked for; work further up"
            )
        };
        let mut directories = std::iter::once(&self.project).chain(&self.workspace);
        let error = directories.find_map(|directory| match is_searchable(directory) {
            true => unsafe_user_folder(directory),
            false => Some(too_deep(directory)),
        });
        error.map(CommandError::Misplaced)
    }

    /// Returns the common options that select hooks, for starting another command with them.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let common = &self.common;
        let mut arguments = Vec::new();
        let mut option = |name: &str, value: &OsStr| {
            arguments.push(OsString::from(format!("--{name}")));
            arguments.push(value.to_owned());
        };
        if let Some(project) = &common.project {
            option("project", project.as_os_str());
        }
        for settings in &common.settings {
            option("settings", settings.as_os_str());
        }
        for module in &common.modules {
            option("module", module.as_os_str());
        }
        for NamedAgent(agent) in &common.agents {
            option("agent", OsStr::new(agent.name()));
        }
        option("session-id", OsStr::new(&common.session_id));
        if let Some(timeout) = common.timeout {
            option("timeout", OsStr::new(&timeout.to_string()));
        }
        let flags = [("--no-user", common.no_user), ("--strict", common.strict)];
        arguments.extend(flags.iter().filter(|(_, given)| *given).map(|(name, _)| name.into()));
        arguments
    }

    /// Returns `true` if no common option but `--project` affects which hooks run.
    pub(crate) fn has_only_defaults(&self) -> bool {
        let common = &self.common;
        common.settings.is_empty()
            && common.modules.is_empty()
            && common.agents.is_empty()
            && !(common.no_user || common.strict)
            && common.timeout.is_none()
    }

    /// Returns `true` if `--json` is given.
    pub(crate) fn json(&self) -> bool {
        self.common.json
    }

    /// Returns the directory that the command was started in.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the project's folder.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the conditions under which hooks would run, for checks.
    pub(crate) fn surroundings(&self) -> CheckContext {
        let environment = std::env::vars_os().collect();
        CheckContext {
            project: self.project.clone(),
            environment,
            events: Events::built_in(),
            lacks_fleets: !fleet::IS_SUPPORTED,
        }
    }

    /// Returns the event with this name, built in or declared in the settings in effect.
    pub(crate) fn event(&self, name: &str) -> Result<HookEventName, UnknownEvent> {
        if let Some(event) = HookEventName::from_name(name) {
            return Ok(event);
        }
        let (events, is_complete) = self.events();
        events.from_name(name).ok_or_else(|| {
            let message = match hook_agents::find_foreign_event(name) {
                Some((agent, native)) => format!(
                    "there is no event {:?}; what {} calls so is {native} here",
                    shortened(name),
                    agent.title()
                ),
                None => events.unknown_message(name),
            };
            UnknownEvent { message, is_complete }
        })
    }

    /// Returns all known events, and whether all settings were readable.
    pub(crate) fn events(&self) -> (Events, bool) {
        let mut events = Events::built_in();
        let is_complete = declare_events(&self.sources(), &mut events);
        (events, is_complete)
    }

    /// Returns the folder of the user's own files, if one is known.
    pub(crate) fn config_home(&self) -> Option<&Path> {
        self.config_home.as_deref()
    }

    /// Returns `true` if the user's own settings apply but their folder is unknown.
    pub(crate) fn lacks_home(&self) -> bool {
        self.config_home.is_none() && !self.common.no_user && self.common.settings.is_empty()
    }

    /// Returns the folder of the user's own settings, if they apply.
    fn user_files(&self) -> Option<&Path> {
        self.config_home().filter(|_| !self.common.no_user)
    }

    /// Returns the settings files in effect, in run order.
    pub(crate) fn sources(&self) -> Vec<SettingsSource> {
        let mut sources = match self.common.settings.is_empty() {
            true => self.discovered(),
            false => self.named_files().collect(),
        };
        sources.extend(SettingsSource::modules(self.modules()));
        let agents = Agents {
            named: self.agents_to_search(),
            include_user: !self.common.no_user,
            ..Agents::known(hook_agents::languages())
        };
        agents.with_files(sources, [self.project.as_path()])
    }

    /// Returns the time limit of an event, if `--timeout` is given.
    #[cfg(feature = "remote")]
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.common.timeout.map(Duration::from_millis)
    }

    /// Returns the paths given with `--settings`.
    pub(crate) fn named_paths(&self) -> &[PathBuf] {
        &self.common.settings
    }

    /// Returns `true` if the user's own settings do not apply.
    pub(crate) fn excludes_user(&self) -> bool {
        self.common.no_user
    }

    /// Returns the path of the user's own settings file, even if it does not apply.
    pub(crate) fn user_file(&self) -> Result<PathBuf, CommandError> {
        let home = self.config_home().ok_or(CommandError::NoHome)?;
        let sources = discover(&self.project, Some(home));
        let user = sources.into_iter().find(|source| source.source == HookSource::User);
        user.map(|source| source.path).ok_or(CommandError::NoHome)
    }

    /// Returns the settings files given with `--settings`.
    fn named_files(&self) -> impl Iterator<Item = SettingsSource> {
        let settings = self.common.settings.iter();
        settings.map(|path| match self.common.agents.as_slice() {
            [NamedAgent(agent)] => SettingsSource::explicit(path).for_language(*agent, None),
            _ => explicit_source(path),
        })
    }

    /// Returns the modules given with `--module`.
    fn modules(&self) -> impl Iterator<Item = PathBuf> {
        self.common.modules.iter().map(|path| self.cwd.join(path))
    }

    /// Returns the agents given with `--agent` whose own files are searched. With `--settings`, a
    /// single agent is the owner of that file instead.
    pub(crate) fn agents_to_search(&self) -> Vec<&'static dyn Language> {
        let is_for_files = !self.common.settings.is_empty() && self.common.agents.len() == 1;
        let named = self.common.agents.iter().filter(|_| !is_for_files);
        named.map(|NamedAgent(agent)| *agent as &'static dyn Language).collect()
    }

    /// Returns the store of the user's trust decisions, if the user's folder is known.
    pub(crate) fn trust_store(&self) -> Option<TrustStore> {
        Some(TrustStore::of_user(self.config_home()?))
    }

    /// Returns the policy that decides which hooks may run.
    pub(crate) fn trust_policy(&self) -> TrustPolicy {
        TrustPolicy::of_user(self.config_home())
    }

    /// Returns a builder of the hook system.
    pub(crate) fn builder(&self) -> Result<HookSystemBuilder, CommandError> {
        let mut builder = fleet::with_upstreams(HookSystem::builder(&self.project))
            .session_id(self.common.session_id.as_str());
        if self.common.project.is_none() {
            // A command started in a folder of the project works in that folder.
            builder = builder.working_directory(&self.cwd);
        }
        if let Some(timeout) = self.common.timeout {
            builder = builder.deadline(Duration::from_millis(timeout));
        }
        self.named_settings_exist()?;
        match (self.common.settings.is_empty(), self.is_hermetic) {
            (true, false) => {
                let cwd = std::slice::from_ref(&self.cwd);
                let directories = match self.common.project {
                    Some(_) => Vec::new(),
                    None => self.with_other_guards(cwd),
                };
                builder = builder.native_settings(self.user_files()).workspace(directories);
            }
            (true, true) => {
                for source in self.discovered() {
                    builder = builder.settings(source);
                }
            }
            (false, _) => {}
        }
        for source in self.named_files() {
            builder = builder.settings(source);
        }
        builder = builder.module_files(self.modules());
        builder = builder.agents(&self.agents_to_search(), !self.common.no_user);
        if self.common.strict {
            builder = builder.strict();
        }
        Ok(builder.trust(self.trust_policy()))
    }

    /// Returns the time in which an agent that waits for `timeout` must have its answer; `None` if
    /// only its hooks have limits.
    pub(crate) fn answer_limit(&self, timeout: Duration) -> Option<Duration> {
        match self.common.timeout.map(Duration::from_millis) {
            // The engine has that time, and a little more to answer.
            Some(deadline) => Some(deadline + deadline / 4),
            None => self.common.settings.is_empty().then_some(timeout),
        }
    }

    /// Returns a builder of the hook system for an agent's call. Named settings are the agent's;
    /// without any, native settings are searched. Events that only the agent has are declared.
    pub(crate) fn builder_for(
        &self,
        agent: &'static Agent,
        plugin_root: Option<&Path>,
        timeout: Duration,
    ) -> Result<HookSystemBuilder, CommandError> {
        let mut builder = fleet::with_upstreams(HookSystem::builder(&self.project))
            .session_id(self.common.session_id.as_str());
        // An agent that stops waiting goes on unanswered. Its own hooks have their own timeouts.
        let default = self.common.settings.is_empty().then(|| answer_deadline(timeout));
        if let Some(deadline) = self.common.timeout.map(Duration::from_millis).or(default) {
            builder = builder.deadline(deadline);
        }
        self.named_settings_exist()?;
        if self.common.settings.is_empty() {
            builder = builder.native_settings(self.user_files()).workspace(self.workspace.clone());
        }
        for path in &self.common.settings {
            let source = SettingsSource::explicit(path);
            builder = builder.settings(source.for_language(agent, plugin_root.map(Into::into)));
        }
        builder = builder.module_files(self.modules());
        // Named files belong to the calling agent; `--agent` names further agents.
        let named =
            self.common.agents.iter().map(|NamedAgent(agent)| *agent as &'static dyn Language);
        builder = builder.agents(&named.collect::<Vec<_>>(), !self.common.no_user);
        for definition in agent.declared_events() {
            builder = builder
                .event(definition)
                .map_err(|error| CommandError::Usage(error.to_string()))?;
        }
        if self.common.strict {
            builder = builder.strict();
        }
        Ok(builder.trust(self.trust_policy()))
    }

    /// Reads the settings files in effect, in run order.
    pub(crate) fn settings_files(&self) -> Result<Vec<SettingsFile>, CommandError> {
        self.named_settings_exist()?;
        Ok(self.sources().iter().filter_map(load).collect())
    }

    fn named_settings_exist(&self) -> Result<(), CommandError> {
        for path in &self.common.modules {
            if let Err(source) = std::fs::metadata(path) {
                return Err(CommandError::Read { what: "the module", path: path.clone(), source });
            }
        }
        for path in &self.common.settings {
            if let Err(source) = std::fs::metadata(path) {
                let what = "the settings file";
                return Err(CommandError::Read { what, path: path.clone(), source });
            }
        }
        Ok(())
    }

    /// Returns the user's settings file, for `--user`; it need not exist.
    pub(crate) fn user_settings(&self) -> Result<SettingsSource, CommandError> {
        if self.common.no_user || !self.common.settings.is_empty() {
            let text =
                "--user means the user's own settings, which --no-user and --settings leave out";
            return Err(CommandError::Usage(text.to_owned()));
        }
        let is_user = |source: &SettingsSource| source.source == HookSource::User;
        self.sources().into_iter().find(is_user).ok_or(CommandError::NoHome)
    }

    /// Returns a usage error if `--settings` is given to a command that uses fixed files.
    pub(crate) fn refuse_named_settings(&self, why: &str) -> Result<(), CommandError> {
        match self.common.settings.is_empty() {
            true => Ok(()),
            false => Err(CommandError::Usage(format!("--settings has no meaning here: {why}"))),
        }
    }

    /// Builds and initializes the hook system, and prints problems with its settings.
    pub(crate) async fn hook_system(
        &self,
        printer: &mut Printer,
    ) -> Result<HookSystem, CommandError> {
        let system = self.builder()?.build()?;
        self.initialize(&system, printer).await?;
        Ok(system)
    }

    /// Initializes a hook system of [`builder`](Self::builder), and prints problems with its
    /// settings.
    pub(crate) async fn initialize(
        &self,
        system: &HookSystem,
        printer: &mut Printer,
    ) -> Result<(), CommandError> {
        system.initialize_blocking().await?;
        show_settings_problems(system, printer);
        self.show_trust_problems(system, printer)
    }

    /// Warns about untrusted hooks that do not run, guards that block instead, and missing guards.
    pub(crate) fn show_trust_problems(
        &self,
        system: &HookSystem,
        printer: &mut Printer,
    ) -> Result<(), CommandError> {
        let hooks = system.hooks()?;
        let Untrusted { blocking, others: untrusted } = Untrusted::among(&hooks);
        let project = self.project().shown();
        if !untrusted.is_empty() {
            let count = untrusted.len();
            let hooks = if count == 1 { "hook is" } else { "hooks are" };
            printer.warning(&format!(
                "{count} {hooks} not trusted and will not run, in the project {project}; \
                 `{}` shows what would run and asks",
                self.review_command(untrusted.iter().filter_map(|listing| listing.hook.agent()))
            ));
        }
        for listing in blocking.iter().take(MAX_SHOWN_GUARDS) {
            let hook = &listing.hook;
            let events = match (hook.event.is_wildcard(), hook.matcher.definition()) {
                (true, _) => "every event that can be blocked".to_owned(),
                (false, None) => hook.event.to_string(),
                (false, Some(_)) => format!("the calls of {} that it was trusted for", hook.event),
            };
            printer.warning(&format!(
                "the guard `{}` blocks {events}: {}",
                one_line(hook.display_name()),
                hook.suspension().unwrap_or_default()
            ));
        }
        if let Some(more @ 1..) = blocking.len().checked_sub(MAX_SHOWN_GUARDS) {
            printer.warning(&format!("{more} more guards block; `hook list` shows them"));
        }
        for lost in system.registry()?.lost_guards() {
            printer.warning(lost);
        }
        Ok(())
    }

    /// Returns the command that reviews the hooks of this project and of these agents, from the
    /// directory that this command was started in.
    pub(crate) fn review_command(&self, agents: impl IntoIterator<Item = &'static str>) -> String {
        let command = review_command(agents);
        match &self.common.project {
            Some(project) => {
                let project = hook_shell::quote(&project.to_string_lossy());
                format!("{command} --project {}", one_line(&project))
            }
            None => command,
        }
    }

    /// Returns `true` if there is no settings file at all.
    pub(crate) fn has_no_settings(&self) -> bool {
        // A file that cannot be checked may exist.
        let is_absent = |source: &SettingsSource| {
            matches!(source.path.try_exists(), Ok(false)) && !has_hook_folder(source)
        };
        self.sources().iter().all(is_absent)
    }
}

/// Prints all problems with the settings.
pub(crate) fn show_settings_problems(system: &HookSystem, printer: &mut Printer) {
    for diagnostic in system.diagnostics().unwrap_or_default() {
        printer.settings_problem(&diagnostic);
    }
}

/// Returns the source for a named settings file. It is another agent's file if its path or its form
/// is specific to that agent.
pub(crate) fn explicit_source(path: &Path) -> SettingsSource {
    let source = SettingsSource::explicit(path);
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let by_shape = || {
        let text = regular_file::read(path, MAX_LINE as u64).ok()?;
        let is_native = absolute.ends_with(IN_PROJECT);
        hook_agents::agent_by_shape(&String::from_utf8_lossy(&text)).filter(|_| !is_native)
    };
    match hook_agents::agent_by_path(&absolute).or_else(by_shape) {
        Some(agent) => source.for_language(agent, None),
        None => source.with_languages(&hook_agents::languages().collect()),
    }
}

fn existing_directory(project: &Path, cwd: &Path) -> Result<PathBuf, CommandError> {
    let project = cwd.join(project);
    match hook_files::plain_path::canonical(&project) {
        Ok(project) if project.is_dir() => Ok(project),
        Ok(project) => {
            Err(CommandError::Usage(format!("--project {} is no directory", project.shown())))
        }
        Err(source) => {
            Err(CommandError::Read { what: "the project directory", path: project, source })
        }
    }
}
