//! A problem in a settings file, with its place and how to mend it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Everything works; this may help.
    Hint,
    /// Something was replaced or ignored.
    Warning,
    /// An entry, or the file, was skipped.
    Error,
}

impl Severity {
    /// The word shown before the message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file; absent for settings that did not come from one.
    pub file: Option<Arc<PathBuf>>,
    /// The JSON path, such as `hooks.BeforeTool[0].hooks[1].timeout`.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(formatter, "{}", file.display())?,
            None => formatter.write_str("settings")?,
        }
        if self.line > 0 {
            write!(formatter, ":{}:{}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// A problem in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// What is wrong and what was done about it.
    pub message: String,
    /// What the author may have meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.severity.as_str())?;
        if !self.place.path.is_empty() {
            write!(formatter, ": {}", self.place.path)?;
        }
        write!(formatter, ": {}", self.message)?;
        if let Some(suggestion) = &self.suggestion {
            write!(formatter, " (did you mean `{suggestion}`?)")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
