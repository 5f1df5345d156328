//! Which broker, how it may be reached, and what is asked of it.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::ServerAddr;
use hook_core::settings::FailBehavior;
use hook_core::text::shortened;

use super::credentials::Credentials;
use super::subjects::Subjects;

/// The queue group of engines that name no other.
pub(super) const QUEUE_GROUP: &str = "engines";

/// What the subjects of fleets begin with that name no other.
pub(super) const SUBJECT: &str = "hooks";

/// How long a request may take that does not say it itself: as long as a hook by default.
const DEADLINE: Duration = Duration::from_secs(60);

/// Which broker, and how it may be reached.
#[derive(Debug, Clone)]
#[must_use]
pub struct NatsOptions {
    servers: String,
    credentials: Option<PathBuf>,
    authority: Option<PathBuf>,
    insecure: bool,
    subject: String,
    pub(super) deadline: Duration,
    pub(super) fail_behavior: FailBehavior,
}

impl NatsOptions {
    /// A broker: `tls://HOST:PORT`, several of them with commas between, or `nats://` on loopback. The
    /// port is 4222 where none is named.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            servers: url.into(),
            credentials: None,
            authority: None,
            insecure: false,
            subject: SUBJECT.to_owned(),
            deadline: DEADLINE,
            fail_behavior: FailBehavior::Block,
        }
    }

    /// Who one is there: a file of mode 600 with NATS credentials, or with the seed of an NKey.
    pub fn credentials(mut self, file: impl Into<PathBuf>) -> Self {
        self.credentials = Some(file.into());
        self
    }

    /// Whose certificates are believed beside those that the system believes: a file in PEM.
    pub fn certificate_authority(mut self, file: impl Into<PathBuf>) -> Self {
        self.authority = Some(file.into());
        self
    }

    /// Whether what is said may be read on the way to a broker that is not on this machine. For tests.
    pub fn insecure(mut self, insecure: bool) -> Self {
        self.insecure = insecure;
        self
    }

    /// What all subjects begin with, which keeps the tenants of a broker apart; `hooks` by default.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// How long a request may take that does not say it itself; 60 seconds by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// What it means for an event that no engine answered; [`FailBehavior::Block`] by default, since a
    /// fleet that is away is no consent.
    pub fn fail_behavior(mut self, fail_behavior: FailBehavior) -> Self {
        self.fail_behavior = fail_behavior;
        self
    }

    /// What can be said of them without a connection.
    pub(super) fn check(&self) -> Result<Broker, NatsError> {
        let servers = self.servers()?;
        let credentials = self.credentials.as_deref().map(Credentials::read).transpose()?;
        let authority = self.authority.as_deref().map(readable).transpose()?;
        let is_encrypted = servers.iter().all(ServerAddr::tls_required);
        let subjects = Subjects::new(&self.subject)?;
        Ok(Broker { servers, credentials, authority, is_encrypted, subjects })
    }

    /// The servers.
    pub(super) fn servers(&self) -> Result<Vec<ServerAddr>, NatsError> {
        if let Some((_, rest)) = self.servers.rsplit_once('@') {
            // Other users of the machine see the arguments of a process, and nobody is to see more of it in
            // what is said of it, whatever else is wrong.
            return Err(NatsError::NoBroker {
                text: format!("…@{}", shortened(rest)),
                why: "it has a name or a password in it, which others can see; give a file of \
                      credentials instead"
                    .to_owned(),
            });
        }
        self.servers.split(',').map(|server| self.server(server.trim())).collect()
    }

    fn server(&self, text: &str) -> Result<ServerAddr, NatsError> {
        let wrong = |why: String| NatsError::NoBroker { text: shortened(text), why };
        let server: ServerAddr =
            text.parse().map_err(|error: io::Error| wrong(error.to_string()))?;
        if server.is_websocket() {
            return Err(wrong("there is no way over WebSocket".to_owned()));
        }
        if server.host().is_empty() {
            return Err(wrong("it names no host".to_owned()));
        }
        if !server.tls_required() && !self.insecure && !is_loopback(server.host()) {
            return Err(NatsError::Plaintext { server: text.to_owned() });
        }
        Ok(server)
    }
}

/// Whether a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn readable(path: &Path) -> Result<PathBuf, NatsError> {
    match hook_core::files::regular_file::open(path) {
        Ok(_) => Ok(path.to_owned()),
        Err(source) => Err(NatsError::Authority { path: path.to_owned(), source }),
    }
}

/// What was found in order.
#[derive(Debug, Clone)]
pub(super) struct Broker {
    pub(super) servers: Vec<ServerAddr>,
    pub(super) credentials: Option<Credentials>,
    pub(super) authority: Option<PathBuf>,
    pub(super) is_encrypted: bool,
    pub(super) subjects: Subjects,
}

impl fmt::Display for Broker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, server) in self.servers.iter().enumerate() {
            let between = if index > 0 { "," } else { "" };
            write!(formatter, "{between}{}", server.as_url_str().trim_end_matches('/'))?;
        }
        Ok(())
    }
}

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
    /// The credentials cannot be read.
    #[error("failed to read the credentials in {}: {source}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others than the user can read them.
    #[error(
        "failed to use the credentials in {}: others can read them (mode {mode:03o}); say `chmod 600 {}`",
        path.display(), path.display()
    )]
    ReadableByOthers {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file holds something else.
    #[error(
        "failed to use {}: it holds neither NATS credentials nor the seed of a user's NKey", path.display()
    )]
    NoCredentials {
        /// The file.
        path: PathBuf,
    },
    /// The authority's certificates cannot be read.
    #[error("failed to read the certificates in {}: {source}", path.display())]
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
    /// The broker does not let one in, or is not the one that it should be.
    #[error("{broker} refuses the connection: {why}")]
    Refused {
        /// The broker.
        broker: String,
        /// Why, in the library's words.
        why: String,
    },
}
