//! Work on many files, shared among the processors.

use std::thread;

/// The fewest items that are worth threads, and the most threads: more of them wait for the file system.
const MIN_ITEMS: usize = 64;
const MAX_THREADS: usize = 4;

/// Returns the results for all items, in their order.
pub(super) fn map<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    if threads == 1 || items.len() < MIN_ITEMS {
        return items.iter().map(each).collect();
    }
    let each = &each;
    thread::scope(|scope| {
        let chunks = items.chunks(items.len().div_ceil(threads));
        let threads: Vec<_> = chunks
            .map(|chunk| scope.spawn(move || chunk.iter().map(each).collect::<Vec<R>>()))
            .collect();
        let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
        results
            .flat_map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
