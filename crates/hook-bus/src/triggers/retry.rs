//! Trying again, as hooks ask for it: after a while, a few times at most (protocol.md §8).

use std::time::Duration;

use hook_core::{PolicyDecision, ProcessedHookResult, RequestInput};
use tokio::time::Instant;

use crate::host::AgentHost;

/// How often the same thing is tried again.
pub(super) const MOST_RETRIES: u32 = 3;

/// What is left of the retries for one thing.
pub(super) struct Retries {
    left: u32,
    /// When the host's deadline for requests passes; none of the waiting goes beyond it.
    until: Option<Instant>,
}

impl Retries {
    pub(super) fn at_most(most: u32, host: &AgentHost) -> Self {
        let until = host.deadline().and_then(|after| Instant::now().checked_add(after));
        Self { left: most, until }
    }

    /// Waits for the next attempt. Why there is none, if there is none.
    pub(super) async fn wait(&mut self, after: Option<Duration>) -> Result<(), &'static str> {
        if self.left == 0 {
            return Err("it was tried again as often as it may be");
        }
        self.left -= 1;
        let after = after.unwrap_or_default();
        let passes = self
            .until
            .is_some_and(|until| Instant::now().checked_add(after).is_none_or(|at| at >= until));
        if passes {
            return Err("the deadline would pass before it could be tried again");
        }
        tokio::time::sleep(after).await;
        Ok(())
    }
}

/// Fires an event, and again for as long as hooks ask for that and may: what it gives is never a
/// retry. `None` where hooks are off.
pub(super) async fn fire_until_decided(
    host: &AgentHost,
    input: impl Into<RequestInput>,
) -> Option<ProcessedHookResult> {
    let input = input.into();
    let mut retries = Retries::at_most(MOST_RETRIES, host);
    loop {
        let mut processed = host.fire(input.clone()).await?;
        if processed.decision != PolicyDecision::Retry {
            return Some(processed);
        }
        if let Err(end) = retries.wait(processed.retry_after).await {
            let reason = processed.reason.take().unwrap_or_default();
            processed.decision = PolicyDecision::Block;
            processed.reason = Some(format!("{reason} ({end})"));
            return Some(processed);
        }
    }
}
