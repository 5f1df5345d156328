//! Waiting for what nothing tells of.

use std::time::Duration;

/// How soon a leader that was told to end is looked at, and at most how long until the next look.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Looks again and again, less and less often, at what costs next to nothing.
pub(super) async fn until(over: impl Fn() -> bool) {
    let (mut pause, longest) = LOOK_AGAIN;
    while !over() {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}
