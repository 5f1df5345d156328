//! Text helpers of several commands.

/// Formats a count of things whose plural ends in "s".
pub(crate) fn counted(number: usize, what: &str) -> String {
    plural(number, what, &format!("{what}s"))
}

/// Formats a count, followed by `one` or `many`.
pub(crate) fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the last shell word of a command, without expansions. Returns `None` if a quote is not
/// closed.
pub(crate) fn last_shell_word(text: &str) -> Option<String> {
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, ' ' | '\t' | '\n') => {
                // Another word may follow.
                if characters.as_str().trim_start().is_empty() {
                    break;
                }
                word = None;
            }
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (Some(end), _) if character == end => quote = None,
            (None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some('"'), '\\') => {
                let next = characters.next()?;
                if !matches!(next, '"' | '\\' | '$' | '`') {
                    word.get_or_insert_default().push('\\');
                }
                word.get_or_insert_default().push(next);
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    word.filter(|_| quote.is_none())
}

#[cfg(test)]
mod tests {
    use super::last_shell_word;

    #[test]
    fn a_word_is_read_back_as_it_was_written() {
        for text in
            ["/usr/bin/hook", "/it's here/hook", "/a \"b\"/hook", "''", "/a bridge b/hook", "\\"]
        {
            let written = format!("[ -x x ] || exit 0; exec {}", hook_shell::quote(text));
            assert_eq!(last_shell_word(&written).as_deref(), Some(text), "{written}");
        }
        assert_eq!(last_shell_word(r#""/a b"/c\ d "#).as_deref(), Some("/a b/c d"));
        assert_eq!(last_shell_word("'/a"), None);
    }
}
