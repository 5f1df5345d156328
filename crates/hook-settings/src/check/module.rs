//! Modules whose file is missing.

use super::findings::{Finding, Findings, path_of};
use crate::{Rule, SettingsFile};
use hook_json::text::PathText;

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    for entry in &file.hooks {
        let (Some(module), Some(range)) = (&entry.module, entry.spans.get("path")) else {
            continue;
        };
        if module.is_file() {
            continue;
        }
        let message = format!("the module {} does not exist", module.shown());
        let mut finding = Finding::new(Rule::ScriptMissing, range, path_of(entry, "path"), message);
        finding.diagnostic.help = Some("write the module, or fix its path".to_owned());
        findings.add(finding);
    }
}
