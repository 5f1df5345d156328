//! What happens in an engine, published for subscribers elsewhere.

use async_nats::Client;
use bytes::Bytes;
use futures::StreamExt;
use hook_bus::{HookExecutionResponse, HookProgress, HookSystem, Lagged, Subscription};
use hook_core::ObjectWriter;

use super::message::fits;
use super::subjects::Subjects;

/// Responses and progress of an engine.
#[derive(Debug)]
pub(super) struct Events {
    responses: Subscription<HookExecutionResponse>,
    progress: Subscription<HookProgress>,
    subjects: Subjects,
}

impl Events {
    /// From now on.
    pub(super) fn of(system: &HookSystem, subjects: Subjects) -> Self {
        let bus = system.bus();
        Self { responses: bus.subscribe(), progress: bus.subscribe(), subjects }
    }

    /// Publishes them for as long as there is a bus.
    ///
    /// # Cancellation
    /// Dropping the future loses at most the message that is being published.
    pub(super) async fn publish(&mut self, client: &Client) {
        loop {
            let (event, line) = tokio::select! {
                response = self.responses.next() => match response {
                    Some(Ok(response)) => {
                        (response.event_name().map(str::to_owned), response.to_json())
                    }
                    Some(Err(lagged)) => (None, lagged_line(lagged)),
                    None => return,
                },
                progress = self.progress.next() => match progress {
                    Some(Ok(progress)) => {
                        (Some(progress.event_name().to_owned()), progress.to_json())
                    }
                    Some(Err(lagged)) => (None, lagged_line(lagged)),
                    None => return,
                },
            };
            let (event, line) = match fits(line.len(), client.max_payload()) {
                true => (event, line),
                false => (None, too_large_line()),
            };
            let subject = self.subjects.events(event.as_deref());
            if let Err(error) = client.publish(subject, Bytes::from(line)).await {
                tracing::warn!(target: "hook::nats", "failed to publish what happens: {error}");
            }
        }
    }
}

fn lagged_line(lagged: Lagged) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", "hook-lagged");
        out.integer("missed", lagged.missed().into());
    })
}

fn too_large_line() -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", "hook-lagged");
        out.integer("missed", 1);
        out.integer("tooLarge", 1);
    })
}
