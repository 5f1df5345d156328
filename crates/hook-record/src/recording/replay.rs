//! Replaying a recorded request.

use hook_json::{JsonKind, ObjectWriter, RawJson};

use super::compare::{Difference, compare};
use super::request::RecordedRequest;
use hook_bus::MessageBus;
use hook_bus::{HookExecutionRequest, HookExecutionResponse};

/// The field of the message in a recording's line.
const MESSAGE: &str = "message";

/// Error codes caused by the end of the recorded engine, not by its hooks.
const ENGINE_ENDED_CODES: [&str; 3] = ["cancelled", "shutting_down", "no_handler"];

/// The result of replaying a request.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The new response.
    pub response: HookExecutionResponse,
    /// The differences from the recorded response.
    pub differences: Vec<Difference>,
}

/// The reason that a recorded request cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreplayable {
    /// The recorder missed the request.
    #[error("the recording misses its request")]
    NoRequest,
    /// The request was invalid, and recorded without its invalid part.
    #[error("what was sent was no request")]
    NotARequest,
    /// The recorder missed the response, so there is nothing to compare with.
    #[error("the recording has no response to compare with")]
    NoResponse,
    /// The recorded response shows that the engine or the client ended.
    #[error("it was cut off when it was recorded")]
    CutOff,
}

impl RecordedRequest {
    /// Returns the reason if the request cannot be replayed.
    pub fn unreplayable(&self) -> Option<Unreplayable> {
        let code = self.response_value(&["error", "code"]).and_then(|code| code.to_text());
        let input = self.input().filter(|input| input.kind() == JsonKind::Object);
        match (&self.message, input, code.as_deref()) {
            // Recorders skip invalid requests, which the answer shows.
            (None, _, Some("invalid_request")) | (Some(_), None, _) => {
                return Some(Unreplayable::NotARequest);
            }
            (None, ..) => return Some(Unreplayable::NoRequest),
            _ => {}
        }
        if self.response.is_none() {
            return Some(Unreplayable::NoResponse);
        }
        code.is_some_and(|code| ENGINE_ENDED_CODES.contains(&code.as_str()))
            .then_some(Unreplayable::CutOff)
    }

    /// Sends the request again, with its own deadline, and compares the response with the recorded
    /// one.
    ///
    /// # Errors
    /// If it cannot be replayed; nothing was sent then.
    ///
    /// # Cancellation
    /// As [`MessageBus::request`].
    pub async fn replay(&self, bus: &MessageBus) -> Result<Replay, Unreplayable> {
        if let Some(reason) = self.unreplayable() {
            return Err(reason);
        }
        let (Some(message), Some(recorded)) = (&self.message, &self.response) else {
            return Err(Unreplayable::NoResponse);
        };
        let response = bus.request(HookExecutionRequest::from_object(&message.to_raw())).await;
        // Nested as deep as the recorded message, so that both are truncated alike.
        let now = ObjectWriter::line(|out| out.object(MESSAGE, |out| response.write(out)));
        let now = RawJson::parse(String::from_utf8_lossy(&now)).and_then(|line| line.to_object());
        let now = now.ok().and_then(|line| line.get(MESSAGE).cloned());
        let now = now.unwrap_or_else(RawJson::null);
        Ok(Replay { differences: compare(&recorded.message, &now), response })
    }
}
