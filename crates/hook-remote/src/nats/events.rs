//! Events of an engine, published for remote subscribers.

use std::sync::Arc;

use async_nats::Client;
use bytes::Bytes;
use futures::StreamExt;
use hook_bus::{HookExecutionResponse, HookProgress, HookSystem, Lagged, Subscription};
use hook_json::ObjectWriter;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::admission::Admission;
use super::connection::Link;
use super::message::fits;
use super::subjects::Subjects;

/// The maximum number of messages and bytes that are sent before a flush, so that responses never
/// wait behind more than that.
const MAX_UNFLUSHED: (usize, usize) = (64, 256 * 1_024);

/// The responses and progress of an engine. They wait in bounded queues of the bus; those that
/// exceed a queue are counted, and subscribers get the number.
#[derive(Debug)]
pub(super) struct Events {
    responses: Subscription<HookExecutionResponse>,
    progress: Subscription<HookProgress>,
    subjects: Subjects,
    admission: Arc<Admission>,
    /// The number of messages and bytes that may not have reached the broker.
    unflushed: (usize, usize),
}

/// A line to publish, and its event.
type Line = (Option<String>, Vec<u8>);

impl Events {
    /// Subscribes to a system's bus.
    pub(super) fn of(system: &HookSystem, subjects: Subjects, admission: Arc<Admission>) -> Self {
        let bus = system.bus();
        let (responses, progress) = (bus.subscribe(), bus.subscribe());
        Self { responses, progress, subjects, admission, unflushed: (0, 0) }
    }

    /// Publishes until `stop`, and then the rest of the queues.
    pub(super) async fn publish(
        mut self,
        mut link: watch::Receiver<Link>,
        stop: CancellationToken,
    ) {
        loop {
            let line = tokio::select! {
                biased;
                line = self.next() => line,
                () = stop.cancelled() => None,
            };
            let Some((event, line)) = line else { return };
            let Some(client) = wait_for_client(&mut link).await else { return };
            let (event, line) = match fits(line.len(), client.max_payload()) {
                true => (event, line),
                false => (None, self.count_missed(1, true)),
            };
            self.send(&client, event.as_deref(), line).await;
        }
    }

    /// Waits for the next line, until the bus is gone.
    async fn next(&mut self) -> Option<Line> {
        tokio::select! {
            response = self.responses.next() => Some(match response? {
                Ok(response) => (response.event_name().map(str::to_owned), response.to_json()),
                Err(lagged) => (None, self.count_lagged(lagged)),
            }),
            progress = self.progress.next() => Some(match progress? {
                Ok(progress) => (Some(progress.event_name().to_owned()), progress.to_json()),
                Err(lagged) => (None, self.count_lagged(lagged)),
            }),
        }
    }

    async fn send(&mut self, client: &Client, event: Option<&str>, line: Vec<u8>) {
        let (messages, bytes) = self.unflushed;
        self.unflushed = (messages + 1, bytes + line.len());
        let subject = self.subjects.events(event);
        let sent = match client.publish(subject, Bytes::from(line)).await {
            Ok(()) if self.unflushed.0 < MAX_UNFLUSHED.0 && self.unflushed.1 < MAX_UNFLUSHED.1 => {
                return;
            }
            Ok(()) => client.flush().await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let (unflushed, _) = std::mem::take(&mut self.unflushed);
        if let Err(error) = sent {
            self.count_missed(unflushed as u64, false);
            tracing::warn!(target: "hook::nats", "failed to publish what happens: {error}");
        }
    }

    fn count_lagged(&self, lagged: Lagged) -> Vec<u8> {
        self.count_missed(lagged.missed(), false)
    }

    /// Counts missed messages, and returns the line that reports them.
    fn count_missed(&self, missed: u64, too_large: bool) -> Vec<u8> {
        self.admission.counts.events_missed.fetch_add(missed, std::sync::atomic::Ordering::Relaxed);
        tracing::warn!(target: "hook::nats", missed, too_large, "events were not published");
        ObjectWriter::line(|out| {
            out.text("type", "hook-lagged");
            out.integer("missed", missed.into());
            if too_large {
                out.integer("tooLarge", missed.into());
            }
        })
    }
}

/// Waits for a connection. Returns `None` if there will be none.
async fn wait_for_client(link: &mut watch::Receiver<Link>) -> Option<Client> {
    let up = link.wait_for(|link| matches!(link, Link::Up { .. })).await.ok()?;
    match &*up {
        Link::Up { client, .. } => Some(client.clone()),
        Link::Down { .. } => None,
    }
}
