//! The server and its connections, one task each.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::HookSystem;
use hook_json::opaque_debug;
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::Caller;
use super::endpoint::{Accepted, GrpcEndpoint, GrpcError, Listener, TlsFiles};
use super::routes::{Routes, Shutdown, unauthenticated};
use super::token::BearerToken;

/// The default maximum number of connections.
const MAX_CONNECTIONS: usize = 64;

/// The maximum number of open calls of a connection.
const MAX_CALLS: u32 = 256;

/// The default interval of keepalive pings, and the timeout of their answers.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// The time in which a connection must send a call with the token, if one is required.
const AUTH_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that clients have to read their last messages.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The pause after the system failed to accept a connection.
const PAUSE: Duration = Duration::from_millis(200);

/// A server of the services of `proto/` at one endpoint.
///
/// ```
/// use std::sync::Arc;
///
/// use hook_bus::HookSystem;
/// use hook_remote::grpc::GrpcServer;
/// use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
///
/// let system = Arc::new(HookSystem::builder(".").build()?);
/// let token = folder.path().join("token");
/// let server = GrpcServer::bind(&"127.0.0.1:0".parse()?, None, Some(&token)).await?;
/// println!("listening on {}; the token is in {}", server.endpoint(), token.display());
/// let stop = CancellationToken::new();
/// # stop.cancel();
/// server.serve(&system, &stop).await;
/// # Ok(())
/// # }
/// ```
pub struct GrpcServer {
    listener: Listener,
    token: Option<Arc<BearerToken>>,
    max_connections: usize,
    keepalive: Duration,
}

opaque_debug!(GrpcServer);

impl GrpcServer {
    /// Listens at an endpoint. A Unix socket is open only to processes of the same user or of root,
    /// and needs no token. On TCP every call needs a token, which is created here and written to
    /// `token_file`. Without `tls` a TCP endpoint must be a loopback address.
    ///
    /// # Errors
    /// Fails if the endpoint cannot be opened, or not safely.
    pub async fn bind(
        endpoint: &GrpcEndpoint,
        tls: Option<&TlsFiles>,
        token_file: Option<&Path>,
    ) -> Result<Self, GrpcError> {
        let listener = Listener::bind(endpoint, tls).await?;
        let token = match endpoint {
            GrpcEndpoint::Unix(_) => None,
            GrpcEndpoint::Tcp(_) => {
                let path = token_file.ok_or(GrpcError::MissingTokenFile)?;
                Some(Arc::new(BearerToken::write(path)?))
            }
        };
        Ok(Self { listener, token, max_connections: MAX_CONNECTIONS, keepalive: KEEPALIVE })
    }

    /// Returns the endpoint, with the port that the system assigned for port 0.
    pub fn endpoint(&self) -> GrpcEndpoint {
        self.listener.endpoint()
    }

    /// Returns the file of the token, if one is required.
    pub fn token_file(&self) -> Option<&Path> {
        self.token.as_deref().map(BearerToken::path)
    }

    /// Sets the maximum number of connections. A further one is closed at once.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// Sets the interval of keepalive pings, which is also the timeout of their answers.
    #[must_use]
    pub fn keepalive(mut self, interval: Duration) -> Self {
        self.keepalive = interval;
        self
    }

    /// Serves until `stop` is cancelled. From then on no connection is accepted and no call begins.
    /// Returns once all calls are answered, no call of a client's hooks is pending, and all streams
    /// have ended with the shutdown status.
    ///
    /// # Cancellation
    /// Dropping the future ends every connection, and with it its requests and hooks.
    pub async fn serve(self, system: &Arc<HookSystem>, stop: &CancellationToken) {
        let Self { listener, token, max_connections, keepalive } = self;
        let shutdown = Shutdown {
            stop: stop.clone(),
            end: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        // Also runs if this future is dropped.
        let _end_guard = shutdown.end.clone().drop_guard();
        let routes = Arc::new(Routes::new(system, token.clone(), &shutdown).await);
        let mut connections = Connections {
            tasks: JoinSet::new(),
            system: Arc::clone(system),
            routes: Arc::clone(&routes),
            stop: stop.clone(),
            keepalive,
            must_prove: token.is_some(),
            last: 0,
        };
        let mut pause: Option<Instant> = None;
        loop {
            let resume_at = pause.unwrap_or_else(Instant::now);
            tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept(), if pause.is_none() => match accepted {
                    Ok(_) if connections.count() >= max_connections => {
                        let why = "this server has as many connections as it serves";
                        tracing::warn!(target: "hook::grpc", "client refused: {why}");
                    }
                    Ok(accepted) => connections.spawn(accepted),
                    Err(error) => {
                        tracing::error!(target: "hook::grpc", "no client can be let in: {error}");
                        pause = Some(Instant::now() + PAUSE);
                    }
                },
                () = tokio::time::sleep_until(resume_at), if pause.is_some() => pause = None,
                Some(ended) = connections.tasks.join_next() => log_end(ended),
            }
        }
        // From here on a new program finds no server, and may become one.
        drop(listener);
        routes.set_not_serving().await;
        shutdown.tasks.close();
        shutdown.tasks.wait().await;
        shutdown.end.cancel();
        let rest = async {
            while let Some(ended) = connections.tasks.join_next().await {
                log_end(ended);
            }
        };
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, rest).await;
        connections.tasks.shutdown().await;
        // The token's file goes last: once it is gone, so is the server.
        drop(token);
    }
}

