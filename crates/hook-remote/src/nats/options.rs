//! The options of a connection to a broker and of requests over it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use async_nats::ServerAddr;
use hook_json::text::shortened;
use hook_settings::FailBehavior;

use super::credentials::Credentials;
use super::error::NatsError;
use super::subjects::Subjects;

/// The default queue group of engines.
pub(super) const QUEUE_GROUP: &str = "engines";

/// The default subject prefix of a fleet.
pub(super) const SUBJECT: &str = "hooks";

/// The default deadline of a request, equal to the default timeout of a hook.
const DEADLINE: Duration = Duration::from_secs(60);

/// The default time that a request waits for a connection to the broker.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of hexadecimal digits of a settings hash.
const HASH_LENGTH: usize = 64;

/// The options of a connection to a broker.
#[derive(Debug, Clone)]
#[must_use]
pub struct NatsOptions {
    servers: String,
    credentials: Option<PathBuf>,
    authority: Option<PathBuf>,
    insecure: bool,
    subject: String,
    expected: Option<String>,
    pub(super) connect_timeout: Duration,
    pub(super) deadline: Duration,
    pub(super) fail_behavior: FailBehavior,
}

impl NatsOptions {
    /// Creates options for a broker: `tls://HOST:PORT`, several of them separated by commas, or
    /// `nats://` on the loopback interface. The default port is 4222.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            servers: url.into(),
            credentials: None,
            authority: None,
            insecure: false,
            subject: SUBJECT.to_owned(),
            expected: None,
            connect_timeout: CONNECT_TIMEOUT,
            deadline: DEADLINE,
            fail_behavior: FailBehavior::Block,
        }
    }

    /// Sets the credentials: a file of mode 600 with NATS credentials or the seed of an NKey.
    pub fn credentials(mut self, file: impl Into<PathBuf>) -> Self {
        self.credentials = Some(file.into());
        self
    }

    /// Adds trusted certificates to those of the system: a file in PEM.
    pub fn certificate_authority(mut self, file: impl Into<PathBuf>) -> Self {
        self.authority = Some(file.into());
        self
    }

    /// Permits unencrypted connections to a broker on another machine. For tests.
    pub fn insecure(mut self, insecure: bool) -> Self {
        self.insecure = insecure;
        self
    }

    /// Sets the subject prefix, which keeps tenants of a broker apart; `hooks` by default.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Sets the `settingsHash` that engines must have. An engine with other settings does not join,
    /// and no engine with other settings answers a request.
    pub fn expect_settings(mut self, hash: impl Into<String>) -> Self {
        self.expected = Some(hash.into());
        self
    }

    /// Sets the time that a request waits for a connection to the broker, at most until its
    /// deadline; 5 seconds by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the deadline of requests that have none of their own; 60 seconds by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the outcome of an event that no engine answered; [`FailBehavior::Block`] by default,
    /// since an unreachable fleet never approves a request.
    pub fn fail_behavior(mut self, fail_behavior: FailBehavior) -> Self {
        self.fail_behavior = fail_behavior;
        self
    }

    /// Checks everything that needs no connection.
    pub(super) fn check(&self) -> Result<Broker, NatsError> {
        let servers = self.servers()?;
        let credentials = self.credentials.as_deref().map(Credentials::read).transpose()?;
        let authority = self.authority.as_deref().map(check_readable).transpose()?;
        let is_encrypted = servers.iter().all(ServerAddr::tls_required);
        let subjects = Subjects::new(&self.subject)?;
        let expected = self.expected.as_deref().map(check_hash).transpose()?;
        Ok(Broker { servers, credentials, authority, is_encrypted, subjects, expected })
    }

    /// Returns the servers.
    pub(super) fn servers(&self) -> Result<Vec<ServerAddr>, NatsError> {
        if let Some((_, rest)) = self.servers.rsplit_once('@') {
            // Other users of the machine can see the arguments of a process. Messages must not
            // repeat the password, whatever else is wrong.
            return Err(NatsError::InvalidBroker {
                text: format!("…@{}", shortened(rest)),
                why: "it has a name or a password in it, which others can see; give a file of \
                      credentials instead"
                    .to_owned(),
            });
        }
        self.servers.split(',').map(|server| self.server(server.trim())).collect()
    }

    fn server(&self, text: &str) -> Result<ServerAddr, NatsError> {
        let invalid = |why: String| NatsError::InvalidBroker { text: shortened(text), why };
        let server: ServerAddr =
            text.parse().map_err(|error: io::Error| invalid(error.to_string()))?;
        if server.is_websocket() {
            return Err(invalid("there is no way over WebSocket".to_owned()));
        }
        if server.host().is_empty() {
            return Err(invalid("it names no host".to_owned()));
        }
        if !server.tls_required() && !self.insecure && !is_loopback(server.host()) {
            return Err(NatsError::Plaintext { server: text.to_owned() });
        }
        Ok(server)
    }
}

/// Returns `true` if a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn check_readable(path: &Path) -> Result<PathBuf, NatsError> {
    match hook_files::regular_file::open(path) {
        Ok(_) => Ok(path.to_owned()),
        Err(source) => Err(NatsError::Authority { path: path.to_owned(), source }),
    }
}

/// Parses a settings hash in the form that engines report.
fn check_hash(text: &str) -> Result<Arc<str>, NatsError> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    match text.len() == HASH_LENGTH && text.bytes().all(is_digit) {
        true => Ok(text.into()),
        false => Err(NatsError::InvalidSettingsHash { text: shortened(text) }),
    }
}

/// Checked options.
#[derive(Debug, Clone)]
pub(super) struct Broker {
    pub(super) servers: Vec<ServerAddr>,
    pub(super) credentials: Option<Credentials>,
    pub(super) authority: Option<PathBuf>,
    pub(super) is_encrypted: bool,
    pub(super) subjects: Subjects,
    /// The settings hash that engines must have.
    pub(super) expected: Option<Arc<str>>,
}

impl fmt::Display for Broker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, server) in self.servers.iter().enumerate() {
            let separator = if index > 0 { "," } else { "" };
            write!(formatter, "{separator}{}", server.as_url_str().trim_end_matches('/'))?;
        }
        Ok(())
    }
}
