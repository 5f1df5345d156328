//! The files that a patch in the form of `apply_patch` names in its headers.

/// What every header begins with.
pub(super) const MARK: &str = "*** ";

const HEADERS: [&str; 4] =
    ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

/// The paths in headers, one a line. Blanks around a header are passed over, as those that apply
/// patches do, and a line ends where any of them may see an end.
pub(super) fn file_headers(text: &str) -> impl Iterator<Item = &str> {
    let ends = |character: char| {
        matches!(
            character,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    text.split(ends).filter_map(|line| {
        let line = line.trim();
        HEADERS.iter().find_map(|header| line.strip_prefix(header)).map(str::trim)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_of_their_own() {
        let text = "apply_patch <<'EOF'\n*** Begin Patch\r\n  *** Add File:  a b.txt \n\
                    +*** Add File: no\n*** Update File: b\n*** Move to: c\n@@\n-x\n*** Delete File:d\n\
                    *** End Patch";
        assert_eq!(file_headers(text).collect::<Vec<_>>(), ["a b.txt", "b", "c", "d"]);
        assert_eq!(file_headers("--- a/x\n+++ b/x\n").count(), 0);
    }
}
