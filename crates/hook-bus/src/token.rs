//! Tokens that identify returning clients.

use uuid::Uuid;

/// Returns 64 random hexadecimal digits (244 random bits), which cannot be guessed.
pub(crate) fn token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Compares two tokens in constant time, whatever the length of their common prefix.
pub fn is_same_token(expected: &str, actual: &str) -> bool {
    let pairs = expected.bytes().zip(actual.bytes());
    expected.len() == actual.len()
        && pairs.fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
