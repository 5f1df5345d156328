//! Duplicate hooks in several files that would each run: equal commands, or equal scripts.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use hook_json::text::{PathText, shortened};
use hook_protocol::HookEventName;
use hook_settings::{Agents, HookEntry, SettingsFile, load};

use crate::context::Context;

/// The maximum size of a script to compare, in bytes.
const MAX_LENGTH: u64 = 1 << 20;

/// The duplicate hooks of several files.
#[derive(Debug)]
pub(crate) struct Twins(Vec<Twin>);

/// A hook that several files define.
#[derive(Debug)]
pub(crate) struct Twin {
    name: String,
    event: HookEventName,
    files: Vec<PathBuf>,
}

impl fmt::Display for Twin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<String> = self.files.iter().map(|path| path.shown().to_string()).collect();
        write!(
            formatter,
            "the hook `{}` of {} is in {}: where both count, it runs twice",
            shortened(&self.name),
            self.event.as_str(),
            files.join(" and in ")
        )
    }
}

impl Twins {
    /// Finds duplicates in the settings in effect and in the agents' own files.
    pub(crate) fn of(context: &Context) -> Self {
        let known = Agents::known(hook_agents::languages());
        let all = Agents { named: known.known.all().collect(), ..known };
        let mut files = context.settings_files().unwrap_or_default();
        for file in all.with_files(Vec::new(), [context.project()]).iter().filter_map(load) {
            if files.iter().all(|other| other.path != file.path) {
                files.push(file);
            }
        }
        Self::among(&files, context.project())
    }

    fn among(files: &[SettingsFile], project: &Path) -> Self {
        let mut found: BTreeMap<(String, String), Twin> = BTreeMap::new();
        for file in files {
            let Some(path) = &file.path else { continue };
            for entry in file.hooks.iter().filter(|entry| entry.module.is_none()) {
                let is_foreign = file.language.is_some();
                let Some(key) = key(entry, is_foreign, project) else { continue };
                let twin = found.entry((entry.event.as_str().to_owned(), key)).or_insert(Twin {
                    name: entry.display_name().to_owned(),
                    event: entry.event,
                    files: Vec::new(),
                });
                if !twin.files.contains(path) {
                    twin.files.push(path.clone());
                }
            }
        }
        Self(found.into_values().filter(|twin| twin.files.len() > 1).collect())
    }

    /// Returns the duplicates of hooks in this file.
    pub(crate) fn with_file(self, file: &Path) -> impl Iterator<Item = Twin> {
        self.0.into_iter().filter(move |twin| twin.files.iter().any(|path| path == file))
    }

    pub(super) fn all(self) -> impl Iterator<Item = Twin> {
        self.0.into_iter()
    }
}

/// Returns the identity of a hook across files: its script's hash, else its command. Native hooks
/// with equal commands run once and are reported elsewhere.
fn key(entry: &HookEntry, is_foreign: bool, project: &Path) -> Option<String> {
    let text = entry.command.trim();
    // Drops quotes and braces around the variables by which agents name the project.
    let unquoted: String = text.chars().filter(|character| !"\"'{}".contains(*character)).collect();
    let words = unquoted.split_whitespace().filter(|word| word.contains('/'));
    let script = words.map(|word| match word.split_once('/') {
        Some((variable, rest)) if variable.starts_with('$') => project.join(rest),
        _ => project.join(word),
    });
    let mut scripts = script.filter(|path: &PathBuf| path.is_file());
    match scripts.next() {
        Some(script) => {
            let text = hook_files::regular_file::read(&script, MAX_LENGTH).ok()?;
            Some(hook_trust::sha256(&text))
        }
        None => is_foreign.then(|| text.to_owned()),
    }
}
