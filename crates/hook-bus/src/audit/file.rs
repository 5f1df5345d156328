//! The file of an audit: whole lines, and what is missing between them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hook_core::files::regular_file;
use hook_core::timestamp;

use super::{AuditEntry, AuditKind};

/// A file that lines are appended to, each with one write.
#[derive(Debug)]
pub(super) struct AuditFile {
    path: PathBuf,
    file: File,
    /// How many lines were lost since the last one that was written.
    lost: u64,
    /// Whether the file ends within a line.
    is_torn: bool,
}

impl AuditFile {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let file = regular_file::append(&path)?;
        let is_torn = ends_within_a_line(&path);
        Ok(Self::of(path, file, is_torn))
    }

    fn of(path: PathBuf, file: File, is_torn: bool) -> Self {
        Self { path, file, lost: 0, is_torn }
    }

    /// Goes on in the file that has the name now; where that is not possible, in the one that had it.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        self.file = regular_file::append(&self.path)?;
        self.is_torn = ends_within_a_line(&self.path);
        Ok(())
    }

    /// Writes entries. Those that cannot be written are counted, and named once something can be.
    ///
    /// # Errors
    /// The first reason why one could not be written.
    pub(super) fn write(&mut self, entries: &[AuditEntry]) -> io::Result<()> {
        let mut first = Ok(());
        for entry in entries {
            let written = self.write_entry(entry);
            self.lost += u64::from(written.is_err());
            first = first.and(written);
        }
        first
    }

    fn write_entry(&mut self, entry: &AuditEntry) -> io::Result<()> {
        if self.lost > 0 {
            let mut gap = AuditEntry::new(timestamp(), AuditKind::Lagged);
            gap.missed = self.lost;
            gap.reason = Some("entries could not be written".to_owned());
            self.write_line(gap.to_json())?;
            self.lost = 0;
        }
        self.write_line(entry.to_json())
    }

    fn write_line(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        if self.is_torn {
            line.insert(0, b'\n');
        }
        line.push(b'\n');
        let written = loop {
            match self.file.write(&line) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written?,
            }
        };
        if written == line.len() {
            self.is_torn = false;
            return Ok(());
        }
        self.is_torn |= written > 0;
        let message = format!("only {written} of {} bytes of a line were written", line.len());
        Err(io::Error::new(io::ErrorKind::WriteZero, message))
    }
}

/// Whether what is appended would continue a line. One that cannot be looked at is taken for one that
/// would: an empty line more does no harm.
fn ends_within_a_line(path: &Path) -> bool {
    let last = || -> io::Result<Option<u8>> {
        let mut file = regular_file::open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        let Some(last) = length.checked_sub(1) else { return Ok(None) };
        file.seek(SeekFrom::Start(last))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        Ok(Some(byte[0]))
    };
    last().map_or(true, |last| last.is_some_and(|byte| byte != b'\n'))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_a_full_disk_cost_is_said_once_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut file = AuditFile::of(path.clone(), full, false);
        let entry = AuditEntry::new("now".into(), AuditKind::Started);
        let entries = [entry.clone(), entry];
        let error = file.write(&entries).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(file.lost, 2);
        file.reopen().unwrap();
        file.is_torn = true;
        file.write(&entries).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines[0], "", "what was torn is a line of its own");
        assert!(
            lines[1]
                .contains(r#""kind":"lagged","reason":"entries could not be written","missed":2"#)
        );
    }
}
