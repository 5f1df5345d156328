//! Verification of audit files: no line was changed, and none is missing between others. Notes say
//! what the files cannot show.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use hook_files::regular_file;
use hook_json::text::one_line;
use hook_json::{RawJson, RawObject};

use super::chain::{BEGINS, PREVIOUS, hash_of};

/// The maximum length of a line.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// The maximum number of problems, and of notes, that are listed.
const MAX_LISTED: usize = 100;

/// The result of verifying audit files.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verified {
    /// The number of lines.
    pub lines: u64,
    /// The hash of the last line: keep it elsewhere, to detect later whether lines were cut off
    /// behind which nothing was written.
    pub last: Option<String>,
    /// The problems found, at most 100.
    pub problems: Vec<String>,
    /// Notes of things that these files cannot prove.
    pub notes: Vec<String>,
}

/// Verifies the files of an audit, given oldest first, and whether they contain a line with this
/// hash.
///
/// # Errors
/// If a file cannot be read.
pub fn verify(files: &[PathBuf], contains: Option<&str>) -> io::Result<Verified> {
    let mut verifier = Verifier::default();
    for path in files {
        let failed = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", one_line(&path.to_string_lossy())))
        };
        verifier.verify_file(path).map_err(failed)?;
    }
    let Verifier { mut report, hashes, .. } = verifier;
    if let Some(hash) = contains.filter(|hash| !hashes.contains(*hash)) {
        let problem = format!("the line with the hash {} is missing", one_line(hash));
        report.problems.insert(0, problem);
    }
    Ok(report)
}

#[derive(Default)]
struct Verifier {
    report: Verified,
    /// The hashes of all lines.
    hashes: HashSet<String>,
    /// `true` once a line with a hash was found in this file.
    is_chained: bool,
    /// The number of lines before it without hashes.
    unchained: u64,
}

impl Verifier {
    fn verify_file(&mut self, path: &Path) -> io::Result<()> {
        let mut reader = BufReader::new(regular_file::open(path)?);
        let name = one_line(&path.to_string_lossy()).into_owned();
        let (mut number, mut previous) = (0_u64, None::<String>);
        (self.is_chained, self.unchained) = (false, 0);
        loop {
            let mut line = Vec::new();
            if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            number += 1;
            match line.last() {
                Some(b'\n') => _ = line.pop(),
                _ if line.len() as u64 == MAX_LINE => {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        format!("line {number} is longer than {MAX_LINE} bytes"),
                    ));
                }
                _ => note(&mut self.report.notes, format!("{name}:{number}: the line has no end")),
            }
            if line.is_empty() {
                continue;
            }
            self.verify_line(&line, &format!("{name}:{number}"), previous.as_deref());
            let hash = hash_of(&line);
            self.hashes.insert(hash.clone());
            self.report.lines += 1;
            previous = Some(hash);
        }
        let unchained = self.unchained;
        let text = format!(
            "{name}: {unchained} lines of an earlier version have no hash of the one before them"
        );
        match (unchained, self.is_chained) {
            (0, _) => {}
            (_, true) => note(&mut self.report.notes, text),
            (_, false) => note(&mut self.report.problems, text),
        }
        if previous.is_some() {
            self.report.last = previous;
        }
        Ok(())
    }

    fn verify_line(&mut self, line: &[u8], location: &str, previous: Option<&str>) {
        // The last line of the files before.
        let Verified { problems, notes, last, .. } = &mut self.report;
        let text = String::from_utf8_lossy(line).into_owned();
        let Ok(object) = RawObject::parse(text) else {
            // If it was changed, the hash in the next line will not match.
            return note(
                notes,
                format!(
                    "{location}: the line is not whole; so it was written, if the next one follows it"
                ),
            );
        };
        let fields = object.fields();
        let claimed_hash = fields.get(PREVIOUS).and_then(RawJson::to_text);
        let begins = fields.get(BEGINS).and_then(RawJson::to_bool) == Some(true);
        match (claimed_hash, previous) {
            (Some(named), Some(previous)) if !begins => {
                if named != previous {
                    note(
                        problems,
                        format!("{location}: the line before it was changed, or is missing"),
                    );
                }
            }
            (_, Some(_)) if begins => {
                note(
                    problems,
                    format!("{location}: it began a file, and other lines stand before it"),
                );
            }
            // The first line of a file that was emptied while its process wrote it.
            (Some(named), None) if !begins && !self.hashes.contains(&named) => {
                note(problems, format!("{location}: lines before it are missing"));
            }
            (Some(named), _) => {
                if !self.hashes.contains(&named) {
                    match self.hashes.is_empty() {
                        true => note(
                            notes,
                            format!("{location}: it goes on from a file that was not named"),
                        ),
                        false => note(
                            problems,
                            format!(
                                "{location}: the line before it, in another file, was changed, or is missing"
                            ),
                        ),
                    }
                } else if last.as_deref() != Some(&*named) {
                    note(
                        notes,
                        format!(
                            "{location}: it goes on from a line before the last one of the file before; whether that \
                             one's end is whole it does not show"
                        ),
                    );
                }
            }
            (None, _) if begins => {
                if last.is_some() {
                    note(
                        notes,
                        format!(
                            "{location}: it was begun by a process that had written nothing before; whether the end of \
                             the file before is whole it does not show"
                        ),
                    );
                }
            }
            (None, _) if self.is_chained => {
                note(problems, format!("{location}: the line has no hash of the one before it"));
            }
            // Written by a version without hashes.
            (None, _) => return self.unchained += 1,
        }
        self.is_chained = true;
    }
}

fn note(list: &mut Vec<String>, text: String) {
    if list.len() < MAX_LISTED {
        list.push(text);
    }
}
