//! The consequence of a hook's failure.

/// The consequence of a hook's failure for the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FailBehavior {
    /// The failure is reported and the event proceeds.
    #[default]
    Continue,
    /// The failure denies the event.
    Block,
}

impl FailBehavior {
    /// The names of both.
    pub(crate) const NAMES: [&'static str; 2] = ["continue", "block"];

    /// Returns the behavior with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "continue" => Some(Self::Continue),
            "block" => Some(Self::Block),
            _ => None,
        }
    }

    /// Returns the name used in settings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Block => "block",
        }
    }
}
