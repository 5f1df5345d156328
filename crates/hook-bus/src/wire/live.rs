//! The messages about a client's own hooks, and about its services for hooks.

use hook_json::text::shortened;
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject};
use hook_run::{FromHook, HostCallError, MAX_LIVE_LINE};

use super::greeting::{HELLO, PROTOCOL_VERSION};
use crate::live::{
    ClientCall, HookRegister, ListedHook, NotRegistered, RECONNECT_GRACE, UnknownToken,
};

/// The maximum length of a host call's id that is repeated to its hook, in bytes.
const MAX_ID: usize = 256;

/// The request for the list of all registered hooks.
pub(super) const LIST: &str = "hook-list";

/// The types of these messages from clients.
const MESSAGE_TYPES: [&str; 8] = [
    HELLO,
    "hook-register",
    "hook-unregister",
    LIST,
    "hook-answer",
    "hook-host-call",
    "hook-host-result",
    "hook-log",
];

/// A client's message about its own hooks, or about its services for hooks.
#[derive(Debug)]
pub(super) enum LiveMessage {
    /// Identifies the client, and offers services for the hooks of its requests.
    Hello(ClientHello),
    /// Registers a hook.
    Register(Result<HookRegister, ErrorReply>),
    /// Unregisters the hook with this id.
    Unregister(String),
    /// Requests the list of all registered hooks.
    List,
    /// A message of one of its hooks.
    FromHook(FromHook),
    /// The result of a host call that the client was sent.
    HostResult {
        /// The id of the host call.
        id: String,
        /// The result.
        outcome: Result<RawJson, HostCallError>,
    },
    /// An invalid message.
    Invalid(ErrorReply),
    /// An invalid message that may have answered one call, or any call.
    InvalidAnswer {
        /// The call, if known.
        call: Option<u64>,
        /// The error in the message.
        reason: String,
        /// The reply.
        reply: ErrorReply,
    },
}

/// A client's first message.
#[derive(Debug, Default)]
pub(super) struct ClientHello {
    /// The token of a lost connection.
    pub(super) client_token: Option<String>,
    /// The services that it offers to the hooks of its requests.
    pub(super) host_services: Vec<String>,
}

/// The reply to a message that has no effect.
#[derive(Debug)]
pub(super) struct ErrorReply {
    request: &'static str,
    hook_id: Option<String>,
    event_name: Option<String>,
    /// The id of a hook's host call, as the hook sent it.
    host_call_id: Option<RawJson>,
    code: &'static str,
    message: String,
    /// Details for programs.
    details: JsonObject,
}

impl LiveMessage {
    pub(super) fn is_kind(kind: &str) -> bool {
        MESSAGE_TYPES.contains(&kind)
    }

    pub(super) fn kinds() -> String {
        MESSAGE_TYPES[1..].join(", ")
    }

    /// Reads a message of one of these types.
    pub(super) fn read(kind: &str, object: &RawObject) -> Self {
        let fields = object.fields();
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let invalid = |kind, field: &str, problem| {
            Self::Invalid(ErrorReply::invalid_field(kind, field, problem))
        };
        const REPEATED: &str = "expected one value, found several";
        let repeated = fields.duplicate_key().map(shortened);
        match kind {
            // The hook waits for the result, if the id shows which one.
            "hook-host-result" if fields.duplicate_key() != Some("hostCallId") => {
                match text("hostCallId") {
                    Some(id) => {
                        let outcome = repeated.map_or_else(
                            || host_result(&fields),
                            |name| {
                                let reason =
                                    format!("the host's result: field `{name}`: {REPEATED}");
                                Err(HostCallError::failed(reason))
                            },
                        );
                        Self::HostResult { id, outcome }
                    }
                    None => invalid("hook-host-result", "hostCallId", "expected a string"),
                }
            }
            HELLO | "hook-unregister" | LIST | "hook-host-result" if repeated.is_some() => {
                let kind = MESSAGE_TYPES.iter().find(|known| **known == kind).copied();
                invalid(kind.unwrap_or_default(), &repeated.unwrap_or_default(), REPEATED)
            }
            HELLO => Self::hello(&fields),
            "hook-register" => {
                Self::Register(HookRegister::read(&fields).map_err(|error| ErrorReply {
                    hook_id: text("hookId"),
                    event_name: text("eventName"),
                    ..ErrorReply::from_registration_error("hook-register", &error)
                }))
            }
            "hook-unregister" => match text("hookId") {
                Some(id) => Self::Unregister(id),
                None => invalid("hook-unregister", "hookId", "expected a string"),
            },
            LIST => Self::List,
            _ => Self::read_hook_message(kind, object, &fields),
        }
    }

