//! The output of `hook enable` and `hook disable`.

use std::path::PathBuf;

use hook_json::text::{PathText, one_line};
use hook_settings::HookSource;
use hook_settings::edit::{EditError, FileChange};
use serde_json::{Value, json};

use super::diff;
use crate::output::{Printer, Tone, View, json_line};

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

impl View for Outcome<'_> {
    fn json(&self) -> Vec<u8> {
        let file = |edited: &Edited| {
            let changed = edited.result.as_ref().is_ok_and(FileChange::is_change);
            let mut file = json!({
                "file": edited.path.to_string_lossy(), "source": edited.source.to_string(),
                "changed": changed,
            });
            if let Err(error) = &edited.result {
                file["error"] = error.to_string().into();
            }
            if self.dry_run {
                file["diff"] = file_diff(edited).into();
            }
            file
        };
        let remaining = |remaining: &Remaining| {
            let because = match remaining.reason {
                Reason::Listed => "disabled",
                Reason::AllOff => "enabled",
                Reason::OutOfReach => "rank",
            };
            let file = remaining.path.as_ref().map(|path| path.to_string_lossy());
            json!({"file": file, "source": remaining.source.to_string(), "because": because})
        };
        json_line(&json!({
            "name": self.name, "enabled": self.enabled, "dryRun": self.dry_run,
            "files": self.edited.iter().map(file).collect::<Value>(),
            "remaining": self.remaining.iter().map(remaining).collect::<Value>(),
        }))
    }

    /// Returns a line for each file, or the diff with `--dry-run`.
    fn text(&self, printer: &Printer) -> String {
        let mut out = String::new();
        let name = printer.paint(Tone::Strong, &one_line(self.name));
        let verb = if self.enabled { "enabled" } else { "disabled" };
        for edited in &self.edited {
            let Ok(change) = &edited.result else { continue };
            let file = format!("{} ({})", edited.path.shown(), edited.source);
            let file = printer.paint(Tone::Quiet, &file);
            out.push_str(&match (change.is_change(), self.dry_run) {
                (true, true) => diff::paint_diff(&file_diff(edited), "", printer),
                (true, false) => format!("{verb} {name} in {file}\n"),
                (false, _) => format!("{name} is already {verb} in {file}\n"),
            });
        }
        if self.edited.is_empty() && self.remaining.is_empty() {
            out.push_str(&format!("{name} is already {verb}\n"));
        }
        out
    }
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
