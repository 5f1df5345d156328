//! Serving many clients at once over a Unix socket that only its owner can use.
//!
//! | room | what it holds |
//! | --- | --- |
//! | `listener` | the place and the listener there, for other protocols than lines |
//! | `place` | the socket's file: where it may be, how it comes there and goes |
//! | `peer` | who is on the other end, and whether it still is |

mod error;
mod listener;
mod own;
mod peer;
mod place;

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
use super::allowance::{HeldAllowance, LineAllowance};
use super::client::{ClientEnd, serve_until_gone};
use super::message::refused;
use crate::system::HookSystem;
pub use error::SocketError;
pub use listener::SocketListener;
pub use own::socket_of;
pub use peer::{connect, group_of};
use peer::{hung_up, is_permitted};
use place::SocketPlace;

/// How many clients a server has at most, unless it is told otherwise.
pub const MAX_CLIENTS: usize = 64;

/// How long no client is accepted after the system failed to, at first and at most: without descriptors
/// every attempt fails at once.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A Unix socket, and a hook system behind it.
///
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
    place: SocketPlace,
    max_clients: usize,
    connected: watch::Sender<usize>,
}

impl SocketServer {
    /// Makes the socket: readable and writable by its owner only, in a directory that no other user
    /// can change. A directory that is not there is made, for the owner alone. A socket of the
    /// owner's that nothing answers on is replaced; whatever else is there stays.
    ///
    /// # Errors
    /// When the socket cannot be there, or cannot safely.
    pub async fn bind(path: impl AsRef<Path>) -> Result<Self, SocketError> {
        let (place, listener) = SocketPlace::take(path.as_ref()).await?;
        let connected = watch::Sender::new(0);
        Ok(Self { listener, place, max_clients: MAX_CLIENTS, connected })
    }

    /// Serves so many clients at most; one more is told so and sent away.
    #[must_use]
    pub fn max_clients(mut self, clients: usize) -> Self {
        self.max_clients = clients;
        self
    }

    /// How many clients there are, and each change of that.
    pub fn connected(&self) -> watch::Receiver<usize> {
        self.connected.subscribe()
    }

    /// Where the socket is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Serves clients until `stop` is cancelled, each as [`serve_client`](super::serve_client)
    /// does, on a task of its own. Then no other client is accepted, the socket's file is gone, and this
    /// returns once everything that was read is answered.
    ///
    /// Only processes of the same user, or of root, are served.
    ///
    /// # Cancellation
    /// Dropping the future ends every client's connection and its requests.
    pub async fn serve(self, system: &Arc<HookSystem>, stop: &CancellationToken) {
        let Self { listener, place, max_clients, connected } = self;
        let mut clients =
            Clients { tasks: JoinSet::new(), most: max_clients, allowance: LineAllowance::new() };
        let mut pause = Pause::default();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept(), if pause.until.is_none() => match accepted {
                    Ok((stream, _)) => {
                        pause = Pause::default();
                        clients.admit(stream, system, stop);
                    }
                    Err(error) => pause.begin(&error),
                },
                () = pause.over() => pause.until = None,
                Some(ended) = clients.tasks.join_next() => log_end(ended),
            }
            connected.send_replace(clients.tasks.len());
        }
        // A program that starts now finds no server, and may become one.
        drop(place);
        drop(listener);
        while let Some(ended) = clients.tasks.join_next().await {
            log_end(ended);
        }
    }
}

/// The clients there are.
struct Clients {
    tasks: JoinSet<io::Result<ClientEnd>>,
    most: usize,
    /// For what they leave unfinished, all together.
    allowance: LineAllowance,
}

impl Clients {
    fn admit(&mut self, stream: UnixStream, system: &Arc<HookSystem>, stop: &CancellationToken) {
        // Those that have ended count no more.
        while let Some(ended) = self.tasks.try_join_next() {
            log_end(ended);
        }
        if !is_permitted(&stream) {
            refuse(&stream, "only the user that started this server may use it");
            return;
        }
        if self.tasks.len() >= self.most {
            let message = format!(
                "this server has {} clients already, as many as it serves; try again later",
                self.most
            );
            refuse(&stream, &message);
            return;
        }
        let watched = match again(&stream) {
            Ok(watched) => watched,
            Err(error) => {
                refuse(&stream, &format!("this server cannot serve another client now: {error}"));
                return;
            }
        };
        let (system, stop, group) = (Arc::clone(system), stop.clone(), group_of(&stream));
        let allowance = self.allowance.clone();
        self.tasks.spawn(async move {
            let (reader, writer) = stream.into_split();
            let lines = LineReader::new(reader).within(HeldAllowance::of(&allowance));
            serve_until_gone(&system, lines, writer, &stop, group, hung_up(watched)).await
        });
    }
}

/// A second handle to the same connection, to be watched while the first is used.
fn again(stream: &UnixStream) -> io::Result<UnixStream> {
    let other = std::os::unix::net::UnixStream::from(stream.as_fd().try_clone_to_owned()?);
    UnixStream::from_std(other)
}

/// Says why in one line, if that can be said without waiting, and hangs up.
fn refuse(stream: &UnixStream, message: &str) {
    tracing::warn!(target: "hook::serve", "client refused: {message}");
    let mut line = refused(message);
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

/// While no client is accepted.
#[derive(Default)]
struct Pause {
    until: Option<Instant>,
    last: Duration,
}

impl Pause {
    fn begin(&mut self, error: &io::Error) {
        tracing::error!(target: "hook::serve", "no client can be let in: {error}");
        self.last = (self.last * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        self.until = Some(Instant::now() + self.last);
    }

    /// Waits for its end; never done when there is none.
    async fn over(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
