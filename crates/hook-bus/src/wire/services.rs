//! What one client does for the hooks of its requests: what it is asked, what it answers, and what nobody waits
//! for any more.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use hook_core::{HostCallError, RawJson};
use tokio::sync::{mpsc, oneshot};

use super::live::{asked, withdrawn};
use crate::live::{AskedOfClient, ClientServices};

type Outcome = Result<RawJson, HostCallError>;

/// How waiting for something that a client was asked for ends.
enum Over {
    Answered,
    /// It was answered when nobody waited any more.
    Late,
    /// Nobody waits any more for what has this number.
    Withdrawn(u64),
}

/// The services of one client, under one numbering for as long as it is connected.
pub(super) struct Services {
    offered: Arc<ClientServices>,
    asked: mpsc::Receiver<AskedOfClient>,
    last: u64,
    /// What it was asked for and has not answered.
    open: HashMap<u64, oneshot::Sender<Outcome>>,
    /// The hooks that wait for that.
    waiting: FuturesUnordered<BoxFuture<'static, Over>>,
    /// How many results nobody waited for.
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
    /// What it offers to the hooks of requests that it makes now.
    pub(super) fn offered(&self) -> Arc<ClientServices> {
        Arc::clone(&self.offered)
    }

    /// From now on it offers these. What it was asked before is not waited for any more: the lines that say so.
    pub(super) fn offer(&mut self, offered: Vec<String>) -> Vec<Vec<u8>> {
        (self.offered, self.asked) = ClientServices::new(offered);
        self.waiting.clear();
        let mut open: Vec<u64> = self.open.drain().map(|(id, _)| id).collect();
        open.sort_unstable();
        open.into_iter().map(withdrawn).collect()
    }

    /// The next line for the client: that it is asked for something, or that nobody waits for that any more.
    ///
    /// # Cancellation
    /// Nothing is lost.
    pub(super) async fn next(&mut self) -> Vec<u8> {
        loop {
            tokio::select! {
                Some(over) = self.waiting.next() => match over {
                    Over::Withdrawn(id) if self.open.remove(&id).is_some() => return withdrawn(id),
                    Over::Late => self.dropped(),
                    Over::Withdrawn(_) | Over::Answered => {}
                },
                // Who does not wait any more asks for nothing.
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

    /// Takes what came of something that it was asked for. What nobody waits for is dropped, and counted.
    pub(super) fn answered(&mut self, id: &str, outcome: Outcome) {
        let open = id.parse().ok().and_then(|id: u64| self.open.remove(&id));
        if open.is_none_or(|open| open.send(outcome).is_err()) {
            self.dropped();
        }
    }

    fn dropped(&mut self) {
        self.dropped += 1;
        // Rarer and rarer, however many there are.
        if self.dropped.is_power_of_two() {
            let dropped = self.dropped;
            tracing::warn!(
                target: "hook::live",
                "results of host calls that nobody waited for were dropped so far: {dropped}"
            );
        }
    }
}
