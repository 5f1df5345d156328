//! Warnings for every caller that fires an event, independent of the hooks that run.

use std::collections::HashSet;
use std::sync::Arc;

use super::hook::Hook;
use super::trust_decisions::{MissingGuard, NOT_TRUSTED};
use hook_protocol::event::ByEvent;
use hook_settings::{Diagnostic, Severity};
use hook_trust::review_command;

/// Returns the first few errors, without those reported with their hooks, and a count of the rest.
pub(super) fn settings_errors(
    diagnostics: &[Diagnostic],
    reported_with_hooks: &HashSet<usize>,
) -> Vec<String> {
    let errors = diagnostics.iter().enumerate().filter(|(index, diagnostic)| {
        diagnostic.severity == Severity::Error && !reported_with_hooks.contains(index)
    });
    let mut messages = errors.map(|(_, error)| error.to_string()).collect();
    shorten(&mut messages, "errors in settings");
    messages
}

/// Truncates a list that is part of every response, and adds the number of omitted entries.
fn shorten(notices: &mut Vec<String>, what: &str) {
    const SHOWN: usize = 8;
    let more = notices.len().saturating_sub(SHOWN);
    if more > 0 {
        notices.truncate(SHOWN);
        notices.push(format!("there are {more} more {what}"));
    }
}

/// Returns the problems with hooks by event. Disabled hooks are omitted: the user does not want
/// them to run.
pub(super) fn notices(hooks: &[Arc<Hook>], missing: &[MissingGuard]) -> ByEvent<Vec<String>> {
    /// The notices of an event, and the agents of its untrusted hooks.
    type EventNotices = (Vec<String>, Vec<Option<&'static str>>);
    let mut by_event: ByEvent<EventNotices> = ByEvent::default();
    for hook in hooks {
        let (notices, untrusted) = by_event.get_or_default(hook.event);
        if let Some(why) = hook.suspended.as_ref().filter(|_| hook.switched_off.is_empty()) {
            notices.push(hook.format_warning(&why.failure().to_string()));
        } else if !hook.trust.is_trusted() {
            untrusted.push(hook.agent());
        }
        if hook.switched_off.is_empty() {
            notices.extend(hook.warnings.iter().map(|warning| hook.format_warning(warning)));
        }
    }
    for guard in missing {
        by_event.get_or_default(guard.event).0.extend(guard.notice());
    }
    by_event.map(|(mut notices, untrusted)| {
        shorten(&mut notices, "warnings about hooks of this event");
        if !untrusted.is_empty() {
            let hooks = if untrusted.len() == 1 { "hook is" } else { "hooks are" };
            let command = review_command(untrusted.iter().copied().flatten());
            notices.push(format!(
                "{} {hooks} {NOT_TRUSTED}; the user can review what would run with `{command}`",
                untrusted.len()
            ));
        }
        notices
    })
}

/// Returns the trusted guards that are missing and do not block, for all events. Duplicates are removed:
/// a guard may have been trusted several times.
pub(super) fn lost_guards(missing: &[MissingGuard]) -> Vec<String> {
    let missing = missing.iter().filter_map(MissingGuard::notice);
    let mut known = HashSet::new();
    missing.filter(|notice| known.insert(notice.clone())).collect()
}
