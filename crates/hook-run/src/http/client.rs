//! The HTTP client: one POST request on its own connection, and an answer of limited length. It
//! follows no redirects and uses no proxies, so the input goes only where the settings say.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};

use hook_json::opaque_debug;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    self, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::{Request, Response};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::address::Address;
use super::stream::Stream;
use crate::executor::Slots;
use crate::threads::Threads;
use hook_settings::language::Post;

/// Headers that frame the request, which hooks may not set.
const RESERVED_HEADERS: [HeaderName; 6] = [
    CONTENT_LENGTH,
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

const AGENT: HeaderValue = HeaderValue::from_static(concat!("hook/", env!("CARGO_PKG_VERSION")));
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The HTTP client of a runner. It costs nothing until it is used.
pub(crate) struct Client {
    threads: Arc<Threads>,
    /// The TLS configuration, loaded for the first encrypted connection.
    encryption: Mutex<Option<Arc<ClientConfig>>>,
}

opaque_debug!(Client);

/// The result of a name lookup on a thread.
struct Resolved {
    addresses: Vec<SocketAddr>,
    encryption: Option<Arc<ClientConfig>>,
    slots: Slots,
}

impl Client {
    pub(crate) fn new(threads: Arc<Threads>) -> Self {
        Self { threads, encryption: Mutex::default() }
    }

    /// Posts a body and returns the answer, of at most `limit` bytes, while it holds the slots.
    ///
    /// # Errors
    /// Returns the reason why there is no usable answer.
    ///
    /// # Cancellation
    /// Dropping the future closes the connection. A name lookup in progress ends on its thread,
    /// which holds the slots until then.
    pub(super) async fn post(
        self: Arc<Self>,
        address: &Address,
        post: Post,
        payload: String,
        limit: usize,
        slots: Slots,
    ) -> Result<Vec<u8>, String> {
        let request = request(address, post, payload)?;
        let resolved = self.resolve(address, slots).await?;
        let connected = TcpStream::connect(&*resolved.addresses).await;
        let stream = connected.map_err(|error| format!("cannot connect: {error}"))?;
        // The request is small and complete, so buffering gains nothing.
        let _ = stream.set_nodelay(true);
        let stream = match resolved.encryption {
            None => Stream::Plain(stream),
            Some(encryption) => {
                let name = ServerName::try_from(address.host.clone());
                let name = name.map_err(|_| "its name cannot be proved".to_owned())?;
                let encrypted = TlsConnector::from(encryption).connect(name, stream).await;
                let encrypted =
                    encrypted.map_err(|error| format!("no encrypted connection: {error}"))?;
                Stream::Encrypted(Box::new(encrypted))
            }
        };
        let answer = exchange(stream, request, limit).await;
        drop(resolved.slots);
        answer
    }

    /// Resolves a server's addresses, and loads the certificates for an encrypted connection. Both
    /// may be slow, so a thread does them. It holds the slots until it is done, even if the caller
    /// is gone, so there are never more such threads than slots.
    async fn resolve(self: Arc<Self>, address: &Address, slots: Slots) -> Result<Resolved, String> {
        let (host, port) = (address.host.clone(), address.port);
        if let (Ok(ip), false) = (host.parse::<IpAddr>(), address.is_encrypted) {
            let addresses = vec![SocketAddr::new(ip, port)];
            return Ok(Resolved { addresses, encryption: None, slots });
        }
        let is_encrypted = address.is_encrypted;
        let (sender, receiver) = oneshot::channel();
        let client = Arc::clone(&self);
        let started = self.threads.run(move |worker| {
            let addresses = (&*host, port).to_socket_addrs();
            let resolved = addresses.map_err(|error| format!("cannot find it: {error}")).and_then(
                |addresses| {
                    let encryption = is_encrypted.then(|| client.encryption()).transpose()?;
                    Ok(Resolved { addresses: addresses.collect(), encryption, slots })
                },
            );
            worker.free();
            // If the caller was dropped, this frees the slots.
            let _ = sender.send(resolved);
        });
        started.map_err(|error| format!("cannot start a thread that looks it up: {error}"))?;
        let resolved = receiver.await;
        resolved.unwrap_or_else(|_| Err("the thread that looked it up panicked".to_owned()))
    }

    /// Returns the TLS configuration, which trusts the certificates in the system's trust store.
    fn encryption(&self) -> Result<Arc<ClientConfig>, String> {
        let mut cached = self.encryption.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = &*cached {
            return Ok(Arc::clone(config));
        }
        let loaded = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(loaded.certs);
        if added == 0 {
            let errors: Vec<String> = loaded.errors.iter().map(ToString::to_string).collect();
            return Err(format!(
                "this system has no certificates by which servers prove who they are \
                 (SSL_CERT_FILE can name some){}{}",
                if errors.is_empty() { "" } else { ": " },
                errors.join("; ")
            ));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::clone(cached.insert(Arc::new(config))))
    }
}

fn request(address: &Address, post: Post, payload: String) -> Result<Request<String>, String> {
    let mut request = Request::post(&*address.target)
        .body(payload)
        .map_err(|_| "its path cannot be asked for".to_owned())?;
    let headers = request.headers_mut();
    let host = HeaderValue::from_str(&address.authority);
    headers.insert(HOST, host.map_err(|_| "its name cannot be said".to_owned())?);
    headers.insert(USER_AGENT, AGENT);
    headers.insert(CONTENT_TYPE, JSON);
    for (name, value) in post.headers {
        // The value may be secret, so errors leave it out.
        let header = HeaderName::from_bytes(name.as_bytes());
        let header = header.map_err(|_| format!("`{name}` is no name of a header"))?;
        if RESERVED_HEADERS.contains(&header) {
            return Err(format!("the header `{name}` cannot be set by a hook"));
        }
        let value = HeaderValue::from_str(value.trim());
        let value = value.map_err(|_| format!("the header `{name}` cannot have its value"))?;
        headers.insert(header, value);
    }
    Ok(request)
}

/// Sends a request and reads its answer.
async fn exchange(
    stream: Stream,
    request: Request<String>,
    limit: usize,
) -> Result<Vec<u8>, String> {
    let failed = |error: hyper::Error| format!("no answer: {}", cause(&error));
    let (mut sender, connection) = http1::handshake(stream).await.map_err(failed)?;
    let mut connection = pin!(connection);
    let mut answer = pin!(async {
        let response = sender.send_request(request).await.map_err(failed)?;
        body_of(response, limit).await
    });
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        // The answer, or the reason of the end, may still be buffered.
        _ = &mut connection => answer.await,
    }
}

/// Returns the body of a successful response.
async fn body_of(response: Response<Incoming>, limit: usize) -> Result<Vec<u8>, String> {
    let status = response.status();
    if !status.is_success() {
        let redirects = if status.is_redirection() { "; redirects are not followed" } else { "" };
        return Err(format!("it answered with status {}{redirects}", status.as_u16()));
    }
    let encoding = response.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err("its answer is compressed, which was not asked for".to_owned());
    }
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| format!("its answer ended early: {}", cause(&error)))?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - bytes.len() {
            return Err(format!("its answer is longer than {limit} bytes"));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Returns the I/O error at the bottom of an error, or the whole chain.
fn cause(error: &hyper::Error) -> String {
    let mut source = std::error::Error::source(error);
    let mut last = error.to_string();
    while let Some(inner) = source {
        if inner.is::<io::Error>() {
            return inner.to_string();
        }
        last = format!("{last}: {inner}");
        source = inner.source();
    }
    last
}
