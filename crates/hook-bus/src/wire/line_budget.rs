//! The memory limit for unfinished lines of all clients of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hook_run::lines::MemoryBudget;

/// The number of bytes of unfinished lines that a server holds for all clients together, beyond
/// `UNCOUNTED_BYTES` for each: two lines of maximum length.
const TOTAL_BYTES: usize = 2 * super::MAX_LINE;

/// The length up to which an unfinished line is not counted.
const UNCOUNTED_BYTES: usize = 1024 * 1024;

/// The memory for unfinished lines, shared by the clients of a server. Clones are handles.
#[derive(Debug, Clone)]
pub(super) struct LineBudget {
    remaining: Arc<AtomicUsize>,
}

impl LineBudget {
    pub(super) fn new() -> Self {
        Self { remaining: Arc::new(AtomicUsize::new(TOTAL_BYTES)) }
    }

    fn try_take(&self, bytes: usize) -> bool {
        let subtract = |remaining: usize| remaining.checked_sub(bytes);
        self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract).is_ok()
    }
}

/// One client's part of it; dropping it returns it.
#[derive(Debug)]
pub(super) struct ClientBudget {
    budget: LineBudget,
    bytes: usize,
}

impl ClientBudget {
    pub(super) fn new(budget: &LineBudget) -> Self {
        Self { budget: budget.clone(), bytes: 0 }
    }
}

impl MemoryBudget for ClientBudget {
    fn reserve(&mut self, line: usize) -> bool {
        let needed = line.saturating_sub(UNCOUNTED_BYTES);
        let fits = match needed.checked_sub(self.bytes) {
            Some(extra) => self.budget.try_take(extra),
            None => {
                self.budget.remaining.fetch_add(self.bytes - needed, Ordering::Relaxed);
                true
            }
        };
        if fits {
            self.bytes = needed;
        }
        fits
    }
}

impl Drop for ClientBudget {
    fn drop(&mut self) {
        self.budget.remaining.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_together_is_bounded_and_comes_back() {
        let allowance = LineBudget::new();
        let mut one = ClientBudget::new(&allowance);
        let mut other = ClientBudget::new(&allowance);
        assert!(one.reserve(TOTAL_BYTES + UNCOUNTED_BYTES) && other.reserve(UNCOUNTED_BYTES));
        assert!(!other.reserve(UNCOUNTED_BYTES + 1), "all of it is held");
        assert!(one.reserve(TOTAL_BYTES));
        assert!(other.reserve(2 * UNCOUNTED_BYTES) && !other.reserve(2 * UNCOUNTED_BYTES + 1));
        drop((one, other));
        assert_eq!(allowance.remaining.load(Ordering::Relaxed), TOTAL_BYTES);
    }
}
