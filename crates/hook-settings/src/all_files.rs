//! Options combined from all settings files.

use super::definition::SettingsFile;
use super::keywords::{AuditLevel, FailBehavior};
use super::registration::{RegistrationLimits, RegistrationRules};
use crate::redact::Redaction;
use hook_json::text::shortened;

/// Returns the audit level of all files: the most detailed one, so that no file can hide what
/// another file wants reported. The default is [`AuditLevel::Info`].
pub fn audit_level(files: &[SettingsFile]) -> AuditLevel {
    files.iter().filter_map(|file| file.config.audit_level).max().unwrap_or_default()
}

/// Returns the limits of all files: the lowest of each kind, and `block` if any file sets it.
pub fn registration_limits(files: &[SettingsFile]) -> RegistrationLimits {
    let rules = || files.iter().map(|file| file.config.registration);
    let default = RegistrationLimits::default();
    let lowest = |limit: fn(RegistrationRules) -> Option<usize>| rules().filter_map(limit).min();
    let blocks = rules().any(|rules| rules.fail_behavior == Some(FailBehavior::Block));
    let timeout = rules().filter_map(|rules| rules.default_timeout).min();
    RegistrationLimits {
        max_per_event: lowest(|rules| rules.max_per_event).unwrap_or(default.max_per_event),
        max_total: lowest(|rules| rules.max_total).unwrap_or(default.max_total),
        default_timeout: timeout.unwrap_or(default.default_timeout),
        fail_behavior: if blocks { FailBehavior::Block } else { default.fail_behavior },
    }
}

/// Checks whether a file with that permission lets `hook bridge` start a server.
pub fn starts_server(files: &[SettingsFile]) -> bool {
    files.iter().any(|file| file.source.may_configure_records() && file.config.starts_server)
}

/// Checks whether calls of agents are logged: no file with that permission disables it.
pub fn logs_calls(files: &[SettingsFile]) -> bool {
    files.iter().all(|file| !file.source.may_configure_records() || file.config.logs_calls)
}

/// Returns the redaction rules of all files.
///
/// If the rules are incomplete (an invalid pattern, an unreadable file), all values are
/// [withheld](Redaction::withheld).
pub fn redaction(files: &[SettingsFile]) -> Redaction {
    let authorized = || files.iter().filter(|file| file.source.may_configure_records());
    let problem = authorized().find_map(|file| {
        let name = || match &file.path {
            Some(path) => shortened(&path.to_string_lossy()),
            None => "settings".to_owned(),
        };
        match &file.config.redact.problem {
            Some(problem) => Some(format!("{problem}, in {}", name())),
            None if !file.was_read => {
                Some(format!("{} cannot be read, and may say what to redact", name()))
            }
            None => None,
        }
    });
    let rules = || authorized().map(|file| &file.config.redact);
    match problem {
        Some(problem) => Redaction::withholding(problem),
        None => Redaction::new(
            rules().flat_map(|rules| rules.patterns.iter().map(String::as_str)),
            rules().flat_map(|rules| rules.fields.iter().map(String::as_str)),
        ),
    }
}
