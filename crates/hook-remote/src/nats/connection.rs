//! A connection that is kept: made again and again until it is there, and again when it is lost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerError};
use hook_core::text::{one_line, shortened};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::error::NatsError;
use super::options::Broker;

/// How long is waited between two attempts to connect, at least and at most.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// How many events of the library may wait to be in the log; more say nothing new.
const EVENTS: usize = 64;

/// How many messages may wait for a subscription to be read. What comes then is lost, and is asked again.
pub(super) const SUBSCRIPTION: usize = 4_096;

/// How much is repeated of what the broker says: a subject may be in it.
const WORDS: usize = 512;

/// How the broker's word begins that something may not be subscribed to.
const NO_SUBSCRIPTION: &str = "Permissions Violation for Subscription to ";

/// What is known of a connection.
#[derive(Debug, Clone)]
pub(super) enum Link {
    /// It is not there.
    Away {
        /// Why not, once that is known.
        why: Option<Arc<str>>,
        /// Whether the broker does not want it.
        refused: bool,
    },
    /// It is there.
    Up {
        client: Client,
        /// Which of the clients that the connection has had.
        number: u64,
        /// When it came back, if it was lost.
        again: Option<Instant>,
    },
}

impl Link {
    /// The client that is there.
    ///
    /// # Errors
    /// When there is none, which is the broker's will.
    pub(super) fn client(&self, broker: &Broker) -> Result<Client, NatsError> {
        match self {
            Self::Up { client, .. } => Ok(client.clone()),
            Self::Away { why, .. } => Err(NatsError::Refused {
                broker: broker.to_string(),
                why: why.as_deref().unwrap_or("it does not say why").to_owned(),
            }),
        }
    }
}

/// What the library has last said of whether its connection is there.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    is_down: bool,
    /// How often it was lost.
    losses: u64,
}

impl Seen {
    /// Whether it is an event of that kind.
    fn note(&mut self, event: &Event) -> bool {
        match event {
            Event::Connected => self.is_down = false,
            Event::Disconnected => (self.is_down, self.losses) = (true, self.losses + 1),
            _ => return false,
        }
        true
    }
}

/// A connection that is kept until this is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    link: watch::Receiver<Link>,
    said: Arc<Said>,
    tasks: TaskTracker,
    _end: DropGuard,
}

/// What the broker and the library say of a connection beside how it is.
#[derive(Debug)]
struct Said {
    /// What the broker does not allow.
    refusals: broadcast::Sender<Arc<str>>,
    /// Which of that is about subscriptions. Nobody else can cause such words, so that none is lost among
    /// others.
    unsubscribed: broadcast::Sender<Arc<str>>,
    /// How many messages the library has dropped, at least.
    dropped: AtomicU64,
}

/// How many messages are lost here.
#[derive(Debug)]
pub(super) struct Lost(Arc<Said>);

impl Lost {
    /// How many the library has dropped because they were not read, at least: where it drops many at once it
    /// does not say so of each.
    pub(super) fn messages(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }
}

/// Whether what the broker says is about this subject.
pub(super) fn is_about(text: &str, subject: &str) -> bool {
    text.contains(&format!("\"{subject}\""))
}

/// Whether the broker says that this may not be subscribed to.
pub(super) fn is_unsubscribed(text: &str, subject: &str) -> bool {
    text.starts_with(NO_SUBSCRIPTION) && is_about(text, subject)
}

impl Said {
    fn note(&self, event: &Event) {
        match event {
            Event::SlowConsumer(_) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            Event::ServerError(error) => {
                let text: Arc<str> = words_of(error).into();
                // Fine if nobody asks.
                if text.starts_with(NO_SUBSCRIPTION) {
                    let _ = self.unsubscribed.send(Arc::clone(&text));
                }
                let _ = self.refusals.send(text);
            }
            _ => {}
        }
    }
}

