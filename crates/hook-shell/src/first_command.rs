//! The first simple command of a text, as far as it is known without running it.

use super::PROJECT_DIRECTORY;
use super::programs::is_builtin_or_keyword;
use super::script::{Command, Operator, Part, Script, SimpleCommand, Word};

/// Returns the words of a command of plain characters, or `None`.
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    let line = command.trim_matches([' ', '\t', '\n']);
    // None of these is a quote, an escape or an operator.
    if !line.bytes().all(|byte| is_plain(byte) || b" \t".contains(&byte)) {
        return None;
    }
    let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_owned).collect();
    let first = words.first()?;
    let is_program =
        !first.contains('=') && !first.starts_with('%') && !is_builtin_or_keyword(first);
    is_program.then_some(words)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_@%+:,./=-".contains(&byte)
}

/// Returns the words of the first simple command as the shell would expand them, without
/// assignments before it. A word is `None` if only running it can tell.
pub fn expanded_words(
    command: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<Option<String>> {
    let script = Script::parse(command);
    let words = first_command(&script).map_or(&[][..], |command| &command.words);
    // Where the text cannot be read, a line end may divide a variable's name.
    let has_dollar = |part: &Part| !matches!(part, Part::Text { text, .. } if !text.contains('$'));
    let is_read = |word: &&Word| script.unread.is_none() || !word.parts.iter().any(has_dollar);
    let expand = |word| expand(word, &variable, Splitting::Ignored);
    words.iter().map(|word| Some(word).filter(is_read).and_then(expand)).collect()
}

fn first_command(script: &Script) -> Option<&SimpleCommand> {
    let mut command = script.commands.first()?;
    loop {
        command = match command {
            Command::Simple(simple) => return Some(simple),
            Command::Pipeline(commands) => commands.first()?,
            Command::Chain { first, .. } => first,
            _ => return None,
        };
    }
}

/// Returns the variable that the first word begins with, after assignments: `X` of `$X/guard.sh`
/// and of `"${X}"/guard.sh`. `None` if it has a default, as `${X:-y}` has.
pub fn leading_variable(command: &str) -> Option<String> {
    let script = Script::parse(command);
    let command = first_command(&script)?;
    let Part::Variable { name, operator: None, .. } = command.words.first()?.parts.first()? else {
        return None;
    };
    // The command may assign it itself.
    let is_assigned = command.assignments.iter().any(|assignment| assignment.name == *name);
    (is_name(name) && !is_assigned).then(|| name.clone())
}

/// Returns `true` for names of variables, and not for `1` or `@`.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// The treatment of an unquoted variable whose value has blanks or patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Splitting {
    /// The value counts as part of one word.
    Ignored,
    /// The word is unknown.
    Unknown,
}

pub(super) fn expand(
    word: &Word,
    variable: &dyn Fn(&str) -> Option<String>,
    splitting: Splitting,
) -> Option<String> {
    let mut text = String::new();
    for (index, part) in word.parts.iter().enumerate() {
        match part {
            Part::Text { text: added, is_quoted: true } => text.push_str(added),
            Part::Text { text: added, .. } => {
                let mut rest = added.as_str();
                if let Some(behind) = added.strip_prefix('~').filter(|_| index == 0) {
                    if !(behind.starts_with('/') || behind.is_empty() && word.parts.len() == 1) {
                        return None;
                    }
                    text.push_str(&variable("HOME")?);
                    rest = behind;
                }
                for character in rest.chars() {
                    let is_special = match character {
                        '*' | '?' => true,
                        '[' | '{' | '!' => added.len() > 1 || word.parts.len() > 1,
                        '#' => text.is_empty(),
                        // After `=` or `:`, bash expands a tilde as in an assignment.
                        '~' => text.ends_with(['=', ':']),
                        _ => false,
                    };
                    if is_special {
                        return None;
                    }
                    text.push(character);
                }
            }
            Part::Variable { name, is_quoted, operator, .. } if is_name(name) => {
                let value = variable(name)?;
                match operator {
                    None => {}
                    Some(Operator::Default { replaces_empty: true, assigns: false, .. })
                        if !value.is_empty() => {}
                    Some(_) => return None,
                }
                if splitting == Splitting::Unknown && !is_quoted && !is_one_word(name, &value) {
                    return None;
                }
                text.push_str(&value);
            }
            _ => return None,
        }
    }
    Some(text)
}

/// Returns `true` if the shell keeps an unquoted variable's value as one word.
fn is_one_word(name: &str, value: &str) -> bool {
    let is_plain = |character: char| !character.is_whitespace() && !"*?[\\".contains(character);
    // These are quoted before the shell sees them.
    PROJECT_DIRECTORY.contains(&name) || value.chars().all(is_plain)
}
