//! Trying again, as hooks ask for it: after a while, a few times at most (protocol.md §8).

use std::time::Duration;

use hook_core::{PolicyDecision, ProcessedHookResult, RequestInput};
use tokio::time::Instant;

use super::advice::add_warnings;
use crate::host::AgentHost;

/// How often the same thing is tried again.
pub(super) const MOST_RETRIES: u32 = 3;

/// What is left of the retries for one thing.
pub(super) struct Retries {
    left: u32,
    /// The host's deadline for requests; none of the waiting goes beyond it.
    deadline: Option<Duration>,
}

impl Retries {
    pub(super) fn at_most(most: u32, host: &AgentHost) -> Self {
        Self { left: most, deadline: host.deadline() }
    }

    /// Waits for the next attempt, which was asked for in answer to what was fired at `fired`. Why there
    /// is none, if there is none.
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

/// Fires an event, and again for as long as hooks ask for that and may: what it gives is never a
/// retry, and it has the warnings of all attempts. `None` where hooks are off.
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
