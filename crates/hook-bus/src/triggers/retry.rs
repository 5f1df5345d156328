//! Retries requested by hooks: after a delay and limited in number (reference/answers.md).

use std::time::Duration;

use hook_core::ProcessedHookResult;
use hook_protocol::{PolicyDecision, RequestInput};
use tokio::time::Instant;

use super::advice::add_warnings;
use crate::host::AgentHost;

/// The maximum number of retries.
pub(super) const MAX_RETRIES: u32 = 3;

/// The remaining retries of one operation.
pub(super) struct Retries {
    remaining: u32,
    /// The host's deadline for requests; no delay goes beyond it.
    deadline: Option<Duration>,
}

impl Retries {
    pub(super) fn new(max: u32, host: &AgentHost) -> Self {
        Self { remaining: max, deadline: host.deadline() }
    }

    /// Waits for the next attempt, as requested by the answer to the event fired at `fired`. Fails
    /// with the reason if there is no further attempt.
    pub(super) async fn wait(
        &mut self,
        after: Option<Duration>,
        fired: Instant,
    ) -> Result<(), &'static str> {
        if self.remaining == 0 {
            return Err("it was tried again as often as it may be");
        }
        self.remaining -= 1;
        let after = after.unwrap_or_default();
        let latest = self.deadline.and_then(|deadline| fired.checked_add(deadline));
        let retry_at = Instant::now().checked_add(after);
        if latest.is_some_and(|until| retry_at.is_none_or(|time| time >= until)) {
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
    let mut retries = Retries::new(MAX_RETRIES, host);
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
