//! One of several clients of a bus, with its fair share.

use std::sync::Arc;

use hook_json::opaque_debug;
use hook_run::FairnessKey;
use tokio::sync::Mutex;

use super::limits::PublishError;
use super::message_bus::MessageBus;
use super::origin::MAX_DEPTH;
use super::published::Submitted;
use super::request_handler::RequestContext;
use crate::message::{HookExecutionRequest, HookExecutionResponse};

/// One of several clients of a bus. Its requests have their own fairness key and wait for one bus
/// permit at a time, so that a client with a hundred requests delays another client's first one by
/// one permit only. Clones are the same client.
#[derive(Clone)]
pub struct BusClient {
    bus: MessageBus,
    lane: FairnessKey,
    group: Option<u32>,
    /// Indexed by nesting depth, so that a nested request never waits on its ancestor.
    admission_turns: Arc<[Mutex<()>; MAX_DEPTH as usize + 1]>,
}

impl MessageBus {
    /// Returns a new client with its own fair share. `process_group` is that of the client's
    /// process, if known: it identifies requests made by a hook's processes.
    pub fn client(&self, process_group: Option<u32>) -> BusClient {
        BusClient {
            bus: self.clone(),
            lane: FairnessKey::unique(),
            group: process_group,
            admission_turns: Arc::default(),
        }
    }
}

impl BusClient {
    /// Returns the key of the client's fair share.
    pub(crate) fn lane(&self) -> FairnessKey {
        self.lane
    }

    /// Serves a request once the bus has room for it, and returns the response.
    ///
    /// # Errors
    /// If the async runtime ends before there is a response.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request's hooks.
    pub async fn request(
        &self,
        request: HookExecutionRequest,
    ) -> Result<HookExecutionResponse, PublishError> {
        let origin = self.bus.origin_of(&request, self.group);
        let permit = match self.bus.try_admit(&request, origin.depth) {
            Some(permit) => permit,
            None => {
                let _turn = match self.admission_turns.get(origin.depth as usize) {
                    Some(turn) => Some(turn.lock().await),
                    None => None,
                };
                self.bus.admit(&request, origin.depth).await?
            }
        };
        let context = RequestContext::new(self.lane, origin);
        match self.bus.submit(permit, request, context)? {
            Submitted::Answered(response) => Ok(*response),
            Submitted::Running(running) => {
                let cancel_guard = running.cancellation().clone().drop_guard();
                let response = running.response().await.ok_or(PublishError::NoRuntime)?;
                cancel_guard.disarm();
                Ok(response)
            }
        }
    }
}

opaque_debug!(BusClient { group });
