//! Serving one client over a pair of byte streams: requests in, responses out as they complete.
//!
//! Reading, running and writing go on side by side, so a client may send everything before it
//! reads anything. What is ready and not yet written is bounded; beyond it nothing more is read
//! until the client reads.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use hook_core::nearest::shortened;
use hook_core::{ObjectWriter, RawJson};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use super::{Line, LineReader, invalid, parse, request_from};
use crate::bus::{MessageBus, PublishError, PublishedRequest};
use crate::message::{
    CorrelationId, HookExecutionRequest, HookExecutionResponse, HookProgress, RequestKey, kind,
};
use crate::subscription::{Lagged, Subscription};
use crate::system::HookSystem;

/// The version of the line protocol, as the hello says it.
const PROTOCOL_VERSION: u64 = 1;

/// How many bytes may be ready for a client that does not read.
const MAX_UNREAD: usize = 64 * 1024 * 1024;

/// How many requests of a client that is behind with reading may be in flight, and from how many
/// bytes on it is: each of them may answer with megabytes.
const IN_FLIGHT_BEHIND: usize = 16;
const BEHIND: usize = 1024 * 1024;

/// How many requests of one client may be in flight.
const IN_FLIGHT: usize = 128;

/// How a client's connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEnd {
    /// Its input ended and everything was answered.
    Finished,
    /// It does not read any more; its requests were cancelled.
    Gone,
}

/// What a client's line asks for.
#[derive(Debug)]
pub enum ClientMessage {
    /// To run an event's hooks, or nothing that is understood, which is answered likewise.
    Request(Box<HookExecutionRequest>),
    /// To be told when hooks of its own requests start and finish.
    Subscribe,
    /// To end the hooks of its own requests with that id.
    Cancel(CorrelationId),
    /// To read the settings anew.
    Reload,
}

impl ClientMessage {
    /// Reads a line. There is no line that is no message: what is not understood is a request that
    /// will be answered `invalid_request`.
    pub fn read(line: Line) -> Self {
        let number = line.number();
        let fields = match parse(line) {
            Ok(fields) => fields,
            Err(request) => return Self::Request(request),
        };
        match fields.get("type").and_then(RawJson::to_text).as_deref() {
            Some("hook-subscribe") => Self::Subscribe,
            Some("hook-reload") => Self::Reload,
            Some("hook-cancel") => {
                let id = fields.get("correlationId").and_then(RawJson::to_text);
                match id.and_then(|id| CorrelationId::new(id).ok()) {
                    Some(id) => Self::Cancel(id),
                    None => {
                        let message =
                            "hook-cancel needs the correlationId of the request to cancel";
                        Self::Request(Box::new(invalid(number, message)))
                    }
                }
            }
            Some(other) if other != kind::REQUEST => {
                let message = format!(
                    "field `type`: there is no message {:?}; a client sends {}, hook-subscribe, \
                     hook-cancel or hook-reload",
                    shortened(other),
                    kind::REQUEST
                );
                Self::Request(Box::new(invalid(number, message)))
            }
            _ => Self::Request(Box::new(request_from(number, fields))),
        }
    }
}

/// Serves a client until its input has ended and everything it asked is answered, or until it is
/// gone. Each message is flushed by itself. Once `stop` is cancelled nothing more is read.
///
/// # Errors
/// When its input cannot be read. A client that does not read is no error.
pub async fn serve_client<R, W>(
    system: &HookSystem,
    reader: R,
    writer: W,
    stop: &CancellationToken,
) -> io::Result<ClientEnd>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(reader);
    let mut client = Client {
        system,
        outbox: Outbox { writer, lines: VecDeque::new(), bytes: 0, written: 0 },
        inbox: Inbox::default(),
        progress: None,
        running: FuturesUnordered::new(),
        requests: HashMap::new(),
        cancels: HashMap::new(),
        reloads: Reloads::default(),
    };
    client.outbox.push(hello());
    let (mut reading, mut failed) = (true, Ok(ClientEnd::Finished));
    while reading || client.is_busy() {
        let unread = client.outbox.bytes >= MAX_UNREAD;
        let most = if client.outbox.bytes > BEHIND { IN_FLIGHT_BEHIND } else { IN_FLIGHT };
        let may_publish = !unread && client.running.len() < most;
        let may_read = reading && !unread && client.inbox.bytes < MAX_UNREAD;
        tokio::select! {
            () = stop.cancelled(), if reading => reading = false,
            line = lines.next(), if may_read => match line {
                Ok(Some(line)) => client.take(ClientMessage::read(line)),
                Ok(None) => reading = false,
                // What was asked before is still answered.
                Err(error) => (reading, failed) = (false, Err(error)),
            },
            published = client.inbox.publish(system.bus()), if may_publish => {
                client.published(published);
            }
            // What is done waits where it is while the client does not read.
            Some(finished) = client.running.next(), if !unread => client.finished(finished),
            progress = next_progress(&mut client.progress), if !unread => {
                client.push_progress(progress);
            }
            written = client.outbox.write() => if written.is_err() {
                client.cancel_everything();
                return Ok(ClientEnd::Gone);
            },
        }
    }
    failed
}

