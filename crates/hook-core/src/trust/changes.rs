//! What is not what it was when a hook was trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::grant::{Grant, Seen, SeenFile, terms};
use super::reviewed_file::ReviewedFile;
use crate::settings::{HookEntry, MatcherDefinition};

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
    /// What is in a file that both the decision and the hook name.
    File {
        /// The file.
        path: PathBuf,
        /// What was in it, where that was kept.
        before: Option<String>,
        /// What is in it, where it is a text.
        after: Option<String>,
    },
    /// Nothing changed, but a decision covers more today than when this one was made.
    AlsoCovers {
        /// What, each as a key with its value or a path.
        what: Vec<String>,
    },
    /// Something that the decision does not say: an earlier version recorded it.
    Unknown,
}

/// What changed since a decision was made; never empty.
pub(super) fn since(grant: &Grant, entry: &HookEntry, files: &[ReviewedFile]) -> Vec<Change> {
    let mut changes = Changes(Vec::new());
    changes.field("event", Some(&grant.event), Some(entry.event.as_str()));
    changes.field("name", grant.name.as_deref(), entry.name.as_deref());
    changes.field("command", Some(&grant.command), Some(&entry.command));
    let Some(seen) = &grant.seen else {
        changes.0.push(Change::Unknown);
        return changes.0;
    };
    changes.field(
        "matcher",
        seen.matcher.as_deref(),
        entry.matcher.as_deref().and_then(MatcherDefinition::as_text),
    );
    let variables = |env: &[(String, String)]| env.iter().cloned().collect::<BTreeMap<_, _>>();
    changes.maps("env.", &variables(&seen.env), &variables(&entry.env));
    if !grant.is_of_earlier_form() {
        changes.maps("", &seen.terms, &terms(entry));
    }
    changes.files(seen, files);
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
    fn files(&mut self, seen: &Seen, files: &[ReviewedFile]) {
        let before: BTreeMap<&str, &SeenFile> =
            seen.all_files().map(|file| (&*file.path, file)).collect();
        let after: Vec<(SeenFile, &ReviewedFile)> =
            files.iter().map(|file| (file.to_seen(), file)).collect();
        for path in before.keys().filter(|path| after.iter().all(|(file, _)| file.path != **path)) {
            self.field("file", Some(path), None);
        }
        for (now, file) in &after {
            let Some(before) = before.get(&*now.path) else {
                self.field("file", None, Some(&now.path));
                continue;
            };
            if !before.target.is_empty() {
                let name = format!("{} leads to", now.path);
                self.field(&name, Some(&before.target), Some(&now.target));
            }
            if let (Some(before), Some(now)) = (before.executable, now.executable)
                && before != now
            {
                let name = format!("{} is executable", file.path.display());
                self.field(&name, Some(yes_or_no(before)), Some(yes_or_no(now)));
            }
            if before.sha256 != now.sha256 {
                self.0.push(Change::File {
                    path: file.path.clone(),
                    before: before.content.clone(),
                    after: file.text().map(str::to_owned),
                });
            }
        }
    }
}
