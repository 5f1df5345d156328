//! Where settings come from, in which order they run and how far they are trusted.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::files::plain_path::absolute;
use crate::language::{ForeignSource, Language, Languages, SettingsOwner};

/// What a hook's origin is to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HookSource {
    /// `.hooks/settings.json` of the project, or of one that it lies in; runs only what was trusted.
    Project,
    /// The user's own settings.
    User,
    /// The machine's settings.
    System,
    /// The extension of that name.
    Extension(String),
    /// A file that was named on the command line or by the host.
    Explicit,
    /// A hook that a client of a server registered.
    Client,
    /// A handler that the host registered.
    InProcess,
}

impl HookSource {
    /// Which source wins where two have the same hook: system > user > extension > project. A
    /// file that was named is trusted like the user's own, and the host's own code most of all.
    #[doc(hidden)]
    pub fn trust_rank(&self) -> u8 {
        match self {
            Self::Project => 0,
            Self::Extension(_) => 1,
            // Whoever may connect is the user, or another program of theirs.
            Self::User | Self::Explicit | Self::Client => 2,
            Self::System => 3,
            Self::InProcess => 4,
        }
    }

    /// Whether this source may switch off hooks of `other` (protocol.md §1).
    pub(crate) fn may_disable(&self, other: &Self) -> bool {
        match self {
            Self::User | Self::System | Self::Explicit => self.trust_rank() > other.trust_rank(),
            _ => false,
        }
    }

    /// Whether this source may switch off hooks of an agent's file of `other`.
    pub(crate) fn may_disable_of_agents(&self, other: &Self) -> bool {
        self.may_rule_records() && self.trust_rank() >= other.trust_rank()
    }

    /// Whether this source's own `maxConcurrent` may be more than the engine's limit.
    pub(crate) fn may_raise_limits(&self) -> bool {
        matches!(self, Self::User | Self::System | Self::Explicit)
    }

    /// Whether this source may say what is written down of all hooks: an audit's level, and what is
    /// redacted. A project may not, so that it hides nothing.
    pub(crate) fn may_rule_records(&self) -> bool {
        matches!(self, Self::User | Self::System | Self::Explicit)
    }

    /// The word in messages.
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
    /// What it is to the engine.
    pub source: HookSource,
    /// The file.
    pub path: PathBuf,
    /// Whether its absence is a problem. A file that was named must be there.
    pub required: bool,
    /// The agent whose settings these are, if they are not ours.
    #[doc(hidden)]
    pub language: Option<&'static dyn Language>,
    /// The directory of the plugin that the file belongs to.
    #[doc(hidden)]
    pub plugin_root: Option<PathBuf>,
    /// The project whose file it is, where its path does not say so.
    #[doc(hidden)]
    pub project: Option<PathBuf>,
    /// Whether it was found where its agent keeps its settings, and not named.
    #[doc(hidden)]
    pub is_found: bool,
    /// The languages of other agents in which hooks may stand in it.
    #[doc(hidden)]
    pub languages: Languages,
    /// The agents that any settings or the host name.
    #[doc(hidden)]
    pub agents: Arc<[String]>,
    /// Modules, in the place of a file.
    #[doc(hidden)]
    pub modules: Vec<PathBuf>,
}

impl SettingsSource {
    /// A file that was named: it must exist and its hooks count as trusted.
    pub fn explicit(path: impl Into<PathBuf>) -> Self {
        Self { required: true, ..Self::optional(HookSource::Explicit, path) }
    }

    /// A file that may be absent.
    pub fn optional(source: HookSource, path: impl Into<PathBuf>) -> Self {
        Self {
            source,
            path: path.into(),
            required: false,
            language: None,
            plugin_root: None,
            project: None,
            is_found: false,
            languages: Languages::default(),
            agents: Arc::default(),
            modules: Vec::new(),
        }
    }

    /// Modules that somebody named, which trusts them; they share a process.
    pub fn modules(paths: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let modules: Vec<PathBuf> = paths.into_iter().map(|path| absolute(&path)).collect();
        let first = modules.first()?.clone();
        Some(Self { modules, ..Self::optional(HookSource::Explicit, first) })
    }

    /// A file that an agent keeps hooks in.
    pub(crate) fn found(language: &'static dyn Language, place: ForeignSource) -> Self {
        let (source, project) = match place.owner {
            SettingsOwner::Project(project) => (HookSource::Project, Some(project)),
            SettingsOwner::User => (HookSource::User, None),
            SettingsOwner::System => (HookSource::System, None),
        };
        let source = Self { project, is_found: true, ..Self::optional(source, place.path) };
        source.in_language(language, place.plugin_root)
    }

    /// The file, in which hooks may stand in these languages.
    #[doc(hidden)]
    #[must_use]
    pub fn knowing(self, languages: &Languages) -> Self {
        Self { languages: languages.clone(), ..self }
    }

    /// A file of another agent, perhaps of a plugin in that directory.
    #[doc(hidden)]
    #[must_use]
    pub fn in_language(
        self,
        language: &'static dyn Language,
        plugin_root: Option<PathBuf>,
    ) -> Self {
        Self { language: Some(language), plugin_root, ..self }
    }
}
