//! The messages of a client other than requests, and those of the server other than responses.

use std::path::Path;

use hook_json::shape::{FieldReader, FoundFields, find_fields};
use hook_json::text::shortened;
use hook_json::{JsonSlice, ObjectWriter, RawObject};
use hook_protocol::{EventDefinition, HookEventName};
use hook_settings::AuditLevel;

use super::bridge::{BRIDGE, BridgeMessage};
use super::greeting::{HELLO, PROTOCOL_VERSION, REFUSED};
use super::live::{LiveMessage, parse_call_id};
use super::trigger::{self, TriggerMessage};
use super::{Line, malformed_request, parse, request_from, unparsable_request};
use crate::audit::AuditEntry;
use crate::bus::Lagged;
use crate::message::{CorrelationId, HookExecutionRequest, RequestFields, kind};
use crate::system::HookSystem;

pub(super) const TAIL: &str = "hook-tail";
pub(super) const STATUS: &str = "hook-status";
const DEFINE_EVENT: &str = "hook-define-event";

/// A client's line, parsed.
#[derive(Debug)]
pub(super) enum ClientMessage {
    /// Runs an event's hooks; or an invalid message, which is answered like a request.
    Request(Box<HookExecutionRequest>),
    /// An invalid line that may have been the answer of one of the client's hooks.
    Invalid(InvalidLine),
    /// Subscribes to the start and finish of hooks of the client's own requests.
    Subscribe,
    /// Subscribes to all messages of all clients.
    Tail,
    /// Subscribes to the audit of all clients at this level.
    Audit(AuditLevel),
    /// Cancels the hooks of the client's own requests with this id.
    Cancel(CorrelationId),
    /// Declares an event while the client is connected; the reply has the id.
    DefineEvent(Box<EventDefinition>, Option<CorrelationId>),
    /// An agent's call in its own format; the reply has the id.
    Bridge(Box<BridgeMessage>),
    /// A message about the client's own hooks, or about its services for hooks.
    Live(Box<LiveMessage>),
    /// A message about one of the client's triggers.
    Trigger(TriggerMessage),
    /// Requests the states of the workers.
    Status,
    /// Reloads the settings.
    Reload,
}

/// A line that is no valid message.
#[derive(Debug)]
pub(super) struct InvalidLine {
    /// The invalid request that represents the line and is answered.
    pub(super) request: Box<HookExecutionRequest>,
    /// The call that the line may have answered, if known.
    pub(super) call: Option<u64>,
    /// The error in the line.
    pub(super) reason: String,
}

impl ClientMessage {
    /// Parses a line. This always succeeds: an invalid line becomes a request that will be answered
    /// `invalid_request`.
    pub(super) fn read(line: Line) -> Self {
        let number = line.number();
        let object = match parse(line) {
            Ok(object) => object,
            Err(reason) => {
                let request = Box::new(unparsable_request(number, reason.as_str()));
                return Self::Invalid(InvalidLine { request, call: None, reason });
            }
        };
        let fields = RequestFields::find(&object);
        let kind = fields.kind.and_then(JsonSlice::text);
        if let Some(name) = fields.repeated {
            // Another parser may read it as another message.
            let request = Box::new(request_from(number, &fields));
            if name != "type" && kind.as_deref() == Some(kind::REQUEST) {
                return Self::Request(request);
            }
            let reason = format!("the field `{name}` stands twice");
            return Self::Invalid(InvalidLine { request, call: None, reason });
        }
        let malformed = |fields: &RequestFields<'_>, message: String| {
            Self::Request(Box::new(malformed_request(number, fields, message)))
        };
        let malformed_without_event = |message| malformed(&fields.without_event(), message);
        match kind.as_deref() {
            Some("hook-subscribe") => Self::Subscribe,
            Some(TAIL) => Self::Tail,
            Some(kind::AUDIT) => {
                audit_level(&object).map_or_else(malformed_without_event, Self::Audit)
            }
            Some(DEFINE_EVENT) => match (event_definition(&object), fields.id()) {
                (Ok(definition), Ok(id)) => Self::DefineEvent(Box::new(definition), id),
                (Err(message), _) | (_, Err(message)) => malformed_without_event(message),
            },
            Some(BRIDGE) => match BridgeMessage::read(&object, fields.id()) {
                Ok(message) => Self::Bridge(Box::new(message)),
                Err(message) => malformed_without_event(message),
            },
            Some(kind) if LiveMessage::is_kind(kind) => {
                Self::Live(Box::new(LiveMessage::read(kind, &object)))
            }
            Some(kind) if let Some(kind) = TriggerMessage::kind(kind) => {
                Self::Trigger(TriggerMessage::read(kind, &object))
            }
            Some(STATUS) => Self::Status,
            Some("hook-reload") => Self::Reload,
            Some("hook-cancel") => match fields.id() {
                Ok(Some(id)) => Self::Cancel(id),
                Ok(None) => {
                    let message = "hook-cancel needs the correlationId of the request to cancel";
                    malformed_without_event(message.to_owned())
                }
                Err(message) => malformed_without_event(message),
            },
            Some(other) if other != kind::REQUEST => {
                let message = format!(
                    "field `type`: there is no message {:?}; a client sends {}, hook-subscribe, \
                     hook-tail, hook-audit, hook-cancel, hook-define-event, hook-bridge, \
                     hook-status, hook-reload, {}, {}",
                    shortened(other),
                    kind::REQUEST,
                    trigger::MESSAGE_TYPES.join(", "),
                    LiveMessage::kinds()
                );
                // It may be a request with a misspelt type, or an answer.
                let request = Box::new(malformed_request(number, &fields, message.as_str()));
                match named_call(&object) {
                    None => Self::Request(request),
                    Some(call) => {
                        let reason = format!("there is no message {:?}", shortened(other));
                        Self::Invalid(InvalidLine { request, call, reason })
                    }
                }
            }
            _ => Self::Request(Box::new(request_from(number, &fields))),
        }
    }
}

