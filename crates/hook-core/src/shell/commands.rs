//! The simple commands that a plain text consists of, with where each of its words stands.

use std::ops::Range;

use super::first_command::{Splitting, expand};
use super::words::{Operator, Words, is_assignment};

/// The longest text that is read, in bytes: no process can be given a longer one on Linux.
const MAX_TEXT: usize = 128 << 10;

/// What a caller gives as the value of a variable that holds the directory in which the command
/// runs. A path may begin with it.
pub(crate) const HERE: char = '\u{2}';

/// A word, without its quotes and with the values of its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellWord {
    /// What it is; `None` where only the shell can tell.
    pub(crate) text: Option<String>,
    /// Where it stands in the command.
    pub(crate) range: Range<usize>,
}

/// A program with its words, and the variables that are set before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    pub(crate) assignments: Vec<ShellWord>,
    pub(crate) words: Vec<ShellWord>,
}

/// What a text consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SimpleCommands {
    pub(crate) commands: Vec<SimpleCommand>,
    /// Whether there is more to it than simple commands joined by `&&`, `||`, `;`, `|` and line ends, with
    /// redirections to `/dev/null` and among descriptors.
    pub(crate) has_more: bool,
}

/// Takes a text apart; `None` for one that is too long.
pub(crate) fn simple_commands(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<SimpleCommands> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut read = SimpleCommands::default();
    // A NUL cannot be given to a shell, and the other stands for the directory.
    read.has_more |= text.contains(['\0', HERE]);
    let mut current = SimpleCommand::default();
    let mut words = Words::of(text);
    let mut redirects = None;
    loop {
        words.skip_blanks();
        if words.is_at_comment() {
            words.skip_line();
            continue;
        }
        let begin = words.position();
        if let Some(pieces) = words.next() {
            let range = begin..words.position();
            let text = expand(&pieces, variable, Splitting::Unknown).and_then(here_as_dot);
            let is_descriptor =
                |text: &str| text == "-" || text.bytes().all(|it| it.is_ascii_digit());
            let text_or_none = text.as_deref().unwrap_or_default();
            match redirects.take() {
                Some(Operator::Duplicate) => read.has_more |= !is_descriptor(text_or_none),
                Some(_) => read.has_more |= text_or_none != "/dev/null",
                // The number of a descriptor that is redirected.
                None if matches!(words.peek(), Some('<' | '>'))
                    && !text_or_none.is_empty()
                    && text_or_none.len() == range.len()
                    && text_or_none.bytes().all(|it| it.is_ascii_digit()) => {}
                None if current.words.is_empty() && is_assignment(&pieces) => {
                    current.assignments.push(ShellWord { text, range });
                }
                None => current.words.push(ShellWord { text, range }),
            }
            continue;
        }
        match words.operator() {
            None => break,
            Some(operator) => {
                read.has_more |= redirects.is_some() || operator == Operator::Other;
                match operator {
                    Operator::End => read.commands.push(std::mem::take(&mut current)),
                    Operator::Other => {}
                    redirect => redirects = Some(redirect),
                }
            }
        }
    }
    read.has_more |= redirects.is_some();
    read.commands.push(current);
    read.commands.retain(|it| !(it.words.is_empty() && it.assignments.is_empty()));
    Some(read)
}

/// A path that begins with the working directory, as a relative one.
fn here_as_dot(text: String) -> Option<String> {
    let rest = text.strip_prefix(HERE).map(|rest| format!(".{rest}"));
    let text = rest.unwrap_or(text);
    (!text.contains(HERE)).then_some(text)
}

/// A text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=@%+,".contains(it);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
