//! Hooks that cannot do what they are for.

use super::findings::{CheckContext, Finding, Findings, path_of};
use crate::{FailBehavior, HookEntry, Rule, SettingsFile};
use hook_json::text::{PathText, shortened};
use hook_shell::unclosed_quote;

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    type Problem = fn(&HookEntry, &SettingsFile) -> Option<(Rule, String)>;
    let checks: [(&str, Problem); 4] = [
        ("async", asynchronous),
        ("command", command),
        ("command", worker_command),
        ("path", missing_module),
    ];
    for (field, problem) in checks {
        for entry in &file.hooks {
            let Some(range) = entry.spans.get(field) else { continue };
            let Some((rule, message)) = problem(entry, file) else { continue };
            let mut finding = Finding::new(rule, range, path_of(entry, field), message);
            if field == "path" {
                finding = finding.with_help("write the module, or fix its path");
            }
            findings.add(finding);
        }
    }
}

/// Finds an async hook on an event that hooks can block.
fn asynchronous(entry: &HookEntry, _: &SettingsFile) -> Option<(Rule, String)> {
    let means = entry.event.row().block_means.filter(|_| entry.is_async)?;
    let message = format!(
        "an async hook cannot block {}: a block means that {means}, and nothing waits for it",
        entry.event
    );
    Some((Rule::AsyncCannotBlock, message))
}

/// Finds a command that cannot be started, or that the shell cannot parse.
fn command(entry: &HookEntry, _: &SettingsFile) -> Option<(Rule, String)> {
    // Commands are PowerShell on other systems.
    if !cfg!(unix) {
        return None;
    }
    if entry.command.contains('\0') {
        // A guard then blocks: it fails each time.
        let message = "the command has a NUL in it, and fails each time";
        return Some((Rule::InvalidCommand, message.to_owned()));
    }
    let open = shortened(unclosed_quote(&entry.command)?);
    let message =
        format!("the quote that begins at `{open}` is not closed: the shell refuses the command");
    Some((Rule::OpenQuote, message))
}

/// Finds a worker whose command is also a command hook.
fn worker_command(entry: &HookEntry, file: &SettingsFile) -> Option<(Rule, String)> {
    entry.worker.as_ref()?;
    // With different variables or arguments, a program may be both.
    let is_same = |other: &HookEntry| {
        other.worker.is_none() && other.command == entry.command && other.env == entry.env
    };
    let message = "this worker's command is a hook of type `command`, too, and one program is \
                   hardly both";
    file.hooks.iter().any(is_same).then(|| (Rule::WorkerIsCommand, message.to_owned()))
}

/// Finds a module whose file is missing.
fn missing_module(entry: &HookEntry, _: &SettingsFile) -> Option<(Rule, String)> {
    let module = entry.module.as_ref().filter(|module| !module.is_file())?;
    Some((Rule::ScriptMissing, format!("the module {} does not exist", module.shown())))
}

/// Reports a fleet that this host cannot query.
pub(super) fn check_upstream(
    file: &SettingsFile,
    context: &CheckContext,
    findings: &mut Findings<'_>,
) {
    // An unreadable entry blocks already, and that is reported.
    let is_readable = |entry: &&HookEntry| entry.upstream.is_some() && entry.unreadable.is_none();
    let entry = file.hooks.iter().find(is_readable).filter(|_| context.lacks_fleets);
    let (Some(entry), Some(range)) = (entry, &file.spans.upstream) else { return };
    let result = match entry.fail_behavior {
        FailBehavior::Block => "its events are blocked",
        FailBehavior::Continue => "its events go on without being asked about",
    };
    let message = format!("this build cannot ask a fleet of engines, so {result}");
    let path = entry.location.path.clone();
    findings.add(Finding::new(Rule::UpstreamUnsupported, range, path, message));
}
