//! The findings of an examination.

/// The condition of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// In order.
    Good,
    /// Neither good nor bad, such as a file that need not be there.
    Absent,
    /// Hooks run, but perhaps not as intended.
    Warning,
    /// Hooks do not run as the settings say.
    Bad,
}

impl Health {
    /// Returns the name in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Absent => "absent",
            Self::Warning => "odd",
            Self::Bad => "bad",
        }
    }
}

/// The result of one check.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) health: Health,
    /// The thing that was checked.
    pub(crate) subject: String,
    /// Its condition, in words.
    pub(crate) detail: String,
    /// The way to fix it.
    pub(crate) fix: Option<String>,
}

impl Finding {
    pub(crate) fn new(
        health: Health,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self { health, subject: subject.into(), detail: detail.into(), fix: None }
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// A group of findings.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// The text for a section without findings.
    pub(crate) empty: &'static str,
    pub(crate) findings: Vec<Finding>,
}
