//! Async hooks on events that a hook could block.

use super::findings::{Finding, Findings, path_of};
use crate::{Rule, SettingsFile};

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    for entry in file.hooks.iter().filter(|entry| entry.is_async) {
        let row = entry.event.row();
        if let (Some(means), Some(range)) = (row.block_means, entry.spans.get("async")) {
            let message = format!(
                "an async hook cannot block {}: a block means that {means}, and nothing waits for it",
                entry.event
            );
            let path = path_of(entry, "async");
            findings.add(Finding::new(Rule::AsyncCannotBlock, range, path, message));
        }
    }
}
