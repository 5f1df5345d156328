//! The first simple command of a text, as far as it is known without running it.

use super::PROJECT_DIRECTORY;
use super::lexer::Meaning;
use super::programs::is_builtin_or_keyword;
use super::words::{Piece, Words, is_assignment, variable_name};

/// Returns the words of a command of plain characters, or `None`.
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    // None of these is a quote, an escape or an operator, except the end of a line.
    if !command.bytes().all(|byte| is_plain(byte) || b" \t\n".contains(&byte)) {
        return None;
    }
    let mut rest = Words::new(command);
    let text = |word: Vec<Piece>| word.iter().map(|piece| piece.character).collect();
    let words: Vec<String> = rest.by_ref().map(text).collect();
    let is_only_line = rest.rest().trim_matches([' ', '\t', '\n']).is_empty();
    let first = words.first()?;
    let is_program =
        !first.contains('=') && !first.starts_with('%') && !is_builtin_or_keyword(first);
    (is_only_line && is_program).then_some(words)
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
    let words = Words::new(command).skip_while(|word| is_assignment(word));
    words.map(|word| expand(&word, &variable, Splitting::Ignored)).collect()
}

/// Returns the variable that the first word begins with, after assignments: `X` of `$X/guard.sh`
/// and of `"${X}"/guard.sh`. `None` if it has a default, as `${X:-y}` has.
pub fn leading_variable(command: &str) -> Option<String> {
    let words: Vec<Vec<Piece>> = Words::new(command).collect();
    let program_index = words.iter().position(|word| !is_assignment(word))?;
    let (dollar, rest) = words.get(program_index)?.split_first()?;
    if dollar.character != '$' || dollar.meaning == Meaning::Literal {
        return None;
    }
    let (name, _) = variable_name(rest, dollar.segment)?;
    // The command may assign it itself.
    let is_assigned = |word: &Vec<Piece>| {
        let written: String = word.iter().map(|piece| piece.character).collect();
        written.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(['=', '+']))
    };
    (!words.iter().take(program_index).any(is_assigned)).then_some(name)
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
    word: &[Piece],
    variable: &dyn Fn(&str) -> Option<String>,
    splitting: Splitting,
) -> Option<String> {
    let mut text = String::new();
    let mut rest = word;
    while let Some((piece, after)) = rest.split_first() {
        rest = after;
        match (piece.meaning, piece.character) {
            (Meaning::Literal, character) => text.push(character),
            (_, '$') => {
                let (name, after) = match variable_name(rest, piece.segment) {
                    Some(plain) => plain,
                    None => name_with_default(rest, piece.segment).filter(|(name, _)| {
                        variable(name).is_some_and(|value| !value.is_empty())
                    })?,
                };
                let value = variable(&name)?;
                let is_split =
                    splitting == Splitting::Unknown && piece.meaning == Meaning::Unquoted;
                if is_split && !is_one_word(&name, &value) {
                    return None;
                }
                text.push_str(&value);
                rest = after;
            }
            (_, '`') => return None,
            (Meaning::Unquoted, '~') if rest.len() + 1 == word.len() && piece.segment == 0 => {
                match rest.first() {
                    None | Some(Piece { character: '/', .. }) => text.push_str(&variable("HOME")?),
                    Some(_) => return None,
                }
            }
            // After `=` or `:`, bash expands a tilde as in an assignment.
            (Meaning::Unquoted, '~') if text.ends_with(['=', ':']) => return None,
            (Meaning::Unquoted, '*' | '?') => return None,
            (Meaning::Unquoted, '[' | '{' | '!') if word.len() > 1 => return None,
            (Meaning::Unquoted, '#') if text.is_empty() => return None,
            (_, character) => text.push(character),
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

/// Returns the name of a variable with a plain default, as in `${X:-y}`, and the rest of the word.
fn name_with_default(word: &[Piece], segment: usize) -> Option<(String, &[Piece])> {
    let end = word.iter().position(|piece| piece.character == '}')?;
    let (inside, after) = (word.get(..end)?, word.get(end + 1..)?);
    let is_plain = |piece: &Piece| {
        piece.segment == segment
            && piece.meaning != Meaning::Literal
            && !"\"'\\`{}".contains(piece.character)
    };
    let text: String = inside.iter().skip(1).map(|piece| piece.character).collect();
    let (name, _) = text.split_once(":-")?;
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_known = inside.first()?.character == '{'
        && inside.iter().skip(1).all(is_plain)
        && word.get(end).is_some_and(is_plain_end)
        && !name.is_empty()
        && name.chars().all(is_name)
        && !name.starts_with(|character: char| character.is_ascii_digit());
    is_known.then(|| (name.to_owned(), after))
}

/// Returns `true` if a brace is not quoted.
fn is_plain_end(piece: &Piece) -> bool {
    piece.meaning != Meaning::Literal
}
