//! What a failure of a hook means.

/// What happens to the event when a hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FailBehavior {
    /// The failure is reported and things go on.
    #[default]
    Continue,
    /// The failure is a denial.
    Block,
}

impl FailBehavior {
    /// Both words.
    pub(crate) const NAMES: [&'static str; 2] = ["continue", "block"];

    pub(crate) const WORDS: &'static str = "\"continue\" or \"block\"";

    #[doc(hidden)]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "continue" => Some(Self::Continue),
            "block" => Some(Self::Block),
            _ => None,
        }
    }

    /// The word in settings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Block => "block",
        }
    }
}
