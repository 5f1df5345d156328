//! The level of detail of an audit.

/// The level of detail of an audit; each level includes the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum AuditLevel {
    /// Nothing.
    Off,
    /// Hooks added or removed; blocks, asks, stops and failures.
    #[default]
    Info,
    /// Also allowed events.
    Decisions,
    /// Also hook starts, hook completions and their changes.
    Verbose,
}

impl AuditLevel {
    /// Every level.
    pub const ALL: [Self; 4] = [Self::Off, Self::Info, Self::Decisions, Self::Verbose];

    /// The names of the levels.
    pub const NAMES: [&'static str; 4] = ["off", "info", "decisions", "verbose"];

    /// Returns the level with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// Returns the name used in settings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Info => "info",
            Self::Decisions => "decisions",
            Self::Verbose => "verbose",
        }
    }
}
