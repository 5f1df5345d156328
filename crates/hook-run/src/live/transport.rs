//! The end of a session that transports messages.

use std::collections::VecDeque;
use std::sync::Arc;

use hook_json::opaque_debug;
use tokio::sync::OwnedSemaphorePermit;

use super::host::HostCallError;
use super::mailbox::{HostRequest, MAX_HOST_CALLS, Refusal};
use super::message::{CallMessage, FromHook, ToHook};
use super::methods::without_ui;
use super::session::{CallSession, MessagePipe, Shared, unavailable};
use hook_json::text::{one_line, shortened};
use hook_protocol::failure::HookFailure;

/// The end of a session that transports messages, over pipes, a connection or a stream. When it is
/// dropped, waiting calls fail; if the session lasts, they wait for the next transport.
pub struct Transport {
    shared: Arc<Shared>,
    number: u64,
    /// Calls that the previous transport may not have delivered.
    resend: VecDeque<Arc<CallMessage>>,
    /// The reason of its end, if known.
    why: Option<HookFailure>,
    /// The permit of the message that was taken last.
    sending: Option<OwnedSemaphorePermit>,
}

impl CallSession {
    /// Attaches a new transport, and detaches the previous one.
    pub fn attach(&self) -> Transport {
        let shared = Arc::clone(self.shared());
        let (number, resend) = shared.attach();
        Transport { shared, number, resend: resend.into(), why: None, sending: None }
    }
}

impl Transport {
    /// Waits for the next message to send. This also confirms that earlier messages were sent.
    ///
    /// # Errors
    /// Returns an error if the session is over, or another transport has replaced this one.
    ///
    /// # Cancellation
    /// Dropping the future loses no message.
    pub async fn next(&mut self) -> Result<ToHook, HookFailure> {
        self.sending = None;
        loop {
            if let Some(message) = self.try_next()? {
                return Ok(message);
            }
            self.shared.wake.notified().await;
        }
    }

    /// Returns the next message to send, if one is waiting.
    ///
    /// # Errors
    /// Fails like [`next`](Self::next).
    pub(crate) fn try_next(&mut self) -> Result<Option<ToHook>, HookFailure> {
        self.sending = None;
        if let Some(call) = self.resend.pop_front() {
            return Ok(Some(ToHook::Call(call)));
        }
        let Some((message, permit)) = self.shared.next(self.number)? else { return Ok(None) };
        self.sending = Some(permit);
        Ok(Some(message))
    }

    /// Confirms that all messages that were taken are written.
    pub(crate) fn flushed(&self) {
        self.shared.flushed();
    }

    /// Lets senders write short messages to a pipe directly while no other message is queued.
    pub(crate) fn write_to(&self, pipe: Arc<dyn MessagePipe>) {
        self.shared.write_to(pipe);
    }

    /// Receives a message of the hook. Returns `true` if it was the answer to a call.
    pub fn take(&self, message: FromHook) -> bool {
        // The hook uses another connection now; messages on this one are ignored.
        if !self.shared.is_attached(self.number) {
            return false;
        }
        match message {
            FromHook::Answer { call, answer } => return self.shared.deliver_answer(call, answer),
            FromHook::HostCall { id, call, method, params } => {
                let Some(permit) = self.shared.reserve_for_host_request(&params) else {
                    let outcome = Err(HostCallError::TooMany { limit: MAX_HOST_CALLS });
                    self.shared.send(ToHook::HostResult { id, outcome });
                    return false;
                };
                let request = HostRequest { id, method, params, permit };
                if let Err((request, refusal)) = self.shared.forward_host_request(call, request) {
                    let HostRequest { id, method, .. } = request;
                    let outcome = match refusal {
                        Refusal::NoHost => {
                            without_ui(&method).ok_or_else(|| HostCallError::unsupported(&method))
                        }
                        Refusal::NoCall => Err(HostCallError::NoCall),
                        Refusal::TooMany => Err(HostCallError::TooMany { limit: MAX_HOST_CALLS }),
                    };
                    self.shared.send(ToHook::HostResult { id, outcome });
                }
            }
            FromHook::Log { level, message } => log(&level, &message),
            // A worker's was handled earlier; from other hooks it means nothing.
            FromHook::Ready { .. } => {}
        }
        false
    }

    /// Reports an unreadable message: its call fails or, if that is unknown, all unanswered calls
    /// that the hook has got.
    pub fn take_unreadable(&self, call: Option<u64>, why: String) {
        if !self.shared.is_attached(self.number) {
            return;
        }
        match call {
            Some(call) => self.shared.fail(call, unavailable(why)),
            None => self.shared.fail_all(&unavailable(why)),
        }
    }

    /// Closes the transport for a reason.
    pub(crate) fn lost(mut self, why: HookFailure) {
        self.why = Some(why);
    }
}

opaque_debug!(Transport { number });

impl Drop for Transport {
    fn drop(&mut self) {
        let why = self.why.take();
        let why =
            || why.unwrap_or_else(|| unavailable("its connection was lost before it had answered"));
        self.shared.detach(self.number, why);
    }
}

/// Writes a hook's log message to the log.
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
