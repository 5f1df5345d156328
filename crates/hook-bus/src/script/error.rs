//! Why a file is no scenario, and where.

use std::ops::Range;

use hook_core::event::output::SPECIFIC_FIELDS;
use hook_core::text::nearest;
use hook_core::text::shortened;

use super::host::ScriptedHostError;

/// A text is no scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {kind}")]
pub struct ScenarioError {
    kind: ScenarioErrorKind,
    span: Range<usize>,
    line: usize,
    column: usize,
}

/// What is wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioErrorKind {
    /// It is not TOML of the scenario's shape.
    #[error("not a scenario: {0}")]
    Toml(String),
    /// It has no test, so that it would pass whatever the hooks do.
    #[error("the scenario has no [[test]]")]
    Empty,
    /// An expectation can never hold.
    #[error("`{field}` is never {found:?}; it is one of {known}")]
    Impossible {
        /// What is expected of.
        field: &'static str,
        /// What is expected.
        found: String,
        /// What it can be.
        known: String,
    },
    /// No event has the name, and no failure is expected of it.
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
    /// A regular expression is none.
    #[error("{pattern} is not a regular expression: {reason}")]
    Pattern {
        /// The expression with its slashes.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A host could not give such a result.
    #[error(transparent)]
    Host(#[from] ScriptedHostError),
    /// A value that TOML has and JSON has not.
    #[error("{found} has no form in JSON, and no hook ever sees one; write it as a text")]
    NotJson {
        /// What it is.
        found: &'static str,
    },
}

impl ScenarioError {
    /// What a parser of TOML said.
    pub(super) fn toml(message: &str, text: &str, span: Option<Range<usize>>) -> Self {
        // Which keys there are is said only where none is like the one that was written.
        let mut names = message.split('`').skip(1).step_by(2);
        let found = names.next().filter(|_| message.starts_with("unknown field `"));
        let known: Vec<&str> = names.collect();
        let is_specific = |found: &str| SPECIFIC_FIELDS.iter().any(|field| field.name == found);
        let message = match found {
            // Among what is expected.
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

    /// What is wrong.
    pub fn kind(&self) -> &ScenarioErrorKind {
        &self.kind
    }

    /// Where, in bytes of the text; empty where it is about the text as a whole.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}