fn words_of(error: &ServerError) -> String {
    let text = match error {
        ServerError::Other(text) => text.clone(),
        other => other.to_string(),
    };
    one_line(&text).chars().take(WORDS).collect()
}

impl Connection {
    /// Begins to connect, under that name. So many messages may wait for a subscription to be read.
    pub(super) fn keep(broker: Broker, name: &'static str, unread: usize) -> Self {
        let (changed, link) = watch::channel(Link::Away { why: None, refused: false });
        let said = Arc::new(Said {
            refusals: broadcast::channel(EVENTS).0,
            unsubscribed: broadcast::channel(EVENTS).0,
            dropped: AtomicU64::new(0),
        });
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let keeper = Keeper { broker, name, unread, link: changed, said: Arc::clone(&said) };
        let stopped = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = keeper.keep() => {}
            }
        });
        Self { link, said, tasks, _end: stop.drop_guard() }
    }

    /// How it is, and how it will be.
    pub(super) fn link(&self) -> watch::Receiver<Link> {
        self.link.clone()
    }

    /// What the broker does not allow, in its words, from now on.
    pub(super) fn refusals(&self) -> broadcast::Receiver<Arc<str>> {
        self.said.refusals.subscribe()
    }

    /// What may not be subscribed to, in the broker's words, from now on.
    pub(super) fn unsubscribed(&self) -> broadcast::Receiver<Arc<str>> {
        self.said.unsubscribed.subscribe()
    }

    /// How many messages are lost here, also later.
    pub(super) fn lost(&self) -> Lost {
        Lost(Arc::clone(&self.said))
    }

    /// Ends it, and waits for its task.
    pub(super) async fn close(self) {
        let Self { tasks, _end, .. } = self;
        drop(_end);
        tasks.close();
        tasks.wait().await;
    }
}

struct Keeper {
    broker: Broker,
    name: &'static str,
    unread: usize,
    link: watch::Sender<Link>,
    said: Arc<Said>,
}

impl Keeper {
    async fn keep(self) {
        let (mut wait, mut number) = (PATIENCE.0, 0);
        loop {
            let (events, mut happened) = mpsc::channel(EVENTS);
            let (seen, mut state) = watch::channel(Seen::default());
            match self.connect(events, seen).await {
                Ok(client) => {
                    tracing::info!(target: "hook::nats", broker = %self.broker, "connected");
                    self.up(&client, number, number > 0);
                    self.watch(&client, number, &mut state, &mut happened).await;
                    (wait, number) = (PATIENCE.0, number + 1);
                }
                Err((why, refused)) => {
                    tracing::warn!(
                        target: "hook::nats",
                        broker = %self.broker,
                        "failed to connect, and tries again in {} ms: {why}",
                        wait.as_millis()
                    );
                    self.away(why, refused);
                }
            }
            tokio::time::sleep(jittered(wait)).await;
            wait = (wait * 2).min(PATIENCE.1);
        }
    }

    async fn connect(
        &self,
        events: mpsc::Sender<Event>,
        seen: watch::Sender<Seen>,
    ) -> Result<Client, (String, bool)> {
        let connecting = async {
            let options = self.options(events, seen).map_err(|error| (error.to_string(), true))?;
            let connected = options.connect(self.broker.servers.as_slice()).await;
            connected.map_err(|error| {
                let refused = is_refusal(&error);
                (shortened(&one_line(&error.to_string())), refused)
            })
        };
        let connected = tokio::time::timeout(ATTEMPT, connecting).await;
        connected.unwrap_or_else(|_| Err(("no answer".to_owned(), false)))
    }

