//! The words of a decision and how they rank.

use crate::event::HookEventName;
use crate::text::nearest;

/// `decision` in an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Ask the user.
    Ask,
    /// Try again after a while.
    Retry,
    /// Forbid.
    Block,
    /// Forbid.
    Deny,
    /// Let it happen.
    Approve,
    /// Let it happen.
    Allow,
    /// A word that the protocol does not know: kept, and without effect.
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
    /// The words that are known.
    pub(crate) const WORDS: [&'static str; 6] =
        [KNOWN[0].0, KNOWN[1].0, KNOWN[2].0, KNOWN[3].0, KNOWN[4].0, KNOWN[5].0];

    /// The decision of a word.
    pub fn from_word(word: &str) -> Self {
        KNOWN
            .into_iter()
            .find(|(known, _)| *known == word)
            .map_or_else(|| Self::Other(word.to_owned()), |(_, decision)| decision)
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ask => "ask",
            Self::Retry => "retry",
            Self::Block => "block",
            Self::Deny => "deny",
            Self::Approve => "approve",
            Self::Allow => "allow",
            Self::Other(word) => word,
        }
    }

    /// Whether it forbids.
    #[doc(hidden)]
    pub fn is_blocking(&self) -> bool {
        matches!(self, Self::Block | Self::Deny)
    }

    /// What it wants of the caller.
    #[doc(hidden)]
    pub fn policy(&self) -> PolicyDecision {
        match self {
            Self::Block | Self::Deny => PolicyDecision::Block,
            Self::Ask => PolicyDecision::Ask,
            Self::Retry => PolicyDecision::Retry,
            Self::Approve | Self::Allow | Self::Other(_) => PolicyDecision::Proceed,
        }
    }

    /// [`policy`](Self::policy) on an event: a retry counts where it means something.
    pub(crate) fn policy_on(&self, event: HookEventName) -> PolicyDecision {
        match self.policy() {
            PolicyDecision::Retry if event.row().retry_means.is_none() => PolicyDecision::Proceed,
            wanted => wanted,
        }
    }

    /// The known word most like this one.
    pub(crate) fn nearest(word: &str) -> Option<&'static str> {
        nearest(word, KNOWN.iter().map(|(known, _)| *known))
    }
}

/// What the caller should do, from weakest to strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum PolicyDecision {
    /// Go on.
    #[default]
    Proceed,
    /// Ask the user first.
    Ask,
    /// Try again after a while; what that means is the event's.
    Retry,
    /// Do not do it; what that means is the event's (protocol.md §2).
    Block,
    /// Stop the agent.
    Stop,
}

impl PolicyDecision {
    /// Every decision, from weakest to strongest.
    #[doc(hidden)]
    pub const ALL: [Self; 5] = [Self::Proceed, Self::Ask, Self::Retry, Self::Block, Self::Stop];

    /// The decision of a word in messages.
    #[doc(hidden)]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.as_str() == word)
    }

    /// The word in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proceed => "proceed",
            Self::Ask => "ask",
            Self::Retry => "retry",
            Self::Block => "block",
            Self::Stop => "stop",
        }
    }
}
