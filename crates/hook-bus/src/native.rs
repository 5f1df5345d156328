//! The hook system of the `hook` command.

use std::path::PathBuf;

use hook_settings::config_home;
use hook_trust::TrustPolicy;

use crate::system::{HookSystem, HookSystemBuilder};

impl HookSystem {
    /// Returns a builder with the defaults of the `hook` command: the native settings files of
    /// project, user and machine, looked for each time settings are read, and the user's trust
    /// store, so that only project hooks approved by `hook trust` run. This process's environment
    /// locates the user's files.
    ///
    /// Hooks that are not trusted are among the warnings of every response; [`HookSystem::hooks`]
    /// lists them.
    /// ```
    /// use hook_bus::{AgentHost, HookSystem};
    ///
    /// let host = AgentHost::new(HookSystem::native(".").session_id("s-1"));
    /// # let _ = host;
    /// ```
    pub fn native(project: impl Into<PathBuf>) -> HookSystemBuilder {
        let config_home = config_home();
        Self::builder(project)
            .native_settings(config_home.as_deref())
            .trust(TrustPolicy::of_user(config_home.as_deref()))
    }
}
