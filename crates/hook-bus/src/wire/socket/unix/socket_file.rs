//! The socket's file. It is created in a fresh directory that only its owner can enter, and appears
//! at its path with its final mode: changing the umask would affect all threads of the process.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hook_files::private_folder;
use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};
use uuid::Uuid;

use super::SocketError;

/// The maximum length of a socket's path in bytes, the least of all Unix systems.
const MAX_PATH: usize = 103;

/// The number of attempts to replace a stale socket; then another program that creates it wins.
const ATTEMPTS: usize = 3;

/// A socket's file. Dropping it removes the file, unless it was replaced.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// The identity of a file, beyond its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

impl SocketFile {
    /// Creates the socket and listens.
    pub(super) async fn create(path: &Path) -> Result<(Self, UnixListener), SocketError> {
        let request = SocketRequest { path };
        let path = request.resolve()?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        request.check(directory)?;
        let staging = PrivateDirectory::new(directory)
            .map_err(|error| request.failed("its directory", error))?;
        let staged = staging.path.join("s");
        let length = staged.as_os_str().len().max(path.as_os_str().len());
        if length > MAX_PATH {
            return Err(SocketError::PathTooLong { path, length: length - MAX_PATH });
        }
        let listener =
            UnixListener::bind(&staged).map_err(|error| request.failed("bind", error))?;
        let mode = Permissions::from_mode(0o600);
        fs::set_permissions(&staged, mode).map_err(|error| request.failed("chmod", error))?;
        let metadata =
            fs::symlink_metadata(&staged).map_err(|error| request.failed("stat", error))?;
        for _ in 0..ATTEMPTS {
            match link_new(&staged, &path) {
                Ok(()) => {
                    let file = Self { path, identity: Identity::of(&metadata) };
                    return Ok((file, listener));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    request.remove_stale(&path, &staging).await?;
                }
                Err(error) => return Err(request.failed("link", error)),
            }
        }
        Err(SocketError::AlreadyServed { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let current = fs::symlink_metadata(&self.path);
        if current.is_ok_and(|current| Identity::of(&current) == self.identity) {
            // If this fails, the next server finds a stale socket.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Links a file to a second path without ever replacing anything there.
fn link_new(staged: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(staged, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // The file system has no hard links.
            match fs::symlink_metadata(path) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(absent) if absent.kind() == io::ErrorKind::NotFound => fs::rename(staged, path),
                Err(_) => Err(error),
            }
        }
        linked => linked,
    }
}

/// A directory that only its owner can enter; dropping it removes it with its content.
struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    fn new(parent: &Path) -> io::Result<Self> {
        let name = Uuid::new_v4().simple().to_string();
        let path = parent.join(format!(".{}", name.get(..8).unwrap_or(&name)));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The requested path, for error messages.
struct SocketRequest<'p> {
    path: &'p Path,
}

impl SocketRequest<'_> {
    fn failed(&self, doing: &'static str, source: io::Error) -> SocketError {
        SocketError::Make { path: self.path.to_owned(), doing, source }
    }

    /// Returns the path with its directory resolved, which is created if missing.
    fn resolve(&self) -> Result<PathBuf, SocketError> {
        let absolute = std::path::absolute(self.path);
        let absolute = absolute.map_err(|error| self.failed("its directory", error))?;
        let (Some(directory), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(SocketError::Taken { path: absolute });
        };
        private_folder::make(directory)
            .and_then(|()| fs::canonicalize(directory))
            .map(|directory| directory.join(name))
            .map_err(|error| self.failed("its directory", error))
    }

    /// Checks that only the owner and root can replace the file at the path: in its directory and
    /// all parents.
    fn check(&self, directory: &Path) -> Result<(), SocketError> {
        for directory in directory.ancestors() {
            let metadata = fs::metadata(directory);
            let metadata = metadata.map_err(|error| self.failed("its directory", error))?;
            let (owner, mode) = (metadata.uid(), metadata.mode());
            if owner != geteuid().as_raw() && owner != 0 {
                let (path, directory) = (self.path.to_owned(), directory.to_owned());
                return Err(SocketError::ForeignDirectory { path, directory, owner });
            }
            // In a sticky directory, such as /tmp, users can only change their own files.
            let (is_open, is_sticky) = (mode & 0o022 != 0, mode & 0o1000 != 0);
            if is_open && !is_sticky {
                let (path, directory) = (self.path.to_owned(), directory.to_owned());
                return Err(SocketError::OpenDirectory { path, directory });
            }
        }
        Ok(())
    }

    /// Removes the file at the path, if it is the owner's stale socket.
    async fn remove_stale(
        &self,
        path: &Path,
        staging: &PrivateDirectory,
    ) -> Result<(), SocketError> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.failed("stat", error)),
        };
        let path = path.to_owned();
        if !metadata.file_type().is_socket() {
            return Err(SocketError::Taken { path });
        }
        if metadata.uid() != geteuid().as_raw() {
            return Err(SocketError::ForeignSocket { path, owner: metadata.uid() });
        }
        match UnixStream::connect(&path).await {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A server that is too busy to answer is alive.
            _ => return Err(SocketError::AlreadyServed { path }),
        }
        let moved = staging.path.join("stale");
        match fs::rename(&path, &moved) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.failed("rename", error)),
        }
        let moved_metadata =
            fs::symlink_metadata(&moved).map_err(|error| self.failed("stat", error))?;
        if Identity::of(&moved_metadata) != Identity::of(&metadata) {
            // Another server came first; put its socket back.
            let _ = link_new(&moved, &path);
            return Err(SocketError::AlreadyServed { path });
        }
        let _ = fs::remove_file(&moved);
        Ok(())
    }
}
