//! The HTTP server: `GET /metrics` for the metrics, and `GET /health` for health checks.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::{HookSystem, JournalEntry, Subscription};
use http::{Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::counts::SharedCounts;
use super::{FleetMetrics, text};

/// The maximum number of connections. A further one closes the oldest, which is idle or reads
/// slowly: an answer takes a moment.
const MAX_CONNECTIONS: usize = 64;

/// The pause after that, within which each of the others is answered.
const CROWD_PAUSE: Duration = Duration::from_millis(1);

/// The timeout for a connection's first request, and for each later one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum length of a request line and its headers.
const MAX_HEAD: usize = 16 * 1_024;

/// The pause after the system failed to accept a connection.
const PAUSE: Duration = Duration::from_millis(200);

/// The content type of the metrics.
const TEXT_CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The reason why the metrics server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The text is not an address.
    #[error("expected PORT or HOST:PORT as the address of metrics, found `{text}`")]
    InvalidAddress {
        /// The invalid text.
        text: String,
    },
    /// The server cannot listen on the address.
    #[error("failed to listen for metrics on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The cause.
        source: io::Error,
    },
}

/// An HTTP server for an engine's metrics, which contain nothing of the inputs of hooks.
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
    address: SocketAddr,
    system: Arc<HookSystem>,
    counted: SharedCounts,
    journal: Subscription<JournalEntry>,
    fleet: Option<Arc<dyn FleetMetrics>>,
}

/// The sources of the metrics.
#[derive(Debug, Clone)]
struct MetricsSources {
    system: Arc<HookSystem>,
    counted: SharedCounts,
    fleet: Option<Arc<dyn FleetMetrics>>,
}

impl MetricsServer {
    /// Listens at `HOST:PORT`, or at a port of the loopback interface, and starts to count.
    ///
    /// # Errors
    /// Fails if the address is invalid or cannot be listened on.
    pub async fn bind(
        address: &str,
        system: &Arc<HookSystem>,
        fleet: Option<Arc<dyn FleetMetrics>>,
    ) -> Result<Self, MetricsError> {
        let host_and_port = match address.strip_prefix(':').unwrap_or(address).parse::<u16>() {
            Ok(port) => format!("127.0.0.1:{port}"),
            Err(_) => address.to_owned(),
        };
        let invalid_address =
            || MetricsError::InvalidAddress { text: hook_json::text::shortened(address) };
        if !host_and_port.contains(':') {
            return Err(invalid_address());
        }
        let failed = |source| MetricsError::Listen { address: host_and_port.clone(), source };
        let mut addresses = lookup_host(&host_and_port).await.map_err(|_| invalid_address())?;
        let listener = TcpListener::bind(addresses.next().ok_or_else(invalid_address)?).await;
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let journal = SharedCounts::subscribe(system);
        let (system, counted) = (Arc::clone(system), SharedCounts::default());
        Ok(Self { listener, address, system, counted, journal, fleet })
    }

    /// Returns the address, with the port that the system assigned for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counts and answers requests until `stop` is cancelled.
    ///
    /// # Cancellation
    /// Dropping the future ends every connection.
    pub async fn serve(self, stop: &CancellationToken) {
        let Self { listener, system, counted, journal: happening, fleet, .. } = self;
        let sources = MetricsSources { system, counted: counted.clone(), fleet };
        let accepting = async {
            let (mut connections, mut by_age) = (JoinSet::new(), VecDeque::new());
            loop {
                tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((stream, _)) => {
                            by_age.retain(|connection: &AbortHandle| !connection.is_finished());
                            if by_age.len() >= MAX_CONNECTIONS
                                && let Some(oldest) = by_age.pop_front()
                            {
                                oldest.abort();
                                tracing::debug!(
                                    target: "hook::metrics",
                                    "the oldest of {MAX_CONNECTIONS} connections is closed for another one"
                                );
                                tokio::time::sleep(CROWD_PAUSE).await;
                            }
                            by_age.push_back(connections.spawn(connection(stream, sources.clone())));
                        }
                        Err(error) => {
                            tracing::error!(target: "hook::metrics", "nobody can be let in: {error}");
                            tokio::time::sleep(PAUSE).await;
                        }
                    },
                    Some(_) = connections.join_next() => {}
                }
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = counted.count(happening) => {}
            () = accepting => {}
        }
    }
}

async fn connection(stream: TcpStream, sources: MetricsSources) {
    let service = service_fn(|request| {
        let answer = answer(&request, &sources);
        async move { Ok::<_, Infallible>(answer) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(target: "hook::metrics", "client gone: {error}");
    }
}

fn answer(request: &Request<Incoming>, sources: &MetricsSources) -> Response<String> {
    let (status, text) = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/metrics") => {
            let fleet = sources.fleet.as_ref().and_then(|fleet| fleet.snapshot());
            let counts = sources.counted.snapshot();
            (StatusCode::OK, text::render(&sources.system, &counts, fleet.as_ref()))
        }
        (&Method::GET | &Method::HEAD, "/health") => health(sources),
        (&Method::GET | &Method::HEAD, _) => {
            (StatusCode::NOT_FOUND, "there are /metrics and /health\n".to_owned())
        }
        _ => (StatusCode::METHOD_NOT_ALLOWED, "only GET is answered\n".to_owned()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(TEXT_CONTENT_TYPE));
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    response
}

/// Returns whether requests are served. An engine of a fleet must have joined its group.
fn health(sources: &MetricsSources) -> (StatusCode, String) {
    let is_serving = match &sources.fleet {
        Some(fleet) => fleet.snapshot().is_some_and(|snapshot| snapshot.is_serving),
        None => sources.system.hooks().is_ok(),
    };
    match is_serving {
        true => (StatusCode::OK, "serving\n".to_owned()),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not serving\n".to_owned()),
    }
}
