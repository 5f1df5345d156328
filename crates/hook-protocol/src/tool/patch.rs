//! Patches in the format of `apply_patch`: their files and changes, and composing patches from
//! edits.

use std::fmt::Write;
use std::ops::Range;

/// The start of every header.
pub const MARK: &str = "*** ";

const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
/// The header that names the patch's environment, and no file.
const ENVIRONMENT: &str = "*** Environment ID:";

const HEADERS: [&str; 4] = [ADD, UPDATE, DELETE, MOVE];

/// Returns the paths in headers, one per line. Blanks around a header are skipped, as tools that
/// apply patches do, and a line ends wherever one of them may see an end.
pub fn file_headers(text: &str) -> impl Iterator<Item = &str> {
    let is_line_end = |character: char| {
        matches!(
            character,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    text.split(is_line_end).filter_map(|line| {
        let line = line.trim();
        HEADERS.iter().find_map(|header| line.strip_prefix(header)).map(str::trim)
    })
}

/// Returns `true` if a text names the program that applies patches, as in `apply_patch <<EOF`.
pub(super) fn mentions_patch_program(text: &str) -> bool {
    ["apply_patch", "applypatch", "apply-patch"].iter().any(|name| text.contains(name))
}

/// A patch, as changes of files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) changes: Vec<FileChange>,
}

/// The change of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) kind: ChangeKind,
    /// The byte range in the text.
    pub(super) range: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Add { content: String },
    Delete,
    Update { moved_to: Option<String>, hunks: Vec<Hunk> },
}

/// A hunk: lines of the old and the new text without their marks, including context.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
    /// `true` if more than these lines determines its position.
    pub(super) is_anchored: bool,
}

impl Hunk {
    fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

impl Patch {
    /// Reads a patch, which other text may surround, such as a shell's here-document.
    ///
    /// # Errors
    /// If a line is invalid; the error names it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = PatchReader::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            reader.read_line(line.trim_end_matches(['\n', '\r']), range)?;
        }
        let patch = reader.finish()?;
        // A different parser may see files in lines that this one took for content.
        let named: Vec<&str> = patch.paths().collect();
        match file_headers(text).find(|path| !named.contains(path)) {
            Some(path) => Err(format!("it is not clear whether `{path}` is a file of it")),
            None => Ok(patch),
        }
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().flat_map(|change| {
            let moved = match &change.kind {
                ChangeKind::Update { moved_to, .. } => moved_to.as_deref(),
                _ => None,
            };
            std::iter::once(&*change.path).chain(moved)
        })
    }
}

#[derive(Default)]
struct PatchReader {
    is_inside: bool,
    has_ended: bool,
    changes: Vec<FileChange>,
}

