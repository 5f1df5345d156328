//! Words that more than one command needs.

/// So many of something, whose plural ends in s.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// A word as a shell reads it, for commands that people copy.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "/._-+,@%".contains(character);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
