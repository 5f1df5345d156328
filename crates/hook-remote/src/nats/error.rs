//! Errors of the use of a broker.

use std::io;
use std::path::PathBuf;

use hook_json::text::PathText;

/// The reason why a broker cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// The text is not the address of a broker.
    #[error(
        "expected tls://HOST:PORT of a NATS server, or nats:// of one on this machine, found `{text}`: {why}"
    )]
    InvalidBroker {
        /// The invalid text.
        text: String,
        /// The cause.
        why: String,
    },
    /// Data would be sent to another machine unencrypted.
    #[error(
        "failed to use {server}: it is not on this machine, and what is said to it can be read on the way; \
         name tls://, or, for a test, say --nats-insecure"
    )]
    Plaintext {
        /// The server.
        server: String,
    },
    /// The text is not a valid subject prefix.
    #[error(
        "expected names of letters, digits, `-` and `_` with dots between as the subject, found `{text}`"
    )]
    InvalidSubject {
        /// The invalid text.
        text: String,
    },
    /// The text is not a valid queue group.
    #[error("expected letters, digits, `-` and `_` as the queue group, found `{text}`")]
    InvalidQueueGroup {
        /// The invalid text.
        text: String,
    },
    /// The text is not a hash of settings.
    #[error(
        "expected the {length} hexadecimal digits of a `settingsHash`, as an engine says it when it begins to serve, \
         found `{text}`",
        length = 64
    )]
    InvalidSettingsHash {
        /// The invalid text.
        text: String,
    },
    /// The credentials cannot be read.
    #[error("failed to read the credentials in {}: {source}", path.shown())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The credentials file is readable by other users.
    #[error(
        "failed to use the credentials in {}: others can read them (mode {mode:03o}); say `chmod 600 {}`",
        path.shown(), path.shown()
    )]
    ReadableByOthers {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file contains no credentials.
    #[error(
        "failed to use {}: it holds neither NATS credentials nor the seed of a user's NKey", path.shown()
    )]
    InvalidCredentials {
        /// The file.
        path: PathBuf,
    },
    /// The authority's certificates cannot be read.
    #[error("failed to read the certificates in {}: {source}", path.shown())]
    Authority {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The broker does not permit an engine to take requests.
    #[error("{broker} does not let this engine take requests ({subject}): {why}")]
    NotAllowed {
        /// The broker.
        broker: String,
        /// The subject of requests.
        subject: String,
        /// The broker's reason.
        why: String,
    },
    /// Engines of another queue group serve the subject.
    #[error(
        "failed to join the queue group `{group}`: engines of the group `{other}` serve {subject} at {broker}, \
         and each group would get every request; give all engines of a subject the same `--queue`, or these \
         another `--subject`"
    )]
    OtherGroup {
        /// The broker.
        broker: String,
        /// The subject of requests.
        subject: String,
        /// This engine's group.
        group: String,
        /// The other engines' group.
        other: String,
    },
    /// The engine would call its own fleet.
    #[error(
        "failed to serve: `upstream` of these settings is the fleet that this engine is to join ({upstream}, \
         subject {subject}), so that it would ask itself; name another fleet, or take `upstream` out"
    )]
    OwnFleet {
        /// The value of `upstream`.
        upstream: String,
        /// The subject prefix of both.
        subject: String,
    },
    /// The engine would approve everything, or decide otherwise than it should.
    #[error("failed to join the fleet: {why}")]
    Unfit {
        /// The defect of its hooks.
        why: String,
    },
    /// The broker rejects the connection, or is not the expected server.
    #[error("{broker} refuses the connection: {why}")]
    Refused {
        /// The broker.
        broker: String,
        /// The library's reason.
        why: String,
    },
}