/// Something that was asked for is done.
enum Finished {
    Response { key: RequestKey, response: Option<Box<HookExecutionResponse>> },
    Reloaded(Vec<u8>),
}

struct Client<'s, W> {
    system: &'s HookSystem,
    outbox: Outbox<W>,
    inbox: Inbox,
    progress: Option<Subscription<HookProgress>>,
    running: FuturesUnordered<BoxFuture<'s, Finished>>,
    /// This client's requests that are not answered yet.
    requests: HashMap<RequestKey, CorrelationId>,
    /// What ends them. Ids are per client, and not even there unique.
    cancels: HashMap<CorrelationId, HashMap<RequestKey, CancellationToken>>,
    reloads: Reloads,
}

/// Reloads that were asked for. Any number that come while one runs are done by one after it.
#[derive(Default)]
struct Reloads {
    waiting: usize,
    running: usize,
}

impl<W: AsyncWrite + Unpin> Client<'_, W> {
    fn is_busy(&self) -> bool {
        !self.inbox.is_empty() || !self.running.is_empty() || !self.outbox.lines.is_empty()
    }

    fn take(&mut self, message: ClientMessage) {
        match message {
            ClientMessage::Request(request) => {
                let (key, cancel) = (RequestKey::next(), CancellationToken::new());
                let id = request.correlation_id().clone();
                self.cancels.entry(id.clone()).or_default().insert(key, cancel.clone());
                self.requests.insert(key, id);
                self.inbox.push(Waiting { request: *request, key, cancel });
            }
            ClientMessage::Subscribe => {
                self.progress.get_or_insert_with(|| self.system.bus().subscribe());
            }
            ClientMessage::Cancel(id) => {
                let cancels = self.cancels.remove(&id).unwrap_or_default();
                cancels.values().for_each(CancellationToken::cancel);
            }
            ClientMessage::Reload => {
                self.reloads.waiting += 1;
                self.reload();
            }
        }
    }

    fn reload(&mut self) {
        if self.reloads.running == 0 && self.reloads.waiting > 0 {
            self.reloads.running = std::mem::take(&mut self.reloads.waiting);
            let system = self.system;
            self.running.push(async move { Finished::Reloaded(reload(system).await) }.boxed());
        }
    }

    fn published(&mut self, published: Result<PublishedRequest, PublishError>) {
        match published {
            Ok(published) => {
                let key = published.key();
                let response = published.response();
                self.running.push(
                    async move {
                        let response = response.await.map(Box::new);
                        Finished::Response { key, response }
                    }
                    .boxed(),
                );
            }
            // Only a runtime that is gone refuses a request that waits for its place.
            Err(error) => tracing::error!("request not accepted: {error}"),
        }
    }

    fn finished(&mut self, finished: Finished) {
        match finished {
            Finished::Response { key, response } => {
                // What was said of its hooks comes before the response.
                while let Some(progress) = next_progress(&mut self.progress).now_or_never() {
                    self.push_progress(progress);
                }
                self.forget(key);
                if let Some(response) = response {
                    self.outbox.push(response.to_json());
                }
            }
            Finished::Reloaded(message) => {
                for _ in 0..std::mem::take(&mut self.reloads.running) {
                    self.outbox.push(message.clone());
                }
                self.reload();
            }
        }
    }

    fn push_progress(&mut self, progress: Result<Arc<HookProgress>, Lagged>) {
        match progress {
            Ok(progress) if self.requests.contains_key(&progress.request()) => {
                self.outbox.push(progress.to_json());
            }
            // Another client's.
            Ok(_) => {}
            Err(lagged) => self.outbox.push(lagged_message(lagged)),
        }
    }

    fn forget(&mut self, key: RequestKey) {
        let Some(id) = self.requests.remove(&key) else { return };
        if let Entry::Occupied(mut cancels) = self.cancels.entry(id) {
            cancels.get_mut().remove(&key);
            if cancels.get().is_empty() {
                cancels.remove();
            }
        }
    }

    fn cancel_everything(&self) {
        let cancels = self.cancels.values().flat_map(HashMap::values);
        cancels.for_each(CancellationToken::cancel);
    }
}

