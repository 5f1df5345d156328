//! `hook.v1.HookBus`: requests for an event's hooks, and a stream of the bus's messages.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use hook_bus::journal::JournalFollower;
use hook_bus::live::ClientServices;
use hook_bus::{HookExecutionRequest as BusRequest, HookSystem};
use hook_json::{ObjectWriter, RawObject};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::{Request, Response, Status};

use super::body::{Reservation, shutting_down};
use super::caller::Caller;
use super::names::MAX_STREAM_MESSAGE;
use super::proto::hook_bus::hook_bus_server::HookBus;
use super::proto::hook_bus::{
    BusMessage, FollowRequest, HookExecutionRequest, HookExecutionResponse,
};

/// The maximum number of streams that follow a server.
pub(super) const MAX_FOLLOWERS: usize = 64;

/// The service, for all connections.
#[derive(Debug)]
pub(super) struct Bus {
    pub(super) system: Arc<HookSystem>,
    pub(super) followers: Arc<Semaphore>,
    /// Tracks the unanswered calls.
    pub(super) tasks: TaskTracker,
    /// Ends all streams at once.
    pub(super) end: CancellationToken,
}

#[tonic::async_trait]
impl HookBus for Bus {
    type FollowStream = BoxStream<'static, Result<BusMessage, Status>>;

    async fn request(
        &self,
        request: Request<HookExecutionRequest>,
    ) -> Result<Response<HookExecutionResponse>, Status> {
        let _task = self.tasks.token();
        let (_, extensions, request) = request.into_parts();
        // Keeps the memory of the request reserved until it is answered.
        let _reservation = extensions.get::<Reservation>().cloned();
        let caller = Caller::of(&extensions)?;
        let bus_request = BusRequest::from_json(&String::from_utf8_lossy(&request.json));
        drop(request);
        // A unary call has no channel for host calls. Its hooks get the services that need no host,
        // and never the server's own.
        let bus_request = bus_request.with_host_services(ClientServices::none());
        let response = caller.requests.request(bus_request).await.map_err(|_| shutting_down())?;
        Ok(Response::new(HookExecutionResponse { json: response.to_json() }))
    }

    async fn follow(
        &self,
        _request: Request<FollowRequest>,
    ) -> Result<Response<Self::FollowStream>, Status> {
        let Ok(permit) = Arc::clone(&self.followers).try_acquire_owned() else {
            return Err(Status::resource_exhausted(format!(
                "{MAX_FOLLOWERS} streams follow this server already, as many as may"
            )));
        };
        let (following, first) = JournalFollower::start(&self.system);
        let state = (Some(first), following, self.end.clone(), permit);
        let lines = stream::unfold(state, |(first, mut following, end, permit)| async move {
            let line = match first {
                Some(first) => Some(first),
                // Messages from before the end are still sent.
                None => tokio::select! {
                    biased;
                    line = following.next() => line,
                    () = end.cancelled() => None,
                },
            };
            let message = BusMessage { json: fit_message(line?) };
            Some((Ok(message), (None, following, end, permit)))
        });
        Ok(Response::new(lines.boxed()))
    }
}

/// Returns the line, or a report of a missed line if it exceeds the size of a stream message.
fn fit_message(line: Vec<u8>) -> Vec<u8> {
    // Its tag and its length are part of the message.
    if line.len() + 16 <= MAX_STREAM_MESSAGE {
        return line;
    }
    let line = RawObject::parse(String::from_utf8_lossy(&line).into_owned());
    let position = line.ok().and_then(|line| line.fields().get("at")?.to_i64());
    ObjectWriter::line(|object| {
        object.integer("at", position.unwrap_or_default().into());
        object.integer("missed", 1);
    })
}
