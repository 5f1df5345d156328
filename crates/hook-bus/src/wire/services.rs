//! One client's services for the hooks of its requests: calls, their results, and cancellations.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use hook_json::RawJson;
use hook_run::HostCallError;
use tokio::sync::{mpsc, oneshot};

use super::live::{host_call_cancelled_line, host_call_line};
use crate::live::{ClientCall, ClientServices};

type Outcome = Result<RawJson, HostCallError>;

/// The end of a call of a client's service.
enum CallEnd {
    Answered,
    /// The answer came after the hook stopped waiting.
    Late,
    /// The hook stopped waiting for the call with this number.
    Abandoned(u64),
}

/// The services of one client, with one numbering of calls while it is connected.
pub(super) struct Services {
    offered: Arc<ClientServices>,
    calls: mpsc::Receiver<ClientCall>,
    last_id: u64,
    /// The calls that the client has not answered.
    pending: HashMap<u64, oneshot::Sender<Outcome>>,
    /// The hooks that wait for these calls.
    waits: FuturesUnordered<BoxFuture<'static, CallEnd>>,
    /// The number of results that came too late.
    dropped: u64,
}

impl Default for Services {
    fn default() -> Self {
        let (offered, calls) = ClientServices::new([]);
        Self {
            offered,
            calls,
            last_id: 0,
            pending: HashMap::new(),
            waits: FuturesUnordered::new(),
            dropped: 0,
        }
    }
}

impl Services {
    /// Returns the services offered to the hooks of new requests.
    pub(super) fn offered(&self) -> Arc<ClientServices> {
        Arc::clone(&self.offered)
    }

    /// Replaces the offered services. Cancels all previous calls; returns the lines for that.
    pub(super) fn offer(&mut self, offered: Vec<String>) -> Vec<Vec<u8>> {
        (self.offered, self.calls) = ClientServices::new(offered);
        self.waits.clear();
        let mut pending_ids: Vec<u64> = self.pending.drain().map(|(id, _)| id).collect();
        pending_ids.sort_unstable();
        pending_ids.into_iter().map(host_call_cancelled_line).collect()
    }

    /// Returns the next line for the client: a call, or the cancellation of one.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Vec<u8> {
        loop {
            tokio::select! {
                Some(end) = self.waits.next() => match end {
                    CallEnd::Abandoned(id) if self.pending.remove(&id).is_some() => return host_call_cancelled_line(id),
                    CallEnd::Late => self.count_dropped(),
                    CallEnd::Abandoned(_) | CallEnd::Answered => {}
                },
                // Skip calls whose hook has stopped waiting.
                Some(call) = self.calls.recv() => if !call.answer.is_closed() {
                    return self.start_call(call);
                },
                else => return std::future::pending().await,
            }
        }
    }

    fn start_call(&mut self, call: ClientCall) -> Vec<u8> {
        self.last_id += 1;
        let id = self.last_id;
        let line = host_call_line(id, &call);
        let (sender, outcome) = oneshot::channel();
        self.pending.insert(id, sender);
        let mut answer = call.answer;
        let wait = async move {
            tokio::select! {
                biased;
                Ok(outcome) = outcome => match answer.send(outcome) {
                    Ok(()) => CallEnd::Answered,
                    Err(_) => CallEnd::Late,
                },
                () = answer.closed() => CallEnd::Abandoned(id),
            }
        };
        self.waits.push(wait.boxed());
        line
    }

    /// Handles the result of a call. A late result is dropped and counted.
    pub(super) fn handle_result(&mut self, id: &str, outcome: Outcome) {
        let sender = id.parse().ok().and_then(|id: u64| self.pending.remove(&id));
        if sender.is_none_or(|sender| sender.send(outcome).is_err()) {
            self.count_dropped();
        }
    }

    fn count_dropped(&mut self) {
        self.dropped += 1;
        // Log at powers of two only, to keep the log short.
        if self.dropped.is_power_of_two() {
            let dropped = self.dropped;
            tracing::warn!(
                target: "hook::live",
                "results of host calls that nobody waited for were dropped so far: {dropped}"
            );
        }
    }
}
