//! The differences of a hook from what was trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use super::grant::{Grant, spec};
use super::index::hash_file;
use super::reviewed_file::ReviewedFile;
use super::tree::{Entry, Listing, Scope};
use hook_json::text::{PathText, shortened};
use hook_settings::{HookEntry, MatcherDefinition};

/// One difference between a hook and the decision about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A field of the hook, such as `command`, `env.PATH` or `timeout`.
    Field {
        /// The field.
        name: String,
        /// The value that was trusted.
        before: Option<String>,
        /// The value now.
        after: Option<String>,
    },
    /// The content of a file in a covered folder.
    File {
        /// The file.
        path: PathBuf,
        /// The content that was trusted, where it is known.
        before: Option<String>,
        /// The content now, where it is a text.
        after: Option<String>,
    },
    /// The decision is one of an earlier version, which covered other files.
    Version,
    /// Something that the decision does not record.
    Unknown,
}

/// Returns the changes since a decision was made; never empty. `before` are the trusted files, where their copy
/// still exists.
pub(super) fn since(
    grant: &Grant,
    entry: &HookEntry,
    (before, after): (Option<&[ReviewedFile]>, &[ReviewedFile]),
    (digest, opaque): (Option<&str>, &[String]),
) -> Vec<Change> {
    let mut changes = Changes(Vec::new());
    changes.field("event", Some(&grant.event), Some(entry.event.as_str()));
    changes.field("name", grant.name.as_deref(), entry.name.as_deref());
    changes.field("command", Some(&grant.command), Some(&entry.command));
    if let Some(seen) = &grant.seen {
        changes.field(
            "matcher",
            seen.matcher.as_deref(),
            entry.matcher.as_deref().and_then(MatcherDefinition::as_text),
        );
        let variables = |env: &[(String, String)]| env.iter().cloned().collect::<BTreeMap<_, _>>();
        changes.maps("env.", &variables(&seen.env), &variables(&entry.env));
        if grant.form > 1 {
            changes.maps("", &seen.terms, &spec(entry));
        }
    }
    if grant.is_outdated() {
        changes.0.push(Change::Version);
        return changes.0;
    }
    let joined = |reasons: &[String]| (!reasons.is_empty()).then(|| reasons.join("; "));
    changes.field("opaque", joined(&grant.opaque).as_deref(), joined(opaque).as_deref());
    if grant.digest.as_deref() != digest {
        match before {
            Some(before) => changes.files(before, after),
            None => changes.field("files", grant.digest.as_deref(), digest),
        }
    }
    if changes.0.is_empty() {
        // The order of variables, say.
        changes.0.push(Change::Unknown);
    }
    changes.0
}

/// The number of differences that a summary names.
const MAX_NAMED: usize = 3;

/// The differences of a hook from what was trusted, in one line.
#[derive(Debug)]
pub(super) struct Summary {
    texts: Vec<String>,
    /// The folder in which a file changed that the command does not start: the hook may have written it.
    pub(super) written_folder: Option<PathBuf>,
}

impl Summary {
    /// Summarises what changed in the settings of a hook; `None` if nothing did that a decision records.
    pub(super) fn of_settings(grant: &Grant, entry: &HookEntry) -> Option<Self> {
        let digest = grant.digest.as_deref();
        let changes = since(grant, entry, (None, &[]), (digest, &grant.opaque));
        let text = |change: &Change| match change {
            // The model reads this, and a variable may be a secret.
            Change::Field { name, .. } if name.starts_with("env.") => {
                Some(format!("{} changed", shortened(name)))
            }
            Change::Field { name, before, after } => {
                let side = |text: &Option<String>| text.as_deref().map_or("none".into(), shortened);
                Some(format!("{name}: {} → {}", side(before), side(after)))
            }
            _ => None,
        };
        Self { texts: changes.iter().filter_map(text).collect(), written_folder: None }.if_any()
    }

