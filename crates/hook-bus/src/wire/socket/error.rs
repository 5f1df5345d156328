//! Errors of making or reaching a socket.

use std::io;
use std::path::PathBuf;

use hook_json::text::PathText;

/// An error of making or reaching a socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// The path is longer than the system allows.
    #[error(
        "failed to make the socket {}: the path is {length} bytes too long for a socket; name a shorter one",
        path.shown()
    )]
    PathTooLong {
        /// The socket.
        path: PathBuf,
        /// The number of excess bytes.
        length: usize,
    },
    /// A directory of the path belongs to another user, who could replace the socket.
    #[error(
        "failed to make the socket {}: the directory {} belongs to user {owner}; name a path in a directory of your own",
        path.shown(), directory.shown()
    )]
    ForeignDirectory {
        /// The socket.
        path: PathBuf,
        /// A directory on its path.
        directory: PathBuf,
        /// The directory's owner.
        owner: u32,
    },
    /// Other users can write to a directory of the path, and could replace the socket.
    #[error(
        "failed to make the socket {}: other users can write to the directory {}; take that away with `chmod go-w`, or name a path in a directory of your own",
        path.shown(), directory.shown()
    )]
    OpenDirectory {
        /// The socket.
        path: PathBuf,
        /// A directory on its path.
        directory: PathBuf,
    },
    /// The directory of the path is outside of the user's own, and others may change it.
    #[error(
        "failed to make the socket {}: others may be able to change the directory {}, which is not in {}; name a path in there",
        path.shown(), directory.shown(), home.shown()
    )]
    OutsideHome {
        /// The socket.
        path: PathBuf,
        /// Its directory.
        directory: PathBuf,
        /// The user's own directory.
        home: PathBuf,
    },
    /// Something else is at the path.
    #[error(
        "failed to make the socket {}: there is something else of that name; name another path, or move it away",
        path.shown()
    )]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// The path is another user's socket.
    #[error(
        "failed to make the socket {}: there is a socket of user {owner}; name another path",
        path.shown()
    )]
    ForeignSocket {
        /// The socket.
        path: PathBuf,
        /// The socket's owner.
        owner: u32,
    },
    /// A server already listens there.
    #[error(
        "failed to make the socket {}: a server listens there already; end it first, or name another path",
        path.shown()
    )]
    AlreadyServed {
        /// The socket.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("failed to make the socket {}: {doing}: {source}", path.shown())]
    Make {
        /// The socket.
        path: PathBuf,
        /// The failed operation.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// No server answers.
    #[error(
        "failed to connect to {}: {source}; start a server with `hook serve --socket {0}`",
        path.shown()
    )]
    Connect {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another user's process listens there.
    #[error(
        "failed to connect to {}: the server there is not yours; it would see what you send it",
        path.shown()
    )]
    ForeignServer {
        /// The socket.
        path: PathBuf,
    },
}
