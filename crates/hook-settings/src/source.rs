//! Sources of settings, with their order and trust.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::pack::{PACK_HOOKS, Pack};
use crate::language::{ForeignSource, Language, Languages, SettingsOwner};
use hook_files::plain_path::absolute;

/// The origin of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HookSource {
    /// `.hooks/settings.json` of the project or an enclosing one; only its trusted hooks run.
    Project,
    /// The user's own settings.
    User,
    /// The system's settings.
    System,
    /// An extension with this name.
    Extension(String),
    /// A file named on the command line or by the host.
    Explicit,
    /// A hook registered by a client of a server.
    Client,
    /// A handler registered by the host.
    InProcess,
}

impl HookSource {
    /// Returns the rank that decides between duplicates: system > user > extension > project. An
    /// explicit file ranks like the user's own, and the host's own code highest.
    pub fn trust_rank(&self) -> u8 {
        match self {
            Self::Project => 0,
            Self::Extension(_) => 1,
            // Only the user and the user's own programs may connect.
            Self::User | Self::Explicit | Self::Client => 2,
            Self::System => 3,
            Self::InProcess => 4,
        }
    }

    /// Checks whether this source may disable hooks of `other` (reference/settings.md).
    pub(crate) fn may_disable(&self, other: &Self) -> bool {
        match self {
            Self::User | Self::System | Self::Explicit => self.trust_rank() > other.trust_rank(),
            _ => false,
        }
    }

    /// Checks whether this source may disable hooks of an agent's file with source `other`.
    pub(crate) fn may_disable_foreign(&self, other: &Self) -> bool {
        self.may_configure_records() && self.trust_rank() >= other.trust_rank()
    }

    /// Checks whether an approval by this source spares the user a question: not of a project, and not of a
    /// client, since whatever runs as the user may connect to a server.
    pub fn may_approve(&self) -> bool {
        matches!(self, Self::User | Self::System | Self::Explicit | Self::InProcess)
    }

    /// Checks whether this source's own `maxConcurrent` may exceed the engine's limit.
    pub fn may_raise_limits(&self) -> bool {
        matches!(self, Self::User | Self::System | Self::Explicit)
    }

    /// Checks whether this source may set the audit level and the redaction rules for all hooks. A
    /// project may not, so that it cannot hide anything.
    pub(crate) fn may_configure_records(&self) -> bool {
        matches!(self, Self::User | Self::System | Self::Explicit)
    }

    /// Returns the name used in messages.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::System => "system",
            Self::Extension(_) => "extension",
            Self::Explicit => "explicit",
            Self::Client => "client",
            Self::InProcess => "in-process",
        }
    }
}

impl fmt::Display for HookSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extension(name) => write!(formatter, "extension {name}"),
            other => formatter.write_str(other.as_str()),
        }
    }
}

/// One file to read settings from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsSource {
    /// The source that the file belongs to.
    pub source: HookSource,
    /// The file.
    pub path: PathBuf,
    /// `true` if its absence is a problem. An explicit file is required.
    pub required: bool,
    /// The agent that the settings belong to, if they are foreign.
    pub language: Option<&'static dyn Language>,
    /// The directory of the plugin that the file belongs to.
    pub plugin_root: Option<PathBuf>,
    /// The project that the file belongs to, if its path does not show it.
    pub project: Option<PathBuf>,
    /// `true` if it was found among its agent's settings; `false` if it was named.
    pub is_discovered: bool,
    /// The foreign languages that its hooks may be written in.
    pub languages: Languages,
    /// The agents named by any settings or the host.
    pub agents: Arc<[String]>,
    /// Modules that replace the file.
    pub modules: Vec<PathBuf>,
    /// The pack that the file belongs to.
    pub pack: Option<Arc<Pack>>,
}

impl SettingsSource {
    /// Creates the source of a named file: it must exist, and its hooks are trusted.
    pub fn explicit(path: impl Into<PathBuf>) -> Self {
        Self { required: true, ..Self::optional(HookSource::Explicit, path) }
    }

    /// Returns `true` if both are one file of one project. The packs of all projects are in one place.
    pub fn is_same_file(&self, other: &Self) -> bool {
        let project = |source: &Self| source.pack.as_ref().and_then(|pack| pack.project.clone());
        self.path == other.path && project(self) == project(other)
    }

    /// Creates the source of a file that need not exist.
    pub fn optional(source: HookSource, path: impl Into<PathBuf>) -> Self {
        Self {
            source,
            path: path.into(),
            required: false,
            language: None,
            plugin_root: None,
            project: None,
            is_discovered: false,
            languages: Languages::default(),
            agents: Arc::default(),
            modules: Vec::new(),
            pack: None,
        }
    }

    /// Creates the source of a pack's hooks and rules.
    pub fn of_pack(pack: Pack) -> Self {
        let source = HookSource::Extension(pack.name.clone());
        let hooks = pack.folder.join(PACK_HOOKS);
        Self { pack: Some(Arc::new(pack)), ..Self::optional(source, hooks) }
    }

    /// Creates a source of named modules, which are thereby trusted; they share a process.
    pub fn modules(paths: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let modules: Vec<PathBuf> = paths.into_iter().map(|path| absolute(&path)).collect();
        let first = modules.first()?.clone();
        Some(Self { modules, ..Self::optional(HookSource::Explicit, first) })
    }

    /// Creates the source of a file that contains an agent's hooks.
    pub(crate) fn discovered(language: &'static dyn Language, foreign: ForeignSource) -> Self {
        let (source, project) = match foreign.owner {
            SettingsOwner::Project(project) => (HookSource::Project, Some(project)),
            SettingsOwner::User => (HookSource::User, None),
            SettingsOwner::System => (HookSource::System, None),
        };
        let source = Self { project, is_discovered: true, ..Self::optional(source, foreign.path) };
        source.for_language(language, foreign.plugin_root)
    }

    /// Sets the languages that hooks in the file may be written in.
    #[must_use]
    pub fn with_languages(self, languages: &Languages) -> Self {
        Self { languages: languages.clone(), ..self }
    }

    /// Marks the file as one of another agent, and of a plugin in `plugin_root` if given.
    #[must_use]
    pub fn for_language(
        self,
        language: &'static dyn Language,
        plugin_root: Option<PathBuf>,
    ) -> Self {
        Self { language: Some(language), plugin_root, ..self }
    }
}
