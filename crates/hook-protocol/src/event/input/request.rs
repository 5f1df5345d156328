//! The base fields of every input, and the input of one event.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::original::OriginalMessage;
use super::timestamp::timestamp;
use crate::event::row::{HookEventName, ModelPayload};
use crate::event::table::EventPayload;
use crate::model::OLDER_NAMES;
use crate::tool::{ToolCall, ToolFiles, ToolKind, is_mcp_tool_name};
use hook_json::field::{self, Field};
use hook_json::shape::{FieldReader, ShapeError, reject_duplicate_field};
use hook_json::{JsonObject, ObjectWriter, RawObject, fields};

/// The maximum length of a request's value in the environment of a process, in bytes.
const MAX_ENVIRONMENT_VALUE: usize = 4 * 1024;

fields! {
    /// The fields that every input has. A request can set them, except the event's name.
    pub BASE_FIELDS:
    "session_id" ShortText(MAX_ENVIRONMENT_VALUE), optional, "Identifies the agent's session.";
    "transcript_path" Text, optional,
        "The file with the session's transcript; empty when there is none.";
    "cwd" ShortText(MAX_ENVIRONMENT_VALUE), optional, "The agent's working directory.";
    "hook_event_name" Text, optional, "The event.";
    "timestamp" Text, optional, "When the event happened, ISO 8601.";
}

fields! {
    /// The fields that the engine adds to every input about a tool. A request's own fields with these
    /// names are ignored.
    pub TOOL_FIELDS:
    "kind" OneOf(&["shell", "file_read", "file_write", "web", "mcp", "agent", "other"]), required,
        "What the tool does.";
    "files" ListOf(&Open(&FILE_FIELDS)), required,
        "The files that the arguments name: those of a patch, too, and none of a shell command.";
    "filesComplete" Bool, optional,
        "`false` where files are missing in `files`: there are too many, or one has no readable path.";
}

fields! {
    FILE_FIELDS:
    "path" Text, required, "Absolute, with links resolved.";
    "access" OneOf(&["read", "write"]), required, "What the call does to it.";
}

/// An error about a payload that is invalid for its event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {event} input: {shape}")]
pub struct PayloadError {
    pub(crate) event: HookEventName,
    #[source]
    pub(crate) shape: ShapeError,
}

impl PayloadError {
    /// Returns the event whose payload was read.
    pub fn event(&self) -> HookEventName {
        self.event
    }

    /// Returns the offending field and the expected value.
    pub fn shape(&self) -> &ShapeError {
        &self.shape
    }
}

/// The host's values of the base fields: the session and its working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostContext {
    /// The id of the agent's session.
    pub session_id: Arc<str>,
    /// The agent's working directory.
    pub cwd: Arc<str>,
    /// The file with the session's transcript; empty if there is none.
    pub transcript_path: Arc<str>,
}

/// Base fields that a request sets itself; they override the host's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseOverrides {
    /// The session that the event belongs to.
    pub session_id: Option<Arc<str>>,
    /// The session's working directory.
    pub cwd: Option<Arc<str>>,
    /// The session's transcript file.
    pub transcript_path: Option<Arc<str>>,
    /// The time of the event, ISO 8601.
    pub timestamp: Option<Arc<str>>,
}

/// The input of a request: a checked payload, base fields of its own, and unknown fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestInput {
    /// The event's payload.
    pub payload: EventPayload,
    /// Base fields that override the host's.
    pub base: BaseOverrides,
    /// Unknown fields, which scripts get unchanged.
    pub extra: JsonObject,
    /// The agent's original message, if the agent has its own hook format.
    pub original: Option<Arc<OriginalMessage>>,
}

