//! Splits a plain text into simple commands, with the positions of their words.

use std::ops::Range;

use super::first_command::{Splitting, expand};
use super::words::{Operator, Words, is_assignment};

/// The maximum length of a text in bytes: Linux passes no longer argument to a process.
const MAX_TEXT: usize = 128 << 10;

/// A placeholder that callers give as the value of a variable with the command's working directory.
/// A path may begin with it.
pub const CWD_PLACEHOLDER: char = '\u{2}';

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
    let mut result = SimpleCommands::default();
    // A shell cannot receive a NUL, and the other character is the placeholder.
    result.has_more |= text.contains(['\0', CWD_PLACEHOLDER]);
    let mut current = SimpleCommand::default();
    let mut words = Words::new(text);
    let mut redirects = None;
    loop {
        words.skip_blanks();
        if words.is_at_comment() {
            words.skip_line();
            continue;
        }
        let start = words.position();
        if let Some(pieces) = words.next() {
            let range = start..words.position();
            let text = expand(&pieces, variable, Splitting::Unknown).and_then(relative_to_cwd);
            let is_descriptor =
                |text: &str| text == "-" || text.bytes().all(|byte| byte.is_ascii_digit());
            let text_or_none = text.as_deref().unwrap_or_default();
            match redirects.take() {
                Some(Operator::Duplicate) => result.has_more |= !is_descriptor(text_or_none),
                Some(_) => result.has_more |= text_or_none != "/dev/null",
                // The number of a redirected descriptor.
                None if matches!(words.peek(), Some('<' | '>'))
                    && !text_or_none.is_empty()
                    && text_or_none.len() == range.len()
                    && text_or_none.bytes().all(|byte| byte.is_ascii_digit()) => {}
                None if current.words.is_empty() && is_assignment(&pieces) => {
                    current.assignments.push(ShellWord { text, range });
                }
                None => current.words.push(ShellWord { text, range }),
            }
            continue;
        }
        match words.next_operator() {
            None => break,
            Some(operator) => {
                result.has_more |= redirects.is_some() || operator == Operator::Other;
                match operator {
                    Operator::End => result.commands.push(std::mem::take(&mut current)),
                    Operator::Other => {}
                    redirect => redirects = Some(redirect),
                }
            }
        }
    }
    result.has_more |= redirects.is_some();
    result.commands.push(current);
    result.commands.retain(|command| !(command.words.is_empty() && command.assignments.is_empty()));
    Some(result)
}

/// Makes a path relative if it begins with the working directory.
fn relative_to_cwd(text: String) -> Option<String> {
    let relative = text.strip_prefix(CWD_PLACEHOLDER).map(|rest| format!(".{rest}"));
    let text = relative.unwrap_or(text);
    (!text.contains(CWD_PLACEHOLDER)).then_some(text)
}

/// Quotes a text as one shell word.
pub fn quote(text: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_-./:=@%+,".contains(character);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
