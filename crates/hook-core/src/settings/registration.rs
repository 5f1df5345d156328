//! How many hooks may be registered at run time over a wire.

use std::time::Duration;

use super::fail_behavior::FailBehavior;

/// `hooksConfig.registration`: limits of what clients register. Hooks of the host's own have none.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistrationLimits {
    /// How many hooks of one event there may be, 10 by default.
    pub max_per_event: usize,
    /// How many there may be altogether, 50 by default.
    pub max_total: usize,
    /// The timeout of those that set none, 5 seconds by default.
    pub default_timeout: Duration,
    /// What the failure of those means that do not say it.
    pub fail_behavior: FailBehavior,
}

impl Default for RegistrationLimits {
    fn default() -> Self {
        Self {
            max_per_event: 10,
            max_total: 50,
            default_timeout: Duration::from_secs(5),
            fail_behavior: FailBehavior::Continue,
        }
    }
}

/// What one file says of it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RegistrationRules {
    /// `maxPerEvent`.
    pub max_per_event: Option<usize>,
    /// `maxTotal`.
    pub max_total: Option<usize>,
    /// `defaultTimeout`.
    pub default_timeout: Option<Duration>,
    /// `failBehavior`.
    pub fail_behavior: Option<FailBehavior>,
}
