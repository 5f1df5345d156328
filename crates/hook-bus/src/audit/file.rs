//! The file of an audit: whole lines, each with the hash of the previous one, and notes of missing
//! entries.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use hook_files::regular_file;
use hook_json::ObjectWriter;
use hook_protocol::timestamp;

use super::chain::{BEGINS, End, PREVIOUS, hash_of};
use super::{AuditEntry, AuditKind};

/// A file to which lines are appended, each with one write. Several processes may append to it.
#[derive(Debug)]
pub(super) struct AuditFile {
    path: PathBuf,
    file: File,
    /// The number of entries lost since the last line was written.
    lost: u64,
    /// The file's end after the last line written here.
    end: Option<End>,
    /// The hash of that line, with which a new file continues.
    last: Option<String>,
}

impl AuditFile {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let file = regular_file::append(&path)?;
        Ok(Self::of(path, file))
    }

    fn of(path: PathBuf, file: File) -> Self {
        Self { path, file, lost: 0, end: None, last: None }
    }

    /// Reopens the file by its name; if that fails, the old file stays in use.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        (self.file, self.end) = (regular_file::append(&self.path)?, None);
        Ok(())
    }

    /// Writes entries. Entries that cannot be written are counted, and reported in a later entry.
    ///
    /// # Errors
    /// The first error of writing an entry.
    pub(super) fn write(&mut self, entries: &[AuditEntry]) -> io::Result<()> {
        // Without the lock, another process could append between reading the end and writing.
        let locked = match self.file.lock() {
            // Some file systems have no locks; there only one process can write.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
            locked => locked,
        };
        if let Err(error) = locked {
            self.lost += entries.len() as u64;
            return Err(error);
        }
        let mut first_error = Ok(());
        for entry in entries {
            let written = self.write_entry(entry);
            self.lost += u64::from(written.is_err());
            first_error = first_error.and(written);
        }
        let _ = self.file.unlock();
        first_error
    }

    fn write_entry(&mut self, entry: &AuditEntry) -> io::Result<()> {
        if self.lost > 0 {
            let mut gap = AuditEntry::new(timestamp(), AuditKind::Lagged);
            gap.missed = self.lost;
            gap.reason = Some("entries could not be written".to_owned());
            self.write_line(&gap)?;
            self.lost = 0;
        }
        self.write_line(entry)
    }

    fn write_line(&mut self, entry: &AuditEntry) -> io::Result<()> {
        let end = self.current_end()?;
        // The first line of a new file continues the chain of the previous file.
        let begins = end.last.is_none();
        let previous = if begins { self.last.clone() } else { end.last };
        let mut line = ObjectWriter::line(|out| {
            entry.write(out);
            if begins {
                out.bool(BEGINS, true);
            }
            out.optional_text(PREVIOUS, previous.as_deref());
        });
        let hash = hash_of(&line);
        if end.is_torn {
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
            let length = end.length + line.len() as u64;
            self.end = Some(End { length, last: Some(hash.clone()), is_torn: false });
            self.last = Some(hash);
            return Ok(());
        }
        let message = format!("only {written} of {} bytes of a line were written", line.len());
        Err(io::Error::new(io::ErrorKind::WriteZero, message))
    }

    /// Returns the file's end: the known one, or re-read if another process appended.
    fn current_end(&mut self) -> io::Result<End> {
        match self.end.take() {
            Some(end) if self.file.metadata()?.len() == end.length => Ok(end),
            _ => End::read(&mut self.file),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::verify::verify;
    use super::*;

    #[test]
    fn what_a_full_disk_cost_is_said_once_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut file = AuditFile::of(path.clone(), full);
        let entry = AuditEntry::new("now".into(), AuditKind::Started);
        let entries = [entry.clone(), entry];
        let error = file.write(&entries).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(file.lost, 2);
        std::fs::write(&path, "{\"kind\":\"sta").unwrap();
        file.reopen().unwrap();
        file.write(&entries).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "what was torn is a line of its own: {text}");
        assert!(
            lines[1]
                .contains(r#""kind":"lagged","reason":"entries could not be written","missed":2"#)
        );
        let verified = verify(&[path], None).unwrap();
        assert_eq!(verified.problems, [""; 0]);
        assert_eq!(verified.lines, 4);
    }
}