impl RequestInput {
    /// Reads and checks the input of an event.
    ///
    /// # Errors
    /// Names the first field that violates reference/events.md.
    pub fn read(event: HookEventName, fields: JsonObject) -> Result<Self, PayloadError> {
        let repeated = reject_duplicate_field(&fields);
        let mut fields = FieldReader::new(fields);
        let read = |fields: &mut FieldReader| -> Result<_, ShapeError> {
            repeated?;
            if event.row().model != ModelPayload::None {
                for (name, older) in OLDER_NAMES {
                    fields.alias(older, name);
                }
            }
            // The engine sets this field itself (reference/events.md).
            fields.any("hook_event_name");
            if event.is_tool_event() {
                TOOL_FIELDS.iter().for_each(|field| drop(fields.any(field.name)));
            }
            let base = BaseOverrides {
                session_id: environment_value(fields, "session_id")?,
                cwd: environment_value(fields, "cwd")?,
                transcript_path: fields.text("transcript_path")?.map(Into::into),
                timestamp: fields.text("timestamp")?.map(Into::into),
            };
            Ok((base, EventPayload::read(event, fields)?))
        };
        let (base, payload) = read(&mut fields).map_err(|shape| PayloadError { event, shape })?;
        Ok(Self { payload, base, extra: fields.into_rest(), original: None })
    }

    /// Checks constraints that a payload's types do not express; reading has checked them already.
    ///
    /// # Errors
    /// Names the field that violates reference/events.md.
    pub fn check(&self) -> Result<(), PayloadError> {
        let check = || -> Result<(), ShapeError> {
            for (name, value) in [("session_id", &self.base.session_id), ("cwd", &self.base.cwd)] {
                if let Some(value) = value {
                    check_environment_value(name, value)?;
                }
            }
            self.payload.check()?;
            match self.duplicate_field() {
                Some(name) => Err(ShapeError::new(name, "a field that is not a known one", "one")),
                None => Ok(()),
            }
        };
        check().map_err(|shape| PayloadError { event: self.event(), shape })
    }

    /// Adds unknown fields, except those with the name of a field that there is.
    pub fn add_extra(&mut self, extra: &JsonObject) {
        for (name, value) in extra.iter() {
            if !self.is_known_field(name) && self.extra.get(name).is_none() {
                self.extra.insert(name, value.clone());
            }
        }
    }

    fn is_known_field(&self, name: &str) -> bool {
        let added: &[Field] = if self.event().is_tool_event() { &TOOL_FIELDS } else { &[] };
        let known = [&BASE_FIELDS, self.payload.fields(), added];
        known.iter().any(|all| field::has_field(all, name))
    }

    /// Returns an unknown field with the name of a known one, which would be written twice.
    fn duplicate_field(&self) -> Option<String> {
        let open = match &self.payload {
            EventPayload::Open(payload) => Some(payload.fields()),
            _ => None,
        };
        let mut names = self.extra.iter().chain(open.into_iter().flat_map(JsonObject::iter));
        names.find(|(name, _)| self.is_known_field(name)).map(|(name, _)| name.to_owned())
    }

    /// Returns the event that the payload belongs to.
    pub fn event(&self) -> HookEventName {
        self.payload.event()
    }

    /// Adds the host's base fields, the current time if the request has none, and `is_error` for a
    /// tool that failed.
    pub fn complete(mut self, host: &HostContext) -> EventInput {
        if let EventPayload::AfterTool(payload) = &mut self.payload
            && payload.has_failed()
        {
            payload.is_error = Some(true);
        }
        let base = self.base;
        let cwd = base.cwd.unwrap_or_else(|| Arc::clone(&host.cwd));
        EventInput {
            directory: Path::new(&*host.cwd).join(&*cwd).into(),
            session_id: base.session_id.unwrap_or_else(|| Arc::clone(&host.session_id)),
            transcript_path: base
                .transcript_path
                .unwrap_or_else(|| Arc::clone(&host.transcript_path)),
            cwd,
            timestamp: base.timestamp.unwrap_or_else(timestamp),
            payload: self.payload,
            extra: self.extra,
            original: self.original,
        }
    }

    /// Writes the fields in the form of a request.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        out.optional_text("session_id", self.base.session_id.as_deref());
        out.optional_text("transcript_path", self.base.transcript_path.as_deref());
        out.optional_text("cwd", self.base.cwd.as_deref());
        out.optional_text("timestamp", self.base.timestamp.as_deref());
        self.payload.write(out);
        out.fields(&self.extra);
    }
}

impl<P: Into<EventPayload>> From<P> for RequestInput {
    fn from(payload: P) -> Self {
        Self {
            payload: payload.into(),
            base: BaseOverrides::default(),
            extra: JsonObject::default(),
            original: None,
        }
    }
}

