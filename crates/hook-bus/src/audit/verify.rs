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
    /// Where the line before is, if that is no line of an audit: a process was stopped while it wrote, if the
    /// next one names its hash.
    unvouched: Option<String>,
}

impl Verified {
    fn cut_line(&mut self, location: &str, why: &str) {
        note(
            &mut self.notes,
            format!("{location}: the line is not whole: it was cut off as it was written ({why})"),
        );
    }

    fn foreign_line(&mut self, location: &str) {
        let text = "this is no line of an audit, and the next one does not have its hash";
        note(&mut self.problems, format!("{location}: {text}"));
    }
}

impl Verifier {
    fn verify_file(&mut self, path: &Path) -> io::Result<()> {
        let mut reader = BufReader::new(regular_file::open(path)?);
        let name = one_line(&path.to_string_lossy()).into_owned();
        let (mut number, mut previous) = (0_u64, None::<String>);
        (self.is_chained, self.unchained, self.unvouched) = (false, 0, None);
        let earlier_problems = self.report.problems.len();
        let mut is_cut = false;
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
                _ => is_cut = true,
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
        if is_cut {
            note(&mut self.report.notes, format!("{name}:{number}: the line has no end"));
        }
        match (self.unvouched.take(), is_cut) {
            (Some(location), true) => self.report.cut_line(&location, "it is the last one"),
            (Some(location), false) => self.report.foreign_line(&location),
            (None, _) => {}
        }
        let Verified { problems, notes, lines, .. } = &mut self.report;
        match (self.is_chained, self.unchained) {
            (true, 0) => {}
            (true, unchained) => note(
                notes,
                format!(
                    "{name}: {unchained} lines of an earlier version have no hash of the one before them"
                ),
            ),
            (false, _) if number > 0 => {
                problems.truncate(earlier_problems);
                note(problems, format!("{name}: this is no audit: no line has a hash"));
            }
            (false, _) if *lines == 0 => note(problems, format!("{name}: there is no line")),
            (false, _) => note(notes, format!("{name}: there is no line")),
        }
        if previous.is_some() {
            self.report.last = previous;
        }
        Ok(())
    }

    fn verify_line(&mut self, line: &[u8], location: &str, previous: Option<&str>) {
        let text = String::from_utf8_lossy(line).into_owned();
        let parsed = RawObject::parse(text).ok();
        let claimed_hash =
            parsed.as_ref().and_then(|object| object.fields().get(PREVIOUS)?.to_text());
        if let Some(before) = self.unvouched.take() {
            match claimed_hash.as_deref() == previous {
                true => self.report.cut_line(&before, "the next one has its hash"),
                false => self.report.foreign_line(&before),
            }
        }
        let Some(object) = parsed else {
            self.unvouched = Some(location.to_owned());
            return;
        };
        // The last line of the files before.
        let Verified { problems, notes, last, .. } = &mut self.report;
        let fields = object.fields();
        let begins = fields.get(BEGINS).and_then(RawJson::to_bool) == Some(true);
        match (claimed_hash, previous) {
            (Some(named), Some(previous)) if !begins => {
                if named != previous {
                    note(
                        problems,
                        format!(
                            "{location}: the line before it, with the hash {}, was changed, or is missing",
                            one_line(&named)
                        ),
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
