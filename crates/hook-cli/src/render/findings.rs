//! What an examination finds.

/// How it is with one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// As it should be.
    Good,
    /// Neither good nor bad, such as a file that need not be there.
    Absent,
    /// Hooks run, but perhaps not as intended.
    Odd,
    /// Hooks do not run as they are written down.
    Bad,
}

impl Health {
    /// The word in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Absent => "absent",
            Self::Odd => "odd",
            Self::Bad => "bad",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) health: Health,
    /// What was looked at.
    pub(crate) subject: String,
    /// How it is with that.
    pub(crate) detail: String,
    /// How to fix it.
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

/// Things that belong together.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// What is said where there is nothing to find.
    pub(crate) empty: &'static str,
    pub(crate) findings: Vec<Finding>,
}
