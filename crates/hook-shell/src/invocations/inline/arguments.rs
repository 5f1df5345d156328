//! The arguments of a call in a program of another language.

use super::tokens::{Token, is_balanced};

/// The arguments of a call.
#[derive(Debug, Default)]
pub(super) struct CallArguments<'t> {
    pub(super) positional: Vec<Vec<Token<'t>>>,
    pub(super) named: Vec<(&'t str, Vec<Token<'t>>)>,
    /// `true` if there are more, in a list or a table: `*rest`.
    pub(super) is_open: bool,
}

impl<'t> CallArguments<'t> {
    pub(super) fn of(arguments: Vec<Vec<Token<'t>>>) -> Self {
        let mut given = Self::default();
        for argument in arguments {
            match argument.as_slice() {
                [] => {}
                [Token::Sign('*'), ..] | [Token::Sign('.'), Token::Sign('.'), ..] => {
                    given.is_open = true
                }
                [Token::Name(name), Token::Sign('='), value @ ..]
                    if !matches!(value, [] | [Token::Sign('=' | '>' | '~'), ..]) =>
                {
                    given.named.push((name, value.to_vec()));
                }
                _ => given.positional.push(argument),
            }
        }
        given
    }
}

/// Returns `true` for a truth value or a number.
pub(super) fn is_flag(value: &[Token<'_>]) -> bool {
    const WORDS: [&str; 9] =
        ["True", "False", "None", "true", "false", "TRUE", "FALSE", "nil", "null"];
    match value {
        [Token::Name(name)] => WORDS.contains(name),
        [_, ..] => {
            value.iter().all(|it| matches!(it, Token::Sign(digit) if digit.is_ascii_digit()))
        }
        [] => false,
    }
}

/// Returns `true` for an argument behind the first that is a table of options, an option of Ruby's, or a function.
pub(super) fn is_option(argument: &[Token<'_>]) -> bool {
    match argument {
        [Token::Sign('{'), inside @ .., Token::Sign('}')] => is_balanced(inside),
        [Token::Name(_), Token::Sign(':'), value @ ..] => is_flag(value),
        [Token::Name("function"), ..] => true,
        _ => {
            is_flag(argument)
                || argument.windows(2).any(|pair| *pair == [Token::Sign('='), Token::Sign('>')])
        }
    }
}
