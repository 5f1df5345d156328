//! Checking settings: everything that reading finds, and everything that a look at the world around
//! them finds. Nothing is run.
//!
//! | module | what it looks at |
//! | --- | --- |
//! | `asynchronous` | hooks that cannot block, since nothing waits for them |
//! | `command` | commands that cannot be started, or not read to their end |
//! | `matcher` | matchers that cannot do what they seem to |
//! | `names` | names in `disabled`, and hooks that stand twice |
//! | `script` | scripts and programs that commands start |
//! | `timeout` | timeouts that look like seconds |

mod asynchronous;
mod command;
mod matcher;
mod names;
mod script;
mod timeout;

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::event::Events;
use crate::settings::{
    self, Diagnostic, Document, FileSpans, HookEntry, HooksConfig, Rule, SettingsFile,
    SettingsSource, load_all,
};

/// What hooks find around them.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The project, in which relative scripts are looked for.
    pub project: PathBuf,
    /// The environment that hooks would inherit: where programs are looked for, and what `~` is.
    pub environment: Vec<(OsString, OsString)>,
    /// The events there are beside those that settings declare.
    pub events: Events,
}

impl Surroundings {
    fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }
}

/// A settings file with everything that is wrong with it.
#[derive(Debug, Clone)]
pub struct CheckedFile {
    /// The file; its diagnostics are those of reading and of checking, in the order of their places.
    pub file: SettingsFile,
    /// The text that places are places of, without a byte order mark; empty if the file cannot be
    /// read.
    pub text: String,
}

/// Reads and checks settings. Files that may be absent and are, are left out.
///
/// A file that stands where a project keeps its settings (`DIR/.hooks/settings.json`) is checked as
/// the settings of that project, any other as of the project of the surroundings.
pub fn check(sources: &[SettingsSource], surroundings: &Surroundings) -> Vec<CheckedFile> {
    let mut events = surroundings.events.clone();
    let mut files: Vec<CheckedFile> = load_all(sources, &mut events)
        .into_iter()
        .flatten()
        .map(|(file, text)| CheckedFile { file, text })
        .collect();
    let found: Vec<Vec<Diagnostic>> =
        (0..files.len()).map(|index| check_file(&files, index, surroundings)).collect();
    for (checked, found) in files.iter_mut().zip(found) {
        checked.file.diagnostics = found;
    }
    files
}

fn check_file(files: &[CheckedFile], index: usize, surroundings: &Surroundings) -> Vec<Diagnostic> {
    let Some(checked) = files.get(index) else { return Vec::new() };
    let file = &checked.file;
    let host = &surroundings.project;
    let surroundings = Surroundings {
        project: project_of(file).unwrap_or_else(|| host.clone()),
        ..surroundings.clone()
    };
    let mut findings = Findings::of(checked);
    for (range, path) in &file.spans.empty {
        findings.add(Finding::new(
            Rule::EmptyHooks,
            range,
            path.clone(),
            "the list of hooks is empty, so the definition does nothing",
        ));
    }
    for file in [file, &unplaced(file)] {
        matcher::check(file, &mut findings);
        timeout::check(file, &mut findings);
        asynchronous::check(file, &mut findings);
        command::check(file, &mut findings);
        script::check(file, &surroundings, &mut findings);
    }
    names::check(files, index, host, &mut findings);
    findings.into_diagnostics()
}

/// The hooks of a file under names that are no events, as a file of their own.
fn unplaced(file: &SettingsFile) -> SettingsFile {
    SettingsFile {
        config: HooksConfig::default().into(),
        hooks: file.spans.unplaced.clone(),
        diagnostics: Vec::new(),
        spans: FileSpans::default(),
        ..file.clone()
    }
}

/// The project that a file is the settings of, by where it stands.
fn project_of(file: &SettingsFile) -> Option<PathBuf> {
    let path = std::path::absolute(file.path.as_ref()?).ok()?;
    settings::project_of(&path).map(Path::to_path_buf)
}

/// Something that is wrong at a range of a file's text.
struct Finding {
    range: Range<usize>,
    path: String,
    diagnostic: Diagnostic,
}

impl Finding {
    fn new(rule: Rule, range: &Range<usize>, path: String, message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic::new(rule, Default::default(), message);
        Self { range: range.clone(), path, diagnostic }
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.diagnostic.remedy = Some(remedy.into());
        self
    }
}

/// What was found in one file.
struct Findings<'f> {
    document: Document<'f>,
    text: &'f str,
}

impl<'f> Findings<'f> {
    fn of(checked: &'f CheckedFile) -> Self {
        let file = &checked.file;
        let mut document = Document::new(&checked.text, file.path.clone());
        document.found_before(&file.diagnostics, file.spans.unreported);
        Self { document, text: &checked.text }
    }

    /// A part of the file's text.
    fn text(&self, range: &Range<usize>) -> Option<&'f str> {
        self.text.get(range.clone())
    }

    fn add(&mut self, finding: Finding) {
        let place = self.document.place_at(finding.range, finding.path);
        self.document.push(Diagnostic { place, ..finding.diagnostic });
    }

    /// Whether what is added from now on is only counted.
    fn is_full(&self) -> bool {
        self.document.is_full()
    }

    fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.document.into_diagnostics();
        diagnostics
            .sort_by_key(|it| (it.rule == Rule::TooManyProblems, it.place.line, it.place.column));
        diagnostics
    }
}

/// The JSON path of a hook's field, or of a field of the definition that it stands in.
fn path_of(entry: &HookEntry, field: &str) -> String {
    format!("{}.{field}", entry.place.path)
}

fn path_of_definition(entry: &HookEntry, field: &str) -> String {
    let hook = &entry.place.path;
    let definition = hook.rfind(".hooks[").and_then(|end| hook.get(..end)).unwrap_or(hook);
    format!("{definition}.{field}")
}
