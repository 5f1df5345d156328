//! Reads untrusted files, which must be regular and no longer than a limit, and appends to regular
//! files.
//!
//! A project may contain a FIFO, device or socket of any name. Opening one can block forever and
//! reading it may never end, so only regular files are accepted.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading. Symbolic links are followed.
///
/// # Errors
/// If it cannot be opened, or is a directory, FIFO, device or socket
/// ([`io::ErrorKind::InvalidInput`], naming the kind).
pub fn open(path: &Path) -> io::Result<File> {
    open_with_length(path).map(|(file, _)| file)
}

fn open_with_length(path: &Path) -> io::Result<(File, u64)> {
    // Checked before opening, since opening a device can have effects.
    check_regular(&std::fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // The path may be a FIFO by now, and opening it must not block either.
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    Ok((file, metadata.len()))
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open`]; if reading fails, or the file is longer ([`io::ErrorKind::InvalidInput`]).
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open_with_length(path)?;
    // A limited reader does not say how much is left, and would be read in small pieces.
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(limit)).unwrap_or_default() + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(invalid_input(format!("it is longer than {limit} bytes"))),
        false => Ok(bytes),
    }
}

/// Reads a regular text file of at most `limit` bytes.
///
/// # Errors
/// As [`read`], and if it is not UTF-8 ([`io::ErrorKind::InvalidData`]).
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens a regular file for appending and reading, and creates it if it does not exist. It becomes
/// readable only by its owner.
///
/// # Errors
/// If it cannot be opened or created, is a symbolic link, directory, FIFO, device or socket
/// ([`io::ErrorKind::InvalidInput`], naming the kind), or belongs to another user.
pub fn append(path: &Path) -> io::Result<File> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            return Err(invalid_input("it is a symbolic link, and not a regular file".to_owned()));
        }
        Ok(found) => check_regular(&found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).read(true);
    // The path may be a different file by now.
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    check_regular(&file.metadata()?)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        if file.metadata()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(invalid_input("it belongs to another user".to_owned()));
        }
        if file.metadata()?.permissions().mode() & 0o7777 != 0o600 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

fn check_regular(metadata: &std::fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(invalid_input(format!("it is {}, and not a regular file", kind(metadata.file_type()))))
}

#[cfg(unix)]
fn kind(of: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match of {
        of if of.is_dir() => "a directory",
        of if of.is_fifo() => "a FIFO",
        of if of.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind(of: std::fs::FileType) -> &'static str {
    if of.is_dir() { "a directory" } else { "a device" }
}

fn invalid_input(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        let error = read(&path, 3).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 3 bytes");
        assert_eq!(read(folder.path(), 3).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let absent = read(&folder.path().join("absent"), 3).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_appended_to_is_private_and_ones_own() {
        use std::io::Write;
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for expected in ["a", "aa"] {
            append(&path).unwrap().write_all(b"a").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o600);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o664)).unwrap();
        }
        // Only root can give a file away.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(1), None).unwrap();
            assert_eq!(append(&path).unwrap_err().to_string(), "it belongs to another user");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("link")).unwrap();
        for (name, kind) in
            [("fifo", "a FIFO"), ("socket", "a socket"), ("link", "a device"), ("", "a directory")]
        {
            let error = open(&folder.path().join(name)).unwrap_err();
            assert_eq!(error.to_string(), format!("it is {kind}, and not a regular file"));
            let kind = if name == "link" { "a symbolic link" } else { kind };
            let error = append(&folder.path().join(name)).unwrap_err();
            assert_eq!(error.to_string(), format!("it is {kind}, and not a regular file"));
        }
    }
}
