//! Words that more than one page needs.

/// So many of something, whose plural ends in s.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}
