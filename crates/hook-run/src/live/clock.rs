//! The timeout of a hook, which is paused during questions to the user.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{self, Handle};
use tokio::time::{Instant, Sleep, sleep_until};

use super::message::deadline_after;

/// The total time for questions of one call to the user.
const MAX_QUESTION_TIME: Duration = Duration::from_secs(600);

/// The maximum number of spare timers.
const MAX_SPARE_TIMERS: usize = 64;

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
        let index = spare.iter().rposition(|timer| timer.runtime == runtime);
        let reused = index.map(|position| spare.swap_remove(position));
        drop(spare);
        match reused {
            Some(mut timer) => {
                timer.sleep.as_mut().reset(deadline);
                timer
            }
            None => Timer { runtime, sleep: Box::pin(sleep_until(deadline)) },
        }
    }

    fn recycle(&self, timer: Timer) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MAX_SPARE_TIMERS {
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
    remaining: Duration,
    /// The remaining time for questions.
    question_time: Duration,
    /// The time at which the first open question was asked.
    question_start: Instant,
}

impl<'t> Clock<'t> {
    /// Starts a clock that expires after this time.
    pub(crate) fn new(time: Duration, timers: &'t Timers) -> Self {
        let deadline = deadline_after(time);
        Self {
            timers,
            timer: Some(timers.take(deadline)),
            deadline,
            questions: 0,
            remaining: Duration::ZERO,
            question_time: MAX_QUESTION_TIME,
            question_start: Instant::now(),
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
            self.remaining = self.deadline.saturating_duration_since(Instant::now());
            self.question_start = Instant::now();
            self.reset(self.question_time);
        }
    }

    /// Counts one question as answered, and resumes the clock after the last.
    pub(crate) fn resume(&mut self) {
        self.questions = self.questions.saturating_sub(1);
        if self.questions == 0 {
            self.question_time = self.question_time.saturating_sub(self.question_start.elapsed());
            self.reset(self.remaining);
        }
    }

    fn reset(&mut self, time: Duration) {
        self.deadline = deadline_after(time);
        if let Some(timer) = &mut self.timer {
            timer.sleep.as_mut().reset(self.deadline);
        }
    }
}

impl Drop for Clock<'_> {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.timers.recycle(timer);
        }
    }
}
