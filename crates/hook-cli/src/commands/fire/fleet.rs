//! `hook fire --nats`: asks a fleet of engines, and runs no hooks here; in builds that have it.

use hook_bus::{HookExecutionRequest, HookExecutionResponse};
use tokio_util::sync::CancellationToken;

use super::Arguments;
use crate::context::Context;
use crate::error::CommandError;

/// Asks the fleet.
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
            // The bus has shut down once its request is over, which is waited for here alone.
            () = stop.cancelled() => tokio::join!(bus.shutdown(Duration::ZERO), response).1,
        }
    };
    bus.close(Duration::ZERO).await;
    Ok(response)
}

/// Says what to build.
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
