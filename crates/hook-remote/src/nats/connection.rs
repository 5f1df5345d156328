//! A connection that is retried until it succeeds, and restored when it is lost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerError};
use hook_json::text::{one_line, shortened};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::error::NatsError;
use super::options::Broker;

/// The minimum and maximum delay between two connection attempts.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// The timeout of one attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval of pings. A broker that answers none for 15 to 20 seconds is away.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// The maximum number of the library's events that wait to be logged; further ones are dropped.
const EVENTS: usize = 64;

/// The maximum number of unread messages of a subscription; others are lost and sent again.
pub(super) const SUBSCRIPTION: usize = 4_096;

/// The maximum length of a broker's message in the log, since it may contain a subject.
const MAX_ERROR_TEXT: usize = 512;

/// The beginning of the broker's message that a subscription is not permitted.
const NO_SUBSCRIPTION: &str = "Permissions Violation for Subscription to ";

/// The state of a connection.
#[derive(Debug, Clone)]
pub(super) enum Link {
    /// The connection is down.
    Down {
        /// The cause, once it is known.
        why: Option<Arc<str>>,
        /// `true` if the broker rejects the client.
        refused: bool,
    },
    /// The connection is up.
    Up {
        client: Client,
        /// The number of the client among all clients of the connection.
        number: u64,
        /// The time of the reconnection, if it was lost before.
        reconnected_at: Option<Instant>,
    },
}

impl Link {
    /// Returns the client.
    ///
    /// # Errors
    /// Fails if the connection is down because the broker rejects it.
    pub(super) fn client(&self, broker: &Broker) -> Result<Client, NatsError> {
        match self {
            Self::Up { client, .. } => Ok(client.clone()),
            Self::Down { why, .. } => Err(NatsError::Refused {
                broker: broker.to_string(),
                why: why.as_deref().unwrap_or("it does not say why").to_owned(),
            }),
        }
    }
}

/// The connection state that the library last reported.
#[derive(Debug, Clone, Copy, Default)]
struct LinkState {
    is_down: bool,
    /// The number of losses so far.
    losses: u64,
}

impl LinkState {
    /// Applies an event. Returns `true` if it was about the connection state.
    fn note(&mut self, event: &Event) -> bool {
        match event {
            Event::Connected => self.is_down = false,
            Event::Disconnected => (self.is_down, self.losses) = (true, self.losses + 1),
            _ => return false,
        }
        true
    }
}

/// A connection that is restored until this value is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    link: watch::Receiver<Link>,
    reports: Arc<BrokerReports>,
    tasks: TaskTracker,
    _end: DropGuard,
}

/// Messages of the broker and the library, other than the connection state.
#[derive(Debug)]
struct BrokerReports {
    /// Everything that the broker does not permit.
    refusals: broadcast::Sender<Arc<str>>,
    /// Only the refused subscriptions. A separate channel, so that other messages cannot displace
    /// them.
    unsubscribed: broadcast::Sender<Arc<str>>,
    /// The minimum number of messages that the library dropped.
    dropped: AtomicU64,
}

/// The counter of lost messages.
#[derive(Debug)]
pub(super) struct DroppedMessages(Arc<BrokerReports>);

impl DroppedMessages {
    /// Returns the minimum number of messages that the library dropped because they were not read.
    /// It does not report each one of a burst.
    pub(super) fn count(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }
}

/// Returns `true` if a message of the broker names this subject.
pub(super) fn mentions(text: &str, subject: &str) -> bool {
    text.contains(&format!("\"{subject}\""))
}

/// Returns `true` if a message of the broker refuses a subscription to this subject.
pub(super) fn is_unsubscribed(text: &str, subject: &str) -> bool {
    text.starts_with(NO_SUBSCRIPTION) && mentions(text, subject)
}

