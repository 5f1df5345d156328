//! A problem in a settings file, with its place and how to fix it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::rule::{Rule, Severity};
use crate::text::OneLine;
use crate::text::PathText;

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
    /// The line in which it ends, from 1; 0 where there is no line.
    pub end_line: usize,
    /// The column of the first character after it, from 1.
    pub end_column: usize,
}

impl Place {
    /// A file as a whole.
    #[doc(hidden)]
    pub fn of_file(file: impl Into<PathBuf>) -> Self {
        Self { file: Some(Arc::new(file.into())), ..Self::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(formatter, "{}", file.shown())?,
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
    /// What kind of problem it is.
    pub rule: Rule,
    /// Where it is.
    pub place: Place,
    /// What is wrong and what was done about it.
    pub message: String,
    /// What the author may have meant.
    pub suggestion: Option<String>,
    /// How to fix this problem; [`Diagnostic::help`] falls back to the rule's own.
    pub remedy: Option<String>,
}

impl Diagnostic {
    /// A problem as bad as its rule says.
    #[doc(hidden)]
    pub fn new(rule: Rule, place: Place, message: impl Into<String>) -> Self {
        Self {
            severity: rule.severity(),
            rule,
            place,
            message: message.into(),
            suggestion: None,
            remedy: None,
        }
    }

    /// Whether nothing of the file could be read, so that any hook may be missing.
    #[doc(hidden)]
    pub fn is_of_whole_file(&self) -> bool {
        match self.rule {
            Rule::UnreadableFile | Rule::NotJson => true,
            Rule::WrongType => self.place.path.is_empty(),
            _ => false,
        }
    }

    /// How to fix it.
    pub fn help(&self) -> &str {
        self.remedy.as_deref().unwrap_or_else(|| self.rule.help())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.severity.as_str())?;
        if !self.place.path.is_empty() {
            write!(formatter, ": {}", OneLine(&self.place.path))?;
        }
        write!(formatter, ": {}", OneLine(&self.message))?;
        if let Some(suggestion) = &self.suggestion {
            write!(formatter, " (did you mean `{}`?)", OneLine(suggestion))?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
