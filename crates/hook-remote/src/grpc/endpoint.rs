//! Endpoints of a server, and the connections of its clients.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use hook_json::text::PathText;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The timeout of a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The endpoint of a server: `unix:PATH` or `HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrpcEndpoint {
    /// A Unix socket, for processes of the same user.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String),
}

impl FromStr for GrpcEndpoint {
    type Err = GrpcError;

    fn from_str(text: &str) -> Result<Self, GrpcError> {
        let invalid = || GrpcError::InvalidEndpoint { text: text.to_owned() };
        match text.strip_prefix("unix:") {
            Some("") => Err(invalid()),
            // The syntax of gRPC's own addresses: after `unix://` the path is absolute.
            Some(path) => Ok(Self::Unix(path.strip_prefix("//").unwrap_or(path).into())),
            None => match text.rsplit_once(':') {
                Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                    Ok(Self::Tcp(text.to_owned()))
                }
                _ => Err(invalid()),
            },
        }
    }
}

impl fmt::Display for GrpcEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(formatter, "unix:{}", path.shown()),
            Self::Tcp(address) => formatter.write_str(address),
        }
    }
}

/// The certificate and the key of a server, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The file of the certificate and its chain.
    pub certificate: PathBuf,
    /// The file of the private key.
    pub key: PathBuf,
}

/// The reason why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrpcError {
    /// The text is not a valid endpoint.
    #[error("expected unix:PATH or HOST:PORT as the place for gRPC, found `{text}`")]
    InvalidEndpoint {
        /// The invalid text.
        text: String,
    },
    /// Data would leave this machine unencrypted.
    #[error(
        "failed to serve gRPC on {address}: it is no loopback address, and what is said there can be read \
         on the way; name 127.0.0.1, or give --tls-cert and --tls-key"
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// TLS files were given for a Unix socket, which needs no encryption.
    #[error(
        "a Unix socket is not encrypted; leave --tls-cert and --tls-key out, or name HOST:PORT"
    )]
    TlsOnUnix,
    /// A TCP endpoint was given without a token file.
    #[error("a server on TCP needs a file for its token")]
    MissingTokenFile,
    /// The token file is a file of another kind.
    #[error(
        "failed to write the token to {}: there is something else of that name; name another file, or move \
         it away", path.shown()
    )]
    TokenFileExists {
        /// The file.
        path: PathBuf,
    },
    /// The token cannot be written.
    #[error("failed to write the token to {}: {source}", path.shown())]
    Token {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The certificate or the key cannot be used.
    #[error("failed to use {} for TLS: {why}", path.shown())]
    Tls {
        /// The file.
        path: PathBuf,
        /// The cause.
        why: String,
    },
    /// The socket cannot be created.
    #[cfg(unix)]
    #[error(transparent)]
    Socket(#[from] hook_bus::wire::SocketError),
    /// Unix sockets do not exist on this system.
    #[error("there are no Unix sockets on this system; name HOST:PORT")]
    NoUnix,
    /// The server cannot listen on the address.
    #[error("failed to listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The cause.
        source: io::Error,
    },
}

/// A connection over any transport.
pub(super) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// An accepted connection.
pub(super) struct Accepted {
    stream: Stream,
    /// The client's process, if the system reports it.
    pub(super) process: Option<u32>,
    /// The client's process group.
    pub(super) group: Option<u32>,
    /// `true` if the client is certainly on this machine and runs as the same user.
    pub(super) is_local: bool,
}

enum Stream {
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
    Tcp(TcpStream, Option<TlsAcceptor>),
}

impl Accepted {
    /// Returns the connection after the TLS handshake, if there is one.
    pub(super) async fn ready(self) -> io::Result<Box<dyn Io>> {
        match self.stream {
            #[cfg(unix)]
            Stream::Unix(stream) => Ok(Box::new(stream)),
            Stream::Tcp(stream, None) => Ok(Box::new(stream)),
            Stream::Tcp(stream, Some(tls)) => {
                let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await;
                let stream = handshake.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
                Ok(Box::new(stream))
            }
        }
    }
}

/// The listening socket.
pub(super) enum Listener {
    #[cfg(unix)]
    Unix(hook_bus::wire::SocketListener),
    Tcp(TcpListener, Option<TlsAcceptor>),
}

impl Listener {
    /// Listens at an endpoint. Rejects one where the traffic could be read by others.
    pub(super) async fn bind(
        endpoint: &GrpcEndpoint,
        tls: Option<&TlsFiles>,
    ) -> Result<Self, GrpcError> {
        match endpoint {
            GrpcEndpoint::Unix(_) if tls.is_some() => Err(GrpcError::TlsOnUnix),
            #[cfg(unix)]
            GrpcEndpoint::Unix(path) => {
                Ok(Self::Unix(hook_bus::wire::SocketListener::bind(path).await?))
            }
            #[cfg(not(unix))]
            GrpcEndpoint::Unix(_) => Err(GrpcError::NoUnix),
            GrpcEndpoint::Tcp(address) => {
                let failed = |source| GrpcError::Listen { address: address.clone(), source };
                let tls = tls.map(acceptor).transpose()?;
                let addresses = tokio::net::lookup_host(address).await.map_err(failed)?;
                let addresses: Vec<SocketAddr> = addresses.collect();
                let outside = addresses.iter().find(|address| !address.ip().is_loopback());
                if let (Some(&address), None) = (outside, &tls) {
                    return Err(GrpcError::NotLoopback { address });
                }
                let listener = TcpListener::bind(addresses.as_slice()).await.map_err(failed)?;
                Ok(Self::Tcp(listener, tls))
            }
        }
    }

    /// Returns the endpoint, with the port that the system assigned for port 0.
    pub(super) fn endpoint(&self) -> GrpcEndpoint {
        match self {
            #[cfg(unix)]
            Self::Unix(socket) => GrpcEndpoint::Unix(socket.path().to_owned()),
            Self::Tcp(listener, _) => {
                let address = listener.local_addr().map(|address| address.to_string());
                GrpcEndpoint::Tcp(address.unwrap_or_default())
            }
        }
    }

    /// Accepts the next connection.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            #[cfg(unix)]
            Self::Unix(socket) => {
                let stream = socket.accept().await?;
                let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
                let process = process.and_then(|process| u32::try_from(process).ok());
                let group = hook_bus::wire::process_group_of(&stream);
                Ok(Accepted { stream: Stream::Unix(stream), process, group, is_local: true })
            }
            Self::Tcp(listener, tls) => {
                let (stream, _) = listener.accept().await?;
                // Messages are short, and the other side waits for each.
                let _ = stream.set_nodelay(true);
                let stream = Stream::Tcp(stream, tls.clone());
                Ok(Accepted { stream, process: None, group: None, is_local: false })
            }
        }
    }
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, GrpcError> {
    fn tls_error(path: &Path, why: impl fmt::Display) -> GrpcError {
        GrpcError::Tls { path: path.to_owned(), why: why.to_string() }
    }
    let path = &files.certificate;
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| tls_error(path, error))?;
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| tls_error(&files.key, error))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| tls_error(path, error))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| tls_error(path, error))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
