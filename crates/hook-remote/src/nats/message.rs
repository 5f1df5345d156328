//! Messages between clients and engines, other than requests and responses.

use async_nats::{Message, StatusCode};
use hook_bus::{CorrelationId, HookExecutionRequest, HookExecutionResponse};
use hook_core::StageFailure;
use hook_json::text::shortened;
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject, TooDeep};

use super::consistency;

/// The version of these messages.
pub(super) const PROTOCOL: u64 = 1;

/// The maximum number of engines that may pass a request on: one on the agent's machine, the fleet,
/// and one more for each. More hops mean a loop of fleets.
pub(super) const MAX_HOPS: u32 = 4;

/// The space that is reserved for the broker's own protocol in a message.
const OVERHEAD: usize = 1_024;

/// The maximum length of a cancellation, in bytes; a broker lets no subject be longer.
const MAX_CANCEL: usize = 8 * 1_024;

/// The type of an engine's status message.
pub(super) const ENGINE: &str = "hook-engine";

const WORKING: &str = "hook-working";
const BUSY: &str = "hook-busy";
const OTHER_SETTINGS: &str = "hook-other-settings";
const TOO_LARGE: &str = "hook-too-large";
const CANCEL: &str = "hook-cancel";

/// The state of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineState {
    /// It takes requests.
    Serving,
    /// It takes no more requests, and finishes those that it has.
    Draining,
    /// It has ended.
    Ended,
}

impl EngineState {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::Draining => "draining",
            Self::Ended => "ended",
        }
    }
}

/// Returns `true` if a message of that length can be sent.
pub(super) fn fits(length: usize, max_payload: usize) -> bool {
    length <= max_payload.saturating_sub(OVERHEAD.min(max_payload / 16))
}

/// Returns the line of a request, with the client's protocol and the expected settings.
///
/// # Errors
/// Returns an error if the request nests deeper than a message.
pub(super) fn request_line(
    request: &HookExecutionRequest,
    expected: Option<&str>,
) -> Result<Vec<u8>, TooDeep> {
    ObjectWriter::whole_line(|out| {
        request.write(out);
        out.integer("protocol", PROTOCOL.into());
        out.text("version", env!("CARGO_PKG_VERSION"));
        out.optional_text("expectSettings", expected);
        if request.hops() > 0 {
            out.integer("hops", request.hops().into());
        }
    })
}

/// Returns the number of engines that had a request before. Counts an invalid number as too many.
pub(super) fn hops(fields: &JsonObject) -> u32 {
    let Some(hops) = fields.get("hops").filter(|hops| !hops.is_null()) else { return 0 };
    hops.to_u64().and_then(|hops| u32::try_from(hops).ok()).unwrap_or(u32::MAX)
}

/// Returns the reason why a message is of another protocol. One without a protocol is valid.
pub(super) fn other_protocol(fields: &JsonObject) -> Option<String> {
    let protocol = fields.get("protocol").filter(|protocol| !protocol.is_null())?;
    if protocol.to_u64() == Some(PROTOCOL) {
        return None;
    }
    let version = fields.get("version").and_then(RawJson::to_text).unwrap_or_default();
    Some(format!(
        "it speaks protocol {} (version {}), and here is protocol {PROTOCOL} (version {}); use one version \
         of hook for askers and engines",
        shortened(protocol.as_str()),
        shortened(&version),
        env!("CARGO_PKG_VERSION")
    ))
}

/// Returns the expected settings of a request.
pub(super) fn expected(fields: &JsonObject) -> Option<RawJson> {
    fields.get("expectSettings").cloned()
}

/// Returns the line which says that a request is being worked on.
pub(super) fn working(id: &CorrelationId) -> Vec<u8> {
    request_message(WORKING, id)
}

/// Returns the same line for a repeated request, if that contains its id.
pub(super) fn still_working(request: &[u8]) -> Option<Vec<u8>> {
    let id = fields_of(request)?.get("correlationId")?.to_text()?;
    CorrelationId::new(id).ok().map(|id| working(&id))
}

