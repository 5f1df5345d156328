//! The hash chain of an audit file: each line holds the hash of the previous one, so that a changed
//! or removed line shows in the next one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use sha2::{Digest, Sha256};

/// The field with the hash of the previous line.
pub(super) const PREVIOUS: &str = "previous";

/// The field that marks the first line of a file.
pub(super) const BEGINS: &str = "begins";

/// The number of bytes read at once.
const CHUNK: usize = 64 * 1_024;

/// Returns the hash of a line, without its newline.
pub(super) fn hash_of(line: &[u8]) -> String {
    hexadecimal(&Sha256::digest(line))
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The end of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct End {
    /// The file's length.
    pub(super) length: u64,
    /// The hash of its last line that is not empty, if there is one.
    pub(super) last: Option<String>,
    /// `true` if that line has no newline.
    pub(super) is_torn: bool,
}

impl End {
    /// Reads the end of the first `length` bytes of a file backwards, whatever the length of the
    /// last line.
    pub(super) fn read_until(file: &mut File, length: u64) -> io::Result<Self> {
        let Some(end) = find_back(file, length, |byte| byte != b'\n')? else {
            return Ok(Self { length, last: None, is_torn: false });
        };
        let begin = find_back(file, end, |byte| byte == b'\n')?.unwrap_or(0);
        file.seek(SeekFrom::Start(begin))?;
        let mut hash = Sha256::new();
        io::copy(&mut file.take(end - begin), &mut hash)?;
        let last = Some(hexadecimal(&hash.finalize()));
        Ok(Self { length, last, is_torn: end == length })
    }
}

/// Returns the position after the last byte before `end` that satisfies the predicate.
fn find_back(file: &mut File, end: u64, predicate: impl Fn(u8) -> bool) -> io::Result<Option<u64>> {
    let (mut end, mut chunk) = (end, vec![0; CHUNK]);
    while end > 0 {
        let begin = end.saturating_sub(CHUNK as u64);
        let read = &mut chunk[..usize::try_from(end - begin).unwrap_or(CHUNK)];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(read)?;
        if let Some(found) = read.iter().rposition(|byte| predicate(*byte)) {
            return Ok(Some(begin + found as u64 + 1));
        }
        end = begin;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_last_line_is_found_whatever_its_length() {
        let long = "x".repeat(3 * CHUNK + 1);
        for (text, last, is_torn) in [
            (String::new(), None, false),
            ("\n\n".to_owned(), None, false),
            ("a".to_owned(), Some("a"), true),
            ("a\nb\n".to_owned(), Some("b"), false),
            ("a\n\n".to_owned(), Some("a"), false),
            (format!("a\n{long}"), Some(&*long), true),
            (format!("{long}\n"), Some(&*long), false),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let last = last.map(|line| hash_of(line.as_bytes()));
            let length = text.len() as u64;
            let expected = End { length, last, is_torn };
            assert_eq!(End::read_until(&mut file, length).unwrap(), expected);
        }
    }
}