    /// Summarises the difference of the files of a scope from their copy; `None` if there is none, or no copy.
    pub(super) fn of_files(
        (copy, before): (&Path, &Listing),
        (project, after): (&Path, &Listing),
        scope: &Scope,
    ) -> Option<Self> {
        let exists =
            |(path, entry): (&PathBuf, &Entry)| (*entry != Entry::Absent).then(|| path.clone());
        let paths: BTreeSet<PathBuf> =
            before.files.iter().chain(&after.files).filter_map(exists).collect();
        let found = |listing: &Listing, path: &Path| {
            listing.files.get(path).filter(|entry| **entry != Entry::Absent).cloned()
        };
        let mut summary = Self { texts: Vec::new(), written_folder: None };
        for path in paths {
            let what = match (found(before, &path), found(after, &path)) {
                (None, _) => "is new",
                (_, None) => "is gone",
                (Some(before), Some(after)) if is_same(&before, &after) => {
                    let hash =
                        |base: &Path| hash_file(&base.join(&path)).ok().map(|(hash, _)| hash);
                    if matches!(after, Entry::Link { .. }) || hash(copy) == hash(project) {
                        continue;
                    }
                    "is another one"
                }
                _ => "is another one",
            };
            summary.texts.push(format!("{} {what}", path.shown()));
            if what != "is gone"
                && !scope.started.contains(&path)
                && summary.written_folder.is_none()
            {
                let roots = scope.roots.iter().filter(|root| path != **root);
                summary.written_folder =
                    roots.into_iter().find(|root| path.starts_with(root)).cloned();
            }
            if summary.texts.len() > MAX_NAMED {
                break;
            }
        }
        summary.if_any()
    }

    fn if_any(self) -> Option<Self> {
        (!self.texts.is_empty()).then_some(self)
    }
}

/// Checks whether two files may have the same content.
fn is_same(before: &Entry, after: &Entry) -> bool {
    match (before, after) {
        (Entry::File(stamp), Entry::File(found)) => {
            stamp.is_executable() == found.is_executable() && stamp.size == found.size
        }
        _ => before == after,
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.texts.get(..MAX_NAMED.min(self.texts.len())).unwrap_or_default();
        formatter.write_str(&named.join("; "))?;
        if self.texts.len() > named.len() { formatter.write_str("; and more") } else { Ok(()) }
    }
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

struct Changes(Vec<Change>);

impl Changes {
    fn field(&mut self, name: &str, before: Option<&str>, after: Option<&str>) {
        if before != after {
            self.0.push(Change::Field {
                name: name.to_owned(),
                before: before.map(str::to_owned),
                after: after.map(str::to_owned),
            });
        }
    }

    fn maps(
        &mut self,
        prefix: &str,
        before: &BTreeMap<String, String>,
        after: &BTreeMap<String, String>,
    ) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let value = |map: &BTreeMap<String, String>| map.get(name).cloned();
            let (before, after) = (value(before), value(after));
            self.field(&format!("{prefix}{name}"), before.as_deref(), after.as_deref());
        }
    }

    /// Compares files: new and missing ones, targets of links, modes and contents.
    fn files(&mut self, before: &[ReviewedFile], after: &[ReviewedFile]) {
        let exists = |file: &&ReviewedFile| file.sha256().is_some() || file.target.is_some();
        let by_path = |files: &'_ [ReviewedFile]| -> BTreeMap<PathBuf, ReviewedFile> {
            files.iter().filter(exists).map(|file| (file.path.clone(), file.clone())).collect()
        };
        let (before, after) = (by_path(before), by_path(after));
        let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        for path in paths {
            let name = path.to_string_lossy();
            match (before.get(path), after.get(path)) {
                (Some(before), Some(after)) => self.file(path, before, after),
                (Some(_), None) => self.field("file", Some(&name), None),
                (None, _) => self.field("file", None, Some(&name)),
            }
        }
    }

    fn file(&mut self, path: &Path, before: &ReviewedFile, after: &ReviewedFile) {
        let target = |file: &ReviewedFile| {
            file.target.as_ref().map(|target| target.to_string_lossy().into_owned())
        };
        let name = format!("{} leads to", path.shown());
        self.field(&name, target(before).as_deref(), target(after).as_deref());
        let name = format!("{} is executable", path.shown());
        let executable = |file: &ReviewedFile| Some(yes_or_no(file.executable));
        self.field(&name, executable(before), executable(after));
        if before.sha256() != after.sha256() {
            self.0.push(Change::File {
                path: path.to_path_buf(),
                before: before.text().map(str::to_owned),
                after: after.text().map(str::to_owned),
            });
        }
    }
}
