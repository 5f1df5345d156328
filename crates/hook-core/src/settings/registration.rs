//! How many hooks may be registered at run time over a wire.

use std::time::Duration;

use super::SettingsFile;

/// `hooksConfig.registration`: limits of what clients register. Hooks of the host's own have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistrationLimits {
    /// How many hooks of one event there may be, 10 by default.
    pub max_per_event: usize,
    /// How many there may be altogether, 50 by default.
    pub max_total: usize,
    /// The timeout of those that set none, 5 seconds by default.
    pub default_timeout: Duration,
}

impl Default for RegistrationLimits {
    fn default() -> Self {
        Self { max_per_event: 10, max_total: 50, default_timeout: Duration::from_secs(5) }
    }
}

/// What one file says of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RegistrationRules {
    /// `maxPerEvent`.
    pub max_per_event: Option<usize>,
    /// `maxTotal`.
    pub max_total: Option<usize>,
    /// `defaultTimeout`.
    pub default_timeout: Option<Duration>,
}

/// The limits that settings set: of several files the narrowest.
pub fn registration_limits(files: &[SettingsFile]) -> RegistrationLimits {
    let rules = || files.iter().map(|file| file.config.registration);
    let default = RegistrationLimits::default();
    RegistrationLimits {
        max_per_event: rules()
            .filter_map(|it| it.max_per_event)
            .min()
            .unwrap_or(default.max_per_event),
        max_total: rules().filter_map(|it| it.max_total).min().unwrap_or(default.max_total),
        default_timeout: rules()
            .filter_map(|it| it.default_timeout)
            .min()
            .unwrap_or(default.default_timeout),
    }
}
