//! The trust store of a user.

use std::path::{Path, PathBuf};

use super::copies::Copies;
use super::policy::TrustPolicy;
use super::store::TrustStore;
use hook_files::user_folders::default_config_home;
use hook_settings::data_home;

/// The store, below `$XDG_CONFIG_HOME`.
const IN_CONFIG_HOME: &str = "hooks/trust.json";

/// The folder of copies, below `$XDG_DATA_HOME`.
const IN_DATA_HOME: &str = "hook/trusted";

impl TrustStore {
    /// The user's own store, which `hook trust` writes. `config_home` is `$XDG_CONFIG_HOME` or its
    /// default ([`config_home`](hook_settings::config_home)).
    pub fn of_user(config_home: &Path) -> Self {
        let store = Self::new(config_home.join(IN_CONFIG_HOME));
        // Copies that no decision of a store is about are removed: two stores share no folder of them.
        let is_default = default_config_home().is_some_and(|default| default == config_home);
        match data_home().filter(|_| is_default) {
            Some(data) => store.with_copies(data.join(IN_DATA_HOME)),
            None => store,
        }
    }
}

/// Returns the folder of the user's indexes.
pub(super) fn indexes() -> Option<PathBuf> {
    Some(Copies(data_home()?.join(IN_DATA_HOME)).indexes())
}

impl TrustPolicy {
    /// Trusts what the user agreed to with `hook trust`, or nothing without a home directory.
    pub fn of_user(config_home: Option<&Path>) -> Self {
        config_home.map_or(Self::Nothing, |folder| Self::Store(TrustStore::of_user(folder)))
    }
}
