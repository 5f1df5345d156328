//! A server's hooks as one of its clients has them, for the client's triggers.

use std::sync::Arc;
use std::time::Duration;

use hook_core::{ProcessedHookResult, StageFailure};
use hook_json::JsonObject;
use hook_protocol::{FailureCode, HostContext, RequestInput};
use hook_run::HostServices;

use crate::bus::BusClient;
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse};

/// The hooks of a client, with the data that all events of one trigger share.
pub(crate) struct ClientHooks {
    pub(crate) client: BusClient,
    pub(crate) services: Arc<dyn HostServices>,
    pub(crate) context: HostContext,
    /// More fields for hooks.
    pub(crate) extra: JsonObject,
    /// The token of the hook that waits for the trigger, if one does.
    pub(crate) run_token: Option<Box<str>>,
    /// The time limit of retries.
    pub(crate) deadline: Option<Duration>,
}

impl ClientHooks {
    /// Fires an event.
    pub(crate) async fn fire(&self, mut input: RequestInput) -> ProcessedHookResult {
        let event = input.event();
        let HostContext { session_id, cwd, transcript_path } = self.context.clone();
        input.base.session_id = Some(session_id);
        input.base.cwd = Some(cwd);
        input.base.transcript_path = Some(transcript_path);
        input.add_extra(&self.extra);
        let mut request =
            HookExecutionRequest::typed(input).with_host_services(Arc::clone(&self.services));
        if let Some(token) = &self.run_token {
            request = request.with_run_token(token.clone());
        }
        match self.client.request(request).await {
            Ok(response) => response.processed,
            Err(error) => {
                let failure = StageFailure::new(FailureCode::Cancelled, error.to_string());
                let id = CorrelationId::generate();
                HookExecutionResponse::rejected(id, Some(event), failure, true).processed
            }
        }
    }
}
