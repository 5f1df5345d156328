//! Loading of settings from their sources.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io;
use std::path::Path;

use super::declaring::declare;
use super::definition::SettingsFile;
use super::diagnostic::{Diagnostic, Location};
use super::file::{declared_events, parse_source};
use super::folders::has_hook_folder;
use super::keywords::Severity;
use super::rule::Rule;
use super::rule_set::RulesBudget;
use super::source::{HookSource, SettingsSource};
use super::{foreign, language_field, rule_set};
use crate::language::OtherFile;
use hook_files::{absence, regular_file};
use hook_protocol::event::Events;

/// The largest size of a settings file, in bytes: 16 MiB.
pub const MAX_SETTINGS: u64 = 16 * 1024 * 1024;

/// Loads one source. Returns `None` if an optional file does not exist.
pub fn load(source: &SettingsSource) -> Option<SettingsFile> {
    let text = Text::read(source)?;
    let mut events = Events::built_in();
    text.declare(&mut events);
    Some(with_rules(text.parse(&events, &[]).0, source, &mut RulesBudget::default()))
}

/// Adds the rules next to a file, whatever became of the file itself.
fn with_rules(
    mut file: SettingsFile,
    source: &SettingsSource,
    of_projects: &mut RulesBudget,
) -> SettingsFile {
    let (rules, problems) = rule_set::read(source, of_projects);
    file.rules = rules;
    file.pack.clone_from(&source.pack);
    file.diagnostics.extend(problems);
    file
}

/// Loads sources, each with the text that its locations refer to; `None` for a missing optional
/// file. Hooks can listen to `events` and to events that the sources declare, which are added. If
/// sources disagree about an event, the more trusted one wins, and of two projects the outer one.
///
/// A project's declarations apply only to its own hooks until they are trusted. Unlike those of
/// other files, they also yield to events that `declare_runtime_events` adds.
pub(crate) fn load_all(
    sources: &[SettingsSource],
    events: &mut Events,
    declare_runtime_events: impl FnOnce(&mut Events),
) -> Vec<Option<(SettingsFile, String)>> {
    let files = parse_all(sources, events, declare_runtime_events).into_iter().zip(sources);
    let mut of_projects = RulesBudget::default();
    let mut with_rules = |(file, text), source| (with_rules(file, source, &mut of_projects), text);
    files.map(|(file, source)| file.map(|file| with_rules(file, source))).collect()
}

/// Loads sources without the rules next to them.
fn parse_all(
    sources: &[SettingsSource],
    events: &mut Events,
    declare_runtime_events: impl FnOnce(&mut Events),
) -> Vec<Option<(SettingsFile, String)>> {
    let mut texts: Vec<Option<Text<'_>>> = sources.iter().map(Text::read).collect();
    bound_projects(texts.iter_mut().flatten());
    let mut by_trust: Vec<&Text<'_>> = texts.iter().flatten().rev().collect();
    by_trust.sort_by_key(|text| Reverse(text.source.source.trust_rank()));
    let (others, projects): (Vec<&Text<'_>>, Vec<&Text<'_>>) =
        by_trust.into_iter().partition(|text| text.source.source != HookSource::Project);
    for text in others {
        text.declare(events);
    }
    declare_runtime_events(events);
    let without_projects = events.clone();
    for text in projects {
        text.declare(events);
    }
    let foreign_texts: Vec<(&SettingsSource, String)> =
        texts.iter().flatten().filter_map(foreign_text).collect();
    let parse = |text: Text<'_>| {
        let others = other_files_of_agent(text.source, &foreign_texts);
        match text.source.source {
            HookSource::Project => text.parse(events, &others),
            _ => text.parse(&without_projects, &others),
        }
    };
    texts.into_iter().map(|text| text.map(parse)).collect()
}

/// Has files of projects count as unreadable once all of them are longer than one may be: they are
/// read whether they are trusted or not.
fn bound_projects<'t, 's: 't>(texts: impl Iterator<Item = &'t mut Text<'s>>) {
    let mut remaining = MAX_SETTINGS;
    for text in texts.filter(|text| text.source.source == HookSource::Project) {
        let Ok(bytes) = &text.read else { continue };
        match remaining.checked_sub(bytes.len() as u64) {
            Some(left) => remaining = left,
            None => {
                let limit = MAX_SETTINGS >> 20;
                let message = format!("all settings of these projects are longer than {limit} MiB");
                text.read = Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }
}

/// Returns the text of a settings file of another agent, which may affect that agent's other files.
fn foreign_text<'s>(text: &Text<'s>) -> Option<(&'s SettingsSource, String)> {
    let source = text.source;
    let is_settings = source.language.is_some() && source.plugin_root.is_none();
    is_settings.then(|| (source, text.text().into_owned()))
}

