//! Why a broker cannot be used.

use std::io;
use std::path::PathBuf;

use hook_core::text::PathText;

/// A broker cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// It is no address of one.
    #[error(
        "expected tls://HOST:PORT of a NATS server, or nats:// of one on this machine, found `{text}`: {why}"
    )]
    NoBroker {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// Others could read along.
    #[error(
        "failed to use {server}: it is not on this machine, and what is said to it can be read on the way; \
         name tls://, or, for a test, say --nats-insecure"
    )]
    Plaintext {
        /// The server.
        server: String,
    },
    /// It is not what subjects begin with.
    #[error(
        "expected names of letters, digits, `-` and `_` with dots between as the subject, found `{text}`"
    )]
    NoSubject {
        /// What was given.
        text: String,
    },
    /// It is no name of a queue group.
    #[error("expected letters, digits, `-` and `_` as the queue group, found `{text}`")]
    NoQueueGroup {
        /// What was given.
        text: String,
    },
    /// It is no hash of settings.
    #[error(
        "expected the {length} hexadecimal digits of a `settingsHash`, as an engine says it when it begins to serve, \
         found `{text}`",
        length = 64
    )]
    NoSettingsHash {
        /// What was given.
        text: String,
    },
    /// The credentials cannot be read.
    #[error("failed to read the credentials in {}: {source}", path.shown())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others than the user can read them.
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
    /// The file holds something else.
    #[error(
        "failed to use {}: it holds neither NATS credentials nor the seed of a user's NKey", path.shown()
    )]
    NoCredentials {
        /// The file.
        path: PathBuf,
    },
    /// The authority's certificates cannot be read.
    #[error("failed to read the certificates in {}: {source}", path.shown())]
    Authority {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The broker does not let an engine take requests.
    #[error("{broker} does not let this engine take requests ({subject}): {why}")]
    NotAllowed {
        /// The broker.
        broker: String,
        /// Where requests are.
        subject: String,
        /// Why not, in the broker's words.
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
        /// Where requests are.
        subject: String,
        /// The group of this engine.
        group: String,
        /// The other one.
        other: String,
    },
    /// An engine would ask itself.
    #[error(
        "failed to serve: `upstream` of these settings is the fleet that this engine is to join ({upstream}, \
         subject {subject}), so that it would ask itself; name another fleet, or take `upstream` out"
    )]
    OwnFleet {
        /// What `upstream` names.
        upstream: String,
        /// What the subjects of both begin with.
        subject: String,
    },
    /// An engine would let everything go on, or decide otherwise than it should.
    #[error("failed to join the fleet: {why}")]
    Unfit {
        /// What is wrong with its hooks.
        why: String,
    },
    /// The broker does not let one in, or is not the one that it should be.
    #[error("{broker} refuses the connection: {why}")]
    Refused {
        /// The broker.
        broker: String,
        /// Why, in the library's words.
        why: String,
    },
}
