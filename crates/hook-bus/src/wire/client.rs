//! Serving one client over a pair of byte streams: requests in, responses out as they complete.
//!
//! Reading, running and writing go on side by side, so a client may send everything before it
//! reads anything. What is ready and not yet written is bounded; beyond it nothing more is read
//! until the client reads.

use std::collections::{HashMap, VecDeque};
use std::io;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use hook_core::{FailureCode, ObjectWriter, RawJson};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::{Line, LineReader, request_of};
use crate::bus::{Canceller, MessageBus, PublishError, PublishedRequest};
use crate::message::{
    CorrelationId, HookExecutionRequest, HookExecutionResponse, HookFinished, HookStarted,
    RequestKey,
};
use crate::subscription::{Lagged, Subscription};
use crate::system::HookSystem;

/// The version of the line protocol, as the hello says it.
const PROTOCOL_VERSION: u64 = 1;

/// How many bytes may be ready for a client that does not read.
const MAX_UNREAD: usize = 64 * 1024 * 1024;

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
        if let Line::Text { text, number } = &line
            && let Ok(fields) = RawJson::parse(text.as_str()).and_then(|value| value.to_object())
        {
            let kind = fields.get("type").and_then(RawJson::to_text);
            match kind.as_deref() {
                Some("hook-subscribe") => return Self::Subscribe,
                Some("hook-reload") => return Self::Reload,
                Some("hook-cancel") => {
                    let id = fields.get("correlationId").and_then(RawJson::to_text);
                    if let Some(id) = id.and_then(|id| CorrelationId::new(id).ok()) {
                        return Self::Cancel(id);
                    }
                    let message = "hook-cancel needs the correlationId of the request to cancel";
                    let request =
                        HookExecutionRequest::invalid(FailureCode::InvalidRequest, message)
                            .with_envelope_detail("line", RawJson::from_integer(*number as u64));
                    return Self::Request(Box::new(request));
                }
                _ => {}
            }
        }
        Self::Request(Box::new(request_of(line)))
    }
}

/// Serves a client until its input has ended and everything it asked is answered, or until it is
/// gone. Each message is flushed by itself.
///
/// # Errors
/// When its input cannot be read. A client that does not read is no error.
pub async fn serve_client<R, W>(system: &HookSystem, reader: R, writer: W) -> io::Result<ClientEnd>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(reader);
    let mut client = Client {
        system,
        outbox: Outbox { writer, lines: VecDeque::new(), bytes: 0, written: 0 },
        progress: None,
        running: FuturesUnordered::new(),
        waiting: None,
        requests: HashMap::new(),
    };
    client.outbox.push(hello());
    let mut reading = true;
    while reading || client.is_busy() {
        let may_read = reading && client.waiting.is_none() && client.outbox.bytes < MAX_UNREAD;
        tokio::select! {
            line = lines.next(), if may_read => match line? {
                Some(line) => client.accept(ClientMessage::read(line)),
                None => reading = false,
            },
            published = publish_waiting(&mut client.waiting) => client.published(published),
            Some(finished) = client.running.next() => client.finished(finished),
            progress = next_progress(&mut client.progress) => client.push_progress(progress),
            written = client.outbox.write() => if written.is_err() {
                client.cancel_everything();
                return Ok(ClientEnd::Gone);
            },
        }
    }
    Ok(ClientEnd::Finished)
}

/// Something that was asked for is done.
enum Finished {
    Response { key: RequestKey, response: Option<Box<HookExecutionResponse>> },
    Reloaded(Vec<u8>),
}

struct Client<'s, W> {
    system: &'s HookSystem,
    outbox: Outbox<W>,
    progress: Option<Progress>,
    running: FuturesUnordered<BoxFuture<'s, Finished>>,
    /// A request that the bus has no room for yet.
    waiting: Option<BoxFuture<'static, Result<PublishedRequest, PublishError>>>,
    /// This client's requests in flight. Ids are per client, and not even there unique.
    requests: HashMap<RequestKey, (CorrelationId, Canceller)>,
}

impl<W: AsyncWrite + Unpin> Client<'_, W> {
    fn is_busy(&self) -> bool {
        self.waiting.is_some() || !self.running.is_empty() || !self.outbox.lines.is_empty()
    }

    fn accept(&mut self, message: ClientMessage) {
        match message {
            ClientMessage::Request(request) => {
                let bus = self.system.bus().clone();
                self.waiting = Some(async move { bus.publish(*request).await }.boxed());
            }
            ClientMessage::Subscribe => {
                self.progress.get_or_insert_with(|| Progress::of(self.system.bus()));
            }
            ClientMessage::Cancel(id) => {
                for (known, canceller) in self.requests.values() {
                    if *known == id {
                        canceller.cancel();
                    }
                }
            }
            ClientMessage::Reload => {
                let system = self.system;
                self.running.push(async move { Finished::Reloaded(reload(system).await) }.boxed());
            }
        }
    }

    fn published(&mut self, published: Result<PublishedRequest, PublishError>) {
        self.waiting = None;
        match published {
            Ok(published) => {
                let key = published.key();
                let known = (published.correlation_id().clone(), published.canceller());
                self.requests.insert(key, known);
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
                self.requests.remove(&key);
                if let Some(response) = response {
                    self.outbox.push(response.to_json());
                }
            }
            Finished::Reloaded(message) => self.outbox.push(message),
        }
    }

    fn push_progress(&mut self, (request, message): (Option<RequestKey>, Vec<u8>)) {
        if request.is_none_or(|request| self.requests.contains_key(&request)) {
            self.outbox.push(message);
        }
    }

    fn cancel_everything(&self) {
        for (_, canceller) in self.requests.values() {
            canceller.cancel();
        }
    }
}

async fn publish_waiting(
    waiting: &mut Option<BoxFuture<'static, Result<PublishedRequest, PublishError>>>,
) -> Result<PublishedRequest, PublishError> {
    match waiting {
        Some(waiting) => waiting.await,
        None => std::future::pending().await,
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

/// Starts and finishes of all requests on the bus, in order.
struct Progress {
    started: Subscription<HookStarted>,
    finished: Subscription<HookFinished>,
}

impl Progress {
    fn of(bus: &MessageBus) -> Self {
        Self { started: bus.subscribe(), finished: bus.subscribe() }
    }
}

/// The next message of progress, with the request it belongs to; that something was missed belongs
/// to no request.
async fn next_progress(progress: &mut Option<Progress>) -> (Option<RequestKey>, Vec<u8>) {
    let Some(Progress { started, finished }) = progress else {
        return std::future::pending().await;
    };
    tokio::select! {
        // A hook that has finished has started.
        biased;
        Some(started) = started.next() => match started {
            Ok(started) => (Some(started.request), started.to_json()),
            Err(lagged) => (None, lagged_message(lagged)),
        },
        Some(finished) = finished.next() => match finished {
            Ok(finished) => (Some(finished.request), finished.to_json()),
            Err(lagged) => (None, lagged_message(lagged)),
        },
        else => std::future::pending().await,
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
