//! Files of rules in the folder `rules` next to a settings file. They apply whatever that file
//! contains, even if it cannot be read.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hook_files::regular_file;
use hook_json::text::one_line;
use hook_protocol::event::HookEventName;
use hook_rules::{MAX_FILE, RuleFile};

use super::diagnostic::{Diagnostic, Location};
use super::folders::{RULES, files, folder_of, is_absence, skipped_folders};
use super::pack::{PROJECT_RULES, Pack, PackLock};
use super::rule::Rule;
use super::source::{HookSource, SettingsSource};

/// The maximum length of all rules of a folder in bytes, and of those of all projects: 8 MiB. A
/// project's rules are read whether it is trusted or not.
const MAX_TOTAL: u64 = 8 << 20;
/// The maximum number of problems that are listed of a file.
const MAX_PROBLEMS: usize = 100;

/// A file of rules.
#[derive(Debug, Clone)]
pub struct RuleSet {
    /// The name, such as `rules/git-safety.toml`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The rules; none if the file cannot be read.
    pub file: Arc<RuleFile>,
    /// The reason why none of the rules are known. Its events are blocked then.
    pub unreadable: Option<Arc<str>>,
    /// The events that are blocked beside tools if it is unreadable.
    guarded: Vec<HookEventName>,
    /// The source of the settings that it lies beside.
    pub(crate) source: HookSource,
}

impl RuleSet {
    /// Returns the events that its rules are about.
    pub fn events(&self) -> Vec<HookEventName> {
        let file = &self.file;
        let is_unreadable = self.unreadable.is_some();
        if is_unreadable {
            let others = self.guarded.iter().filter(|event| **event != HookEventName::BeforeTool);
            return std::iter::once(HookEventName::BeforeTool).chain(others.copied()).collect();
        }
        let events = [
            (file.is_about_tools(), HookEventName::BeforeTool),
            (file.is_about_prompts(), HookEventName::BeforeAgent),
            (file.is_about_outputs(), HookEventName::AfterTool),
        ];
        events.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, event)| event).collect()
    }
}

impl RuleSet {
    /// Creates the placeholder of a pack that must not run: it blocks tools and these events, of the
    /// pack's guards.
    pub fn blocking(pack: &Pack, reason: &str, guarded: Vec<HookEventName>) -> Self {
        Self {
            name: format!("packs/{}", pack.name),
            path: pack.folder.clone(),
            file: Arc::default(),
            unreadable: Some(reason.into()),
            guarded,
            source: HookSource::Extension(pack.name.clone()),
        }
    }
}

/// Returns the name of a pack's file of rules: `NAME.toml` for the one that is named like the pack.
fn pack_file_name(pack: &Pack, file: &str) -> String {
    let is_own = pack.name == PROJECT_RULES || file.strip_suffix(".toml") == Some(&pack.name);
    match is_own {
        true => one_line(file).into_owned(),
        false => format!("{}/{}", pack.name, one_line(file)),
    }
}

/// Returns the rules that the user and the machine take out, as `FILE:id`. Projects and packs take
/// out none.
pub fn excepted_rules<'s>(sets: impl IntoIterator<Item = &'s RuleSet>) -> BTreeSet<String> {
    let own = sets.into_iter().filter(|set| {
        matches!(set.source, HookSource::User | HookSource::System | HookSource::Explicit)
    });
    own.flat_map(|set| set.file.except.keys().cloned()).collect()
}

/// Reads the rules next to the file of a source, with their problems.
pub(super) fn read(
    source: &SettingsSource,
    of_projects: &mut RulesBudget,
) -> (Vec<RuleSet>, Vec<Diagnostic>) {
    let folder = folder_of(&source.source, Some(&source.path));
    let is_native = source.language.is_none() && source.modules.is_empty();
    let pack = source.pack.as_deref();
    let budget = match source.source {
        HookSource::Project => of_projects,
        _ => &mut RulesBudget::default(),
    };
    let mut found =
        Found { source: &source.source, pack, budget, sets: Vec::new(), problems: Vec::new() };
    if let Some(pack) = &source.pack {
        found.folder(&pack.folder.join(RULES));
    } else if let Some(folder) = folder.filter(|_| is_native) {
        found.folder(&folder.join(RULES));
        found.lock(&PackLock::path(&source.path));
    }
    (found.sets, found.problems)
}

/// The number of bytes of rules that may still be read.
#[derive(Debug)]
pub(super) struct RulesBudget(u64);

impl Default for RulesBudget {
    fn default() -> Self {
        Self(MAX_TOTAL)
    }
}

/// The rule files found so far.
struct Found<'s> {
    source: &'s HookSource,
    pack: Option<&'s Pack>,
    budget: &'s mut RulesBudget,
    sets: Vec<RuleSet>,
    problems: Vec<Diagnostic>,
}

