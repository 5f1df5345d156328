//! The problems found in a settings file, with their locations.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::{Diagnostic, Document, HookEntry, Rule, SettingsFile};
use hook_protocol::event::Events;

/// The environment that hooks would run in.
#[derive(Debug, Clone, Default)]
pub struct CheckContext {
    /// The project; relative scripts are searched in it.
    pub project: PathBuf,
    /// The environment that hooks would inherit: it provides `PATH` and `HOME`.
    pub environment: Vec<(OsString, OsString)>,
    /// The known events, besides those that settings declare.
    pub events: Events,
    /// `true` if the host cannot query fleets of engines (`Upstreams`).
    pub lacks_fleets: bool,
}

impl CheckContext {
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        let existing = self.environment.iter().find(|(known, _)| known == name);
        existing.map(|(_, value)| value.as_os_str())
    }
}

/// A settings file with all its problems.
#[derive(Debug, Clone)]
pub struct CheckedFile {
    /// The file; its diagnostics come from reading and checking, ordered by location.
    pub file: SettingsFile,
    /// The text that locations refer to, without a byte order mark; empty if the file cannot be
    /// read.
    pub text: String,
}

/// Returns the project whose settings a file holds, by its path.
pub(super) fn project_of(file: &SettingsFile) -> Option<PathBuf> {
    let path = std::path::absolute(file.path.as_ref()?).ok()?;
    crate::project_of(&path).map(Path::to_path_buf)
}

/// A problem at a range of a file's text.
pub(super) struct Finding {
    range: Range<usize>,
    path: String,
    pub(super) diagnostic: Diagnostic,
}

impl Finding {
    pub(super) fn new(
        rule: Rule,
        range: &Range<usize>,
        path: String,
        message: impl Into<String>,
    ) -> Self {
        let diagnostic = Diagnostic::new(rule, Default::default(), message);
        Self { range: range.clone(), path, diagnostic }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.diagnostic.help = Some(help.into());
        self
    }
}

/// The problems of one file.
pub(super) struct Findings<'f> {
    document: Document<'f>,
    text: &'f str,
}

impl<'f> Findings<'f> {
    pub(super) fn of(checked: &'f CheckedFile) -> Self {
        let file = &checked.file;
        let mut document = Document::new(&checked.text, file.path.clone());
        document.add_earlier(&file.diagnostics, file.spans.unreported);
        Self { document, text: &checked.text }
    }

    /// Returns a part of the file's text.
    pub(super) fn text(&self, range: &Range<usize>) -> Option<&'f str> {
        self.text.get(range.clone())
    }

    pub(super) fn add(&mut self, finding: Finding) {
        let location = self.document.location_at(finding.range, finding.path);
        self.document.push(Diagnostic { location, ..finding.diagnostic });
    }

    /// Returns `true` if further problems are only counted.
    pub(super) fn is_full(&self) -> bool {
        self.document.is_full()
    }

    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.document.into_diagnostics();
        diagnostics.sort_by_key(|diagnostic| {
            (
                diagnostic.rule == Rule::TooManyProblems,
                diagnostic.location.line,
                diagnostic.location.column,
            )
        });
        diagnostics
    }
}

/// Returns the JSON path of a field of a hook or, below, of its definition.
pub(super) fn path_of(entry: &HookEntry, field: &str) -> String {
    format!("{}.{field}", entry.location.path)
}

pub(super) fn path_of_definition(entry: &HookEntry, field: &str) -> String {
    let hook = &entry.location.path;
    let definition = hook.rfind(".hooks[").and_then(|end| hook.get(..end)).unwrap_or(hook);
    format!("{definition}.{field}")
}
