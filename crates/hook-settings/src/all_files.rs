//! Options combined from all settings files.

use super::audit_level::AuditLevel;
use super::definition::SettingsFile;
use super::fail_behavior::FailBehavior;
use super::registration::RegistrationLimits;
use crate::redact::Redaction;
use hook_json::text::shortened;

/// Returns the audit level of all files: the most detailed one, so that no file can hide what
/// another file wants reported. The default is [`AuditLevel::Info`].
#[doc(hidden)]
pub fn audit_level(files: &[SettingsFile]) -> AuditLevel {
    files.iter().filter_map(|file| file.config.audit_level).max().unwrap_or_default()
}

/// Returns the limits of all files: the lowest of each kind, and `block` if any file sets it.
#[doc(hidden)]
pub fn registration_limits(files: &[SettingsFile]) -> RegistrationLimits {
    let rules = || files.iter().map(|file| file.config.registration);
    let default = RegistrationLimits::default();
    RegistrationLimits {
        max_per_event: rules()
            .filter_map(|registration| registration.max_per_event)
            .min()
            .unwrap_or(default.max_per_event),
        max_total: rules()
            .filter_map(|registration| registration.max_total)
            .min()
            .unwrap_or(default.max_total),
        default_timeout: rules()
            .filter_map(|registration| registration.default_timeout)
            .min()
            .unwrap_or(default.default_timeout),
        fail_behavior: rules()
            .filter_map(|registration| registration.fail_behavior)
            .find(|behavior| *behavior == FailBehavior::Block)
            .unwrap_or(default.fail_behavior),
    }
}

/// Checks whether a file with that permission lets `hook bridge` start a server.
#[doc(hidden)]
pub fn starts_server(files: &[SettingsFile]) -> bool {
    files.iter().any(|file| file.source.may_configure_records() && file.config.starts_server)
}

/// Checks whether calls of agents are logged: no file with that permission disables it.
#[doc(hidden)]
pub fn logs_calls(files: &[SettingsFile]) -> bool {
    files.iter().all(|file| !file.source.may_configure_records() || file.config.logs_calls)
}

/// Returns the redaction rules of all files.
///
/// If the rules are incomplete (an invalid pattern, an unreadable file), all values are
/// [withheld](Redaction::withheld).
#[doc(hidden)]
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
