//! Looking at hooks before they are trusted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::fingerprint::{
    Content, Keep, Program, files_beside_program, fingerprint_of, hash_of, interpreted,
    without_dots,
};
use super::store::{Grant, Seen, SeenScript};
use crate::settings::HookEntry;

/// How much of a script is kept with a decision, in bytes: 64 KiB.
const MAX_KEPT: usize = 64 * 1024;

/// A hook of a project as it was when somebody looked at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The hook.
    pub entry: HookEntry,
    /// What a decision about it is bound to: to what stands here, whatever becomes of the files.
    pub fingerprint: String,
    /// The file in the project that it runs.
    pub script: Option<ReviewedScript>,
    /// Other files in the project that its command names. What is in them can change without
    /// anybody being asked.
    pub uncovered: Vec<PathBuf>,
    /// What was decided about it before.
    pub standing: Standing,
}

/// A script as it was when somebody looked at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedScript {
    /// Its path, from the project's folder on where it is below it.
    pub path: PathBuf,
    /// Where that leads.
    pub target: PathBuf,
    /// What is in it; absent when it was not read.
    pub bytes: Option<Vec<u8>>,
    /// Whether it was read, and why not.
    pub state: ScriptState,
}

/// How it is with a script that somebody looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptState {
    /// It was read.
    Read,
    /// There is no such file.
    Absent,
    /// It cannot be read, or is no regular file.
    Unreadable,
    /// It is longer than 64 MiB, so its hook cannot be trusted: it would be read before each run.
    TooLong,
}

impl ReviewedScript {
    /// What is in it, if it is a text.
    pub fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(self.bytes.as_deref()?).ok()?;
        (!text.contains('\0')).then_some(text)
    }

    /// The SHA-256 of what is in it.
    pub fn sha256(&self) -> Option<String> {
        self.bytes.as_deref().map(hash_of)
    }
}

/// What was decided about a hook before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is trusted.
    Trusted,
    /// Nothing that is known of.
    New,
    /// It was trusted, and is not what it was.
    Changed(Box<Grant>),
}

/// What is not what it was when a hook was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A field of the hook, such as `command` or `env.PATH`.
    Field {
        /// The field.
        name: String,
        /// What it was.
        before: Option<String>,
        /// What it is.
        after: Option<String>,
    },
    /// What is in the script.
    Script {
        /// What was in it, where that was kept.
        before: Option<String>,
        /// What is in it, where it is a text.
        after: Option<String>,
    },
    /// Something that the decision does not say: an earlier version of the engine recorded it.
    Unknown,
}

impl Review {
    /// The script of the project that the command gives to an interpreter, as in
    /// `python3 hooks/guard.py`. It is not covered; it would be as the command's first word.
    pub fn interpreted_script(&self) -> Option<&Path> {
        let script = interpreted(&self.entry)?.1;
        self.uncovered.iter().find(|file| file.ends_with(&script)).map(PathBuf::as_path)
    }

    /// The interpreter of [`interpreted_script`](Self::interpreted_script).
    pub fn interpreter(&self) -> Option<String> {
        Some(interpreted(&self.entry)?.0)
    }

    /// What changed since the hook was trusted; nothing for one that is, or that never was.
    pub fn changes(&self) -> Vec<Change> {
        let Standing::Changed(grant) = &self.standing else { return Vec::new() };
        let mut changes = Vec::new();
        let mut compare = |name: &str, before: Option<&str>, after: Option<&str>| {
            if before != after {
                changes.push(Change::Field {
                    name: name.to_owned(),
                    before: before.map(str::to_owned),
                    after: after.map(str::to_owned),
                });
            }
        };
        let entry = &self.entry;
        compare("event", Some(&grant.event), Some(entry.event.as_str()));
        compare("name", grant.name.as_deref(), entry.name.as_deref());
        compare("command", Some(&grant.command), Some(&entry.command));
        let Some(seen) = &grant.seen else {
            changes.push(Change::Unknown);
            return changes;
        };
        compare("matcher", seen.matcher.as_deref(), entry.matcher.as_deref());
        let variables = |env: &[(String, String)]| -> BTreeMap<String, String> {
            env.iter().cloned().collect()
        };
        let (before, after) = (variables(&seen.env), variables(&entry.env));
        let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        for name in names {
            let value = |env: &BTreeMap<String, String>| env.get(name).cloned();
            let (before, after) = (value(&before), value(&after));
            compare(&format!("env.{name}"), before.as_deref(), after.as_deref());
        }
        let before = seen.script.as_ref();
        let after = self.script.as_ref().map(ReviewedScript::to_seen);
        let path = |script: Option<&SeenScript>| script.map(|script| script.path.clone());
        let target = |script: Option<&SeenScript>| script.map(|script| script.target.clone());
        let (old, new) = (path(before), path(after.as_ref()));
        compare("script", old.as_deref(), new.as_deref());
        if old == new {
            let (old, new) = (target(before), target(after.as_ref()));
            compare("script leads to", old.as_deref(), new.as_deref());
        }
        let hash = |script: Option<&SeenScript>| script.and_then(|script| script.sha256.clone());
        if hash(before) != hash(after.as_ref()) {
            changes.push(Change::Script {
                before: before.and_then(|script| script.content.clone()),
                after: self.script.as_ref().and_then(ReviewedScript::text).map(str::to_owned),
            });
        }
        if changes.is_empty() {
            // The order of variables, say.
            changes.push(Change::Unknown);
        }
        changes
    }

