//! Registrations: which hooks came into force, and which went.

use std::time::Instant;

use hook_core::HookIdentity;

/// A hook came into force, or is in force no more.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookRegistration {
    /// When.
    pub at: Instant,
    /// Which of the two.
    pub change: RegistrationChange,
    /// The hook.
    pub hook: HookIdentity,
    /// The engine that came or went with it.
    pub(crate) generation: u64,
}

/// What happened to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationChange {
    /// It came into force.
    Registered,
    /// It is in force no more.
    Unregistered,
}

impl HookRegistration {
    pub(crate) fn now(change: RegistrationChange, hook: HookIdentity, generation: u64) -> Self {
        Self { at: Instant::now(), change, hook, generation }
    }

    /// About how many bytes the message holds in memory.
    pub(crate) fn weight(&self) -> usize {
        512
    }
}
