//! A hook's time, which stands still while its user is asked something.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{self, Handle};
use tokio::time::{Instant, Sleep, sleep_until};

use super::message::by;

/// How long questions of one call to the user may be open, all together.
const LONGEST_QUESTION: Duration = Duration::from_secs(600);

/// How many timers are kept.
const MOST_SPARE: usize = 64;

/// A timer, with the runtime that it belongs to.
struct Timer {
    runtime: runtime::Id,
    sleep: Pin<Box<Sleep>>,
}

/// The timers of calls that are over. One that is moved on costs little; a new one wakes the runtime
/// each time that it is the first to run out.
#[derive(Default)]
pub(in crate::run) struct Timers(Mutex<Vec<Timer>>);

impl Timers {
    /// A timer that runs out by then.
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

/// The time that a hook has.
pub(in crate::run) struct Clock<'t> {
    timers: &'t Timers,
    /// Taken when it is dropped.
    timer: Option<Timer>,
    deadline: Instant,
    /// How many questions are open.
    questions: usize,
    /// What is left of the hook's own time, while one is.
    left: Duration,
    /// What is left for questions.
    for_questions: Duration,
    /// Since when one is open.
    asked_at: Instant,
}

impl<'t> Clock<'t> {
    /// So much from now on.
    pub(in crate::run) fn new(time: Duration, timers: &'t Timers) -> Self {
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

    /// When it runs out, as it is now.
    pub(in crate::run) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Waits until it has run out.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(in crate::run) async fn expired(&mut self) {
        match &mut self.timer {
            Some(timer) => timer.sleep.as_mut().await,
            None => std::future::pending().await,
        }
    }

    /// A question to the user is open from now on.
    pub(in crate::run) fn pause(&mut self) {
        self.questions += 1;
        if self.questions == 1 {
            self.left = self.deadline.saturating_duration_since(Instant::now());
            self.asked_at = Instant::now();
            self.reset(self.for_questions);
        }
    }

    /// One of them was answered.
    pub(in crate::run) fn resume(&mut self) {
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