    fn read_hook_message(kind: &str, object: &RawObject, fields: &JsonObject) -> Self {
        let length = object.as_str().len();
        let parsed = match length > MAX_LIVE_LINE {
            true => Err(format!("the line has {length} bytes, and may have {MAX_LIVE_LINE}")),
            false => FromHook::of(fields).map_err(|error| error.to_string()),
        };
        let reason = match parsed {
            Ok(message) => return Self::FromHook(message),
            Err(reason) => reason,
        };
        let known = MESSAGE_TYPES.iter().find(|known| **known == kind).copied();
        let reply = ErrorReply::invalid(known.unwrap_or("hook-answer"), reason.clone());
        if kind == "hook-answer" {
            let is_unique = fields.duplicate_key() != Some("callId");
            let id = fields.get("callId").filter(|id| is_unique && id.as_str().len() <= MAX_ID);
            let call = id.and_then(|id| parse_call_id(id.as_str()));
            let mut details = JsonObject::new();
            if let Some(id) = id {
                details.insert("callId", id.clone());
            }
            if length > MAX_LIVE_LINE {
                details.insert("limit", RawJson::from_u64(MAX_LIVE_LINE as u64));
            }
            // The call must not wait for another answer: this one came, but is invalid.
            return Self::InvalidAnswer { call, reason, reply: ErrorReply { details, ..reply } };
        }
        let id = fields.get("hostCallId").filter(|_| kind == "hook-host-call");
        let host_call_id = id.filter(|id| id.as_str().len() <= MAX_ID).cloned();
        Self::Invalid(ErrorReply { host_call_id, ..reply })
    }

    fn hello(fields: &JsonObject) -> Self {
        let value_of = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let invalid = |field, problem: String| {
            Self::Invalid(ErrorReply::invalid_field(HELLO, field, &problem))
        };
        if let Some(version) = value_of("protocol")
            && version.to_u64().is_none_or(|version| version < PROTOCOL_VERSION)
        {
            let client_version = shortened(version.as_str());
            let problem =
                format!("the client speaks {client_version}, and this server {PROTOCOL_VERSION}");
            return invalid("protocol", problem);
        }
        let services = match value_of("hostServices").map(RawJson::to_items) {
            None => Some(Vec::new()),
            Some(items) => items.and_then(|items| items.iter().map(RawJson::to_text).collect()),
        };
        let Some(host_services) = services else {
            return invalid("hostServices", "expected an array of strings".to_owned());
        };
        let client_token = match value_of("clientToken").map(|token| (token.to_text(), token)) {
            None => None,
            Some((Some(token), _)) => Some(token),
            Some((None, found)) => {
                let found = shortened(found.as_str());
                return invalid("clientToken", format!("expected a string, found {found}"));
            }
        };
        Self::Hello(ClientHello { client_token, host_services })
    }
}

fn host_result(fields: &JsonObject) -> Result<RawJson, HostCallError> {
    match fields.get("error").filter(|error| !error.is_null()) {
        None => Ok(fields.get("result").cloned().unwrap_or_else(RawJson::null)),
        Some(error) => {
            let error_fields = error.to_object().unwrap_or_default();
            let text = |name: &str| error_fields.get(name).and_then(RawJson::to_text);
            let message = text("message").or_else(|| error.to_text());
            let message_text = message.unwrap_or_else(|| shortened(error.as_str()));
            match text("code").as_deref() {
                Some("unsupported") => Err(HostCallError::unsupported(&message_text)),
                _ => Err(HostCallError::failed(message_text)),
            }
        }
    }
}

