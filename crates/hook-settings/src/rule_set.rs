//! Files of rules in the folder `rules` next to a settings file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hook_files::regular_file;
use hook_protocol::event::HookEventName;
use hook_rules::RuleFile;

use super::diagnostic::{Diagnostic, Location};
use super::file::Reader;
use super::rule::Rule;
use super::source::HookSource;

/// The maximum length of a file of rules in bytes.
const MAX_FILE: u64 = 4 << 20;

/// A file of rules.
#[derive(Debug, Clone)]
pub struct RuleSet {
    /// The name, such as `rules/git-safety.toml`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The rules; none if the file cannot be read.
    pub file: Arc<RuleFile>,
    /// The reason why none of the rules are known. Tools are blocked then.
    pub unreadable: Option<Arc<str>>,
}

impl RuleSet {
    /// Returns the events that its rules are about.
    pub fn events(&self) -> Vec<HookEventName> {
        let file = &self.file;
        let is_unreadable = self.unreadable.is_some();
        let events = [
            (file.is_about_tools() || is_unreadable, HookEventName::BeforeTool),
            (file.is_about_prompts(), HookEventName::BeforeAgent),
            (file.is_about_outputs(), HookEventName::AfterTool),
        ];
        events.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, event)| event).collect()
    }
}

impl Reader<'_> {
    /// Reads the rule files of a folder.
    pub(super) fn add_rules(&mut self, folder: &Path) {
        let is_other = std::fs::symlink_metadata(folder).is_ok() && !folder.is_dir();
        if is_other {
            let message = "this is no folder, so no rules are read from it";
            self.document.push(Diagnostic::new(
                Rule::InvalidRule,
                Location::of_file(folder),
                message,
            ));
            self.file.rules.push(RuleSet {
                name: "rules".to_owned(),
                path: folder.to_path_buf(),
                file: Arc::default(),
                unreadable: Some(Arc::from(message)),
            });
            return;
        }
        for path in self.files_of(folder) {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("toml") => self.add_rule_file(&path),
                Some("md") => {}
                _ => {
                    let message = "a file of rules ends in .toml; this one was skipped";
                    self.document.push(Diagnostic::new(
                        Rule::UnusedFile,
                        Location::of_file(&path),
                        message,
                    ));
                }
            }
        }
    }

    fn add_rule_file(&mut self, path: &Path) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
        let text = regular_file::read(path, MAX_FILE).map_err(|error| error.to_string());
        let text =
            text.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        let (mut file, mut unreadable) = match text {
            Ok(text) => (RuleFile::parse(name, &text), None),
            Err(error) => (RuleFile::default(), Some(error)),
        };
        if let Some(error) = &unreadable {
            let message = format!("the rules cannot be read: {error}");
            self.document.push(Diagnostic::new(
                Rule::InvalidRule,
                Location::of_file(path),
                message,
            ));
        }
        for problem in &file.problems {
            let location = Location { line: problem.line, column: 1, ..Location::of_file(path) };
            let message = match &problem.rule {
                Some(rule) => format!("the rule `{rule}` is left out: {}", problem.message),
                None => problem.message.clone(),
            };
            self.document.push(Diagnostic::new(Rule::InvalidRule, location, message));
            // A file without any rule may have lost all of them to a mistake.
            if problem.rule.is_none() && file.is_empty() {
                unreadable.get_or_insert_with(|| problem.message.clone());
            }
        }
        if file.is_empty()
            && file.except.is_empty()
            && file.problems.is_empty()
            && unreadable.is_none()
        {
            let message = "there is no rule in it; remove the file if that is meant";
            self.document.push(Diagnostic::new(
                Rule::InvalidRule,
                Location::of_file(path),
                message,
            ));
            unreadable = Some(message.to_owned());
        }
        if self.file.source == HookSource::Project {
            let count = file.remove_comments();
            if count > 0 {
                let message = format!(
                    "{count} rules with `context` or `warn` are left out: a project's rules only deny and ask"
                );
                self.document.push(Diagnostic::new(
                    Rule::NotForProjects,
                    Location::of_file(path),
                    message,
                ));
            }
        }
        self.file.rules.push(RuleSet {
            name: format!("rules/{name}"),
            path: path.to_path_buf(),
            file: Arc::new(file),
            unreadable: unreadable.map(Arc::from),
        });
    }
}
