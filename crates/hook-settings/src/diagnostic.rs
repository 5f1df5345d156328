//! Problems in settings files, with their location and fix.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::keywords::Severity;
use super::rule::Rule;
use hook_json::text::{OneLine, PathText};

/// A location in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Location {
    /// The file; `None` for settings without a file.
    pub file: Option<Arc<PathBuf>>,
    /// The JSON path, such as `hooks.BeforeTool[0].hooks[1].timeout`.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The line in which the location ends, from 1; 0 if there is no line.
    pub end_line: usize,
    /// The column after the last character, from 1.
    pub end_column: usize,
}

impl Location {
    /// Returns the location of a whole file.
    pub fn of_file(file: impl Into<PathBuf>) -> Self {
        Self { file: Some(Arc::new(file.into())), ..Self::default() }
    }
}

impl fmt::Display for Location {
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
    /// The severity.
    pub severity: Severity,
    /// The rule that the problem violates.
    pub rule: Rule,
    /// The location.
    pub location: Location,
    /// The problem, and how it was handled.
    pub message: String,
    /// A similar known name.
    pub suggestion: Option<String>,
    /// The fix for this problem; [`Diagnostic::help`] falls back to the fix of the rule.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates a diagnostic with the severity of its rule.
    pub fn new(rule: Rule, location: Location, message: impl Into<String>) -> Self {
        Self {
            severity: rule.severity(),
            rule,
            location,
            message: message.into(),
            suggestion: None,
            help: None,
        }
    }

    /// Returns `true` if nothing of the file could be read, so that any hook may be missing.
    pub fn is_whole_file(&self) -> bool {
        match self.rule {
            Rule::UnreadableFile | Rule::NotJson => true,
            Rule::WrongType => self.location.path.is_empty(),
            _ => false,
        }
    }

    /// Returns the fix.
    pub fn help(&self) -> &str {
        self.help.as_deref().unwrap_or_else(|| self.rule.help())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.location, self.severity.as_str())?;
        if !self.location.path.is_empty() {
            write!(formatter, ": {}", OneLine(&self.location.path))?;
        }
        write!(formatter, ": {}", OneLine(&self.message))?;
        if let Some(suggestion) = &self.suggestion {
            write!(formatter, " (did you mean `{}`?)", OneLine(suggestion))?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