/// Returns the other settings files of the same agent.
fn other_files_of_agent<'t>(
    source: &SettingsSource,
    all: &'t [(&'t SettingsSource, String)],
) -> Vec<OtherFile<'t>> {
    let others = all.iter().filter(|(other, _)| {
        source.language.is_some() && other.language == source.language && *other != source
    });
    let text = |(other, text): &'t (&'t SettingsSource, String)| OtherFile {
        path: &other.path,
        text,
        is_user: other.source == HookSource::User,
        is_system: other.source == HookSource::System,
        is_explicit: other.source == HookSource::Explicit,
    };
    others.map(text).collect()
}

/// Adds the events that sources declare without conflict. Returns `false` if a declaration could
/// not be read, so that there may be more events.
pub fn declare_events(sources: &[SettingsSource], events: &mut Events) -> bool {
    let is_declaration_error = |diagnostic: &Diagnostic| {
        diagnostic.severity == Severity::Error
            && diagnostic.location.path.starts_with("hooksConfig")
    };
    let is_complete =
        |file: &SettingsFile| file.was_read && !file.diagnostics.iter().any(is_declaration_error);
    parse_all(sources, events, |_| {}).iter().flatten().all(|(file, _)| is_complete(file))
}

/// The contents of a file, or the error of reading it.
struct Text<'s> {
    source: &'s SettingsSource,
    read: io::Result<Vec<u8>>,
}

impl<'s> Text<'s> {
    fn read(source: &'s SettingsSource) -> Option<Self> {
        if !source.modules.is_empty() {
            let paths = source.modules.iter().map(|path| path.to_string_lossy());
            let modules: Vec<String> = paths.map(|path| path.into_owned()).collect();
            let text = serde_json::json!({"hooksConfig": {"modules": modules}}).to_string();
            return Some(Self { source, read: Ok(text.into_bytes()) });
        }
        match read_file(&source.path) {
            Err(error) if is_absent(source, &error) => {
                // Hooks found next to a settings file do not need the file.
                has_hook_folder(source).then(|| Self { source, read: Ok(b"{}".to_vec()) })
            }
            read => Some(Self { source, read }),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        let bytes = self.read.as_deref().unwrap_or_default();
        // Editors may add a byte order mark.
        String::from_utf8_lossy(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes))
    }

    /// Declares the events of this file. Parsing reports their problems.
    fn declare(&self, events: &mut Events) {
        let definitions = match self.source.language {
            Some(language) => language.declared_events(),
            None => {
                let text = self.text();
                let mut all = declared_events(&text);
                all.extend(language_field::declared_events(&text, &self.source.languages));
                all
            }
        };
        for definition in definitions {
            let _ = declare(&self.source.source, definition, events);
        }
    }

    fn parse(self, events: &Events, others: &[OtherFile<'_>]) -> (SettingsFile, String) {
        let source = self.source;
        let text = self.text().into_owned();
        let bytes = match &self.read {
            Ok(bytes) => bytes,
            Err(error) => return (unreadable_file(source, error), String::new()),
        };
        let mut file = match source.language {
            Some(language) => foreign::parse(&text, source, language, others, events),
            None => parse_source(&text, source, events),
        };
        if let Err(error) = std::str::from_utf8(bytes) {
            file.diagnostics.insert(0, not_utf8(&source.path, bytes, &error));
        }
        (file, text)
    }
}

/// Checks whether an optional file does not exist.
fn is_absent(source: &SettingsSource, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound && !source.required && absence::is_absent(&source.path)
}

/// Reads a settings file of at most 16 MiB. It may belong to an untrusted project.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    regular_file::read(path, MAX_SETTINGS)
}

/// Returns the diagnostic for invalid UTF-8, with the position of the first invalid byte.
fn not_utf8(path: &Path, bytes: &[u8], error: &std::str::Utf8Error) -> Diagnostic {
    let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
    let line = before.split('\n').count();
    let in_line = before.rsplit('\n').next().unwrap_or_default();
    let column = in_line.trim_start_matches('\u{feff}').chars().count() + 1;
    let message = format!(
        "the file is not UTF-8 from line {line}, column {column} on; what is not is read as U+FFFD"
    );
    // Locations refer to the replaced text, so this one has no line.
    let location = Location::of_file(path);
    Diagnostic::new(Rule::NotText, location, message)
}

fn unreadable_file(source: &SettingsSource, error: &io::Error) -> SettingsFile {
    let location = Location::of_file(&source.path);
    let message = format!("failed to read the settings file: {error}; none of its hooks run");
    let diagnostic = Diagnostic::new(Rule::UnreadableFile, location, message);
    SettingsFile { diagnostics: vec![diagnostic], ..SettingsFile::of(source) }
}