impl BrokerReports {
    fn note(&self, event: &Event) {
        match event {
            Event::SlowConsumer(_) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            Event::ServerError(error) => {
                let text: Arc<str> = error_text(error).into();
                // Fails only without a receiver.
                if text.starts_with(NO_SUBSCRIPTION) {
                    let _ = self.unsubscribed.send(Arc::clone(&text));
                }
                let _ = self.refusals.send(text);
            }
            _ => {}
        }
    }
}

fn error_text(error: &ServerError) -> String {
    let text = match error {
        ServerError::Other(text) => text.clone(),
        other => other.to_string(),
    };
    one_line(&text).chars().take(MAX_ERROR_TEXT).collect()
}

impl Connection {
    /// Starts to connect under that name. At most `unread` messages wait in each subscription.
    pub(super) fn open(broker: Broker, name: &'static str, unread: usize) -> Self {
        let (changed, link) = watch::channel(Link::Down { why: None, refused: false });
        let reports = Arc::new(BrokerReports {
            refusals: broadcast::channel(EVENTS).0,
            unsubscribed: broadcast::channel(EVENTS).0,
            dropped: AtomicU64::new(0),
        });
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let keeper = Keeper { broker, name, unread, link: changed, reports: Arc::clone(&reports) };
        let stopped = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = keeper.keep() => {}
            }
        });
        Self { link, reports, tasks, _end: stop.drop_guard() }
    }

    /// Returns a receiver of the state.
    pub(super) fn link(&self) -> watch::Receiver<Link> {
        self.link.clone()
    }

    /// Returns a receiver of the broker's permission errors.
    pub(super) fn refusals(&self) -> broadcast::Receiver<Arc<str>> {
        self.reports.refusals.subscribe()
    }

    /// Returns a receiver of the broker's refused subscriptions.
    pub(super) fn unsubscribed(&self) -> broadcast::Receiver<Arc<str>> {
        self.reports.unsubscribed.subscribe()
    }

    /// Returns the counter of lost messages.
    pub(super) fn dropped_messages(&self) -> DroppedMessages {
        DroppedMessages(Arc::clone(&self.reports))
    }

    /// Closes the connection and waits for its task.
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
    reports: Arc<BrokerReports>,
}

impl Keeper {
    async fn keep(self) {
        let (mut wait, mut number) = (BACKOFF.0, 0);
        loop {
            let (events, mut incoming) = mpsc::channel(EVENTS);
            let (state_sender, mut state) = watch::channel(LinkState::default());
            match self.connect(events, state_sender).await {
                Ok(client) => {
                    tracing::info!(target: "hook::nats", broker = %self.broker, "connected");
                    self.up(&client, number, number > 0);
                    self.watch(&client, number, &mut state, &mut incoming).await;
                    (wait, number) = (BACKOFF.0, number + 1);
                }
                Err((why, refused)) => {
                    tracing::warn!(
                        target: "hook::nats",
                        broker = %self.broker,
                        "failed to connect, and tries again in {} ms: {why}",
                        wait.as_millis()
                    );
                    self.down(why, refused);
                }
            }
            tokio::time::sleep(jittered(wait)).await;
            wait = (wait * 2).min(BACKOFF.1);
        }
    }

    async fn connect(
        &self,
        events: mpsc::Sender<Event>,
        seen: watch::Sender<LinkState>,
    ) -> Result<Client, (String, bool)> {
        let connecting = async {
            let options = self.options(events, seen).map_err(|error| (error.to_string(), true))?;
            let connected = options.connect(self.broker.servers.as_slice()).await;
            connected.map_err(|error| {
                let refused = is_refusal(&error);
                (shortened(&one_line(&error.to_string())), refused)
            })
        };
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        connected.unwrap_or_else(|_| Err(("no answer".to_owned(), false)))
    }

