//! Errors in scenario files, with their locations.

use std::ops::Range;

use hook_json::text::{nearest, shortened};
use hook_protocol::event::output::SPECIFIC_FIELDS;

use super::host::ScriptedHostError;

/// An error in a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {kind}")]
pub struct ScenarioError {
    kind: ScenarioErrorKind,
    span: Range<usize>,
    line: usize,
    column: usize,
}

/// The kind of an error in a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioErrorKind {
    /// The text is no TOML with a scenario's fields.
    #[error("not a scenario: {0}")]
    Toml(String),
    /// There is no test, so that the scenario would always pass.
    #[error("the scenario has no [[test]]")]
    Empty,
    /// An expectation can never be met.
    #[error("`{field}` is never {found:?}; it is one of {known}")]
    Impossible {
        /// The field of the expectation.
        field: &'static str,
        /// The expected value.
        found: String,
        /// The possible values.
        known: String,
    },
    /// The event is unknown, and no failure is expected.
    #[error("{0}")]
    UnknownEvent(String),
    /// A test has no message, or more than one.
    #[error(
        "test {name:?} needs either `event` (with `input`) or `message`, and not both",
        name = shortened(.name)
    )]
    Message {
        /// The test.
        name: String,
    },
    /// A regular expression is invalid.
    #[error("{pattern} is not a regular expression: {reason}")]
    Pattern {
        /// The expression, with its slashes.
        pattern: String,
        /// The error in it.
        reason: String,
    },
    /// A host could not return such a result.
    #[error(transparent)]
    Host(#[from] ScriptedHostError),
    /// A TOML value cannot be represented in JSON.
    #[error("{found} has no form in JSON, and no hook ever sees one; write it as a text")]
    NotJson {
        /// The value's type.
        found: &'static str,
    },
}

impl ScenarioError {
    /// Converts an error of the TOML parser.
    pub(super) fn toml(message: &str, text: &str, span: Option<Range<usize>>) -> Self {
        // List the known keys only if none is similar to the unknown one.
        let mut names = message.split('`').skip(1).step_by(2);
        let found = names.next().filter(|_| message.starts_with("unknown field `"));
        let known: Vec<&str> = names.collect();
        let is_specific = |found: &str| SPECIFIC_FIELDS.iter().any(|field| field.name == found);
        let message = match found {
            // The unknown key is in `expect`.
            Some(found) if is_specific(found) && known.contains(&"output") => format!(
                "unknown key `{found}`; what hooks answer there is expected as `output = {{ \
                 hookSpecificOutput = {{ {found} = ... }} }}`"
            ),
            Some(found) => match nearest(found, known) {
                Some(known) => {
                    format!("unknown key `{}`; did you mean `{known}`?", shortened(found))
                }
                None => message.to_owned(),
            },
            None => message.to_owned(),
        };
        Self::new(ScenarioErrorKind::Toml(message), text, span)
    }

    pub(super) fn new(kind: ScenarioErrorKind, text: &str, span: Option<Range<usize>>) -> Self {
        let span = span.unwrap_or_default();
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Self { kind, line: before.matches('\n').count() + 1, column, span }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> &ScenarioErrorKind {
        &self.kind
    }

    /// Returns its location as a byte range; empty if it concerns the whole text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}
