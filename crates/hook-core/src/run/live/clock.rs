//! A hook's time, which stands still while its user is asked something.

use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::message::by;

/// How long a question to the user may be open.
const LONGEST_QUESTION: Duration = Duration::from_secs(600);

/// The time that a hook has.
pub(super) struct Clock {
    sleep: std::pin::Pin<Box<Sleep>>,
    /// How many questions are open.
    questions: usize,
    /// What is left of the hook's own time, while one is.
    left: Duration,
}

impl Clock {
    /// So much from now on.
    pub(super) fn new(time: Duration) -> Self {
        Self { sleep: Box::pin(sleep_until(by(time))), questions: 0, left: Duration::ZERO }
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
            self.sleep.as_mut().reset(by(LONGEST_QUESTION));
        }
    }

    /// One of them was answered.
    pub(super) fn resume(&mut self) {
        self.questions = self.questions.saturating_sub(1);
        if self.questions == 0 {
            self.sleep.as_mut().reset(by(self.left));
        }
    }
}
