//! Strings and names in programs of other languages, and the arguments of their calls.

use crate::invocations::argument::UNKNOWN;

/// The maximum number of tokens of a call that are looked at.
pub(super) const MAX_TOKENS: usize = 4_000;

/// A token of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A string, without its quotes.
    Text(String),
    Name(&'t str),
    /// Any other character.
    Sign(char),
}

/// The tokens of a text.
pub(super) struct Tokens<'t>(pub(super) &'t str);

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
                Some((at, 'x' | 'u' | '0'..='7')) => {
                    let (decoded, length) = escaped(text.get(at..).unwrap_or_default());
                    string.push(decoded);
                    // The letter is taken already.
                    for _ in 1..length {
                        characters.next();
                    }
                }
                Some((_, escaped)) => string.push(escaped),
                None => {}
            },
            _ => string.push(character),
        }
    }
    (string, "")
}

/// Decodes an escape by a number behind the backslash, such as `x2e`, `u002e` and `056`; returns its length, too.
fn escaped(text: &str) -> (char, usize) {
    let (skipped, radix, most) = match text.as_bytes().first() {
        Some(b'x') => (1, 16, 2),
        Some(b'u') => (1, 16, 4),
        _ => (0, 8, 3),
    };
    let digits = text.get(skipped..).unwrap_or_default();
    let count = digits.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
    let value = u32::from_str_radix(digits.get(..count).unwrap_or_default(), radix).ok();
    (value.and_then(char::from_u32).unwrap_or(UNKNOWN), (skipped + count).max(1))
}

/// Returns `true` if a text begins with the arguments of a call. With `is_bare`, as in Perl and Ruby, they
/// need no parentheses.
pub(super) fn is_call(after: &str, is_bare: bool) -> bool {
    let trimmed = after.trim_start_matches([' ', '\t']);
    // `unlink f`, `open F, "x"`
    let begins_with_name =
        is_bare && trimmed.starts_with(|first: char| is_name(first) && !first.is_ascii_digit());
    let is_list = is_bare && trimmed.starts_with(['[', '*', '%', '<']);
    let is_value = is_list
        || trimmed.starts_with(['"', '\'', 'g', '$', '@'])
        || ["q(", "q{", "q/", "qq", "qw", "my "].iter().any(|begin| trimmed.starts_with(begin));
    let is_apart = after.starts_with([' ', '\t']) || is_bare && after.starts_with(['"', '\'']);
    trimmed.starts_with('(') || is_apart && (is_value || begins_with_name)
}

/// Returns the arguments of a call, without blanks, and the number of bytes of its text. `None` if there is too much of
/// them.
pub(super) fn arguments(after: &str) -> (Option<Vec<Vec<Token<'_>>>>, usize) {
    let text = after.trim_start_matches([' ', '\t']);
    let mut tokens = Tokens(text.strip_prefix('(').unwrap_or(text));
    let found = arguments_of(&mut tokens);
    (found, after.len() - tokens.0.len())
}

fn arguments_of<'t>(tokens: &mut Tokens<'t>) -> Option<Vec<Vec<Token<'t>>>> {
    let mut arguments = vec![Vec::new()];
    let mut open = 0_usize;
    for (number, token) in tokens.enumerate() {
        match token {
            _ if number == MAX_TOKENS => return None,
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') if open > 0 => open -= 1,
            Token::Sign(')' | ';' | '\n' | '}' | ']') if open == 0 => break,
            Token::Sign(',') if open == 0 => {
                arguments.push(Vec::new());
                continue;
            }
            Token::Sign(blank) if blank.is_whitespace() => continue,
            _ => {}
        }
        arguments.last_mut()?.push(token);
    }
    Some(arguments)
}

/// Returns `true` if an argument is a file handle, which Perl names first.
pub(super) fn is_handle(argument: &[Token<'_>]) -> bool {
    match argument {
        [Token::Name("my"), ..] => true,
        [Token::Name(name)] => name.bytes().all(|byte| byte.is_ascii_uppercase()),
        _ => false,
    }
}

/// Splits tokens where none of their brackets are open.
pub(super) fn split<'t, 'p>(
    tokens: &'t [Token<'p>],
    is_sign: impl Fn(&Token<'p>) -> bool,
) -> Vec<&'t [Token<'p>]> {
    let mut open = 0_usize;
    tokens
        .split(|token| {
            match token {
                Token::Sign('(' | '[' | '{') => open += 1,
                Token::Sign(')' | ']' | '}') => open = open.saturating_sub(1),
                _ => {}
            }
            open == 0 && is_sign(token)
        })
        .collect()
}

/// Returns `true` if no bracket among tokens closes one before them.
pub(super) fn is_balanced(tokens: &[Token<'_>]) -> bool {
    let mut open = 0_usize;
    tokens.iter().all(|token| {
        match token {
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') if open == 0 => return false,
            Token::Sign(')' | ']' | '}') => open -= 1,
            _ => {}
        }
        true
    })
}
