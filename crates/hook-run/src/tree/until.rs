//! Polling, for conditions without a notification.

use std::time::Duration;

/// The first and the longest interval between polls.
const POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Polls a cheap condition at growing intervals until it is true.
pub(super) async fn until(condition: impl Fn() -> bool) {
    let (mut pause, longest) = POLL_INTERVALS;
    while !condition() {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}
