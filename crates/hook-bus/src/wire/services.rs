//! One client's services for the hooks of its requests: calls, their results, and cancellations.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use hook_json::RawJson;
use hook_run::HostCallError;
use tokio::sync::{mpsc, oneshot};

use super::live::{asked, withdrawn};
use crate::live::{AskedOfClient, ClientServices};

type Outcome = Result<RawJson, HostCallError>;

/// The end of a call of a client's service.
enum Over {
    Answered,
    /// The answer came after the hook stopped waiting.
    Late,
    /// The hook stopped waiting for the call with this number.
    Withdrawn(u64),
}

/// The services of one client, with one numbering of calls while it is connected.
pub(super) struct Services {
    offered: Arc<ClientServices>,
    asked: mpsc::Receiver<AskedOfClient>,
    last: u64,
    /// The calls that the client has not answered.
    open: HashMap<u64, oneshot::Sender<Outcome>>,
    /// The hooks that wait for these calls.
    waiting: FuturesUnordered<BoxFuture<'static, Over>>,
    /// The number of results that came too late.
    dropped: u64,
}

impl Default for Services {
    fn default() -> Self {
        let (offered, asked) = ClientServices::new([]);
        Self {
            offered,
            asked,
            last: 0,
            open: HashMap::new(),
            waiting: FuturesUnordered::new(),
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
        (self.offered, self.asked) = ClientServices::new(offered);
        self.waiting.clear();
        let mut open: Vec<u64> = self.open.drain().map(|(id, _)| id).collect();
        open.sort_unstable();
        open.into_iter().map(withdrawn).collect()
    }

    /// Returns the next line for the client: a call, or the cancellation of one.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Vec<u8> {
        loop {
            tokio::select! {
                Some(over) = self.waiting.next() => match over {
                    Over::Withdrawn(id) if self.open.remove(&id).is_some() => return withdrawn(id),
                    Over::Late => self.dropped(),
                    Over::Withdrawn(_) | Over::Answered => {}
                },
                // Skip calls whose hook has stopped waiting.
                Some(wanted) = self.asked.recv() => if !wanted.answer.is_closed() {
                    return self.ask(wanted);
                },
                else => return std::future::pending().await,
            }
        }
    }

    fn ask(&mut self, wanted: AskedOfClient) -> Vec<u8> {
        self.last += 1;
        let id = self.last;
        let line = asked(id, &wanted);
        let (open, outcome) = oneshot::channel();
        self.open.insert(id, open);
        let mut answer = wanted.answer;
        let waiting = async move {
            tokio::select! {
                biased;
                Ok(outcome) = outcome => match answer.send(outcome) {
                    Ok(()) => Over::Answered,
                    Err(_) => Over::Late,
                },
                () = answer.closed() => Over::Withdrawn(id),
            }
        };
        self.waiting.push(waiting.boxed());
        line
    }

    /// Handles the result of a call. A late result is dropped and counted.
    pub(super) fn answered(&mut self, id: &str, outcome: Outcome) {
        let open = id.parse().ok().and_then(|id: u64| self.open.remove(&id));
        if open.is_none_or(|open| open.send(outcome).is_err()) {
            self.dropped();
        }
    }

    fn dropped(&mut self) {
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
