//! Calls of one client, by hooks of its requests and by its triggers: their results, and
//! cancellations.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use hook_json::RawJson;
use hook_run::HostCallError;
use tokio::sync::{mpsc, oneshot};

use super::live::{host_call_cancelled_line, host_call_line};
use super::trigger::{TriggerCall, call_line};
use crate::live::{ClientCall, ClientServices};

type Outcome = Result<RawJson, HostCallError>;

/// The maximum number of calls of triggers that are queued for a client.
const MAX_QUEUED: usize = 64;

/// The end of a call of a client's service.
enum CallEnd {
    Answered,
    /// The answer came after the caller stopped waiting.
    Late,
    /// The caller stopped waiting for the call with this number.
    Abandoned(u64),
}

/// A call that the client has not answered.
struct PendingCall {
    is_of_trigger: bool,
    answer: oneshot::Sender<Outcome>,
}

/// The services of one client, with one numbering of calls while it is connected.
pub(super) struct Services {
    offered: Arc<ClientServices>,
    calls: mpsc::Receiver<ClientCall>,
    trigger_calls: (mpsc::Sender<TriggerCall>, mpsc::Receiver<TriggerCall>),
    last_id: u64,
    pending: HashMap<u64, PendingCall>,
    /// The callers that wait for these calls.
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
            trigger_calls: mpsc::channel(MAX_QUEUED),
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

    /// Returns the channel for calls of triggers.
    pub(super) fn trigger_calls(&self) -> mpsc::Sender<TriggerCall> {
        self.trigger_calls.0.clone()
    }

    /// Replaces the offered services. Cancels all previous calls of hooks; returns the lines for
    /// that.
    pub(super) fn offer(&mut self, offered: Vec<String>) -> Vec<Vec<u8>> {
        (self.offered, self.calls) = ClientServices::new(offered);
        self.cancel(|call| !call.is_of_trigger)
    }

    /// Cancels all calls, and every later one: the client cannot answer any more. Returns the lines
    /// for that.
    pub(super) fn close(&mut self) -> Vec<Vec<u8>> {
        (self.offered, self.calls) = ClientServices::new([]);
        self.trigger_calls.1 = mpsc::channel(1).1;
        self.cancel(|_| true)
    }

    fn cancel(&mut self, is_cancelled: impl Fn(&PendingCall) -> bool) -> Vec<Vec<u8>> {
        let cancelled = self.pending.extract_if(|_, call| is_cancelled(call));
        let mut ids: Vec<u64> = cancelled.map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids.into_iter().map(host_call_cancelled_line).collect()
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
                // Skip calls whose caller has stopped waiting.
                Some(call) = self.calls.recv() => if !call.answer.is_closed() {
                    let line = host_call_line(self.next_id(), &call);
                    return self.start_call(line, false, call.answer);
                },
                Some(call) = self.trigger_calls.1.recv() => if !call.answer.is_closed() {
                    let line = call_line(self.next_id(), &call);
                    return self.start_call(line, true, call.answer);
                },
                else => return std::future::pending().await,
            }
        }
    }

    /// Starts a call with the next number; returns its line.
    fn start_call(
        &mut self,
        line: Vec<u8>,
        is_of_trigger: bool,
        mut answer: oneshot::Sender<Outcome>,
    ) -> Vec<u8> {
        let id = self.last_id;
        let (sender, outcome) = oneshot::channel();
        self.pending.insert(id, PendingCall { is_of_trigger, answer: sender });
        let wait = async move {
            tokio::select! {
                biased;
                outcome = outcome => match outcome.map(|outcome| answer.send(outcome)) {
                    Ok(Err(_)) => CallEnd::Late,
                    // Without an outcome the call was cancelled, which dropping `answer` reports.
                    Ok(Ok(())) | Err(_) => CallEnd::Answered,
                },
                () = answer.closed() => CallEnd::Abandoned(id),
            }
        };
        self.waits.push(wait.boxed());
        line
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Handles the result of a call. A late result is dropped and counted.
    pub(super) fn handle_result(&mut self, id: &str, outcome: Outcome) {
        let sender = id.parse().ok().and_then(|id: u64| self.pending.remove(&id));
        if sender.is_none_or(|call| call.answer.send(outcome).is_err()) {
            self.count_dropped();
        }
    }

    /// Counts a message that nothing waits for.
    pub(super) fn count_dropped(&mut self) {
        self.dropped += 1;
        // Log at powers of two only, to keep the log short.
        if self.dropped.is_power_of_two() {
            let dropped = self.dropped;
            tracing::warn!(
                target: "hook::live",
                "results of host calls, and chunks, that nothing waited for were dropped so far: {dropped}"
            );
        }
    }
}
