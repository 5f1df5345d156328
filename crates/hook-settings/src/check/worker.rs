//! Workers whose command is also a command hook.

use super::findings::{Finding, Findings, path_of};
use crate::{Rule, SettingsFile};

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    for entry in file.hooks.iter().filter(|entry| entry.worker.is_some()) {
        // With different variables or arguments, a program may be both.
        let is_same = file.hooks.iter().any(|other| {
            other.worker.is_none() && other.command == entry.command && other.env == entry.env
        });
        let Some(range) = entry.spans.get("command").filter(|_| is_same) else { continue };
        let message = "this worker's command is a hook of type `command`, too, and one program is hardly \
                       both";
        findings.add(Finding::new(
            Rule::WorkerIsCommand,
            range,
            path_of(entry, "command"),
            message,
        ));
    }
}