    fn options(
        &self,
        events: mpsc::Sender<Event>,
        seen: watch::Sender<LinkState>,
    ) -> std::io::Result<ConnectOptions> {
        let reports = Arc::clone(&self.reports);
        let mut options = ConnectOptions::new()
            .name(self.name)
            .connection_timeout(CONNECT_TIMEOUT)
            .ping_interval(PING_INTERVAL)
            .subscription_capacity(self.unread)
            .reconnect_delay_callback(|attempt| {
                let doubled = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(8);
                let wait = (BACKOFF.0 / 4) * 2u32.pow(doubled);
                if attempt <= 1 { Duration::ZERO } else { jittered(wait.min(BACKOFF.1)) }
            })
            .event_callback(move |event| {
                reports.note(&event);
                // The latest state is never lost here. The other events are for the log only; the
                // end of the connection also closes these channels.
                if !seen.send_if_modified(|seen| seen.note(&event)) {
                    let _ = events.try_send(event);
                }
                async {}
            });
        if self.broker.is_encrypted {
            options = options.require_tls(true);
        } else {
            // Servers that the broker names may be anywhere.
            options = options.ignore_discovered_servers();
        }
        if let Some(authority) = &self.broker.authority {
            options = options.add_root_certificates(authority.clone());
        }
        match &self.broker.credentials {
            Some(credentials) => credentials.apply_to(options),
            None => Ok(options),
        }
    }

    /// Follows the connection until the library gives it up.
    async fn watch(
        &self,
        client: &Client,
        number: u64,
        state: &mut watch::Receiver<LinkState>,
        incoming: &mut mpsc::Receiver<Event>,
    ) {
        let mut previous = LinkState::default();
        loop {
            let event = tokio::select! {
                biased;
                Ok(()) = state.changed() => {
                    let current = *state.borrow_and_update();
                    self.changed(client, number, previous, current);
                    previous = current;
                    continue;
                }
                event = incoming.recv() => event,
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
                    error_text(&error)
                ),
                Event::ClientError(error) => {
                    tracing::warn!(target: "hook::nats", broker = %self.broker, "{error}");
                }
                Event::Closed => break,
                _ => {}
            }
        }
        tracing::warn!(target: "hook::nats", broker = %self.broker, "the connection is given up");
        self.down("the broker has ended the connection".to_owned(), false);
    }

    /// Publishes a change of the state. The connection may be lost and restored at once.
    fn changed(&self, client: &Client, number: u64, previous: LinkState, current: LinkState) {
        if current.losses > previous.losses {
            tracing::warn!(target: "hook::nats", broker = %self.broker, "the connection is lost");
            self.down("the connection is lost".to_owned(), false);
        }
        if !current.is_down && (previous.is_down || current.losses > previous.losses) {
            tracing::info!(target: "hook::nats", broker = %self.broker, "connected again");
            self.up(client, number, true);
        }
    }

    fn up(&self, client: &Client, number: u64, is_reconnect: bool) {
        let reconnected_at = is_reconnect.then(Instant::now);
        self.link.send_replace(Link::Up { client: client.clone(), number, reconnected_at });
    }

    fn down(&self, why: String, refused: bool) {
        self.link.send_replace(Link::Down { why: Some(why.into()), refused });
    }
}

/// Returns `true` if another attempt is useless: the broker rejects this client, or is not the
/// expected server.
fn is_refusal(error: &ConnectError) -> bool {
    let is_auth_failure = matches!(
        error.kind(),
        ConnectErrorKind::Authentication
            | ConnectErrorKind::AuthorizationViolation
            | ConnectErrorKind::Tls
    );
    // An invalid certificate is reported as a read error.
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let io_error = error.downcast_ref::<io::Error>();
        if io_error.is_some_and(|error| error.kind() == io::ErrorKind::InvalidData) {
            return true;
        }
        source = error.source();
    }
    is_auth_failure
}

/// Returns a random delay between half of it and all of it, to spread reconnections.
pub(super) fn jittered(wait: Duration) -> Duration {
    let random = u32::from(uuid::Uuid::new_v4().as_bytes()[0]);
    wait / 2 + wait / 2 * random / 255
}
