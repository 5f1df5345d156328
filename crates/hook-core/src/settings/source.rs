//! Where settings come from, in which order they run and how far they are trusted.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::declared_events;
use super::{Diagnostic, FileSpans, Place, Rule, SettingsFile, Severity, parse_with_events};
use crate::event::Events;
use crate::regular_file;

/// How long a settings file may be, in bytes: 16 MiB.
const MAX_SETTINGS: u64 = 16 * 1024 * 1024;

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
    /// A handler that the host registered.
    InProcess,
}

impl HookSource {
    /// Which source wins where two have the same hook: system > user > extension > project. A
    /// file that was named is trusted like the user's own, and the host's own code most of all.
    pub fn trust_rank(&self) -> u8 {
        match self {
            Self::Project => 0,
            Self::Extension(_) => 1,
            Self::User | Self::Explicit => 2,
            Self::System => 3,
            Self::InProcess => 4,
        }
    }

    /// Whether this source may switch off hooks of `other` (protocol.md §1).
    pub fn may_disable(&self, other: &Self) -> bool {
        match self {
            Self::User | Self::System | Self::Explicit => self.trust_rank() > other.trust_rank(),
            _ => false,
        }
    }

    /// Whether this source's own `maxConcurrent` may be more than the engine's limit.
    pub fn may_raise_limits(&self) -> bool {
        matches!(self, Self::User | Self::System | Self::Explicit)
    }

    /// Whether this source may say what is written down of all hooks: an audit's level, and what is
    /// redacted. A project may not, so that it hides nothing.
    pub fn may_rule_records(&self) -> bool {
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
}

impl SettingsSource {
    /// A file that was named: it must exist and its hooks count as trusted.
    pub fn explicit(path: impl Into<PathBuf>) -> Self {
        Self { source: HookSource::Explicit, path: path.into(), required: true }
    }

    /// A file that may be absent.
    pub fn optional(source: HookSource, path: impl Into<PathBuf>) -> Self {
        Self { source, path: path.into(), required: false }
    }
}

/// Reads one source. `None` when it may be absent and is.
pub fn load(source: &SettingsSource) -> Option<SettingsFile> {
    let text = Text::read(source)?;
    let mut events = Events::built_in();
    text.declare(&mut events);
    Some(text.parse(&events).0)
}

/// Reads sources, each with the text that its places are places of; `None` for one that is not there
/// and need not be. Hooks can listen to these `events` and to those that any of the sources declares,
/// which are added; of two that disagree about an event, the one that is trusted more is right, and of
/// two projects the outer one.
pub(crate) fn load_all(
    sources: &[SettingsSource],
    events: &mut Events,
) -> Vec<Option<(SettingsFile, String)>> {
    let texts: Vec<Option<Text<'_>>> = sources.iter().map(Text::read).collect();
    let mut by_trust: Vec<&Text<'_>> = texts.iter().flatten().rev().collect();
    by_trust.sort_by_key(|text| Reverse(text.source.source.trust_rank()));
    for text in by_trust {
        text.declare(events);
    }
    texts.into_iter().map(|text| text.map(|text| text.parse(events))).collect()
}

/// Adds the events that sources declare, as far as they agree. Whether all declarations could be read:
/// else there may be more events.
pub fn declare_events(sources: &[SettingsSource], events: &mut Events) -> bool {
    let is_of_declarations = |it: &Diagnostic| {
        it.severity == Severity::Error && it.place.path.starts_with("hooksConfig")
    };
    let is_complete =
        |file: &SettingsFile| file.was_read && !file.diagnostics.iter().any(is_of_declarations);
    load_all(sources, events).iter().flatten().all(|(file, _)| is_complete(file))
}

/// What stands in a file, as far as it can be read.
struct Text<'s> {
    source: &'s SettingsSource,
    read: io::Result<Vec<u8>>,
}

impl<'s> Text<'s> {
    fn read(source: &'s SettingsSource) -> Option<Self> {
        match read_file(&source.path) {
            Err(error) if is_absent(source, &error) => None,
            read => Some(Self { source, read }),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        let bytes = self.read.as_deref().unwrap_or_default();
        // A byte order mark is an editor's habit, not a mistake.
        String::from_utf8_lossy(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes))
    }

    /// Declares the events of this file; what is wrong with them is said when it is parsed.
    fn declare(&self, events: &mut Events) {
        for definition in declared_events(&self.text()) {
            let _ = events.declare(definition);
        }
    }

    fn parse(self, events: &Events) -> (SettingsFile, String) {
        let source = self.source;
        let text = self.text().into_owned();
        let bytes = match &self.read {
            Ok(bytes) => bytes,
            Err(error) => return (unreadable(source, error), String::new()),
        };
        let path = Some(source.path.clone());
        let mut file = parse_with_events(&text, source.source.clone(), path, events);
        if let Err(error) = std::str::from_utf8(bytes) {
            file.diagnostics.insert(0, not_text(&source.path, bytes, &error));
        }
        (file, text)
    }
}

/// Whether there is no such file, and need not be one. A link that leads nowhere is not nothing:
/// there were meant to be guards.
fn is_absent(source: &SettingsSource, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        && !source.required
        && std::fs::symlink_metadata(&source.path).is_err()
}

/// Reads a settings file, of at most 16 MiB. It may come with a project that is not trusted yet.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    regular_file::read(path, MAX_SETTINGS)
}

/// That a file is not UTF-8, with the place of the first byte that is not.
fn not_text(path: &Path, bytes: &[u8], error: &std::str::Utf8Error) -> Diagnostic {
    let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
    let line = before.split('\n').count();
    let in_line = before.rsplit('\n').next().unwrap_or_default();
    let column = in_line.trim_start_matches('\u{feff}').chars().count() + 1;
    let message = format!(
        "the file is not UTF-8 from line {line}, column {column} on; what is not is read as U+FFFD"
    );
    // Its text is another than that which places are places of.
    let place = Place::of_file(path);
    Diagnostic::new(Rule::NotText, place, message)
}

fn unreadable(source: &SettingsSource, error: &io::Error) -> SettingsFile {
    let place = Place::of_file(&source.path);
    let message = format!("failed to read the settings file: {error}; none of its hooks run");
    let diagnostic = Diagnostic::new(Rule::UnreadableFile, place, message);
    SettingsFile {
        source: source.source.clone(),
        path: Some(source.path.clone()),
        config: Arc::default(),
        hooks: Vec::new(),
        declared: Vec::new(),
        diagnostics: vec![diagnostic],
        was_read: false,
        spans: FileSpans::default(),
    }
}