/// Takes a value for a process's environment, and checks that it fits (reference/answers.md).
fn environment_value(fields: &mut FieldReader, name: &str) -> Result<Option<Arc<str>>, ShapeError> {
    let Some(value) = fields.text(name)? else { return Ok(None) };
    check_environment_value(name, &value)?;
    Ok(Some(value.into()))
}

fn check_environment_value(name: &str, value: &str) -> Result<(), ShapeError> {
    const EXPECTED: &str = "at most 4 KiB without NUL";
    if value.contains('\0') {
        return Err(ShapeError::new(name, EXPECTED, "a NUL"));
    }
    if value.len() > MAX_ENVIRONMENT_VALUE {
        return Err(ShapeError::new(name, EXPECTED, format!("{} bytes", value.len())));
    }
    Ok(())
}

/// The complete input of one event, as hooks get it.
#[derive(Clone, PartialEq, Eq)]
pub struct EventInput {
    /// The id of the agent's session.
    pub session_id: Arc<str>,
    /// The session's transcript file; empty if there is none.
    pub transcript_path: Arc<str>,
    /// The session's working directory.
    pub cwd: Arc<str>,
    /// The time of the event, ISO 8601 in UTC with milliseconds.
    pub timestamp: Arc<str>,
    /// The event's own fields.
    pub payload: EventPayload,
    /// Unknown fields of the request.
    pub extra: JsonObject,
    /// The agent's original message, if the agent has its own hook format.
    pub original: Option<Arc<OriginalMessage>>,
    /// The working directory, absolute if the host's is. A request may give a relative one.
    pub directory: Arc<Path>,
}

impl EventInput {
    /// Returns the event.
    pub fn event(&self) -> HookEventName {
        self.payload.event()
    }

    /// Returns the JSON that a script reads on its standard input.
    pub fn to_raw(&self) -> RawObject {
        RawObject::from_written(self.to_json())
    }

    /// Returns [`to_raw`](Self::to_raw) as bytes.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        self.serialize(Some(&self.files()))
    }

    /// Returns the fields without a tool call's `files`, which need the file system.
    pub fn fields_without_files(&self) -> JsonObject {
        RawObject::from_written(self.serialize(None)).fields()
    }

    /// Returns the input as one line of JSON, with the files of its tool call if they are known.
    pub(crate) fn serialize(&self, files: Option<&ToolFiles>) -> Vec<u8> {
        ObjectWriter::value(512, |object| {
            object.text("session_id", &self.session_id);
            object.text("transcript_path", &self.transcript_path);
            object.text("cwd", &self.cwd);
            object.text("hook_event_name", self.event().as_str());
            object.text("timestamp", &self.timestamp);
            self.payload.write(object);
            if let Some(kind) = self.tool_kind() {
                object.text("kind", kind.as_str());
                if let Some(files) = files {
                    files.write(object);
                }
            }
            object.fields(&self.extra);
        })
    }

    /// Returns the kind of the event's tool; `None` if the event is not about a tool.
    pub fn tool_kind(&self) -> Option<ToolKind> {
        self.tool_call().map(|call| call.kind)
    }

    /// Returns the event's tool call; `None` if the event is not about a tool.
    pub fn tool_call(&self) -> Option<ToolCall<'_>> {
        let call = ToolCall::new(self.payload.match_subject()?, self.payload.tool_input()?);
        let is_mcp = match &self.payload {
            EventPayload::BeforeTool(payload) => payload.mcp_context.is_some(),
            EventPayload::AfterTool(payload) => payload.mcp_context.is_some(),
            _ => false,
        };
        Some(if is_mcp { call.assume_mcp() } else { call })
    }

    /// Returns `mcp_<server>_<tool>` for an MCP tool whose own name does not contain its server.
    pub fn qualified_mcp_name(&self) -> Option<String> {
        let call = self.tool_call().filter(|call| call.kind == ToolKind::Mcp)?;
        let context = match &self.payload {
            EventPayload::BeforeTool(payload) => payload.mcp_context.as_ref(),
            EventPayload::AfterTool(payload) => payload.mcp_context.as_ref(),
            _ => None,
        };
        let server = &context?.server_name;
        let has_server = is_mcp_tool_name(call.name);
        (!has_server)
            .then(|| format!("mcp_{server}_{}", call.name.rsplit("__").next().unwrap_or(call.name)))
    }

    /// Returns the files that the tool's arguments name.
    pub(crate) fn files(&self) -> ToolFiles {
        self.tool_call()
            .map_or_else(ToolFiles::empty, |call| ToolFiles::from_call(&call, &self.directory))
    }
}

