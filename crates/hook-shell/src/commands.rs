//! Splits a plain text into simple commands, with the positions of their words.

use std::ops::Range;

use super::first_command::{Splitting, expand};
use super::script::{Command, Redirect, RedirectKind, Script, Word};

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
    /// The words of loops and other compound commands.
    pub others: Vec<ShellWord>,
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
    let script = Script::parse(text);
    // A shell cannot receive a NUL, and the other character is the placeholder.
    let has_more = script.unread.is_some() || text.contains(['\0', CWD_PLACEHOLDER]);
    let mut found = SimpleCommands { has_more, ..SimpleCommands::default() };
    let read = |word: &Word| {
        let is_of_bash = script.bash_quotes.range(word.range.clone()).next().is_some();
        let text = expand(word, variable, Splitting::Unknown).and_then(relative_to_cwd);
        ShellWord { text: text.filter(|_| !is_of_bash), range: word.range.clone() }
    };
    script.commands.iter().for_each(|command| found.add(command, &read));
    Some(found)
}

impl SimpleCommands {
    fn add(&mut self, command: &Command, read: &dyn Fn(&Word) -> ShellWord) {
        self.has_more |=
            !matches!(command, Command::Simple(_) | Command::Pipeline(_) | Command::Chain { .. });
        let inner: Vec<&Command> = match command {
            Command::Simple(simple) => {
                let is_harmless = |redirect| is_harmless(redirect, |word| read(word).text);
                self.has_more |= !simple.redirects.iter().all(is_harmless);
                let assignments = simple.assignments.iter().map(|assignment| {
                    let ShellWord { text, range } = read(&assignment.value);
                    let text = text.filter(|_| assignment.subscript.is_none());
                    let text = text.map(|value| format!("{}={value}", assignment.name));
                    ShellWord { text, range }
                });
                let command = SimpleCommand {
                    assignments: assignments.collect(),
                    words: simple.words.iter().map(read).collect(),
                };
                let is_empty = command.words.is_empty() && command.assignments.is_empty();
                self.commands.extend((!is_empty).then_some(command));
                return;
            }
            Command::Pipeline(commands) => commands.iter().collect(),
            Command::Negated(command) => vec![&**command],
            Command::Function { body, .. } => vec![&**body],
            Command::Chain { first, rest } => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, command)| command)).collect()
            }
            Command::Group { sections, words, .. } => {
                self.others.extend(words.iter().map(read));
                sections.iter().flatten().collect()
            }
            Command::For { values, body, .. } => {
                self.others.extend(values.iter().flatten().map(read));
                body.iter().collect()
            }
        };
        inner.into_iter().for_each(|command| self.add(command, read));
    }
}

/// Returns `true` for redirections to `/dev/null` and between descriptors.
fn is_harmless(redirect: &Redirect, text: impl Fn(&Word) -> Option<String>) -> bool {
    let is_descriptor = |text: &str| {
        text == "-" || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let target = redirect.target.word().and_then(text).unwrap_or_default();
    // Braces with a variable set it.
    redirect.descriptor != Some(u32::MAX)
        && match redirect.kind {
            RedirectKind::Read | RedirectKind::Write => target == "/dev/null",
            RedirectKind::Duplicate => is_descriptor(&target),
            RedirectKind::ReadWrite | RedirectKind::Input => false,
        }
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
