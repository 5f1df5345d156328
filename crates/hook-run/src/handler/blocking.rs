//! Blocking handlers: a limited number at once, each on a thread of the engine until its timeout. A
//! thread that does not return in time cannot be ended. It is abandoned: its permit goes to the
//! next handler, and it is counted until it returns. Too many of those make calls fail at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::function::{SyncFunction, convert_result};
use crate::answer::Answer;
use crate::executor::{HookCall, Run, Slots};
use crate::limits::RunnerLimits;
use crate::nesting::Nesting;
use crate::slots::{FairnessKey, SlotQueue};
use crate::threads::{Threads, drop_quietly};
use hook_protocol::failure::HookFailure;

/// The maximum depth of blocking handlers that wait for one another.
const MAX_NESTING: u32 = 8;

/// The runner's pool for blocking handlers.
#[derive(Debug)]
pub(crate) struct BlockingHandlers {
    threads: Arc<Threads>,
    slots: Arc<SlotQueue>,
    max_abandoned: usize,
}

impl BlockingHandlers {
    pub(crate) fn new(limits: &RunnerLimits, threads: Arc<Threads>) -> Self {
        Self {
            threads,
            slots: SlotQueue::new(limits.max_blocking.max(1)),
            max_abandoned: limits.max_abandoned,
        }
    }

    /// Returns the number of handlers that never returned and still hold a thread.
    pub(crate) fn abandoned(&self) -> usize {
        self.threads.abandoned()
    }

    /// Waits for the permit of one run at a nesting depth.
    ///
    /// # Errors
    /// Fails at once if too many threads are abandoned, or handlers are nested too deep.
    ///
    /// # Cancellation
    /// Dropping the future only gives up its turn.
    pub(crate) async fn acquire(
        &self,
        key: FairnessKey,
        nesting: Nesting,
        depth: u32,
    ) -> Result<Slots, HookFailure> {
        self.admit()?;
        match nesting.depth() {
            0 => {
                let engine = self.slots.acquire(key, depth).await.map(Arc::new);
                self.admit()?;
                Ok(Slots { engine, ..Slots::default() })
            }
            // The handler that waits for this one keeps its own permit meanwhile.
            1..=MAX_NESTING => Ok(Slots::default()),
            _ => Err(HookFailure::HandlersTooDeep { limit: MAX_NESTING }),
        }
    }

    fn admit(&self) -> Result<(), HookFailure> {
        match self.abandoned() {
            abandoned if abandoned >= self.max_abandoned => {
                Err(HookFailure::ThreadsExhausted { abandoned })
            }
            _ => Ok(()),
        }
    }

    /// Runs a handler on a thread until its answer, its timeout or its cancellation.
    pub(crate) async fn run(&self, function: Arc<SyncFunction>, mut call: HookCall) -> Run {
        let (input, nesting) = (call.input.clone(), call.scope.nesting);
        let slots = std::mem::take(&mut call.slots);
        let event = input.event();
        let (sender, receiver) = oneshot::channel();
        let permit = Arc::new(Permit(Mutex::new(Some(slots))));
        let thread_permit = Arc::clone(&permit);
        let started = self.threads.run(move |worker| {
            // The caller is gone if the timeout was over before this began.
            let finished = (!sender.is_closed())
                .then(|| nesting.within(|| catch_unwind(AssertUnwindSafe(|| function(&input)))));
            // Functions and inputs belong to the host, so their drops count as the handler's time.
            drop_quietly((function, input));
            match thread_permit.take() {
                Some(slots) => {
                    // In this order, so that the thread is free before the answer and the permit.
                    worker.free();
                    if let Some(finished) = finished
                        && let Err(unread) = sender.send(finished)
                    {
                        drop_quietly(unread);
                    }
                    drop(slots);
                }
                None => {
                    drop_quietly(finished);
                    worker.returned();
                }
            }
        });
        if let Err(source) = started {
            let attempt = "start a thread for the handler";
            return Answer::failed(HookFailure::Io { attempt, source: source.into() }).into();
        }
        tokio::select! {
            biased;
            finished = receiver => match finished {
                Ok(finished) => convert_result(event, finished),
                Err(_) => Answer::failed(HookFailure::Panicked {
                    message: "the handler's thread ended without an answer".to_owned(),
                })
                .into(),
            },
            failure = call.expired() => {
                let mut answer = Answer::failed(failure);
                answer.warnings.extend(self.abandon(&permit));
                answer.into()
            }
        }
    }

    /// Passes on the permit of a handler that did not return in time. Returns the warning for its
    /// failure.
    fn abandon(&self, permit: &Permit) -> Option<String> {
        let mut slots = permit.lock();
        let returned_slots = slots.take()?;
        // Before the thread can notice it.
        self.threads.abandon();
        drop(slots);
        drop(returned_slots);
        Some(format!(
            "the handler's thread cannot be ended and runs on ({} of at most {} such threads); \
             return in time, or use an asynchronous handler",
            self.abandoned(),
            self.max_abandoned
        ))
    }
}

/// The permit of one run, held by the thread until it is taken from it at the timeout.
struct Permit(Mutex<Option<Slots>>);

impl Permit {
    fn lock(&self) -> MutexGuard<'_, Option<Slots>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Slots> {
        self.lock().take()
    }
}
