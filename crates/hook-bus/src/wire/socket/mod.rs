//! Serving many clients at once over a Unix socket that only its owner can use.
//!
//! | file | contents |
//! | --- | --- |
//! | `listener` | the socket and its listener, for other protocols than lines |
//! | `socket_file` | the socket's file: checks of its path, creation and removal |
//! | `peer` | the process on the other end, and its disconnection |

mod default_path;
mod error;
mod listener;
mod peer;
mod socket_file;

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::LineReader;
use super::client::{ClientEnd, serve_until_disconnected};
use super::line_budget::{ClientBudget, LineBudget};
use super::message::refused_line;
use crate::system::HookSystem;
pub use default_path::default_socket_path;
pub use error::SocketError;
pub use listener::SocketListener;
pub use peer::{connect, process_group_of};
use peer::{hung_up, is_permitted};
use socket_file::SocketFile;

/// The default maximum number of clients of a server.
pub const MAX_CLIENTS: usize = 64;

/// The first and the longest pause after a failure to accept: without free descriptors every
/// attempt fails at once.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// A Unix socket that serves a hook system.
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
    listener: UnixListener,
    file: SocketFile,
    max_clients: usize,
    connected: watch::Sender<usize>,
}

impl SocketServer {
    /// Creates the socket: readable and writable by its owner only, in a directory that no other
    /// user can change. A missing directory is created, for the owner alone. The owner's stale
    /// socket is replaced; anything else at the path is kept.
    ///
    /// # Errors
    /// If the socket cannot be created, or not safely.
    pub async fn bind(path: impl AsRef<Path>) -> Result<Self, SocketError> {
        let (file, listener) = SocketFile::create(path.as_ref()).await?;
        let connected = watch::Sender::new(0);
        Ok(Self { listener, file, max_clients: MAX_CLIENTS, connected })
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
        self.file.path()
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
        let Self { listener, file, max_clients, connected } = self;
        let mut clients =
            Clients { tasks: JoinSet::new(), max_clients, line_budget: LineBudget::new() };
        let mut pause = AcceptPause::default();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept(), if pause.until.is_none() => match accepted {
                    Ok((stream, _)) => {
                        pause = AcceptPause::default();
                        clients.admit(stream, system, stop);
                    }
                    Err(error) => pause.begin(&error),
                },
                () = pause.wait() => pause.until = None,
                Some(ended) = clients.tasks.join_next() => log_end(ended),
            }
            connected.send_replace(clients.tasks.len());
        }
        // Remove the file first: a program that starts now may become the new server.
        drop(file);
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
    fn admit(&mut self, stream: UnixStream, system: &Arc<HookSystem>, stop: &CancellationToken) {
        // Do not count clients that have ended.
        while let Some(ended) = self.tasks.try_join_next() {
            log_end(ended);
        }
        if !is_permitted(&stream) {
            refuse(&stream, "only the user that started this server may use it");
            return;
        }
        if self.tasks.len() >= self.max_clients {
            let message = format!(
                "this server has {} clients already, as many as it serves; try again later",
                self.max_clients
            );
            refuse(&stream, &message);
            return;
        }
        let monitor = match second_handle(&stream) {
            Ok(watched) => watched,
            Err(error) => {
                refuse(&stream, &format!("this server cannot serve another client now: {error}"));
                return;
            }
        };
        let (system, stop, group) = (Arc::clone(system), stop.clone(), process_group_of(&stream));
        let budget = self.line_budget.clone();
        self.tasks.spawn(async move {
            let (reader, writer) = stream.into_split();
            let lines = LineReader::new(reader).with_budget(ClientBudget::new(&budget));
            serve_until_disconnected(&system, lines, writer, &stop, group, hung_up(monitor)).await
        });
    }
}

/// Returns a second handle of the same connection, to watch it while the first is in use.
fn second_handle(stream: &UnixStream) -> io::Result<UnixStream> {
    let other = std::os::unix::net::UnixStream::from(stream.as_fd().try_clone_to_owned()?);
    UnixStream::from_std(other)
}

/// Sends the reason in one line, if that needs no waiting, and closes the connection.
fn refuse(stream: &UnixStream, message: &str) {
    tracing::warn!(target: "hook::serve", "client refused: {message}");
    let mut line = refused_line(message);
    line.push(b'\n');
    let _ = stream.try_write(&line);
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