fn log_end(ended: Result<io::Result<()>, JoinError>) {
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(target: "hook::grpc", "client gone: {error}"),
        Err(error) => tracing::error!(target: "hook::grpc", "client's task failed: {error}"),
    }
}

/// The open connections.
struct Connections {
    tasks: JoinSet<io::Result<()>>,
    system: Arc<HookSystem>,
    routes: Arc<Routes>,
    stop: CancellationToken,
    keepalive: Duration,
    must_prove: bool,
    last: u64,
}

impl Connections {
    /// Returns the number of open connections.
    fn count(&mut self) -> usize {
        while let Some(ended) = self.tasks.try_join_next() {
            log_end(ended);
        }
        self.tasks.len()
    }

    fn spawn(&mut self, accepted: Accepted) {
        self.last += 1;
        let caller = Arc::new(Caller {
            connection: self.last,
            process: accepted.process,
            is_local: accepted.is_local,
            requests: self.system.bus().client(accepted.group),
        });
        let connection = Connection {
            caller,
            routes: Arc::clone(&self.routes),
            stop: self.stop.clone(),
            keepalive: self.keepalive,
            must_prove: self.must_prove,
        };
        self.tasks.spawn(connection.serve(accepted));
    }
}

/// One client's connection.
struct Connection {
    caller: Arc<Caller>,
    routes: Arc<Routes>,
    stop: CancellationToken,
    keepalive: Duration,
    must_prove: bool,
}

impl Connection {
    async fn serve(self, accepted: Accepted) -> io::Result<()> {
        let Self { caller, routes, stop, keepalive, must_prove } = self;
        let io = tokio::select! {
            io = accepted.ready() => TokioIo::new(io?),
            () = stop.cancelled() => return Ok(()),
        };
        // Cancelled once a call has sent the token.
        let authorized = CancellationToken::new();
        let service = service_fn(|request| {
            let answer = match routes.is_authorized(&request) {
                true => {
                    authorized.cancel();
                    Ok(routes.call(request, Arc::clone(&caller)))
                }
                false => Err(unauthenticated()),
            };
            async move {
                Ok::<_, Infallible>(match answer {
                    Ok(answer) => answer.await,
                    Err(response) => response,
                })
            }
        });
        let calls = Calls { tasks: TaskTracker::new(), end: CancellationToken::new() };
        let _calls_guard = calls.end.clone().drop_guard();
        let connection = http2::Builder::new(calls)
            .timer(TokioTimer::new())
            .keep_alive_interval(keepalive)
            .keep_alive_timeout(keepalive)
            .max_concurrent_streams(MAX_CALLS)
            .serve_connection(io, service);
        let mut connection = pin!(connection);
        let (mut stopped, mut is_unauthorized) = (false, must_prove);
        let auth_timeout = tokio::time::sleep(AUTH_TIMEOUT);
        let mut auth_timeout = pin!(auth_timeout);
        loop {
            tokio::select! {
                ended = &mut connection => return ended.map_err(io::Error::other),
                () = stop.cancelled(), if !stopped => {
                    stopped = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = authorized.cancelled(), if is_unauthorized => is_unauthorized = false,
                () = &mut auth_timeout, if is_unauthorized => {
                    return Err(io::Error::other("no call on it has shown the token"));
                }
            }
        }
    }
}

/// The calls of a connection: one task each, which ends with the connection.
#[derive(Clone)]
struct Calls {
    tasks: TaskTracker,
    end: CancellationToken,
}

impl<F> Executor<F> for Calls
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, call: F) {
        let end = self.end.clone();
        self.tasks.spawn(async move {
            let _ = end.run_until_cancelled(call).await;
        });
    }
}
