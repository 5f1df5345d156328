//! The output of `hook enable` and `hook disable`.

use std::fmt::Write;
use std::path::PathBuf;

use hook_json::text::{PathText, one_line};
use hook_settings::HookSource;
use hook_settings::edit::{EditError, FileChange};
use serde_json::{Value, json};

use super::diff;
use crate::output::{Printer, Tone};

/// The result for one file.
pub(crate) struct Edited {
    pub(crate) source: HookSource,
    pub(crate) path: PathBuf,
    pub(crate) result: Result<FileChange, EditError>,
}

/// A file that prevents the requested state of the hook.
pub(crate) struct Remaining {
    pub(crate) source: HookSource,
    pub(crate) path: Option<PathBuf>,
    pub(crate) reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Its `disabled` list contains the name.
    Listed,
    /// `enabled: false` switches off all of its hooks.
    AllOff,
    /// It has a hook of that name that no edited file can switch off.
    OutOfReach,
}

/// The result of the command.
pub(crate) struct Outcome<'a> {
    pub(crate) name: &'a str,
    pub(crate) enabled: bool,
    pub(crate) dry_run: bool,
    pub(crate) edited: Vec<Edited>,
    pub(crate) remaining: Vec<Remaining>,
}

/// Formats the result for people: a line for each file, or the diff with `--dry-run`.
pub(crate) fn switched(outcome: &Outcome<'_>, printer: &Printer) -> String {
    let mut out = String::new();
    let name = printer.paint(Tone::Strong, &one_line(outcome.name));
    let verb = if outcome.enabled { "enabled" } else { "disabled" };
    for edited in &outcome.edited {
        let Ok(change) = &edited.result else { continue };
        let file_text = format!("{} ({})", edited.path.shown(), edited.source);
        let file_text = printer.paint(Tone::Quiet, &file_text);
        let _ = match (change.is_change(), outcome.dry_run) {
            (true, true) => write!(out, "{}", diff::paint_diff(&file_diff(edited), "", printer)),
            (true, false) => writeln!(out, "{verb} {name} in {file_text}"),
            (false, _) => writeln!(out, "{name} is already {verb} in {file_text}"),
        };
    }
    if outcome.edited.is_empty() && outcome.remaining.is_empty() {
        let _ = writeln!(out, "{name} is already {verb}");
    }
    out
}

/// Formats the result as JSON.
pub(crate) fn switched_json(outcome: &Outcome<'_>) -> Value {
    let file = |edited: &Edited| {
        let mut file = json!({
            "file": edited.path.to_string_lossy(),
            "source": edited.source.to_string(),
        });
        match &edited.result {
            Ok(change) => file["changed"] = change.is_change().into(),
            Err(error) => {
                file["changed"] = false.into();
                file["error"] = error.to_string().into();
            }
        }
        if outcome.dry_run {
            file["diff"] = file_diff(edited).into();
        }
        file
    };
    let remaining = |remaining: &Remaining| {
        json!({
            "file": remaining.path.as_ref().map(|path| path.to_string_lossy()),
            "source": remaining.source.to_string(),
            "because": match remaining.reason {
                Reason::Listed => "disabled",
                Reason::AllOff => "enabled",
                Reason::OutOfReach => "rank",
            },
        })
    };
    json!({
        "name": outcome.name,
        "enabled": outcome.enabled,
        "dryRun": outcome.dry_run,
        "files": outcome.edited.iter().map(file).collect::<Vec<_>>(),
        "remaining": outcome.remaining.iter().map(remaining).collect::<Vec<_>>(),
    })
}

/// Describes why a hook is not in the requested state.
pub(crate) fn remaining(name: &str, remaining: &Remaining) -> String {
    let name = one_line(name);
    let source = &remaining.source;
    let file = remaining.path.as_ref().map(|path| path.shown().to_string()).unwrap_or_default();
    match remaining.reason {
        Reason::Listed => {
            format!(
                "`{name}` is still off: it is on the `disabled` list of the {source} settings {file}"
            )
        }
        Reason::AllOff => format!(
            "`{name}` is still off: `hooksConfig.enabled` is false in the {source} settings {file}, \
             which switches off all hooks of that file; change it there"
        ),
        Reason::OutOfReach => format!(
            "`{name}` is still on in the {source} settings {file}: only they, or a source that is \
             trusted more, can switch it off"
        ),
    }
}

fn file_diff(edited: &Edited) -> String {
    let path = edited.path.to_string_lossy();
    match &edited.result {
        Ok(change) => diff::unified(&change.before, &change.after, Some((&path, &path))),
        Err(_) => String::new(),
    }
}
