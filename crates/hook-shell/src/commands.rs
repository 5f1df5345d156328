//! Splits a plain text into simple commands, with the positions of their words.

use std::ops::Range;

use super::first_command::{Splitting, expand};
use super::words::{Operator, Words, is_assignment};

/// The maximum length of a text in bytes: Linux passes no longer argument to a process.
const MAX_TEXT: usize = 128 << 10;

/// A placeholder that callers give as the value of a variable with the command's working directory.
/// A path may begin with it.
pub const HERE: char = '\u{2}';

/// A word without its quotes and with its variables expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// The text; `None` if only the shell can know it.
    pub text: Option<String>,
    /// The byte range in the command.
    pub range: Range<usize>,
}

/// A program with its words, and the assignments before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The variables set before the program.
    pub assignments: Vec<ShellWord>,
    /// The program and its arguments.
    pub words: Vec<ShellWord>,
}

/// The simple commands of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommands {
    pub commands: Vec<SimpleCommand>,
    /// `true` if the text has more than simple commands joined by `&&`, `||`, `;`, `|` and line
    /// ends, with redirections to `/dev/null` and between descriptors.
    pub has_more: bool,
}

/// Splits a text into simple commands, or returns `None` if it is too long.
pub fn simple_commands(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<SimpleCommands> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut read = SimpleCommands::default();
    // A shell cannot receive a NUL, and the other character is the placeholder.
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
                // The number of a redirected descriptor.
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

/// Makes a path relative if it begins with the working directory.
fn here_as_dot(text: String) -> Option<String> {
    let rest = text.strip_prefix(HERE).map(|rest| format!(".{rest}"));
    let text = rest.unwrap_or(text);
    (!text.contains(HERE)).then_some(text)
}

/// Quotes a text as one shell word.
pub fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=@%+,".contains(it);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