impl PatchReader {
    fn read_line(&mut self, line: &str, range: Range<usize>) -> Result<(), String> {
        let trimmed = line.trim();
        if !self.is_inside {
            // A command may precede it, and there may be several patches.
            self.is_inside = trimmed.ends_with(BEGIN);
            return Ok(());
        }
        if trimmed.starts_with(END) {
            self.has_ended = true;
            self.is_inside = false;
            return Ok(());
        }
        let path_of =
            |header: &str| trimmed.strip_prefix(header).map(|path| path.trim().to_owned());
        let header = None
            .or_else(|| Some((path_of(ADD)?, ChangeKind::Add { content: String::new() })))
            .or_else(|| Some((path_of(DELETE)?, ChangeKind::Delete)))
            .or_else(|| {
                let kind = ChangeKind::Update { moved_to: None, hunks: Vec::new() };
                Some((path_of(UPDATE)?, kind))
            });
        // Lines of content begin with their mark, but blanks before a header are skipped.
        if let Some((path, kind)) = header {
            if path.is_empty() {
                return Err(format!("a header without a path: `{trimmed}`"));
            }
            self.changes.push(FileChange { path, kind, range });
            return Ok(());
        }
        let invalid_line = || Err(format!("the line `{}`", hook_json::text::shortened(line)));
        let Some(FileChange { kind, range: change_range, .. }) = self.changes.last_mut() else {
            return if trimmed.is_empty() || trimmed.starts_with(ENVIRONMENT) {
                Ok(())
            } else {
                invalid_line()
            };
        };
        change_range.end = range.end;
        match kind {
            ChangeKind::Delete if trimmed.is_empty() => Ok(()),
            ChangeKind::Delete => invalid_line(),
            ChangeKind::Add { content } => match line.strip_prefix('+') {
                Some(line) => {
                    content.push_str(line);
                    content.push('\n');
                    Ok(())
                }
                None if trimmed.is_empty() => Ok(()),
                None => invalid_line(),
            },
            ChangeKind::Update { moved_to, hunks } => {
                if let Some(path) = path_of(MOVE) {
                    if path.is_empty() || moved_to.is_some() || !hunks.is_empty() {
                        return invalid_line();
                    }
                    *moved_to = Some(path);
                    return Ok(());
                }
                if let Some(anchor) = line.strip_prefix("@@") {
                    let is_anchored = !anchor.trim().is_empty();
                    hunks.push(Hunk { is_anchored, ..Hunk::default() });
                    return Ok(());
                }
                if trimmed == END_OF_FILE {
                    if let Some(hunk) = hunks.last_mut() {
                        hunk.is_anchored = true;
                    }
                    return Ok(());
                }
                if hunks.is_empty() {
                    hunks.push(Hunk::default());
                }
                let Some(hunk) = hunks.last_mut() else { return Ok(()) };
                let mark = line.chars().next();
                let rest = line.get(1..).unwrap_or_default().to_owned();
                match mark {
                    Some('-') => hunk.old.push(rest),
                    Some('+') => hunk.new.push(rest),
                    Some(' ') | None => {
                        hunk.old.push(rest.clone());
                        hunk.new.push(rest);
                    }
                    _ => return invalid_line(),
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Patch, String> {
        match () {
            () if !self.is_inside && !self.has_ended => Err(format!("no line `{BEGIN}`")),
            () if self.is_inside => Err(format!("no line `{END}`")),
            () if self.changes.is_empty() => Err("no file in it".to_owned()),
            () => Ok(Patch { changes: self.changes }),
        }
    }
}

/// Returns the text that hunks replace, and its replacement; several hunks are joined.
pub(super) fn replaced_texts(hunks: &[Hunk]) -> (String, String) {
    let joined = |lines: fn(&Hunk) -> &Vec<String>| {
        let parts: Vec<String> = hunks.iter().map(|hunk| lines(hunk).join("\n")).collect();
        parts.join("\n")
    };
    (joined(|hunk| &hunk.old), joined(|hunk| &hunk.new))
}

/// Returns a text with hunks applied, or `None` if one is not found in it.
pub(super) fn apply_hunks(text: &str, hunks: &[Hunk]) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut from = 0;
    for hunk in hunks.iter().filter(|hunk| !hunk.is_empty()) {
        let is_match = |lines: &[&str]| {
            let mut pairs = lines.iter().zip(&hunk.old);
            pairs.all(|(line, old)| line.trim_end() == old.trim_end())
        };
        let at = match hunk.old.len() {
            0 => lines.len(),
            length => from + lines.get(from..)?.windows(length).position(is_match)?,
        };
        lines.splice(at..at + hunk.old.len(), hunk.new.iter().map(String::as_str));
        from = at + hunk.new.len();
    }
    Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
}

/// Returns the part of a patch that adds a file.
pub(super) fn add_part(path: &str, content: &str) -> String {
    let mut patch = format!("{ADD} {path}\n");
    push_marked_lines(&mut patch, '+', content);
    patch
}

/// Returns the part of a patch that deletes a file.
pub(super) fn delete_part(path: &str) -> String {
    format!("{DELETE} {path}\n")
}

/// Returns the part of a patch that replaces a text in a file.
pub(super) fn update_part(path: &str, old: &str, new: &str) -> String {
    let mut patch = format!("{UPDATE} {path}\n@@\n");
    push_marked_lines(&mut patch, '-', old);
    push_marked_lines(&mut patch, '+', new);
    patch
}

/// Returns a patch of the given parts.
pub(super) fn join_parts(parts: impl Iterator<Item = String>) -> String {
    let mut patch = format!("{BEGIN}\n");
    patch.extend(parts);
    patch.push_str(END);
    patch
}

fn push_marked_lines(patch: &mut String, mark: char, text: &str) {
    for line in text.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(patch, "{mark}{line}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_are_lines_of_their_own() {
        let text = "apply_patch <<'EOF'\n*** Begin Patch\r\n  *** Add File:  a b.txt \n\
                    +*** Add File: no\n*** Update File: b\n*** Move to: c\n@@\n-x\n*** Delete File:d\n\
                    *** End Patch";
        assert_eq!(file_headers(text).collect::<Vec<_>>(), ["a b.txt", "b", "c", "d"]);
        assert_eq!(file_headers("--- a/x\n+++ b/x\n").count(), 0);
    }

    #[test]
    fn a_patch_is_read_file_by_file() {
        let text = "*** Begin Patch\n*** Add File: a\n+1\n+2\n*** Update File: b\n*** Move to: c\n\
                    @@ fn f()\n x\n-y\n+z\n\n*** End of File\n*** Delete File: d\n*** End Patch\n";
        let patch = Patch::parse(text).unwrap();
        let [add, update, delete] = &patch.changes[..] else { panic!("{patch:?}") };
        assert_eq!(add.kind, ChangeKind::Add { content: "1\n2\n".to_owned() });
        let ChangeKind::Update { moved_to, hunks } = &update.kind else { panic!("{update:?}") };
        assert_eq!(moved_to.as_deref(), Some("c"));
        assert_eq!(replaced_texts(hunks), ("x\ny\n".to_owned(), "x\nz\n".to_owned()));
        assert_eq!(apply_hunks("w\nx\ny\n\n", hunks).as_deref(), Some("w\nx\nz\n\n"));
        assert_eq!(apply_hunks("other", hunks), None);
        assert_eq!((&*delete.path, &delete.kind), ("d", &ChangeKind::Delete));
        assert_eq!(&text[add.range.clone()], "*** Add File: a\n+1\n+2\n");
    }

    #[test]
    fn what_is_not_clearly_a_patch_is_refused() {
        for text in [
            "",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x\n",
            "*** Begin Patch\n*** Add File:\n+x\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
            "*** Begin Patch\nx\n*** Add File: a\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x\u{2028}*** Add File: .env\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n*** End Patch\n*** Add File: .env\n",
            "*** Begin Patch\n*** Update File: a\n@@\n*** Move to: .env\n*** End Patch",
        ] {
            assert!(Patch::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_patch_made_of_edits_is_read_as_these(
            path in "[a-z][a-z /.]{0,8}[a-z]", content in "([a-z+*@ -]{0,9}\n){0,4}",
            old in "([a-z+*@ -]{0,9}\n){0,4}",
        ) {
            let text = join_parts([add_part(&path, &content), update_part(&path, &old, &content), delete_part(&path)].into_iter());
            let patch = Patch::parse(&text).unwrap();
            let [add, update, _] = &patch.changes[..] else { panic!("{patch:?}") };
            prop_assert_eq!(&add.kind, &ChangeKind::Add { content: content.clone() });
            let ChangeKind::Update { hunks, .. } = &update.kind else { panic!() };
            let lines = |text: &str| text.lines().collect::<Vec<_>>().join("\n");
            prop_assert_eq!(replaced_texts(hunks), (lines(&old), lines(&content)));
        }

        #[test]
        fn each_file_that_another_reader_may_see_is_read_or_the_patch_refused(
            text in "(\\*\\*\\* Begin Patch|\\*\\*\\* End Patch|\\*\\*\\* Add File: a|\\*\\*\\* Update File: b| \\*\\*\\* Move to: c|@@|\\+x|-y| z|\r|\n){0,24}",
        ) {
            if let Ok(patch) = Patch::parse(&text) {
                let named: Vec<&str> = patch.paths().collect();
                prop_assert!(file_headers(&text).all(|path| named.contains(&path)));
            }
        }
    }
}
