//! Strings and names in programs of other languages, and the arguments of their calls.

use super::argument::UNKNOWN;

/// The maximum number of tokens of a call that are looked at.
const MAX_TOKENS: usize = 4_000;

/// The maximum number of uses of a name that are looked at.
const MAX_USES: usize = 200;

/// A token of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'t> {
    /// A string, without its quotes.
    Text(String),
    Name(&'t str),
    /// Any other character.
    Sign(char),
}

/// The tokens of a text.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let first = self.0.chars().next()?;
        let (token, rest) = match first {
            '"' | '\'' | '`' => {
                let (text, rest) = string(self.0);
                (Token::Text(text), rest)
            }
            _ if is_name(first) && !first.is_ascii_digit() => {
                let end = self.0.find(|found| !is_name(found)).unwrap_or(self.0.len());
                let (name, rest) = self.0.split_at(end);
                (Token::Name(name), rest)
            }
            _ => (Token::Sign(first), self.0.get(first.len_utf8()..).unwrap_or_default()),
        };
        self.0 = rest;
        Some(token)
    }
}

/// Returns `true` for a character of names.
pub(super) fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the string at the start of a text, without its quotes, and the rest.
pub(super) fn string(text: &str) -> (String, &str) {
    let mut characters = text.char_indices();
    let Some((_, quote)) = characters.next() else { return (String::new(), "") };
    // Python's three quotes.
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    if let Some(inside) = text.strip_prefix(triple.as_str()) {
        return match inside.split_once(triple.as_str()) {
            Some((string, rest)) => (string.to_owned(), rest),
            None => (inside.to_owned(), ""),
        };
    }
    let mut string = String::new();
    while let Some((at, character)) = characters.next() {
        match character {
            _ if character == quote => {
                return (string, text.get(at + character.len_utf8()..).unwrap_or_default());
            }
            '\\' => match characters.next() {
                Some((_, 'n')) => string.push('\n'),
                Some((_, 't')) => string.push('\t'),
                Some((_, escaped)) => string.push(escaped),
                None => {}
            },
            _ => string.push(character),
        }
    }
    (string, "")
}

/// Returns the strings between the parentheses that begin a text, or behind a blank.
pub(super) fn call_strings(after: &str) -> Option<Vec<String>> {
    let trimmed = after.trim_start_matches(' ');
    let is_call = trimmed.starts_with('(');
    // Perl and Ruby need no parentheses.
    let is_value = trimmed.starts_with(['"', '\'', 'g', '$', '@'])
        || ["q(", "q{", "q/", "qq", "qw", "my "].iter().any(|begin| trimmed.starts_with(begin));
    let is_bare = after.starts_with(' ') && is_value;
    if !is_call && !is_bare {
        return None;
    }
    let mut open = 0_usize;
    let mut found = Vec::new();
    for (count, token) in Tokens(trimmed).enumerate() {
        match token {
            _ if count == MAX_TOKENS => {
                found.push(UNKNOWN.to_string());
                break;
            }
            Token::Text(text) => found.push(text),
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') => {
                open = open.saturating_sub(1);
                if open == 0 && is_call {
                    break;
                }
            }
            Token::Sign(';' | '\n') if open == 0 => break,
            _ => {}
        }
    }
    Some(found)
}

/// Returns `true` if the arguments of a call are more than strings, lists of them and named options.
pub(super) fn is_computed(after: &str) -> bool {
    const CONSTANTS: &str = "True False None true false null qw subprocess PIPE";
    let mut tokens = Tokens(after.trim_start_matches(' '));
    let mut open = 0_usize;
    for _ in 0..MAX_TOKENS {
        match tokens.next() {
            None => return false,
            Some(Token::Sign('(' | '[' | '{')) => open += 1,
            Some(Token::Sign(')' | ']' | '}')) => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return false;
                }
            }
            Some(Token::Sign('+' | '%' | '$')) => return true,
            Some(Token::Sign(';' | '\n')) if open == 0 => return false,
            Some(Token::Name(name)) => {
                let is_option = tokens.0.trim_start().starts_with(['=', ':']);
                if !is_option && !CONSTANTS.split(' ').any(|constant| constant == name) {
                    return true;
                }
            }
            Some(_) => {}
        }
    }
    true
}

