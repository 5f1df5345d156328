//! The socket's file. It is made in a fresh directory that only its owner can enter, and appears at
//! its path with its final mode: the umask of the process, which belongs to all its threads, stays.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hook_core::files::private_folder;
use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};
use uuid::Uuid;

use super::SocketError;

/// How long a socket's path may be, in bytes: what every Unix takes.
const MAX_PATH: usize = 103;

/// How often a stale socket is replaced, before giving up in favour of the program that makes it.
const ATTEMPTS: usize = 3;

/// A socket's file; removed by being dropped, if it is still this one.
#[derive(Debug)]
pub(super) struct SocketPlace {
    path: PathBuf,
    identity: Identity,
}

/// Tells a file from another of the same name.
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

impl SocketPlace {
    /// Makes the socket, and listens.
    pub(super) async fn take(path: &Path) -> Result<(Self, UnixListener), SocketError> {
        let making = Making { path };
        let path = making.resolved()?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        making.check(directory)?;
        let room = Room::new(directory).map_err(|error| making.failed("its directory", error))?;
        let staged = room.path.join("s");
        let length = staged.as_os_str().len().max(path.as_os_str().len());
        if length > MAX_PATH {
            return Err(SocketError::PathTooLong { path, length: length - MAX_PATH });
        }
        let listener = UnixListener::bind(&staged).map_err(|error| making.failed("bind", error))?;
        let mode = Permissions::from_mode(0o600);
        fs::set_permissions(&staged, mode).map_err(|error| making.failed("chmod", error))?;
        let made = fs::symlink_metadata(&staged).map_err(|error| making.failed("stat", error))?;
        for _ in 0..ATTEMPTS {
            match appear(&staged, &path) {
                Ok(()) => {
                    let place = Self { path, identity: Identity::of(&made) };
                    return Ok((place, listener));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    making.set_aside_stale(&path, &room).await?;
                }
                Err(error) => return Err(making.failed("link", error)),
            }
        }
        Err(SocketError::AlreadyServed { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        let current = fs::symlink_metadata(&self.path);
        if current.is_ok_and(|current| Identity::of(&current) == self.identity) {
            // The next server to start finds that nothing answers.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Gives a file a second name that nothing else has: never in place of something.
fn appear(staged: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(staged, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // A file system without second names.
            match fs::symlink_metadata(path) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(absent) if absent.kind() == io::ErrorKind::NotFound => fs::rename(staged, path),
                Err(_) => Err(error),
            }
        }
        linked => linked,
    }
}

/// A directory that only its owner can enter; removed with what is left in it by being dropped.
struct Room {
    path: PathBuf,
}

impl Room {
    fn new(parent: &Path) -> io::Result<Self> {
        let name = Uuid::new_v4().simple().to_string();
        let path = parent.join(format!(".{}", name.get(..8).unwrap_or(&name)));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A socket on its way, for what is said when it does not arrive.
struct Making<'p> {
    path: &'p Path,
}

impl Making<'_> {
    fn failed(&self, doing: &'static str, source: io::Error) -> SocketError {
        SocketError::Make { path: self.path.to_owned(), doing, source }
    }

    /// The path without links in its directory, which is made if it is not there.
    fn resolved(&self) -> Result<PathBuf, SocketError> {
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

    /// Only the owner and root may be able to replace what is at the path: neither in its
    /// directory nor above it.
    fn check(&self, directory: &Path) -> Result<(), SocketError> {
        for directory in directory.ancestors() {
            let metadata = fs::metadata(directory);
            let metadata = metadata.map_err(|error| self.failed("its directory", error))?;
            let (owner, mode) = (metadata.uid(), metadata.mode());
            if owner != geteuid().as_raw() && owner != 0 {
                let (path, directory) = (self.path.to_owned(), directory.to_owned());
                return Err(SocketError::ForeignDirectory { path, directory, owner });
            }
            // In a sticky one, such as /tmp, everybody can touch only what is his.
            let (is_open, is_sticky) = (mode & 0o022 != 0, mode & 0o1000 != 0);
            if is_open && !is_sticky {
                let (path, directory) = (self.path.to_owned(), directory.to_owned());
                return Err(SocketError::OpenDirectory { path, directory });
            }
        }
        Ok(())
    }

    /// Takes what is at the path away, if it is the owner's socket and nothing answers on it.
    async fn set_aside_stale(&self, path: &Path, room: &Room) -> Result<(), SocketError> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.failed("stat", error)),
        };
        let path = path.to_owned();
        if !found.file_type().is_socket() {
            return Err(SocketError::Taken { path });
        }
        if found.uid() != geteuid().as_raw() {
            return Err(SocketError::ForeignSocket { path, owner: found.uid() });
        }
        match UnixStream::connect(&path).await {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // One that is too busy to answer is alive.
            _ => return Err(SocketError::AlreadyServed { path }),
        }
        let aside = room.path.join("stale");
        match fs::rename(&path, &aside) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.failed("rename", error)),
        }
        let taken = fs::symlink_metadata(&aside).map_err(|error| self.failed("stat", error))?;
        if Identity::of(&taken) != Identity::of(&found) {
            // Another server came in between; it gets its place back.
            let _ = appear(&aside, &path);
            return Err(SocketError::AlreadyServed { path });
        }
        let _ = fs::remove_file(&aside);
        Ok(())
    }
}