    fn options(
        &self,
        events: mpsc::Sender<Event>,
        seen: watch::Sender<Seen>,
    ) -> std::io::Result<ConnectOptions> {
        let said = Arc::clone(&self.said);
        let mut options = ConnectOptions::new()
            .name(self.name)
            .connection_timeout(ATTEMPT)
            .subscription_capacity(self.unread)
            .reconnect_delay_callback(|attempt| {
                let doubled = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(8);
                let wait = (PATIENCE.0 / 4) * 2u32.pow(doubled);
                if attempt <= 1 { Duration::ZERO } else { jittered(wait.min(PATIENCE.1)) }
            })
            .event_callback(move |event| {
                said.note(&event);
                // The newest state that the library tells is never lost here. What waits is for the log; the
                // end of the connection is also told by the end of these channels.
                if !seen.send_if_modified(|seen| seen.note(&event)) {
                    let _ = events.try_send(event);
                }
                async {}
            });
        if self.broker.is_encrypted {
            options = options.require_tls(true);
        } else {
            // They may be anywhere.
            options = options.ignore_discovered_servers();
        }
        if let Some(authority) = &self.broker.authority {
            options = options.add_root_certificates(authority.clone());
        }
        match &self.broker.credentials {
            Some(credentials) => credentials.connecting(options),
            None => Ok(options),
        }
    }

    /// Until the library gives the connection up.
    async fn watch(
        &self,
        client: &Client,
        number: u64,
        state: &mut watch::Receiver<Seen>,
        happened: &mut mpsc::Receiver<Event>,
    ) {
        let mut known = Seen::default();
        loop {
            let event = tokio::select! {
                biased;
                Ok(()) = state.changed() => {
                    let seen = *state.borrow_and_update();
                    self.changed(client, number, known, seen);
                    known = seen;
                    continue;
                }
                event = happened.recv() => event,
            };
            let Some(event) = event else { break };
            match event {
                Event::SlowConsumer(_) => tracing::warn!(
                    target: "hook::nats",
                    "messages are lost: more came at once than {}; whoever asked asks again",
                    self.unread
                ),
                Event::ServerError(error) => tracing::warn!(
                    target: "hook::nats",
                    broker = %self.broker,
                    "the broker says: {}",
                    words_of(&error)
                ),
                Event::ClientError(error) => {
                    tracing::warn!(target: "hook::nats", broker = %self.broker, "{error}");
                }
                Event::Closed => break,
                _ => {}
            }
        }
        tracing::warn!(target: "hook::nats", broker = %self.broker, "the connection is given up");
        self.away("the broker has ended the connection".to_owned(), false);
    }

    /// Says what is new of the connection; it may have been lost and be back.
    fn changed(&self, client: &Client, number: u64, known: Seen, seen: Seen) {
        if seen.losses > known.losses {
            tracing::warn!(target: "hook::nats", broker = %self.broker, "the connection is lost");
            self.away("the connection is lost".to_owned(), false);
        }
        if !seen.is_down && (known.is_down || seen.losses > known.losses) {
            tracing::info!(target: "hook::nats", broker = %self.broker, "connected again");
            self.up(client, number, true);
        }
    }

    fn up(&self, client: &Client, number: u64, again: bool) {
        let again = again.then(Instant::now);
        self.link.send_replace(Link::Up { client: client.clone(), number, again });
    }

    fn away(&self, why: String, refused: bool) {
        self.link.send_replace(Link::Away { why: Some(why.into()), refused });
    }
}

/// Whether to try again is of no use: the broker does not want this client, or is not the one that it should
/// be.
fn is_refusal(error: &ConnectError) -> bool {
    let is_of_trust = matches!(
        error.kind(),
        ConnectErrorKind::Authentication
            | ConnectErrorKind::AuthorizationViolation
            | ConnectErrorKind::Tls
    );
    // What is wrong with a certificate comes as an error of reading.
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let error_of_io = error.downcast_ref::<io::Error>();
        if error_of_io.is_some_and(|error| error.kind() == io::ErrorKind::InvalidData) {
            return true;
        }
        source = error.source();
    }
    is_of_trust
}

/// Between half of it and all of it, so that many do not come back at once.
pub(super) fn jittered(wait: Duration) -> Duration {
    let random = u32::from(uuid::Uuid::new_v4().as_bytes()[0]);
    wait / 2 + wait / 2 * random / 255
}
