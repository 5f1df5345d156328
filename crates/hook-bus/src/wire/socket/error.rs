//! Why a socket cannot be made or reached.

use std::io;
use std::path::PathBuf;

use hook_core::text::PathText;

/// A socket cannot be made, or not reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// The system has a limit.
    #[error(
        "failed to make the socket {}: the path is {length} bytes too long for a socket; name a shorter one",
        path.shown()
    )]
    PathTooLong {
        /// The socket.
        path: PathBuf,
        /// By how many bytes.
        length: usize,
    },
    /// Another user could replace the socket.
    #[error(
        "failed to make the socket {}: the directory {} belongs to user {owner}; name a path in a directory of your own",
        path.shown(), directory.shown()
    )]
    ForeignDirectory {
        /// The socket.
        path: PathBuf,
        /// A directory on its path.
        directory: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Another user could replace the socket.
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
    /// The path is taken.
    #[error(
        "failed to make the socket {}: there is something else of that name; name another path, or move it away",
        path.shown()
    )]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// The path is another user's.
    #[error(
        "failed to make the socket {}: there is a socket of user {owner}; name another path",
        path.shown()
    )]
    ForeignSocket {
        /// The socket.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// A server is there.
    #[error(
        "failed to make the socket {}: a server listens there already; end it first, or name another path",
        path.shown()
    )]
    AlreadyServed {
        /// The socket.
        path: PathBuf,
    },
    /// The system does not allow it.
    #[error("failed to make the socket {}: {doing}: {source}", path.shown())]
    Make {
        /// The socket.
        path: PathBuf,
        /// What was attempted.
        doing: &'static str,
        /// Why it cannot be done.
        source: io::Error,
    },
    /// Nothing answers.
    #[error(
        "failed to connect to {}: {source}; start a server with `hook serve --socket {0}`",
        path.shown()
    )]
    Connect {
        /// The socket.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another user's process answers.
    #[error(
        "failed to connect to {}: the server there is not yours; it would see what you send it",
        path.shown()
    )]
    ForeignServer {
        /// The socket.
        path: PathBuf,
    },
}
