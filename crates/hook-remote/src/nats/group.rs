//! That all engines of one subject are in one queue group. Each group gets every request: with two of them
//! all hooks would run twice, and whichever answered first would decide, a guard or not.
//!
//! An engine asks who is there before it joins, and again when it hears of another group. It believes only
//! what is answered to itself, which a broker can keep everybody but engines from doing.

use std::time::Duration;

use async_nats::{Client, Message, StatusCode, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use hook_core::RawJson;

use super::message::fields_of;
use super::status::{ENGINE, SERVING};

/// How much longer an engine must have served than one of another group to stay: what both say of
/// themselves is not of the same moment. Where neither has, both leave, and one of them is back first.
const LONGER: Duration = Duration::from_secs(1);

/// An engine that serves, as it says itself.
#[derive(Debug, Clone)]
pub(super) struct Neighbour {
    pub(super) id: String,
    pub(super) group: String,
    serving: Duration,
}

impl Neighbour {
    /// The engine that a message is about, if that serves.
    pub(super) fn read(message: &Message) -> Option<Self> {
        let fields = fields_of(&message.payload)?;
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        if text("type")? != ENGINE || text("state")? != SERVING {
            return None;
        }
        let serving = fields.get("servingMs").and_then(RawJson::to_whole_number);
        Some(Self {
            id: text("id")?,
            group: text("queueGroup")?,
            serving: Duration::from_millis(serving.unwrap_or_default()),
        })
    }

    /// Whether one of another group that has served for so long makes room for it.
    pub(super) fn stays_before(&self, serving: Duration) -> bool {
        self.serving + LONGER >= serving
    }
}

/// What engines answer to one of them that asks who is there.
pub(super) struct Neighbours {
    answers: Subscriber,
}

/// What is heard of them.
pub(super) enum Said {
    Serves(Neighbour),
    /// Nobody is there.
    Nobody,
    /// Nothing is heard any more.
    Lost,
}

impl Neighbours {
    /// Listens to what they answer under that subject.
    pub(super) async fn hear(
        client: &Client,
        reply: String,
    ) -> Result<Self, async_nats::SubscribeError> {
        let answers = client.subscribe(reply).await?;
        Ok(Self { answers })
    }

    /// What is answered next.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Said {
        loop {
            let Some(message) = self.answers.next().await else { return Said::Lost };
            if message.status == Some(StatusCode::NO_RESPONDERS) {
                return Said::Nobody;
            }
            if let Some(neighbour) = Neighbour::read(&message) {
                return Said::Serves(neighbour);
            }
        }
    }
}

/// Asks engines who they are; they answer under `reply`.
pub(super) async fn ask(client: &Client, engines: String, reply: &str) {
    // Where nothing can be said, nothing is served.
    let _ = client.publish_with_reply(engines, reply.to_owned(), Bytes::new()).await;
}
