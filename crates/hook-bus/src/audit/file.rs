//! The file of an audit: whole lines, each with the hash of the previous one, and notes of missing
//! entries.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use hook_files::{file_lock, regular_file};
use hook_json::ObjectWriter;
use hook_protocol::timestamp;

use super::chain::{BEGINS, End, PREVIOUS, hash_of};
use super::{AuditEntry, AuditKind};

/// The time to wait for other processes that append to the file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// `true` if that line is not in the file any more, and no line shows it yet.
    is_cut: bool,
}

impl AuditFile {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let file = regular_file::append(&path)?;
        Ok(Self::of(path, file))
    }

    fn of(path: PathBuf, file: File) -> Self {
        Self { path, file, lost: 0, end: None, last: None, is_cut: false }
    }

    /// Reopens the file by its name; if that fails, the old file stays in use.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        let file = regular_file::append(&self.path)?;
        if !is_same_file(&self.file.metadata()?, &file.metadata()?) {
            self.end = None;
        }
        self.file = file;
        Ok(())
    }

    /// Writes entries. Entries that cannot be written are counted, and reported in a later entry.
    /// Returns `true` if lines that were written here before are not in the file any more: the next
    /// line then names the missing one as the previous line.
    ///
    /// # Errors
    /// The first error of writing an entry.
    pub(super) fn write(&mut self, entries: &[AuditEntry]) -> io::Result<bool> {
        if let Err(error) = self.restore_removed().and_then(|()| self.lock()) {
            self.lost += entries.len() as u64;
            return Err(error);
        }
        let (mut first_error, mut is_cut) = (Ok(()), false);
        for entry in entries {
            let written = self.write_entry(entry, &mut is_cut);
            self.lost += u64::from(written.is_err());
            first_error = first_error.and(written);
        }
        let _ = self.file.unlock();
        first_error.map(|()| is_cut)
    }

    /// Locks the file: another process could append between reading the end and writing. A process
    /// that is stopped may hold the lock for ever.
    fn lock(&self) -> io::Result<()> {
        match file_lock::lock_within(&self.file, LOCK_TIMEOUT) {
            Ok(true) => Ok(()),
            // Some file systems have no locks; there only one process can write.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
            Err(error) => Err(error),
            Ok(false) => {
                let seconds = LOCK_TIMEOUT.as_secs();
                let why = format!("another process has had it locked for more than {seconds} s");
                Err(io::Error::new(io::ErrorKind::WouldBlock, why))
            }
        }
    }

    /// Makes the file anew if it was removed, since nobody could read what is written to it.
    fn restore_removed(&mut self) -> io::Result<()> {
        if is_removed(&self.file.metadata()?) {
            self.reopen()?;
            self.is_cut = self.last.is_some();
        }
        Ok(())
    }

    fn write_entry(&mut self, entry: &AuditEntry, is_cut: &mut bool) -> io::Result<()> {
        if self.lost > 0 {
            let mut gap = AuditEntry::new(timestamp(), AuditKind::Lagged);
            gap.missed = self.lost;
            gap.reason = Some("entries could not be written".to_owned());
            self.write_line(&gap, is_cut)?;
            self.lost = 0;
        }
        self.write_line(entry, is_cut)
    }

    fn write_line(&mut self, entry: &AuditEntry, is_cut: &mut bool) -> io::Result<()> {
        let end = self.current_end()?;
        // The first line of a new file continues the chain of the previous file. One behind a line
        // that is missing names that, so that verification finds it.
        let begins = end.last.is_none() && !self.is_cut;
        let continues = begins || self.is_cut;
        let previous = if continues { self.last.clone() } else { end.last };
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
            *is_cut |= std::mem::take(&mut self.is_cut);
            return Ok(());
        }
        let message = format!("only {written} of {} bytes of a line were written", line.len());
        Err(io::Error::new(io::ErrorKind::WriteZero, message))
    }

    /// Returns the file's end: the known one, or re-read if another process appended. Notices if
    /// the last line written here is not there any more.
    fn current_end(&mut self) -> io::Result<End> {
        let length = self.file.metadata()?.len();
        if let Some(known) = &self.end {
            if known.length == length {
                return Ok(known.clone());
            }
            self.is_cut |=
                known.length > length || End::read_until(&mut self.file, known.length)? != *known;
        }
        End::read_until(&mut self.file, length)
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn is_removed(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) == 0
}

/// A file that is open cannot be removed there.
#[cfg(not(unix))]
fn is_removed(_: &Metadata) -> bool {
    false
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
