//! The timeout of a hook, which is paused during questions to the user.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{self, Handle};
use tokio::time::{Instant, Sleep, sleep_until};

use super::message::by;

/// The total time for questions of one call to the user.
const LONGEST_QUESTION: Duration = Duration::from_secs(600);

/// The maximum number of spare timers.
const MOST_SPARE: usize = 64;

/// A timer, and the runtime that it belongs to.
struct Timer {
    runtime: runtime::Id,
    sleep: Pin<Box<Sleep>>,
}

/// Spare timers of finished calls. Resetting one is cheap, while a new one wakes the runtime each
/// time that it is the first to expire.
#[derive(Default)]
pub(crate) struct Timers(Mutex<Vec<Timer>>);

impl Timers {
    /// Returns a timer that expires at the deadline.
    fn take(&self, deadline: Instant) -> Timer {
        let runtime = Handle::current().id();
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = spare.iter().rposition(|timer| timer.runtime == runtime);
        let known = known.map(|at| spare.swap_remove(at));
        drop(spare);
        match known {
            Some(mut timer) => {
                timer.sleep.as_mut().reset(deadline);
                timer
            }
            None => Timer { runtime, sleep: Box::pin(sleep_until(deadline)) },
        }
    }

    fn keep(&self, timer: Timer) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(timer);
        }
    }
}

/// The remaining time of a hook.
pub(crate) struct Clock<'t> {
    timers: &'t Timers,
    /// `None` once dropped.
    timer: Option<Timer>,
    deadline: Instant,
    /// The number of open questions.
    questions: usize,
    /// The hook's remaining time, while a question is open.
    left: Duration,
    /// The remaining time for questions.
    for_questions: Duration,
    /// The time at which the first open question was asked.
    asked_at: Instant,
}

impl<'t> Clock<'t> {
    /// Starts a clock that expires after this time.
    pub(crate) fn new(time: Duration, timers: &'t Timers) -> Self {
        let deadline = by(time);
        Self {
            timers,
            timer: Some(timers.take(deadline)),
            deadline,
            questions: 0,
            left: Duration::ZERO,
            for_questions: LONGEST_QUESTION,
            asked_at: Instant::now(),
        }
    }

    /// Returns the current deadline.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Waits until the clock has expired.
    ///
    /// # Cancellation
    /// Dropping the future has no effect on the clock.
    pub(crate) async fn expired(&mut self) {
        match &mut self.timer {
            Some(timer) => timer.sleep.as_mut().await,
            None => std::future::pending().await,
        }
    }

    /// Counts one more open question to the user, and pauses the clock at the first.
    pub(crate) fn pause(&mut self) {
        self.questions += 1;
        if self.questions == 1 {
            self.left = self.deadline.saturating_duration_since(Instant::now());
            self.asked_at = Instant::now();
            self.reset(self.for_questions);
        }
    }

    /// Counts one question as answered, and resumes the clock after the last.
    pub(crate) fn resume(&mut self) {
        self.questions = self.questions.saturating_sub(1);
        if self.questions == 0 {
            self.for_questions = self.for_questions.saturating_sub(self.asked_at.elapsed());
            self.reset(self.left);
        }
    }

    fn reset(&mut self, time: Duration) {
        self.deadline = by(time);
        if let Some(timer) = &mut self.timer {
            timer.sleep.as_mut().reset(self.deadline);
        }
    }
}

impl Drop for Clock<'_> {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.timers.keep(timer);
        }
    }
}
