//! Limits for hooks registered by clients at run time.

use std::time::Duration;

use super::keywords::FailBehavior;

/// `hooksConfig.registration`: limits for hooks of clients. Hooks of the host have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistrationLimits {
    /// The most hooks of one event, 10 by default.
    pub max_per_event: usize,
    /// The most hooks in total, 50 by default.
    pub max_total: usize,
    /// The timeout of hooks that set none, 5 seconds by default.
    pub default_timeout: Duration,
    /// The fail behavior of hooks that set none.
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

/// The limits that one file sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RegistrationRules {
    /// `maxPerEvent`.
    pub max_per_event: Option<usize>,
    /// `maxTotal`.
    pub max_total: Option<usize>,
    /// `defaultTimeout`.
    pub default_timeout: Option<Duration>,
    /// `failBehavior`.
    pub fail_behavior: Option<FailBehavior>,
}
