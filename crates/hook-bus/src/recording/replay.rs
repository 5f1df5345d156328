//! Sending a recorded request again.

use hook_core::{JsonKind, RawJson};

use super::compare::{Difference, compare};
use super::request::RecordedRequest;
use crate::bus::MessageBus;
use crate::message::{HookExecutionRequest, HookExecutionResponse};

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
        if self.message.is_none() {
            return Some(Unreplayable::NoRequest);
        }
        if self.input().is_none_or(|input| input.kind() != JsonKind::Object) {
            return Some(Unreplayable::NotARequest);
        }
        if self.response.is_none() {
            return Some(Unreplayable::NoResponse);
        }
        let code = self.answered(&["error", "code"]).and_then(|code| code.to_text());
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
        let response = bus.request(HookExecutionRequest::from_object(message.clone())).await;
        let now = String::from_utf8_lossy(&response.to_json()).into_owned();
        let now = RawJson::parse(now).unwrap_or_else(|_| RawJson::null());
        Ok(Replay { differences: compare(&recorded.message, &now), response })
    }
}
