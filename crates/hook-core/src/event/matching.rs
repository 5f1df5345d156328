//! What a matcher is compared with.

/// What a matcher is compared with, and how.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// The event has no subject: every matcher matches.
    Always,
    /// An unanchored regular expression against a field of the payload.
    Pattern {
        /// The field's name.
        field: &'static str,
    },
    /// Exact comparison with a field of the payload.
    Exact {
        /// The field's name.
        field: &'static str,
        /// The words that the field can be; empty where it can be any text.
        words: &'static [&'static str],
    },
}

impl Matching {
    /// The form of events about a tool: a pattern against its name.
    pub const TOOL_NAME: Self = Self::Pattern { field: "tool_name" };

    /// Exact comparison with a field that can be any text.
    pub const fn exact(field: &'static str) -> Self {
        Self::Exact { field, words: &[] }
    }

    /// The field of the payload that matchers are compared with.
    pub fn field(self) -> Option<&'static str> {
        match self {
            Self::Always => None,
            Self::Pattern { field } | Self::Exact { field, .. } => Some(field),
        }
    }
}