/// Returns the call that a message names, if it has a `callId`; the inner value is `None` if that
/// is invalid.
fn named_call(object: &RawObject) -> Option<Option<u64>> {
    let FoundFields { values: [call], .. } = find_fields(object, ["callId"]);
    let call = call.filter(|call| !call.is_null())?;
    Some(parse_call_id(call.as_str()))
}

/// Reads the event that a client declares.
fn event_definition(object: &RawObject) -> Result<EventDefinition, String> {
    let mut fields = object.fields();
    if let Some(name) = fields.duplicate_key() {
        return Err(format!("field `{}`: expected one value, found several", shortened(name)));
    }
    let mut reader = FieldReader::new(std::mem::take(&mut fields));
    reader.any("type");
    reader.any("correlationId");
    let name = reader.text("eventName").map_err(|error| error.to_string())?;
    let name = name.ok_or("field `eventName`: expected the name of the event, found nothing")?;
    EventDefinition::read(name, reader.into_rest()).map_err(|error| error.to_string())
}

/// Sets the id of a request, if there is one.
pub(super) fn with_optional_id(
    id: Option<CorrelationId>,
    request: HookExecutionRequest,
) -> HookExecutionRequest {
    match id {
        Some(id) => request.with_correlation_id(id),
        None => request,
    }
}

/// Returns the line that an event is declared.
pub(super) fn event_defined_line(event: HookEventName, id: Option<&CorrelationId>) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", "hook-event-defined");
        object.optional_text("correlationId", id.map(CorrelationId::as_str));
        object.text("eventName", event.as_str());
    })
}

/// Reads the requested level of an audit.
fn audit_level(object: &RawObject) -> Result<AuditLevel, String> {
    let FoundFields { values: [level], duplicates: [repeated] } = find_fields(object, ["level"]);
    let names = AuditLevel::NAMES.join(", ");
    let expected = |found: &str| format!("field `level`: expected one of {names}; found {found}");
    match level.filter(|level| !level.is_null()) {
        _ if repeated.is_some() => Err(expected("several values")),
        None => Err(expected("nothing")),
        Some(level) => {
            let parsed = level.text().as_deref().and_then(AuditLevel::from_name);
            parsed.ok_or_else(|| expected(&shortened(level.as_str())))
        }
    }
}

/// Returns the line of an audit entry.
pub(super) fn audit_line(entry: &AuditEntry) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", kind::AUDIT);
        entry.write(object);
    })
}

/// Returns the server's first line.
pub(super) fn hello_line(system: &HookSystem, client_token: &str) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", HELLO);
        object.text("engine", "hook");
        object.text("version", env!("CARGO_PKG_VERSION"));
        object.integer("protocol", PROTOCOL_VERSION.into());
        object.text("project", &canonical_text(system.project()));
        object.optional_text("settingsHash", system.settings_hash().as_deref());
        object.text("clientToken", client_token);
    })
}

/// Returns a project's canonical path.
fn canonical_text(project: &Path) -> String {
    let canonical = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
    canonical.to_string_lossy().into_owned()
}

/// Returns the server's only line for a client that it does not serve.
pub(super) fn refused_line(message: &str) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", REFUSED);
        object.text("message", message);
    })
}

/// Returns the line that reports missed messages.
pub(super) fn lagged_line(lagged: Lagged) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", "hook-lagged");
        object.integer("missed", lagged.missed().into());
        if lagged.too_large() > 0 {
            object.integer("tooLarge", lagged.too_large().into());
        }
    })
}

/// Reloads the settings and returns the line with the outcome.
pub(super) async fn reload_settings(system: &HookSystem) -> Vec<u8> {
    let reloaded = system.reload().await;
    let mut warnings: Vec<String> =
        system.diagnostics().unwrap_or_default().iter().map(ToString::to_string).collect();
    warnings.extend(reloaded.as_ref().err().map(ToString::to_string));
    ObjectWriter::line(|object| {
        object.text("type", "hook-reloaded");
        object.bool("success", reloaded.is_ok());
        object.integer("totalHooks", system.status().total_hooks as i128);
        object.warnings(&warnings);
    })
}
