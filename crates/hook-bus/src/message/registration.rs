//! Registrations: hooks added and removed.

use std::time::Instant;

use hook_run::HookIdentity;
use hook_settings::HookSource;

/// A hook was added to or removed from the effective hooks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookRegistration {
    /// The time of the change.
    pub at: Instant,
    /// The kind of the change.
    pub change: RegistrationChange,
    /// The hook.
    pub hook: HookIdentity,
    /// The cause of the change.
    pub(crate) cause: ChangeCause,
}

/// The cause of a registration or its removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeCause {
    /// An engine of this generation was built.
    Engine(u64),
    /// The hook was registered or unregistered at run time, as the change of this number.
    Runtime(u64),
}

/// A change of the effective hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationChange {
    /// The hook was added.
    Registered,
    /// The hook was removed.
    Unregistered,
}

impl HookRegistration {
    /// Returns `true` if a client registered or unregistered the hook.
    pub fn is_by_client(&self) -> bool {
        let is_at_run_time = matches!(self.cause, ChangeCause::Runtime(_));
        is_at_run_time && self.hook.source() == HookSource::Client.as_str()
    }

    pub(crate) fn now(change: RegistrationChange, hook: HookIdentity, cause: ChangeCause) -> Self {
        Self { at: Instant::now(), change, hook, cause }
    }

    /// Returns the message's approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> usize {
        512
    }
}