impl ErrorReply {
    fn invalid(request: &'static str, message: String) -> Self {
        Self {
            request,
            hook_id: None,
            event_name: None,
            host_call_id: None,
            code: "invalid_request",
            message,
            details: JsonObject::new(),
        }
    }

    pub(super) fn invalid_field(request: &'static str, field: &str, problem: &str) -> Self {
        let mut details = JsonObject::new();
        details.insert("field", RawJson::from_text(field));
        Self { details, ..Self::invalid(request, format!("field `{field}`: {problem}")) }
    }

    fn from_registration_error(request: &'static str, error: &NotRegistered) -> Self {
        let (code, details) = (error.code(), error.details());
        Self { code, details, ..Self::invalid(request, error.to_string()) }
    }

    /// Returns the reply about a hook that was not registered or unregistered.
    pub(super) fn for_hook(
        request: &'static str,
        hook_id: &str,
        event_name: Option<&str>,
        error: &NotRegistered,
    ) -> Self {
        Self {
            hook_id: Some(hook_id.to_owned()),
            event_name: event_name.map(str::to_owned),
            ..Self::from_registration_error(request, error)
        }
    }

    /// Returns the reply to a message with an id that is in use.
    pub(super) fn duplicate_id(request: &'static str, field: &'static str, problem: &str) -> Self {
        Self { code: "duplicate_id", ..Self::invalid_field(request, field, problem) }
    }

    pub(super) fn unknown_token(error: UnknownToken) -> Self {
        let mut details = JsonObject::new();
        details.insert("field", RawJson::from_text("clientToken"));
        details.insert("graceSeconds", RawJson::from_u64(RECONNECT_GRACE.as_secs()));
        Self { code: "unknown_token", details, ..Self::invalid(HELLO, error.to_string()) }
    }

    /// Returns the reply as a line.
    pub(super) fn to_line(&self) -> Vec<u8> {
        ObjectWriter::line(|object| {
            match &self.host_call_id {
                // The hook waits for the result of its host call.
                Some(id) => {
                    object.text("type", "hook-host-result");
                    object.raw("hostCallId", id);
                }
                None => {
                    object.text("type", "hook-error");
                    object.text("request", self.request);
                    object.optional_text("hookId", self.hook_id.as_deref());
                    object.optional_text("eventName", self.event_name.as_deref());
                }
            }
            object.object("error", |error| {
                error.text("code", self.code);
                error.text("message", &self.message);
                if !self.details.is_empty() {
                    error.object("details", |out| out.fields(&self.details));
                }
            });
        })
    }
}

/// Parses a call id, written as a string or as a number.
pub(super) fn parse_call_id(text: &str) -> Option<u64> {
    text.trim_matches('"').parse().ok()
}

/// Returns the line that a hook was registered or unregistered.
pub(super) fn registration_line(kind: &str, hook_id: &str) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", kind);
        object.text("hookId", hook_id);
    })
}

/// Returns the line that a client has resumed its hooks.
pub(super) fn resumed_line(token: &str, hook_ids: &[String]) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", "hook-resumed");
        object.text("clientToken", token);
        object.texts("hookIds", hook_ids);
    })
}

/// Returns the line that lists all registered hooks.
pub(super) fn hook_list_line(hooks: &[ListedHook]) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", "hook-hooks");
        object.objects("hooks", hooks, |object, hook| {
            hook.register.write(object);
            object.bool("own", hook.own);
        });
    })
}

/// Returns the line with a call of a client's service.
pub(super) fn host_call_line(id: u64, asked: &ClientCall) -> Vec<u8> {
    let call = &asked.call;
    ObjectWriter::line(|object| {
        object.text("type", "hook-host-call");
        object.text("hostCallId", &id.to_string());
        object.optional_text("correlationId", call.correlation.as_deref());
        object.text("hookId", &call.hook);
        object.text("method", &call.method);
        object.raw("params", &call.params);
        object.text("runToken", &call.run_token);
    })
}

/// Returns the line that a call of a client's service is cancelled.
pub(super) fn host_call_cancelled_line(id: u64) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", "hook-host-call-cancelled");
        object.text("hostCallId", &id.to_string());
    })
}
