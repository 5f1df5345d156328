//! Agents from files: TOML that says what an agent of a known family does in its own way.
//!
//! | module | contents |
//! | --- | --- |
//! | `model` | the keys of a file |
//! | `build` | the agent of a file |
//! | `answers` | the forms of its answers |
//! | `user` | the user's files |

mod answers;
mod build;
mod builder;
mod model;
mod user;

use std::fmt;
use std::ops::Range;

use hook_json::text::nearest;

use super::table::Agent;

pub(super) use user::user_agents;
pub use user::{BrokenAgentFile, agent_folder};

/// The maximum size of an agent file, in bytes.
pub const MAX_AGENT_FILE: u64 = 256 << 10;

/// A mistake in an agent file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFileProblem {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The description of the mistake, and of what is allowed.
    pub message: String,
}

impl fmt::Display for AgentFileProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Reads an agent from the text of its file. Its tables live as long as the process.
///
/// # Errors
/// Returns all mistakes that are found.
pub fn read_agent(text: &str) -> Result<Agent, Vec<AgentFileProblem>> {
    let file = toml::from_str(text).map_err(|error| {
        let message = with_suggestion(error.message());
        vec![problem(text, error.span().unwrap_or_default(), message)]
    })?;
    build::agent(&file).map_err(|mistakes| {
        mistakes.into_iter().map(|(at, message)| problem(text, at, message)).collect()
    })
}

fn problem(text: &str, at: Range<usize>, message: String) -> AgentFileProblem {
    let before = text.get(..at.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    AgentFileProblem { line, column, message }
}

/// Adds the nearest name to a message of the parser that lists the known ones.
fn with_suggestion(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    match nearest(unknown, names).filter(|_| message.starts_with("unknown ")) {
        Some(nearest) => format!("{message}; did you mean `{nearest}`?"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DROID: &str = include_str!("../../agents/droid.toml");

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_be_read(text in "\\PC{0,200}") {
            let _ = read_agent(&text);
        }

        #[test]
        fn a_file_with_another_word_is_an_agent_or_has_mistakes_with_a_place(
            at in 0..DROID.len(),
            word in "[a-z{}\"\\[\\]=\n.]{0,12}",
        ) {
            let text = match DROID.get(..at).zip(DROID.get(at..)) {
                Some((before, after)) => format!("{before}{word}{after}"),
                None => return Ok(()),
            };
            for problem in read_agent(&text).err().unwrap_or_default() {
                prop_assert!(problem.line <= text.lines().count() + 1 && !problem.message.is_empty());
            }
        }
    }
}
