//! The comparison of matchers with an event's payload.

/// The payload field that matchers are compared with, and the kind of comparison.
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
        /// The values that the field can have; empty if it can be any text.
        keywords: &'static [&'static str],
    },
}

impl Matching {
    /// The comparison for tool events: a pattern for the tool's name.
    pub const TOOL_NAME: Self = Self::Pattern { field: "tool_name" };

    /// Returns an exact comparison with a field that can be any text.
    pub(crate) const fn exact(field: &'static str) -> Self {
        Self::Exact { field, keywords: &[] }
    }

    /// Returns the payload field that matchers are compared with.
    pub fn field(self) -> Option<&'static str> {
        match self {
            Self::Always => None,
            Self::Pattern { field } | Self::Exact { field, .. } => Some(field),
        }
    }
}