/// Requests that were read and not accepted yet: the bus takes them one by one as it has room,
/// while what comes behind them (a cancellation, say) is read on.
#[derive(Default)]
struct Inbox {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// The first of them, on its way into the bus, with its weight.
    publishing: Option<(BoxFuture<'static, Result<PublishedRequest, PublishError>>, usize)>,
}

struct Waiting {
    request: HookExecutionRequest,
    key: RequestKey,
    cancel: CancellationToken,
}

impl Inbox {
    fn is_empty(&self) -> bool {
        self.publishing.is_none() && self.waiting.is_empty()
    }

    fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.request.weight();
        self.waiting.push_back(waiting);
    }

    /// Publishes the next request; never done while there is none.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    async fn publish(&mut self, bus: &MessageBus) -> Result<PublishedRequest, PublishError> {
        if self.publishing.is_none()
            && let Some(Waiting { request, key, cancel }) = self.waiting.pop_front()
        {
            let (bus, weight) = (bus.clone(), request.weight());
            let publish = async move { bus.publish_as(request, key, cancel).await };
            self.publishing = Some((publish.boxed(), weight));
        }
        let Some((publish, weight)) = &mut self.publishing else {
            return std::future::pending().await;
        };
        let published = publish.await;
        self.bytes -= *weight;
        self.publishing = None;
        published
    }
}

async fn reload(system: &HookSystem) -> Vec<u8> {
    let reloaded = system.reload().await;
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    object.text("type", "hook-reloaded");
    object.bool("success", reloaded.is_ok());
    object.integer("totalHooks", system.status().total_hooks as i128);
    let mut warnings: Vec<String> =
        system.diagnostics().unwrap_or_default().iter().map(ToString::to_string).collect();
    warnings.extend(reloaded.err().map(|error| error.to_string()));
    object.texts("warnings", &warnings);
    object.end();
    out
}

fn hello() -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    object.text("type", "hook-hello");
    object.text("engine", "hook");
    object.text("version", env!("CARGO_PKG_VERSION"));
    object.integer("protocol", PROTOCOL_VERSION.into());
    object.end();
    out
}

/// The next message of progress, of whichever request; never done while nobody asked for it.
async fn next_progress(
    progress: &mut Option<Subscription<HookProgress>>,
) -> Result<Arc<HookProgress>, Lagged> {
    let Some(progress) = progress else { return std::future::pending().await };
    match progress.next().await {
        Some(progress) => progress,
        None => std::future::pending().await,
    }
}

fn lagged_message(lagged: Lagged) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    object.text("type", "hook-lagged");
    object.integer("missed", lagged.missed().into());
    object.end();
    out
}

/// Lines that are ready for the client.
struct Outbox<W> {
    writer: W,
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// How much of the first line is written.
    written: usize,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    fn push(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// Writes a piece of what is ready; never done while nothing is.
    async fn write(&mut self) -> io::Result<()> {
        let Some(line) = self.lines.front() else { return std::future::pending().await };
        let rest = line.get(self.written..).unwrap_or_default();
        if rest.is_empty() {
            self.writer.flush().await?;
            self.bytes -= line.len();
            self.written = 0;
            self.lines.pop_front();
            return Ok(());
        }
        match self.writer.write(rest).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            written => {
                self.written += written;
                Ok(())
            }
        }
    }
}
