//! The memory limit for unfinished lines of all clients of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hook_run::lines::Room;

/// The number of bytes of unfinished lines that a server holds for all clients together, beyond
/// [`FREE`] for each: two lines of maximum length.
const TOTAL: usize = 2 * super::MAX_LINE;

/// The length up to which an unfinished line is not counted.
const FREE: usize = 1024 * 1024;

/// The memory for unfinished lines, shared by the clients of a server. Clones are handles.
#[derive(Debug, Clone)]
pub(super) struct LineAllowance {
    left: Arc<AtomicUsize>,
}

impl LineAllowance {
    pub(super) fn new() -> Self {
        Self { left: Arc::new(AtomicUsize::new(TOTAL)) }
    }

    fn take(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// One client's part of it; dropping it returns it.
#[derive(Debug)]
pub(super) struct HeldAllowance {
    allowance: LineAllowance,
    bytes: usize,
}

impl HeldAllowance {
    pub(super) fn of(allowance: &LineAllowance) -> Self {
        Self { allowance: allowance.clone(), bytes: 0 }
    }
}

impl Room for HeldAllowance {
    fn hold(&mut self, line: usize) -> bool {
        let wanted = line.saturating_sub(FREE);
        let fits = match wanted.checked_sub(self.bytes) {
            Some(more) => self.allowance.take(more),
            None => {
                self.allowance.left.fetch_add(self.bytes - wanted, Ordering::Relaxed);
                true
            }
        };
        if fits {
            self.bytes = wanted;
        }
        fits
    }
}

impl Drop for HeldAllowance {
    fn drop(&mut self) {
        self.allowance.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_together_is_bounded_and_comes_back() {
        let allowance = LineAllowance::new();
        let mut one = HeldAllowance::of(&allowance);
        let mut other = HeldAllowance::of(&allowance);
        assert!(one.hold(TOTAL + FREE) && other.hold(FREE));
        assert!(!other.hold(FREE + 1), "all of it is held");
        assert!(one.hold(TOTAL));
        assert!(other.hold(2 * FREE) && !other.hold(2 * FREE + 1));
        drop((one, other));
        assert_eq!(allowance.left.load(Ordering::Relaxed), TOTAL);
    }
}
