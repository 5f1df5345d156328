//! What is not what it was when a hook was trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::grant::{Grant, spec};
use super::reviewed_file::ReviewedFile;
use hook_settings::{HookEntry, MatcherDefinition};

/// One difference between a hook and the decision about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A field of the hook, such as `command`, `env.PATH` or `timeout`.
    Field {
        /// The field.
        name: String,
        /// What it was.
        before: Option<String>,
        /// What it is.
        after: Option<String>,
    },
    /// What is in a file of a covered folder.
    File {
        /// The file.
        path: PathBuf,
        /// What was in it, where that is known.
        before: Option<String>,
        /// What is in it, where it is a text.
        after: Option<String>,
    },
    /// The decision is one of an earlier version, which covered other files.
    Version,
    /// Something that the decision does not say.
    Unknown,
}

/// What changed since a decision was made; never empty. `before` is what was trusted, where it is still there.
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

    /// Files that came, went, lead elsewhere, or contain something else.
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
        let name = format!("{} leads to", path.display());
        self.field(&name, target(before).as_deref(), target(after).as_deref());
        let name = format!("{} is executable", path.display());
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
