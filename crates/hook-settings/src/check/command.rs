//! Commands that cannot be started, or that the shell cannot parse.

use super::findings::{Finding, Findings, path_of};
use crate::{Rule, SettingsFile};
use hook_json::text::shortened;
use hook_shell::unclosed_quote;

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    if !cfg!(unix) {
        // Commands are PowerShell on this system.
        return;
    }
    for entry in &file.hooks {
        let Some(range) = entry.spans.get("command") else { continue };
        if entry.command.contains('\0') {
            // A guard then blocks: it fails each time.
            let message = "the command has a NUL in it, and fails each time";
            let path = path_of(entry, "command");
            findings.add(Finding::new(Rule::InvalidCommand, range, path, message));
            continue;
        }
        let Some(open) = unclosed_quote(&entry.command) else { continue };
        let message = format!(
            "the quote that begins at `{}` is not closed: the shell refuses the command",
            shortened(open)
        );
        findings.add(Finding::new(Rule::OpenQuote, range, path_of(entry, "command"), message));
    }
}