/// Returns the line which says that there is no room for a request.
pub(super) fn busy() -> Vec<u8> {
    ObjectWriter::line(|out| out.text("type", BUSY))
}

/// Returns the line which says that a request expects other settings than these.
pub(super) fn other_settings(settings: Option<&str>) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", OTHER_SETTINGS);
        out.optional_text("settingsHash", settings);
    })
}

/// Returns the line which says that a response is too large to be sent.
pub(super) fn too_large(id: &CorrelationId, length: usize, limit: usize) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", TOO_LARGE);
        out.text("correlationId", id.as_str());
        out.integer("bytes", length as i128);
        out.integer("maxPayload", limit as i128);
    })
}

/// Returns the line that cancels the request with that reply subject.
pub(super) fn cancel(reply: &str) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", CANCEL);
        out.text("reply", reply);
    })
}

/// Returns the reply subject of a cancelled request.
pub(super) fn cancelled(payload: &[u8]) -> Option<String> {
    // It is read between requests, which a long one would delay.
    if payload.len() > MAX_CANCEL {
        return None;
    }
    let fields = fields_of(payload)?;
    let is_cancel = fields.get("type")?.to_text()? == CANCEL;
    fields.get("reply")?.to_text().filter(|_| is_cancel)
}

fn request_message(kind: &str, id: &CorrelationId) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", kind);
        out.text("correlationId", id.as_str());
    })
}

/// Returns the fields of a message, or `None` if it is not an object.
pub(super) fn fields_of(payload: &[u8]) -> Option<JsonObject> {
    let text = String::from_utf8_lossy(payload).into_owned();
    RawObject::parse(text).ok().map(|object| object.fields())
}

/// A reply to a request.
#[derive(Debug)]
pub(super) enum Reply {
    Response(Box<HookExecutionResponse>),
    /// An engine is working on it.
    Working,
    /// An engine has no room for it.
    Busy,
    /// An engine has other settings than expected; contains the engine's settings hash.
    OtherSettings(String),
    /// No engine is subscribed.
    NoResponders,
    /// An engine could not serve it, and left the outcome of the event to the client.
    Failed(StageFailure),
    /// The response exists but is too large to be sent.
    TooLarge(String),
    /// An invalid message.
    Invalid(String),
}

impl Reply {
    /// Reads a reply to the request with that id and event.
    pub(super) fn read(message: &Message, id: &CorrelationId, event: &str) -> Self {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return Self::NoResponders;
        }
        let Some(fields) = fields_of(&message.payload) else {
            return Self::Invalid("it is no JSON object".to_owned());
        };
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let number = |name: &str| fields.get(name).and_then(RawJson::to_u64);
        match text("type").as_deref() {
            Some(WORKING) => return Self::Working,
            Some(BUSY) => return Self::Busy,
            Some(OTHER_SETTINGS) => {
                let hash = text("settingsHash");
                return Self::OtherSettings(
                    hash.map_or("not known".to_owned(), |hash| shortened(&hash)),
                );
            }
            Some(TOO_LARGE) => {
                let (bytes, limit) = (number("bytes"), number("maxPayload"));
                return Self::TooLarge(format!(
                    "the response has {} bytes, and a message of the broker has room for {}",
                    bytes.unwrap_or_default(),
                    limit.unwrap_or_default()
                ));
            }
            _ => {}
        }
        if let Some(why) = other_protocol(&fields) {
            return Self::Invalid(why);
        }
        let has_processed = fields.get("processed").is_some_and(|processed| !processed.is_null());
        match HookExecutionResponse::from_fields(fields) {
            Ok(response) => match consistency::check(&response, id, event) {
                Err(why) => Self::Invalid(why),
                Ok(()) => match response.error() {
                    // The failure names no outcome for its event, so the client decides.
                    Some(failure) if !has_processed || response.event_name().is_none() => {
                        Self::Failed(failure.clone())
                    }
                    _ => Self::Response(Box::new(response)),
                },
            },
            Err(error) => Self::Invalid(error.to_string()),
        }
    }
}
