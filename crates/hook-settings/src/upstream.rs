//! `hooksConfig.upstream`: a fleet of engines, called after the local hooks.

use std::path::PathBuf;

/// The fleet of engines to call, and its connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UpstreamRules {
    /// The broker's URL.
    pub nats: String,
    /// The credentials file.
    pub credentials: Option<PathBuf>,
    /// A file with certificates to trust in addition to the system's.
    pub certificate_authority: Option<PathBuf>,
    /// The prefix of the fleet's subjects; `hooks` if `None`.
    pub subject: Option<String>,
    /// The `settingsHash` that an engine must have to answer.
    pub expected_settings: Option<String>,
}
