//! One of several clients of a bus, with its fair share.

use std::fmt;
use std::sync::Arc;

use hook_run::RunLane;
use tokio::sync::Mutex;

use super::limits::PublishError;
use super::message_bus::{MessageBus, Publication};
use super::origin::MAX_DEPTH;
use super::published::Submitted;
use crate::message::{HookExecutionRequest, HookExecutionResponse, RequestKey};

/// One of several clients of a bus. Its requests have their own fairness key and wait for one bus
/// permit at a time, so that a client with a hundred requests delays another client's first one by
/// one permit only. Clones are the same client.
#[derive(Clone)]
pub struct BusClient {
    bus: MessageBus,
    lane: RunLane,
    group: Option<u32>,
    /// Indexed by nesting depth, so that a nested request never waits on its ancestor.
    entering: Arc<[Mutex<()>; MAX_DEPTH as usize + 1]>,
}

impl MessageBus {
    /// Returns a new client with its own fair share. `process_group` is that of the client's
    /// process, if known: it identifies requests made by a hook's processes.
    pub fn client(&self, process_group: Option<u32>) -> BusClient {
        BusClient {
            bus: self.clone(),
            lane: RunLane::own(),
            group: process_group,
            entering: Arc::default(),
        }
    }
}

impl BusClient {
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
        let place = match self.bus.try_admit(&request, origin.depth) {
            Some(place) => place,
            None => {
                let _turn = match self.entering.get(origin.depth as usize) {
                    Some(entering) => Some(entering.lock().await),
                    None => None,
                };
                self.bus.admit(&request, origin.depth).await?
            }
        };
        let publication =
            Publication { key: RequestKey::next(), cancel: None, lane: self.lane, origin };
        match self.bus.submit(place, request, publication)? {
            Submitted::Answered(response) => Ok(*response),
            Submitted::Running(running) => {
                let cancelled_with_this = running.cancellation().clone().drop_guard();
                let response = running.response().await.ok_or(PublishError::NoRuntime)?;
                cancelled_with_this.disarm();
                Ok(response)
            }
        }
    }
}

impl fmt::Debug for BusClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BusClient").field("group", &self.group).finish_non_exhaustive()
    }
}