    /// The decision to trust it.
    pub(super) fn to_grant(&self) -> Grant {
        Grant {
            fingerprint: self.fingerprint.clone(),
            event: self.entry.event.as_str().to_owned(),
            name: self.entry.name.clone(),
            command: self.entry.command.clone(),
            seen: Some(Seen {
                at: format!("{:.0}", jiff::Timestamp::now()),
                matcher: self.entry.matcher.clone(),
                env: self.entry.env.clone(),
                script: self.script.as_ref().map(ReviewedScript::to_seen),
            }),
        }
    }
}

impl ReviewedScript {
    fn of(program: Program, project: &Path) -> Self {
        let (state, bytes) = match program.content {
            Content::Read { bytes, .. } => (ScriptState::Read, bytes),
            Content::Absent => (ScriptState::Absent, None),
            Content::Unreadable => (ScriptState::Unreadable, None),
            Content::TooLong => (ScriptState::TooLong, None),
        };
        Self { path: below(project, &program.named), target: program.target, bytes, state }
    }

    fn to_seen(&self) -> SeenScript {
        SeenScript {
            path: self.path.to_string_lossy().into_owned(),
            target: self.target.to_string_lossy().into_owned(),
            sha256: self.sha256(),
            content: self.text().filter(|text| text.len() <= MAX_KEPT).map(str::to_owned),
        }
    }
}

/// Looks at hooks of a project, of which some were trusted.
pub(super) fn review(project: &Path, entries: &[HookEntry], grants: &[Grant]) -> Vec<Review> {
    let looked_at: Vec<(Option<Program>, String)> = entries
        .iter()
        .map(|entry| {
            let program = Program::of(entry, project, project, Keep::Bytes);
            let fingerprint = fingerprint_of(entry, program.as_ref());
            (program, fingerprint)
        })
        .collect();
    let current: HashSet<&str> = looked_at.iter().map(|(_, it)| it.as_str()).collect();
    let granted: HashSet<&str> = grants.iter().map(|grant| grant.fingerprint.as_str()).collect();
    let earlier = Earlier::of(grants.iter().filter(|it| !current.contains(&*it.fingerprint)));
    let standings: Vec<Standing> = entries
        .iter()
        .zip(&looked_at)
        .map(|(entry, (_, fingerprint))| {
            if granted.contains(fingerprint.as_str()) {
                return Standing::Trusted;
            }
            earlier.find(entry).map_or(Standing::New, |it| Standing::Changed(Box::new(it.clone())))
        })
        .collect();
    let all = entries.iter().zip(looked_at).zip(standings);
    all.map(|((entry, (program, fingerprint)), standing)| Review {
        entry: entry.clone(),
        fingerprint,
        uncovered: files_beside_program(entry, program.as_ref(), project)
            .iter()
            .map(|file| below(project, file))
            .collect(),
        script: program.map(|program| ReviewedScript::of(program, project)),
        standing,
    })
    .collect()
}

/// Decisions that fit no hook any more, by what a hook can still be known by. Of several the latest
/// counts.
#[derive(Default)]
struct Earlier<'g> {
    same: HashMap<(&'g str, Option<&'g str>, &'g str), &'g Grant>,
    by_name: HashMap<(&'g str, &'g str), &'g Grant>,
    by_command: HashMap<(&'g str, &'g str), &'g Grant>,
    on_another_event: HashMap<(Option<&'g str>, &'g str), &'g Grant>,
}

impl<'g> Earlier<'g> {
    fn of(grants: impl Iterator<Item = &'g Grant>) -> Self {
        let mut earlier = Self::default();
        for grant in grants {
            let (event, name, command) = (&*grant.event, grant.name.as_deref(), &*grant.command);
            earlier.same.insert((event, name, command), grant);
            if let Some(name) = name {
                earlier.by_name.insert((event, name), grant);
            }
            earlier.by_command.insert((event, command), grant);
            earlier.on_another_event.insert((name, command), grant);
        }
        earlier
    }

    fn find(&self, entry: &HookEntry) -> Option<&'g Grant> {
        let (event, name, command) = (entry.event.as_str(), entry.name.as_deref(), &*entry.command);
        let by_name = || name.and_then(|name| self.by_name.get(&(event, name)));
        self.same
            .get(&(event, name, command))
            .or_else(by_name)
            .or_else(|| self.by_command.get(&(event, command)))
            .or_else(|| self.on_another_event.get(&(name, command)))
            .copied()
    }
}

fn below(project: &Path, path: &Path) -> PathBuf {
    let (project, path) = (without_dots(project), without_dots(path));
    path.strip_prefix(&project).map(Path::to_path_buf).unwrap_or(path)
}
