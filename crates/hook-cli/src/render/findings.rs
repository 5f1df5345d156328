//! The findings of an examination.

use serde::Serialize;

/// The condition of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    /// In order.
    Good,
    /// Neither good nor bad, such as a file that need not be there.
    Absent,
    /// Hooks run, but perhaps not as intended.
    #[serde(rename = "odd")]
    Warning,
    /// Hooks do not run as the settings say.
    Bad,
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) health: Health,
    /// The thing that was checked.
    pub(crate) subject: String,
    /// Its condition, in words.
    pub(crate) detail: String,
    /// The way to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
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
