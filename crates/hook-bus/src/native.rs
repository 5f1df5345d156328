//! A hook system as the `hook` command has it.

use std::path::PathBuf;

use hook_core::TrustPolicy;
use hook_core::settings::config_home;

use crate::system::{HookSystem, HookSystemBuilder};

impl HookSystem {
    /// Begins a system with what the `hook` command has: the native files of the project, its user
    /// and the machine, looked for whenever settings are read, and the user's trust store, so that
    /// of a project's hooks only those run that its user agreed to by `hook trust`. Where the user's
    /// files are, this process's environment says.
    ///
    /// Hooks that are not trusted are among the warnings of every response; [`HookSystem::hooks`]
    /// lists them.
    ///
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