/// Returns `true` if one of the first arguments of a call is computed, so that it may be any path:
/// it is more than strings, which are seen as they are, names that stand for those, and the program's
/// own arguments.
pub(super) fn is_unknown_path(after: &str, count: usize, program: &str) -> bool {
    let arguments = after.trim_start_matches(' ');
    let inside = arguments.strip_prefix('(').unwrap_or(arguments);
    let is_computed_path = |argument: &[Token<'_>]| {
        let is_handle = match argument {
            [Token::Name("my"), ..] => true,
            [Token::Name(name)] => name.bytes().all(|byte| byte.is_ascii_uppercase()),
            _ => false,
        };
        !is_handle && !is_constant(argument.iter().cloned(), |name| is_string(name, program))
    };
    let (mut open, mut left) = (0_usize, count);
    let mut argument = Vec::new();
    for (number, token) in Tokens(inside).enumerate() {
        match token {
            _ if number == MAX_TOKENS => return true,
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') if open > 0 => open -= 1,
            Token::Sign(')' | ';' | '\n' | '}' | ']') if open == 0 => break,
            Token::Sign(',') if open == 0 => {
                if is_computed_path(&argument) {
                    return true;
                }
                argument.clear();
                left -= 1;
                if left == 0 {
                    return false;
                }
                continue;
            }
            Token::Sign(blank) if blank.is_whitespace() => continue,
            _ => {}
        }
        argument.push(token);
    }
    is_computed_path(&argument)
}

/// Returns `true` if all that a program assigns to a name are strings and file handles: `p = "…"`, `for p in ["…"]`,
/// `for p in glob("…")`. `None` if it assigns nothing.
fn is_string(name: &str, program: &str) -> Option<bool> {
    let mut is_assigned = None;
    for (count, (at, _)) in program.match_indices(name).enumerate() {
        if count == MAX_USES {
            return Some(false);
        }
        let (before, behind) = program.split_at(at);
        let behind = behind.get(name.len()..).unwrap_or_default();
        if before.ends_with(is_name) || behind.starts_with(is_name) {
            continue;
        }
        let behind = behind.trim_start();
        let value = match behind.strip_prefix('=').filter(|value| !value.starts_with(['=', '~'])) {
            Some(value) => value,
            None => match behind.strip_prefix("in ").or_else(|| behind.strip_prefix("of ")) {
                Some(value) => value.split([':', '\n']).next().unwrap_or_default(),
                None => continue,
            },
        };
        let value = value.split(['\n', ';']).next().unwrap_or_default();
        // Another name would have to be looked up in turn.
        if !is_constant(Tokens(value), |_| None) {
            return Some(false);
        }
        is_assigned = Some(true);
    }
    is_assigned
}

/// Returns `true` if a value is made of strings, the program's arguments, and names that are such. `is_known` tells it of
/// names that the program assigns.
fn is_constant<'t>(
    value: impl Iterator<Item = Token<'t>>,
    is_known: impl Fn(&str) -> Option<bool>,
) -> bool {
    const NAMES: &str = "ARGV False None Path True argv exist_ok false force glob iglob ignore_errors list local my \
        null pathlib process recursive rglob shift sorted str sys true";
    let mut value = value.peekable();
    while let Some(token) = value.next() {
        let is_part = match token {
            // `"${x}"`, `"#{x}"` and `f"{x}"` are computed.
            Token::Text(text) => !text.contains(['{', '$']) || text.contains("*{"),
            Token::Sign(sign) => !"+%/".contains(sign),
            Token::Name("b" | "f" | "r") if matches!(value.peek(), Some(Token::Text(_))) => true,
            Token::Name(name) => {
                is_known(name).unwrap_or_else(|| NAMES.split(' ').any(|known| known == name))
            }
        };
        if !is_part {
            return false;
        }
    }
    true
}
