//! A hook's time, which stands still while its user is asked something.

use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::message::by;

/// How long questions of one call to the user may be open, all together.
const LONGEST_QUESTION: Duration = Duration::from_secs(600);

/// The time that a hook has.
pub(super) struct Clock {
    sleep: std::pin::Pin<Box<Sleep>>,
    /// How many questions are open.
    questions: usize,
    /// What is left of the hook's own time, while one is.
    left: Duration,
    /// What is left for questions.
    for_questions: Duration,
    /// Since when one is open.
    asked_at: Instant,
}

impl Clock {
    /// So much from now on.
    pub(super) fn new(time: Duration) -> Self {
        Self {
            sleep: Box::pin(sleep_until(by(time))),
            questions: 0,
            left: Duration::ZERO,
            for_questions: LONGEST_QUESTION,
            asked_at: Instant::now(),
        }
    }

    /// When it runs out, as it is now.
    pub(super) fn deadline(&self) -> Instant {
        self.sleep.deadline()
    }

    /// Waits until it has run out.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn expired(&mut self) {
        self.sleep.as_mut().await;
    }

    /// A question to the user is open from now on.
    pub(super) fn pause(&mut self) {
        self.questions += 1;
        if self.questions == 1 {
            self.left = self.sleep.deadline().saturating_duration_since(Instant::now());
            self.asked_at = Instant::now();
            self.sleep.as_mut().reset(by(self.for_questions));
        }
    }

    /// One of them was answered.
    pub(super) fn resume(&mut self) {
        self.questions = self.questions.saturating_sub(1);
        if self.questions == 0 {
            self.for_questions = self.for_questions.saturating_sub(self.asked_at.elapsed());
            self.sleep.as_mut().reset(by(self.left));
        }
    }
}
