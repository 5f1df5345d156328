//! Sending a recorded request again.

use hook_core::{JsonKind, ObjectWriter, RawJson};

use super::compare::{Difference, compare};
use super::request::RecordedRequest;
use crate::bus::MessageBus;
use crate::message::{HookExecutionRequest, HookExecutionResponse};

/// The field of a recording's line that holds the message.
const MESSAGE: &str = "message";

/// Error codes that say how the recorded engine ended, and nothing about its hooks.
const CUT_OFF: [&str; 3] = ["cancelled", "shutting_down", "no_handler"];

/// How a recorded request went when it was sent again.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The response now.
    pub response: HookExecutionResponse,
    /// What is not as it was; nothing when it is the same.
    pub differences: Vec<Difference>,
}

/// Why a recorded request was not sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreplayable {
    /// The recorder missed the request.
    #[error("the recording misses its request")]
    NoRequest,
    /// It was no request, and recorded without what made it none.
    #[error("what was sent was no request")]
    NotARequest,
    /// There is nothing to compare with.
    #[error("the recording has no response to compare with")]
    NoResponse,
    /// Its response says that the engine or the client ended.
    #[error("it was cut off when it was recorded")]
    CutOff,
}

impl RecordedRequest {
    /// Why it cannot be sent again, if it cannot.
    pub fn unreplayable(&self) -> Option<Unreplayable> {
        let code = self.answered(&["error", "code"]).and_then(|code| code.to_text());
        let input = self.input().filter(|input| input.kind() == JsonKind::Object);
        match (&self.message, input, code.as_deref()) {
            // Recorders leave out what is no envelope, which its answer tells.
            (None, _, Some("invalid_request")) | (Some(_), None, _) => {
                return Some(Unreplayable::NotARequest);
            }
            (None, ..) => return Some(Unreplayable::NoRequest),
            _ => {}
        }
        if self.response.is_none() {
            return Some(Unreplayable::NoResponse);
        }
        code.is_some_and(|code| CUT_OFF.contains(&code.as_str())).then_some(Unreplayable::CutOff)
    }

    /// Sends the request again, with its own deadline, and compares the response with the
    /// recorded one.
    ///
    /// # Errors
    /// When it cannot be sent again; nothing was sent then.
    ///
    /// # Cancellation
    /// As [`MessageBus::request`].
    pub async fn replay(&self, bus: &MessageBus) -> Result<Replay, Unreplayable> {
        if let Some(why) = self.unreplayable() {
            return Err(why);
        }
        let (Some(message), Some(recorded)) = (&self.message, &self.response) else {
            return Err(Unreplayable::NoResponse);
        };
        let response = bus.request(HookExecutionRequest::from_object(&message.to_raw())).await;
        // Written as deep in a line as the recorded one was, so that both are cut alike.
        let now = ObjectWriter::line(|out| out.object(MESSAGE, |out| response.write(out)));
        let now = RawJson::parse(String::from_utf8_lossy(&now)).and_then(|line| line.to_object());
        let now = now.ok().and_then(|line| line.get(MESSAGE).cloned());
        let now = now.unwrap_or_else(RawJson::null);
        Ok(Replay { differences: compare(&recorded.message, &now), response })
    }
}
