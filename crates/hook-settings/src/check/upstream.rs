//! Fleets that this host cannot query.

use super::findings::{CheckContext, Finding, Findings};
use crate::{FailBehavior, HookEntry, Rule, SettingsFile};

pub(super) fn check(file: &SettingsFile, context: &CheckContext, findings: &mut Findings<'_>) {
    if !context.lacks_fleets {
        return;
    }
    // An unreadable entry blocks already, and that is reported.
    let is_readable = |entry: &&HookEntry| entry.upstream.is_some() && entry.unreadable.is_none();
    let (Some(entry), Some(range)) = (file.hooks.iter().find(is_readable), &file.spans.upstream)
    else {
        return;
    };
    let result = match entry.fail_behavior {
        FailBehavior::Block => "its events are blocked",
        FailBehavior::Continue => "its events go on without being asked about",
    };
    let message = format!("this build cannot ask a fleet of engines, so {result}");
    let path = entry.location.path.clone();
    findings.add(Finding::new(Rule::UpstreamUnsupported, range, path, message));
}
