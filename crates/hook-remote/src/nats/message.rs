//! What is said between askers and engines beside requests and responses.

use async_nats::{Message, StatusCode};
use hook_bus::{CorrelationId, HookExecutionRequest, HookExecutionResponse};
use hook_core::text::shortened;
use hook_core::{JsonObject, ObjectWriter, RawJson, RawObject, StageFailure};

use super::consistent;

/// The version of these messages.
pub(super) const PROTOCOL: u64 = 1;

/// How many engines may have a request: one of an agent's machine, the fleet, and one more for each.
/// More is a circle of fleets that ask each other.
pub(super) const MAX_HOPS: u32 = 4;

/// How much room is left for what the broker's protocol adds to a message.
const OVERHEAD: usize = 1_024;

/// What a message of an engine about itself is called.
pub(super) const ENGINE: &str = "hook-engine";

const WORKING: &str = "hook-working";
const BUSY: &str = "hook-busy";
const OTHER_SETTINGS: &str = "hook-other-settings";
const TOO_LARGE: &str = "hook-too-large";
const CANCEL: &str = "hook-cancel";

/// How an engine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineState {
    /// It takes requests.
    Serving,
    /// It takes none, and finishes what it has.
    Draining,
    /// It is gone.
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

/// Whether a message of that length can be sent.
pub(super) fn fits(length: usize, max_payload: usize) -> bool {
    length <= max_payload.saturating_sub(OVERHEAD.min(max_payload / 16))
}

/// A request, who asks in which protocol, and which settings the engine must have.
pub(super) fn request_line(request: &HookExecutionRequest, expected: Option<&str>) -> Vec<u8> {
    ObjectWriter::line(|out| {
        request.write(out);
        out.integer("protocol", PROTOCOL.into());
        out.text("version", env!("CARGO_PKG_VERSION"));
        out.optional_text("expectSettings", expected);
        if request.hops() > 0 {
            out.integer("hops", request.hops().into());
        }
    })
}

/// How many engines have had a request before, as its message says. What is no number is too many.
pub(super) fn hops(fields: &JsonObject) -> u32 {
    let Some(hops) = fields.get("hops").filter(|hops| !hops.is_null()) else { return 0 };
    hops.to_whole_number().and_then(|hops| u32::try_from(hops).ok()).unwrap_or(u32::MAX)
}

/// Why a message is not of this protocol, if it is not. One that does not say is.
pub(super) fn other_protocol(fields: &JsonObject) -> Option<String> {
    let protocol = fields.get("protocol").filter(|protocol| !protocol.is_null())?;
    if protocol.to_whole_number() == Some(PROTOCOL) {
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

/// The settings that the engine must have which answers a request, as its message says it.
pub(super) fn expected(fields: &JsonObject) -> Option<RawJson> {
    fields.get("expectSettings").cloned()
}

/// That a request is at work.
pub(super) fn working(id: &CorrelationId) -> Vec<u8> {
    of_request(WORKING, id)
}

/// That a request which has come again is at work, if it says which it is.
pub(super) fn still_working(request: &[u8]) -> Option<Vec<u8>> {
    let id = fields_of(request)?.get("correlationId")?.to_text()?;
    CorrelationId::new(id).ok().map(|id| working(&id))
}

/// That there is no room for a request.
pub(super) fn busy() -> Vec<u8> {
    ObjectWriter::line(|out| out.text("type", BUSY))
}

/// That a request wants an engine with other settings than these.
pub(super) fn other_settings(settings: Option<&str>) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", OTHER_SETTINGS);
        out.optional_text("settingsHash", settings);
    })
}

/// That there is a response, and that it cannot be sent.
pub(super) fn too_large(id: &CorrelationId, length: usize, limit: usize) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", TOO_LARGE);
        out.text("correlationId", id.as_str());
        out.integer("bytes", length as i128);
        out.integer("maxPayload", limit as i128);
    })
}

/// That nobody waits any more for what is said under that subject.
pub(super) fn cancel(reply: &str) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", CANCEL);
        out.text("reply", reply);
    })
}

/// The subject of a request for which nobody waits any more.
pub(super) fn cancelled(payload: &[u8]) -> Option<String> {
    let fields = fields_of(payload)?;
    let is_cancel = fields.get("type")?.to_text()? == CANCEL;
    fields.get("reply")?.to_text().filter(|_| is_cancel)
}

fn of_request(kind: &str, id: &CorrelationId) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", kind);
        out.text("correlationId", id.as_str());
    })
}

/// The fields of a message; `None` of what is no object.
pub(super) fn fields_of(payload: &[u8]) -> Option<JsonObject> {
    let text = String::from_utf8_lossy(payload).into_owned();
    RawObject::parse(text).ok().map(|object| object.fields())
}

/// What is said to a request.
#[derive(Debug)]
pub(super) enum Reply {
    Response(Box<HookExecutionResponse>),
    /// An engine is at work on it.
    Working,
    /// An engine has no room for it.
    Busy,
    /// An engine has other settings than the request wants, and what it says that they are.
    OtherSettings(String),
    /// There is nobody to take it.
    NoResponders,
    /// An engine could not serve it, and does not say what that means for the event.
    Failed(StageFailure),
    /// There is a response of so many bytes, which are too many.
    TooLarge(String),
    /// Something else.
    Strange(String),
}

impl Reply {
    /// Reads what is said to the request of that id for that event.
    pub(super) fn read(message: &Message, id: &CorrelationId, event: &str) -> Self {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return Self::NoResponders;
        }
        let Some(fields) = fields_of(&message.payload) else {
            return Self::Strange("it is no JSON object".to_owned());
        };
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let number = |name: &str| fields.get(name).and_then(RawJson::to_whole_number);
        match text("type").as_deref() {
            Some(WORKING) => return Self::Working,
            Some(BUSY) => return Self::Busy,
            Some(OTHER_SETTINGS) => {
                let hash = text("settingsHash");
                return Self::OtherSettings(
                    hash.map_or("not known".to_owned(), |it| shortened(&it)),
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
            return Self::Strange(why);
        }
        let has_processed = fields.get("processed").is_some_and(|it| !it.is_null());
        match HookExecutionResponse::from_fields(fields) {
            Ok(response) => match consistent::check(&response, id, event) {
                Err(why) => Self::Strange(why),
                Ok(()) => match response.error() {
                    // It says nothing of its event: the failure is what the asker makes of it.
                    Some(failure) if !has_processed || response.event_name().is_none() => {
                        Self::Failed(failure.clone())
                    }
                    _ => Self::Response(Box::new(response)),
                },
            },
            Err(error) => Self::Strange(error.to_string()),
        }
    }
}
