//! `hook fire --nats`: calls a fleet of engines and runs no hooks, in builds with that feature.

use hook_bus::{HookExecutionRequest, HookExecutionResponse};
use tokio_util::sync::CancellationToken;

use super::Arguments;
use crate::context::Context;
use crate::error::CommandError;

/// Sends the request to the fleet.
#[cfg(feature = "remote")]
pub(super) async fn ask(
    arguments: &Arguments,
    request: HookExecutionRequest,
    context: &Context,
    stop: &CancellationToken,
) -> Result<HookExecutionResponse, CommandError> {
    use std::pin::pin;
    use std::time::Duration;

    use hook_remote::nats::{NatsBus, NatsOptions};

    let options = arguments.fleet.options().unwrap_or_else(|| NatsOptions::new(""));
    let options = options.fail_behavior(arguments.fail_behavior);
    let options = match context.timeout() {
        Some(timeout) => options.deadline(timeout),
        None => options,
    };
    let bus = NatsBus::with(options)?;
    let response = {
        let mut response = pin!(bus.request(request));
        tokio::select! {
            response = &mut response => response,
            // The shutdown waits for the request, so both are polled together.
            () = stop.cancelled() => tokio::join!(bus.shutdown(Duration::ZERO), response).1,
        }
    };
    bus.close(Duration::ZERO).await;
    Ok(response)
}

/// Returns the error for a build without NATS.
#[cfg(not(feature = "remote"))]
#[expect(clippy::unused_async, reason = "where there is a fleet, it waits")]
pub(super) async fn ask(
    _: &Arguments,
    _: HookExecutionRequest,
    _: &Context,
    _: &CancellationToken,
) -> Result<HookExecutionResponse, CommandError> {
    Err(crate::fleet::absent())
}
