//! Serving many clients at once over a socket that only its owner can use: a Unix socket, or on
//! Windows a named pipe.
//!
//! | file | contents |
//! | --- | --- |
//! | `unix`, `windows` | the listener, connections, and the file at the socket's path |
//! | `default_path` | the socket of a project's own server |

mod default_path;
mod error;
#[cfg(unix)]
#[path = "unix/mod.rs"]
mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::LineReader;
use super::client::{ClientEnd, serve_until_disconnected};
use super::line_budget::{ClientBudget, LineBudget};
use super::message::refused_line;
use crate::system::HookSystem;
pub use default_path::{default_socket_path, sockets_with_saved_guards};
pub use error::SocketError;
use system::Accepted;
#[cfg(unix)]
pub use system::process_group_of;
pub use system::{ConnectionReader, ConnectionWriter, SocketListener, connect};

/// The default maximum number of clients of a server.
pub const MAX_CLIENTS: usize = 64;

/// The first and the longest pause after a failure to accept: without free descriptors every
/// attempt fails at once.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The time that a refused client has to take the reason.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection to a server.
#[derive(Debug)]
pub struct Connection {
    /// The server's messages.
    pub reader: ConnectionReader,
    /// The messages for the server.
    pub writer: ConnectionWriter,
    /// The server's process, if the system reports it.
    pub process: Option<i32>,
}

/// A socket that serves a hook system.
/// ```
/// use std::sync::Arc;
///
/// use hook_bus::HookSystem;
/// use hook_bus::wire::{SocketServer, connect};
/// use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hook.sock");
///
/// let system = Arc::new(HookSystem::builder(".").build()?);
/// let server = SocketServer::bind(&path).await?;
/// let stop = CancellationToken::new();
/// let agent = async {
///     let _connection = connect(&path).await?;
///     stop.cancel();
///     Ok::<_, hook_bus::wire::SocketError>(())
/// };
/// let ((), agent) = tokio::join!(server.serve(&system, &stop), agent);
/// agent?;
/// assert!(!path.exists());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SocketServer {
    listener: SocketListener,
    max_clients: usize,
    connected: watch::Sender<usize>,
}

impl SocketServer {
    /// Creates the socket: readable and writable by its owner only, in a directory that no other
    /// user can change. A missing directory is created, for the owner alone. The owner's stale
    /// socket is replaced; anything else at the path is kept. On Windows the socket is a named pipe
    /// with access for its owner only, and the path is that of a file by which clients find it; it
    /// must be within the user's own folder.
    ///
    /// # Errors
    /// If the socket cannot be created, or not safely.
    pub async fn bind(path: impl AsRef<Path>) -> Result<Self, SocketError> {
        let listener = SocketListener::bind(path).await?;
        let connected = watch::Sender::new(0);
        Ok(Self { listener, max_clients: MAX_CLIENTS, connected })
    }

    /// Sets the maximum number of clients; further ones are refused with a message.
    #[must_use]
    pub fn max_clients(mut self, clients: usize) -> Self {
        self.max_clients = clients;
        self
    }

    /// Returns a receiver of the number of clients and its changes.
    pub fn connected(&self) -> watch::Receiver<usize> {
        self.connected.subscribe()
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        self.listener.path()
    }

    /// Serves clients until `stop` is cancelled, each as [`serve_client`](super::serve_client)
    /// does, on its own task. Then no more clients are accepted, the socket's file is removed, and
    /// this returns once everything that was read is answered.
    ///
    /// Only processes of the same user, or of root, are served.
    ///
    /// # Cancellation
    /// Dropping the future closes every client's connection and cancels its requests.
    pub async fn serve(self, system: &Arc<HookSystem>, stop: &CancellationToken) {
        let Self { listener, max_clients, connected } = self;
        let mut clients =
            Clients { tasks: JoinSet::new(), max_clients, line_budget: LineBudget::new() };
        let mut pause = AcceptPause::default();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept_any(), if pause.until.is_none() => match accepted {
                    Ok(client) => {
                        pause = AcceptPause::default();
                        clients.admit(client, system, stop);
                    }
                    Err(error) => pause.begin(&error),
                },
                () = pause.wait() => pause.until = None,
                Some(ended) = clients.tasks.join_next() => log_end(ended),
            }
            connected.send_replace(clients.tasks.len());
        }
        // A program that starts now may become the new server.
        drop(listener);
        while let Some(ended) = clients.tasks.join_next().await {
            log_end(ended);
        }
    }
}

/// The connected clients.
struct Clients {
    tasks: JoinSet<io::Result<ClientEnd>>,
    max_clients: usize,
    /// The memory limit of their unfinished lines, all together.
    line_budget: LineBudget,
}

impl Clients {
    fn admit(&mut self, client: Accepted, system: &Arc<HookSystem>, stop: &CancellationToken) {
        // Do not count clients that have ended.
        while let Some(ended) = self.tasks.try_join_next() {
            log_end(ended);
        }
        if !client.is_permitted() {
            self.refuse(client, "only the user that started this server may use it");
            return;
        }
        if self.tasks.len() >= self.max_clients {
            let message = format!(
                "this server has {} clients already, as many as it serves; try again later",
                self.max_clients
            );
            self.refuse(client, &message);
            return;
        }
        let disconnection = match client.disconnection() {
            Ok(disconnection) => disconnection,
            Err(error) => {
                let message = format!("this server cannot serve another client now: {error}");
                self.refuse(client, &message);
                return;
            }
        };
        let (system, stop, group) = (Arc::clone(system), stop.clone(), client.process_group());
        let budget = self.line_budget.clone();
        self.tasks.spawn(async move {
            let (reader, writer) = client.open().await?;
            let lines = LineReader::new(reader).with_budget(ClientBudget::new(&budget));
            serve_until_disconnected(&system, lines, writer, &stop, group, disconnection).await
        });
    }

    /// Sends the reason in one line and closes the connection.
    fn refuse(&mut self, client: Accepted, message: &str) {
        tracing::warn!(target: "hook::serve", "client refused: {message}");
        if self.tasks.len() >= 2 * self.max_clients {
            return;
        }
        let mut line = refused_line(message);
        line.push(b'\n');
        let send = async move {
            let (_, mut writer) = client.open().await?;
            writer.write_all(&line).await
        };
        self.tasks.spawn(async move {
            let _ = tokio::time::timeout(REFUSAL_TIMEOUT, send).await;
            Ok(ClientEnd::Finished)
        });
    }
}

fn log_end(ended: Result<io::Result<ClientEnd>, JoinError>) {
    match ended {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(target: "hook::serve", "client gone: {error}"),
        Err(error) => tracing::error!(target: "hook::serve", "client's task failed: {error}"),
    }
}

/// A pause in accepting clients.
#[derive(Default)]
struct AcceptPause {
    until: Option<Instant>,
    last: Duration,
}

impl AcceptPause {
    fn begin(&mut self, error: &io::Error) {
        tracing::error!(target: "hook::serve", "no client can be let in: {error}");
        self.last = (self.last * 2).clamp(FIRST_PAUSE, MAX_PAUSE);
        self.until = Some(Instant::now() + self.last);
    }

    /// Waits for the end of the pause; pending if there is none.
    async fn wait(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
