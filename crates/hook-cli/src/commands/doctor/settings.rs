//! Settings files in run order, and hooks that are defined more than once.

use std::fmt;
use std::path::{Path, PathBuf};

use hook_json::text::PathText;
use hook_settings::check::CheckedFile;
use hook_settings::{HookSource, Rule, SettingsFile, SettingsSource, Severity};

use super::twins::Twins;
use crate::context::Context;
use crate::render::{Finding, Health, Section, counted};

pub(super) fn section(context: &Context, checked: &[CheckedFile]) -> Section {
    let findings = context.sources().iter().map(|source| file(source, checked)).collect();
    Section { title: "Settings, in run order", empty: "", findings }
}

fn file(source: &SettingsSource, checked: &[CheckedFile]) -> Finding {
    let subject = match &source.pack {
        Some(pack) => pack.title(),
        None => format!("{} {}", source.source, source.path.shown()),
    };
    let is_same_file =
        |candidate: &&CheckedFile| candidate.file.path.as_ref() == Some(&source.path);
    let found = checked.iter().find(is_same_file).map(|checked| &checked.file);
    let is_empty = |file: &SettingsFile| !file.was_read && file.rules.is_empty();
    let Some(file) = found.filter(|file| !is_empty(file) || !file.diagnostics.is_empty()) else {
        return Finding::new(Health::Absent, subject, "not there");
    };
    let rules = file.rules.iter().map(|set| set.file.summaries().count()).sum();
    let hooks = match (file.hooks.len(), rules) {
        (hooks, 0) => counted(hooks, "hook"),
        (0, rules) => counted(rules, "rule"),
        (hooks, rules) => format!("{}, {}", counted(hooks, "hook"), counted(rules, "rule")),
    };
    let of_severity = |severity: Severity| {
        file.diagnostics.iter().filter(|problem| problem.severity == severity).count()
    };
    let (errors, warnings) = (of_severity(Severity::Error), of_severity(Severity::Warning));
    if errors + warnings > 0 {
        let health = if errors > 0 { Health::Bad } else { Health::Warning };
        let all =
            format!("{hooks}, {}, {}", counted(errors, "error"), counted(warnings, "warning"));
        return Finding::new(health, subject, all).fix("`hook check` shows each with its line");
    }
    // Every user who can write a trusted file decides what runs.
    if source.source != HookSource::Project
        && let Some(others) = OtherWriters::of(&source.path)
    {
        let detail = format!("{others}, and with it decide what runs");
        return Finding::new(Health::Warning, subject, detail).fix(others.fix());
    }
    Finding::new(Health::Good, subject, hooks)
}

/// Returns the hooks that are defined more than once and run once.
pub(super) fn duplicates(checked: &[CheckedFile], context: &Context) -> Section {
    let problems = checked.iter().flat_map(|file| &file.file.diagnostics);
    let duplicates = problems.filter(|problem| problem.rule == Rule::DuplicateHook);
    let findings = duplicates.map(|problem| {
        let location = problem.location.to_string();
        Finding::new(Health::Warning, location, &problem.message).fix(problem.help())
    });
    let twins = Twins::of(context).all().map(|twin| {
        Finding::new(Health::Warning, "several files", twin.to_string()).fix("remove one of them")
    });
    let findings = findings.chain(twins).collect();
    Section { title: "Duplicates", empty: "no hook is defined twice", findings }
}

/// The users other than the owner who can write a file, or replace it.
pub(super) struct OtherWriters {
    /// `true` for all users, `false` for a group only.
    pub(super) anybody: bool,
    /// The writable ones among the file and its folder.
    paths: Vec<PathBuf>,
}

impl OtherWriters {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let paths = [Some(path), folder].into_iter().flatten();
        let writable: Vec<(&Path, u32)> = paths
            .map(|path| (path, others_may_write(path)))
            .filter(|(_, mode_bits)| *mode_bits != 0)
            .collect();
        (!writable.is_empty()).then(|| Self {
            anybody: writable.iter().any(|(_, mode_bits)| mode_bits & 0o002 != 0),
            paths: writable.iter().map(|(path, _)| path.to_path_buf()).collect(),
        })
    }

    /// Returns the command that fixes it.
    pub(super) fn fix(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| path.shown().to_string()).collect();
        format!("chmod go-w {}", paths.join(" "))
    }
}

impl fmt::Display for OtherWriters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = if self.anybody { "anybody on this machine" } else { "its group" };
        write!(formatter, "{who} can write it")
    }
}

/// Returns the mode bits by which others than the owner can write a file. In a sticky folder no
/// user can replace another's file.
#[cfg(unix)]
fn others_may_write(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    let Ok(found) = path.metadata() else { return 0 };
    let mode = found.permissions().mode();
    if found.is_dir() && mode & 0o1000 != 0 { 0 } else { mode & 0o022 }
}

#[cfg(not(unix))]
fn others_may_write(_: &Path) -> u32 {
    0
}
