//! Where the decisions of a user are kept.

use std::path::Path;

use super::policy::TrustPolicy;
use super::store::TrustStore;

/// The store, below `$XDG_CONFIG_HOME`.
const IN_CONFIG_HOME: &str = "hooks/trust.json";

impl TrustStore {
    /// The user's own store, which `hook trust` writes. `config_home` is `$XDG_CONFIG_HOME` or its
    /// default ([`config_home`](crate::settings::config_home)).
    pub fn of_user(config_home: &Path) -> Self {
        Self::new(config_home.join(IN_CONFIG_HOME))
    }
}

impl TrustPolicy {
    /// What the user agreed to with `hook trust`; nothing of a user without a home.
    pub fn of_user(config_home: Option<&Path>) -> Self {
        config_home.map_or(Self::Nothing, |it| Self::Store(TrustStore::of_user(it)))
    }
}
