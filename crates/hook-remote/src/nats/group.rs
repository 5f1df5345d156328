//! Checks that all engines of a subject are in one queue group. Each group gets every request: with
//! two of them all hooks would run twice, and the first answer would decide, with or without a
//! guard.
//!
//! An engine checks once, before it first joins. Two engines that start at the same moment may miss
//! each other; `hook doctor --nats` reports them.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message, StatusCode};
use bytes::Bytes;
use futures::StreamExt;
use hook_json::RawJson;
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::connection::mentions;
use super::message::{ENGINE, EngineState, fields_of};

/// The time to wait for an answer of other engines, of which there may be none.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the group of a serving engine, if one answers. The request goes to `engines`; the answer
/// comes on `reply`, where a broker can let engines alone publish. The first answer counts for all.
pub(super) async fn find(
    client: &Client,
    engines: String,
    reply: String,
    refusals: &mut broadcast::Receiver<Arc<str>>,
) -> Result<Option<String>, String> {
    let answers = client.subscribe(reply.clone()).await;
    let mut answers = answers.map_err(|error| error.to_string())?;
    let sent = client.publish_with_reply(engines.clone(), reply.clone(), Bytes::new()).await;
    sent.map_err(|error| error.to_string())?;
    let search = async {
        loop {
            tokio::select! {
                biased;
                Ok(text) = refusals.recv() => {
                    if mentions(&text, &reply) || mentions(&text, &engines) {
                        return Ok(None);
                    }
                }
                message = answers.next() => match message {
                    None => return Err("the connection is lost".to_owned()),
                    Some(message) if message.status == Some(StatusCode::NO_RESPONDERS) => {
                        return Ok(None);
                    }
                    Some(message) => if let Some(group) = serving_group(&message) {
                        return Ok(Some(group));
                    },
                },
            }
        }
    };
    timeout(TIMEOUT, search).await.unwrap_or(Ok(None))
}

/// Returns the group in a message, if its engine serves.
fn serving_group(message: &Message) -> Option<String> {
    let fields = fields_of(&message.payload)?;
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let serves = text("type")? == ENGINE && text("state")? == EngineState::Serving.as_str();
    text("queueGroup").filter(|_| serves)
}
