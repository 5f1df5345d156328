//! A server on this machine that answers as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What the server does with one connection.
pub(super) enum Does {
    /// Reads the request, writes that, and closes.
    Say(Vec<u8>),
    /// Reads the request, and waits for the client to go.
    Wait,
}

/// An answer with a status and a body.
pub(super) fn say(status: &str, body: &str) -> Does {
    say_with(status, "", body)
}

/// The same with further headers.
pub(super) fn say_with(status: &str, headers: &str, body: &str) -> Does {
    let length = body.len();
    Does::Say(
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}

/// What came of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A request: its first line, its headers with names in small letters, and its body.
    Asked(String, Vec<(String, String)>, String),
    /// The client has gone.
    Gone,
}

/// A server.
pub(super) struct Server {
    pub(super) port: u16,
    /// The certificate by which it proves who it is.
    pub(super) certificate: String,
    seen: Receiver<Seen>,
}

impl Server {
    /// One that handles so many connections, one after the other.
    pub(super) fn new(does: Vec<Does>) -> Self {
        Self::start(does, None, String::new())
    }

    /// One that proves to be `localhost`.
    pub(super) fn encrypted(does: Vec<Does>) -> Self {
        let certificate = include_str!("../../certificate/localhost.pem");
        let key = include_str!("../../certificate/localhost.key.pem");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
            )
            .unwrap();
        Self::start(does, Some(Arc::new(config)), certificate.to_owned())
    }

    fn start(does: Vec<Does>, config: Option<Arc<ServerConfig>>, certificate: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, seen) = channel();
        thread::spawn(move || {
            for does in does {
                let Ok((stream, _)) = listener.accept() else { return };
                match &config {
                    None => handle(stream, does, &sender),
                    Some(config) => {
                        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
                        handle(StreamOwned::new(connection, stream), does, &sender);
                    }
                }
            }
        });
        Self { port, certificate, seen }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What came next.
    pub(super) fn next(&self) -> Seen {
        self.seen.recv_timeout(Duration::from_secs(20)).expect("somebody asks")
    }

    /// Whether more was asked than was looked at.
    pub(super) fn has_more(&self) -> bool {
        self.seen.try_recv().is_ok()
    }
}

/// A port that nobody listens to.
pub(super) fn nobody() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn handle(stream: impl Read + Write, does: Does, seen: &Sender<Seen>) {
    let mut reader = BufReader::new(stream);
    let Some(asked) = read(&mut reader) else {
        let _ = seen.send(Seen::Gone);
        return;
    };
    let _ = seen.send(asked);
    match does {
        Does::Say(bytes) => {
            // A client that has heard enough is no failure of the server's.
            let _ = reader.get_mut().write_all(&bytes);
            let _ = reader.get_mut().flush();
        }
        Does::Wait => {
            let _ = reader.read(&mut [0]);
            let _ = seen.send(Seen::Gone);
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Seen> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    };
    let first = line().filter(|line| !line.is_empty())?;
    let mut headers = Vec::new();
    while let Some((name, value)) = line()?.split_once(": ") {
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length?.1.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Seen::Asked(first, headers, String::from_utf8(body).ok()?))
}
