//! The end of a conversation that moves messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use super::host::HostCallError;
use super::mailbox::{AskedOfHost, MAX_HOST_CALLS, Refusal};
use super::message::{FromHook, ToHook, Told};
use super::methods::without_ui;
use super::session::{CallSession, MessagePipe, Shared, gone};
use crate::failure::HookFailure;
use crate::text::{one_line, shortened};

/// The end of a conversation that moves messages: over pipes, a connection or a stream. When it is
/// dropped, calls that wait fail, or wait for another one if the conversation lasts.
pub struct Carrier {
    shared: Arc<Shared>,
    number: u64,
    /// Calls that the carrier before this one may have sent to nobody.
    again: VecDeque<Arc<Told>>,
    /// Why it is gone, where that is known.
    why: Option<HookFailure>,
    /// Room for the message that was taken last.
    sending: Option<OwnedSemaphorePermit>,
}

impl CallSession {
    /// The end that moves messages. The one before, if there was one, has nothing to say any more.
    pub fn attach(&self) -> Carrier {
        let shared = Arc::clone(self.shared());
        let (number, again) = shared.attached();
        Carrier { shared, number, again: again.into(), why: None, sending: None }
    }
}

impl Carrier {
    /// Waits for the next message to send. By asking for it one says that those before are sent.
    ///
    /// # Errors
    /// When there will be none: the conversation is over, or another carrier took this one's place.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<ToHook, HookFailure> {
        self.sending = None;
        loop {
            if let Some(message) = self.try_next()? {
                return Ok(message);
            }
            self.shared.woken.notified().await;
        }
    }

    /// The next message to send, if there is one now; as [`next`](Self::next).
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> Result<Option<ToHook>, HookFailure> {
        self.sending = None;
        if let Some(told) = self.again.pop_front() {
            return Ok(Some(ToHook::Call(told)));
        }
        let Some((message, permit)) = self.shared.next(self.number)? else { return Ok(None) };
        self.sending = Some(permit);
        Ok(Some(message))
    }

    /// Says that all messages that were taken are written.
    pub(in crate::run) fn flushed(&self) {
        self.shared.flushed();
    }

    /// Short messages are written there by those who send them, while nothing else waits to be.
    pub(in crate::run) fn write_to(&self, pipe: Arc<dyn MessagePipe>) {
        self.shared.write_to(pipe);
    }

    /// Takes what the hook said. Whether it was the answer to a call.
    pub fn take(&self, message: FromHook) -> bool {
        // Over another connection the hook goes on; what comes over this one counts no more.
        if !self.shared.is_carried_by(self.number) {
            return false;
        }
        match message {
            FromHook::Answer { call, said } => return self.shared.answered(call, said),
            FromHook::HostCall { id, call, method, params } => {
                let Some(held) = self.shared.room_to_ask(&params) else {
                    let outcome = Err(HostCallError::TooMany { limit: MAX_HOST_CALLS });
                    self.shared.say(ToHook::HostResult { id, outcome });
                    return false;
                };
                let asked = AskedOfHost { id, method, params, held };
                if let Err((asked, refusal)) = self.shared.asked_of_host(call, asked) {
                    let AskedOfHost { id, method, .. } = asked;
                    let outcome = match refusal {
                        Refusal::NoHost => {
                            without_ui(&method).ok_or_else(|| HostCallError::unsupported(&method))
                        }
                        Refusal::NoCall => Err(HostCallError::NoCall),
                        Refusal::TooMany => Err(HostCallError::TooMany { limit: MAX_HOST_CALLS }),
                    };
                    self.shared.say(ToHook::HostResult { id, outcome });
                }
            }
            FromHook::Log { level, message } => log(&level, &message),
            // It has said so before, or is no worker.
            FromHook::Ready { .. } => {}
        }
        false
    }

    /// The hook said something that is no message, for this reason: the call that it may have been about
    /// fails, or, where that is not known, all that the hook was told of and has not answered.
    pub fn take_unreadable(&self, call: Option<u64>, why: String) {
        if !self.shared.is_carried_by(self.number) {
            return;
        }
        match call {
            Some(call) => self.shared.fail(call, gone(why)),
            None => self.shared.fail_all(&gone(why)),
        }
    }

    /// The oldest call of a hook that waits for its answer.
    pub fn oldest_call_of(&self, hook: &str) -> Option<u64> {
        self.shared.oldest_of(hook)
    }

    /// It is gone, for this reason.
    pub fn lost(mut self, why: HookFailure) {
        self.why = Some(why);
    }
}

impl fmt::Debug for Carrier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Carrier").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        let why = self.why.take();
        let why = || why.unwrap_or_else(|| gone("its connection was lost before it had answered"));
        self.shared.detached(self.number, why);
    }
}

/// What a hook has for the log.
fn log(level: &str, message: &str) {
    let shortened = shortened(message);
    let message = one_line(&shortened);
    match level {
        "error" => tracing::error!(target: "hook::live", "{message}"),
        "warn" | "warning" => tracing::warn!(target: "hook::live", "{message}"),
        "debug" | "trace" => tracing::debug!(target: "hook::live", "{message}"),
        _ => tracing::info!(target: "hook::live", "{message}"),
    }
}
