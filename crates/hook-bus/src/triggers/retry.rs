//! Retries requested by hooks: after a delay and limited in number (protocol.md §8).

use std::time::Duration;

use hook_core::ProcessedHookResult;
use hook_protocol::{PolicyDecision, RequestInput};
use tokio::time::Instant;

use super::advice::add_warnings;
use crate::host::AgentHost;

/// The maximum number of retries.
pub(super) const MOST_RETRIES: u32 = 3;

/// The remaining retries of one operation.
pub(super) struct Retries {
    left: u32,
    /// The host's deadline for requests; no delay goes beyond it.
    deadline: Option<Duration>,
}

impl Retries {
    pub(super) fn at_most(most: u32, host: &AgentHost) -> Self {
        Self { left: most, deadline: host.deadline() }
    }

    /// Waits for the next attempt, as requested by the answer to the event fired at `fired`. Fails
    /// with the reason if there is no further attempt.
    pub(super) async fn wait(
        &mut self,
        after: Option<Duration>,
        fired: Instant,
    ) -> Result<(), &'static str> {
        if self.left == 0 {
            return Err("it was tried again as often as it may be");
        }
        self.left -= 1;
        let after = after.unwrap_or_default();
        let until = self.deadline.and_then(|deadline| fired.checked_add(deadline));
        let at = Instant::now().checked_add(after);
        if until.is_some_and(|until| at.is_none_or(|at| at >= until)) {
            return Err("the deadline would pass before it could be tried again");
        }
        tokio::time::sleep(after).await;
        Ok(())
    }
}

/// Fires an event again while hooks request it, within the limit: the result is never a retry, and
/// has the warnings of all attempts. Returns `None` if hooks are off.
pub(super) async fn fire_until_decided(
    host: &AgentHost,
    input: impl Into<RequestInput>,
) -> Option<ProcessedHookResult> {
    let input = input.into();
    let mut retries = Retries::at_most(MOST_RETRIES, host);
    let (fired, mut warnings) = (Instant::now(), Vec::new());
    loop {
        let mut processed = host.fire(input.clone()).await?;
        add_warnings(&mut warnings, std::mem::take(&mut processed.warnings));
        if processed.decision == PolicyDecision::Retry {
            let Err(end) = retries.wait(processed.retry_after.take(), fired).await else {
                continue;
            };
            let reason = processed.reason.take().unwrap_or_default();
            processed.decision = PolicyDecision::Block;
            processed.reason = Some(format!("{reason} ({end})"));
        }
        return Some(ProcessedHookResult { warnings, ..processed });
    }
}