impl fmt::Debug for EventInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.to_raw().as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_json::RawJson;

    fn read(event: HookEventName, text: &str) -> Result<RequestInput, PayloadError> {
        RequestInput::read(event, RawJson::parse(text).unwrap().to_object().unwrap())
    }

    #[test]
    fn unknown_fields_reach_the_script_byte_for_byte() {
        let text = r#"{"hook_event_name":"Lie","prompt":"hi","later":{"n":1e0001},"cwd":"/tmp"}"#;
        let host = HostContext {
            session_id: "s".into(),
            cwd: "/elsewhere".into(),
            transcript_path: "".into(),
        };
        let input = read(HookEventName::BeforeAgent, text).unwrap().complete(&host);
        let script = input.to_raw().fields();
        assert_eq!(script.get("later").unwrap().as_str(), r#"{"n":1e0001}"#);
        assert_eq!(script.get("cwd").unwrap().as_str(), r#""/tmp""#);
        assert_eq!(script.get("hook_event_name").unwrap().as_str(), r#""BeforeAgent""#);
        let timestamp = script.get("timestamp").unwrap().to_text().unwrap();
        assert_eq!(timestamp.len(), "2026-01-01T00:00:00.000Z".len(), "{timestamp}");
    }

    #[test]
    fn an_error_names_the_field_and_what_was_expected() {
        for (event, text, field) in [
            (HookEventName::BeforeTool, r#"{"tool_name":"","tool_input":{}}"#, "tool_name"),
            (HookEventName::BeforeTool, r#"{"tool_name":"a","tool_input":[]}"#, "tool_input"),
            (HookEventName::BeforeTool, r#"{"tool_name":"a"}"#, "tool_input"),
            (
                HookEventName::BeforeTool,
                r#"{"tool_name":"a","tool_input":{},"tool_\u006eame":"b"}"#,
                "tool_name",
            ),
            (
                HookEventName::BeforeTool,
                r#"{"tool_name":"a","tool_input":{},"mcp_context":{"server_name":"a","server_name":"b"}}"#,
                "mcp_context.server_name",
            ),
            (
                HookEventName::BeforeTool,
                r#"{"tool_name":"a","tool_input":{},"mcp_context":{}}"#,
                "mcp_context.server_name",
            ),
            (HookEventName::AfterTool, r#"{"tool_name":"a","tool_input":{}}"#, "tool_response"),
            (
                HookEventName::AfterAgent,
                r#"{"prompt":"a","prompt_response":"b"}"#,
                "stop_hook_active",
            ),
            (HookEventName::SessionStart, r#"{"source":"boot"}"#, "source"),
            (HookEventName::SessionEnd, r#"{"reason":7}"#, "reason"),
            (HookEventName::PreCompress, "{}", "trigger"),
            (HookEventName::BeforeModel, r#"{"llm_request":"text"}"#, "llm_request"),
            (HookEventName::AfterModel, r#"{"llm_request":{}}"#, "llm_response"),
            (
                HookEventName::BeforeToolSelection,
                r#"{"llm_request":{},"available_tools":{}}"#,
                "available_tools",
            ),
            (HookEventName::Notification, r#"{"message":""}"#, "message"),
            (HookEventName::Notification, r#"{"message":"a","session_id":"\u0000"}"#, "session_id"),
        ] {
            let error = read(event, text).unwrap_err();
            assert_eq!(error.shape().path(), field, "{event}: {error}");
        }
    }

    #[test]
    fn older_names_stand_for_the_model_payloads() {
        let input = read(HookEventName::AfterModel, r#"{"model_request":{},"model_response":{}}"#);
        assert!(input.is_ok());
    }
}