impl Found<'_> {
    fn folder(&mut self, folder: &Path) {
        let listed = match folder.is_dir() {
            true => files(folder),
            // Something that is not a folder is not an absent folder.
            false => std::fs::symlink_metadata(folder)
                .and_then(|_| Err(io::Error::other("it is no folder"))),
        };
        let paths = match listed {
            Ok(paths) => paths,
            Err(error) if is_absence(&error) => return,
            Err(error) => {
                let reason = format!("the folder of rules cannot be read: {error}");
                self.problem(Rule::InvalidRule, Location::of_file(folder), &reason);
                self.push(RULES.to_owned(), folder, RuleFile::default(), Some(reason));
                return;
            }
        };
        for path in skipped_folders(folder) {
            let message = "rules are in files right in the folder; this one was skipped";
            self.problem(Rule::UnusedFile, Location::of_file(&path), message);
        }
        for path in paths {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("toml") => self.file(&path),
                Some("md") => {}
                _ => {
                    let message = "a file of rules ends in .toml; this one was skipped";
                    self.problem(Rule::UnusedFile, Location::of_file(&path), message);
                }
            }
        }
    }

    fn file(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = match self.pack {
            Some(pack) => pack_file_name(pack, &name),
            None => one_line(&name).into_owned(),
        };
        let mut file = match self.text(path) {
            // `hook add` took it without a mistake, and its digest shows that it is the same.
            Ok(text) if self.pack.is_some_and(Pack::is_added) => {
                RuleFile::parse_deferred(&name, &text)
            }
            Ok(text) => RuleFile::parse(&name, &text),
            Err(error) => {
                let reason = format!("the rules cannot be read: {error}");
                self.problem(Rule::InvalidRule, Location::of_file(path), &reason);
                self.push(format!("{RULES}/{name}"), path, RuleFile::default(), Some(reason));
                return;
            }
        };
        for problem in file.problems.iter().take(MAX_PROBLEMS) {
            let location = Location { line: problem.line, column: 1, ..Location::of_file(path) };
            let message = match &problem.rule {
                Some(rule) => format!("the rule `{rule}` is left out: {}", problem.message),
                None => problem.message.clone(),
            };
            self.problem(Rule::InvalidRule, location, &message);
        }
        // A file without any rule may have lost all of them to a mistake.
        let of_file = file.problems.iter().find(|problem| problem.rule.is_none());
        let unreadable = match of_file {
            Some(problem) if file.is_empty() => Some(problem.message.clone()),
            None if file.is_empty() && file.except.is_empty() && file.problems.is_empty() => {
                let reason = "there is no rule in it; remove the file if that is meant";
                self.problem(Rule::InvalidRule, Location::of_file(path), reason);
                Some(reason.to_owned())
            }
            _ => None,
        };
        if *self.source == HookSource::Project {
            let count = file.remove_comments();
            if count > 0 {
                let message = format!(
                    "{count} rules with `context` or `warn` are left out: a project's rules only deny and ask"
                );
                self.problem(Rule::NotForProjects, Location::of_file(path), &message);
            }
        }
        self.push(format!("{RULES}/{name}"), path, file, unreadable);
    }

    fn text(&mut self, path: &Path) -> Result<String, String> {
        let RulesBudget(remaining) = self.budget;
        let bytes = regular_file::read(path, MAX_FILE.min(*remaining)).map_err(|error| {
            let is_longer = |file: std::fs::Metadata| file.is_file() && file.len() > *remaining;
            if *remaining >= MAX_FILE || !path.metadata().is_ok_and(is_longer) {
                return error.to_string();
            }
            *remaining = 0;
            format!("with those read before it, rules are longer than {} MiB", MAX_TOTAL >> 20)
        })?;
        *remaining -= bytes.len() as u64;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }

    /// Reports a lock of packs that cannot be read: there may be guards in it.
    fn lock(&mut self, path: &Path) {
        if let Err(error) = PackLock::read(path) {
            let reason = format!("the lock of packs cannot be read: {error}");
            self.problem(Rule::PackChanged, Location::of_file(path), &reason);
            self.push("packs.lock".to_owned(), path, RuleFile::default(), Some(reason));
        }
    }

    fn problem(&mut self, rule: Rule, location: Location, message: &str) {
        self.problems.push(Diagnostic::new(rule, location, message));
    }

    fn push(&mut self, name: String, path: &Path, file: RuleFile, unreadable: Option<String>) {
        self.sets.push(RuleSet {
            name,
            path: path.to_path_buf(),
            file: Arc::new(file),
            unreadable: unreadable.map(Arc::from),
            guarded: Vec::new(),
            source: self.source.clone(),
        });
    }
}
