//! Threads of the engine for work that may block. They are reused and end after a while without
//! work. Unlike the runtime's own pool, they delay neither the runtime's end nor the process's:
//! that pool would wait for a thread that never returns.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use hook_json::opaque_debug;

/// The time after which an idle thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce(&Worker<'_>) + Send>;

/// A pool of threads. Dropping it ends idle threads at once, and the others after their work.
#[derive(Debug)]
pub(super) struct Threads {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    /// The number of threads that are kept, busy ones included.
    keep: usize,
}

#[derive(Default)]
struct State {
    /// Each job has an idle thread that will take it.
    jobs: VecDeque<Job>,
    idle: usize,
    /// The number of all threads.
    threads: usize,
    /// The number of threads whose callers are gone.
    abandoned: usize,
    closed: bool,
}

opaque_debug!(State { idle, threads, abandoned });

impl Threads {
    /// Creates a pool that keeps this number of threads, and starts none. Callers limit the jobs.
    pub(super) fn new(keep: usize) -> Self {
        let shared = Shared { state: Mutex::default(), work: Condvar::new(), keep };
        Self { shared: Arc::new(shared) }
    }

    /// Runs a job on an idle thread, or on a new one. The job must not wait for another job.
    ///
    /// # Errors
    /// Returns an error if no thread can be started; the job is dropped then.
    pub(super) fn run(&self, job: impl FnOnce(&Worker<'_>) + Send + 'static) -> io::Result<()> {
        let job: Job = Box::new(job);
        {
            let mut state = self.shared.lock();
            if state.idle > state.jobs.len() {
                state.jobs.push_back(job);
                drop(state);
                self.shared.work.notify_one();
                return Ok(());
            }
            state.threads += 1;
        }
        let shared = Arc::clone(&self.shared);
        let started = Builder::new().name("hook".to_owned()).spawn(move || shared.serve(job));
        if started.is_err() {
            self.shared.lock().threads -= 1;
        }
        started.map(drop)
    }

    /// Counts one more thread whose caller is gone, until the thread returns.
    pub(super) fn abandon(&self) {
        self.shared.lock().abandoned += 1;
    }

    /// Returns the number of threads whose callers are gone.
    pub(super) fn abandoned(&self) -> usize {
        self.shared.lock().abandoned
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until the thread should end.
    fn serve(&self, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            let worker = Worker { shared: self, freed: Cell::new(false) };
            // Jobs should not panic, but if one does, the count must stay right.
            let ended = catch_unwind(AssertUnwindSafe(|| job(&worker)));
            drop_quietly(ended);
            worker.free();
            next = self.next();
        }
    }

    /// Waits for the next job; returns `None` if the thread should end.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        let mut waited_enough = false;
        loop {
            if let Some(job) = state.jobs.pop_front() {
                state.idle -= 1;
                return Some(job);
            }
            let surplus = state.threads - state.abandoned > self.keep;
            if waited_enough || surplus || state.closed {
                state.idle -= 1;
                state.threads -= 1;
                return None;
            }
            let woken = self.work.wait_timeout(state, IDLE_TIMEOUT);
            let (guard, waited) = woken.unwrap_or_else(PoisonError::into_inner);
            (state, waited_enough) = (guard, waited.timed_out());
        }
    }
}

/// The thread that runs a job, as seen by the job.
pub(super) struct Worker<'s> {
    shared: &'s Shared,
    freed: Cell<bool>,
}

impl Worker<'_> {
    /// Marks the job as done, so that the next one can be assigned to this thread. The rest of the
    /// job must not block.
    pub(super) fn free(&self) {
        if !self.freed.replace(true) {
            self.shared.lock().idle += 1;
        }
    }

    /// Counts one abandoned thread less.
    pub(super) fn returned(&self) {
        self.shared.lock().abandoned -= 1;
    }
}

/// Drops the result of a host function, whose drop may panic, too.
pub(super) fn drop_quietly<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // The panic's own drop may panic again, so it is leaked.
        std::mem::forget(panic);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn look(threads: &Threads) -> (usize, usize, usize) {
        let state = threads.shared.lock();
        (state.threads, state.idle, state.abandoned)
    }

    fn until(threads: &Threads, expected: (usize, usize, usize)) {
        while look(threads) != expected {
            thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_is_free_takes_the_next_job() {
        let threads = Threads::new(4);
        let (sender, ids) = mpsc::channel();
        for _ in 0..100 {
            let sender = sender.clone();
            let job = move |worker: &Worker<'_>| {
                worker.free();
                sender.send(thread::current().id()).unwrap();
            };
            threads.run(job).unwrap();
            let id = ids.recv().unwrap();
            assert_eq!(id, *FIRST.get_or_init(|| id));
        }
        static FIRST: std::sync::OnceLock<thread::ThreadId> = std::sync::OnceLock::new();
        assert_eq!(look(&threads), (1, 1, 0));
    }

    #[test]
    fn a_thread_that_returns_when_enough_others_are_there_ends() {
        let threads = Threads::new(1);
        let (release, held) = mpsc::channel::<()>();
        threads
            .run(move |worker| {
                held.recv().unwrap();
                worker.returned();
            })
            .unwrap();
        threads.abandon();
        threads.run(|_| {}).unwrap();
        until(&threads, (2, 1, 1));
        release.send(()).unwrap();
        until(&threads, (1, 1, 0));
    }

    #[test]
    fn a_job_that_panics_costs_no_thread_and_a_pool_that_is_dropped_ends_them() {
        let threads = Threads::new(4);
        threads.run(|_| panic!("a job")).unwrap();
        until(&threads, (1, 1, 0));
        let shared = Arc::downgrade(&threads.shared);
        drop(threads);
        while shared.strong_count() > 0 {
            thread::yield_now();
        }
    }
}
