//! `hooksConfig.upstream`: a fleet of engines that is asked behind the hooks here.

use std::path::PathBuf;

/// Which fleet of engines is asked, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UpstreamRules {
    /// The broker's URL.
    pub nats: String,
    /// The file that says who one is there.
    pub credentials: Option<PathBuf>,
    /// A file with certificates that are believed beside those that the system believes.
    pub certificate_authority: Option<PathBuf>,
    /// What the fleet's subjects begin with; `hooks` where this is `None`.
    pub subject: Option<String>,
    /// The `settingsHash` that its engines must have to answer.
    pub expected_settings: Option<String>,
}
