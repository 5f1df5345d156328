//! Decisions and their ranks.

use crate::event::HookEventName;
use hook_json::keywords;
use hook_json::text::nearest;

/// The `decision` of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Ask the user.
    Ask,
    /// Try again after a delay.
    Retry,
    /// Block the action.
    Block,
    /// Block the action.
    Deny,
    /// Allow the action.
    Approve,
    /// Allow the action.
    Allow,
    /// An unknown decision: kept, and without effect.
    Other(String),
}

const KNOWN: [(&str, Decision); 6] = [
    ("ask", Decision::Ask),
    ("retry", Decision::Retry),
    ("block", Decision::Block),
    ("deny", Decision::Deny),
    ("approve", Decision::Approve),
    ("allow", Decision::Allow),
];

impl Decision {
    /// The known names.
    pub(crate) const NAMES: [&'static str; 6] =
        [KNOWN[0].0, KNOWN[1].0, KNOWN[2].0, KNOWN[3].0, KNOWN[4].0, KNOWN[5].0];

    /// Returns the decision with that name.
    pub fn from_name(name: &str) -> Self {
        KNOWN
            .into_iter()
            .find(|(known, _)| *known == name)
            .map_or_else(|| Self::Other(name.to_owned()), |(_, decision)| decision)
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ask => "ask",
            Self::Retry => "retry",
            Self::Block => "block",
            Self::Deny => "deny",
            Self::Approve => "approve",
            Self::Allow => "allow",
            Self::Other(name) => name,
        }
    }

    /// Returns `true` if it blocks.
    pub fn is_blocking(&self) -> bool {
        matches!(self, Self::Block | Self::Deny)
    }

    /// Returns the policy decision for the caller.
    pub fn policy(&self) -> PolicyDecision {
        match self {
            Self::Block | Self::Deny => PolicyDecision::Block,
            Self::Ask => PolicyDecision::Ask,
            Self::Retry => PolicyDecision::Retry,
            Self::Approve | Self::Allow | Self::Other(_) => PolicyDecision::Proceed,
        }
    }

    /// Returns the [`policy`](Self::policy) on an event. A retry counts only if it is supported.
    pub fn policy_on(&self, event: HookEventName) -> PolicyDecision {
        match self.policy() {
            PolicyDecision::Retry if event.row().retry_means.is_none() => PolicyDecision::Proceed,
            policy => policy,
        }
    }

    /// Returns the known name that is most similar to this one.
    pub(crate) fn nearest(name: &str) -> Option<&'static str> {
        nearest(name, KNOWN.iter().map(|(known, _)| *known))
    }
}

keywords! {
    /// The decision for the caller, from weakest to strongest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    pub enum PolicyDecision {
        /// Proceed.
        #[default]
        Proceed = "proceed",
        /// Ask the user first.
        Ask = "ask",
        /// Try again after a delay; the event defines the details.
        Retry = "retry",
        /// Do not do it; the event defines the details (reference/events.md).
        Block = "block",
        /// Stop the agent.
        Stop = "stop",
    }
}
