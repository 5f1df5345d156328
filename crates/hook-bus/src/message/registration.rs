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
    /// What it came or went with.
    pub(crate) with: ChangedWith,
}

/// What a hook came or went with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangedWith {
    /// The engine of this generation.
    Engine(u64),
    /// Nothing else: it was registered or unregistered at run time, as the change of this number.
    Nothing(u64),
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
    pub(crate) fn now(change: RegistrationChange, hook: HookIdentity, with: ChangedWith) -> Self {
        Self { at: Instant::now(), change, hook, with }
    }

    /// About how many bytes the message holds in memory.
    pub(crate) fn weight(&self) -> usize {
        512
    }
}
