//! How much an audit tells.

/// How much an audit tells; each level tells all that the ones before it do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum AuditLevel {
    /// Nothing.
    Off,
    /// Hooks that come and go, that block, ask, stop and fail.
    #[default]
    Info,
    /// Also what was allowed.
    Decisions,
    /// Also hooks that start and complete, and what they changed.
    Verbose,
}

impl AuditLevel {
    /// Every level.
    #[doc(hidden)]
    pub const ALL: [Self; 4] = [Self::Off, Self::Info, Self::Decisions, Self::Verbose];

    /// The words for them.
    #[doc(hidden)]
    pub const NAMES: [&'static str; 4] = ["off", "info", "decisions", "verbose"];

    pub(super) const WORDS: &'static str = "\"off\", \"info\", \"decisions\" or \"verbose\"";

    /// The level of that word.
    #[doc(hidden)]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// The word in settings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Info => "info",
            Self::Decisions => "decisions",
            Self::Verbose => "verbose",
        }
    }
}
