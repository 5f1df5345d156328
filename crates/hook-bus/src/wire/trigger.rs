//! The messages about a client's triggers: what a client asks for, and the server's lines.

use std::sync::Arc;
use std::time::Duration;

use hook_json::shape::{FieldReader, Required, ShapeError, reject_duplicate_field};
use hook_json::text::shortened;
use hook_json::{JsonArray, JsonObject, ObjectWriter, RawJson, RawObject, TooDeep};
use hook_protocol::{AfterAgentInput, BaseOverrides, BeforeAgentInput, EventPayload, RequestInput};
use hook_run::HostCallError;
use hook_translate::Sdk;
use tokio::sync::oneshot;

use super::live::ErrorReply;
use crate::message::{TriggerKind, read_deadline};
use crate::triggers::{ChunkHooks, ModelCall, ModelChunk, ToolCall};

/// The message that starts a trigger.
pub(super) const TRIGGER: &str = "hook-trigger";
/// A part of a model's answer: from the client, or for its display.
const CHUNK: &str = "hook-trigger-chunk";
const CANCEL: &str = "hook-trigger-cancel";
const RESULT: &str = "hook-trigger-result";

/// The types of these messages from clients.
pub(super) const MESSAGE_TYPES: [&str; 3] = [TRIGGER, CHUNK, CANCEL];

/// The maximum length of a trigger's id, in bytes.
const MAX_ID: usize = 256;

/// A client's message about a trigger.
#[derive(Debug)]
pub(super) enum TriggerMessage {
    Start(Box<Trigger>),
    /// A trigger that cannot be started; its result is the error.
    Invalid(Arc<str>, TriggerError),
    /// A chunk of the answer of a trigger's model.
    Chunk(Arc<str>, RawJson),
    Cancel(Arc<str>),
    /// A message without a usable id.
    Unidentified(ErrorReply),
}

/// The reason why a trigger has no other result.
#[derive(Debug, Clone)]
pub(super) struct TriggerError {
    code: &'static str,
    message: String,
}

impl TriggerError {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Creates the error of an invalid message.
impl<E: std::error::Error> From<E> for TriggerError {
    fn from(error: E) -> Self {
        Self::new("invalid_request", error.to_string())
    }
}

/// A trigger to run.
#[derive(Debug)]
pub(super) struct Trigger {
    pub(super) id: Arc<str>,
    pub(super) deadline: Option<Duration>,
    pub(super) run_token: Option<Box<str>>,
    pub(super) max_continuations: Option<u32>,
    pub(super) base: BaseOverrides,
    /// Further fields of the session and the call, for hooks.
    pub(super) extra: JsonObject,
    pub(super) call: Call,
    /// The size of the message in bytes.
    pub(super) bytes: usize,
}

/// The agent's action, with its data.
#[derive(Debug)]
pub(super) enum Call {
    Tool(Box<ToolCall>),
    Model(Box<ModelCall>, ChunkHooks),
    Prompt(BeforeAgentInput),
    TurnEnd(AfterAgentInput),
    /// An event without an answer of its own.
    Lifecycle(Box<RequestInput>),
}

impl TriggerMessage {
    /// Returns the type of a message, if it is about a trigger.
    pub(super) fn kind(kind: &str) -> Option<&'static str> {
        MESSAGE_TYPES.into_iter().find(|known| *known == kind)
    }

    /// Reads a message of one of these types.
    pub(super) fn read(kind: &'static str, object: &RawObject) -> Self {
        let fields = object.fields();
        let unidentified = |problem: &str| {
            Self::Unidentified(ErrorReply::invalid_field(kind, "triggerId", problem))
        };
        let id: Arc<str> = match fields.get("triggerId").and_then(RawJson::to_text) {
            _ if fields.duplicate_key() == Some("triggerId") => {
                return unidentified("expected one value, found several");
            }
            Some(id) if id.len() <= MAX_ID => id.into(),
            _ => return unidentified("expected a string of at most 256 bytes"),
        };
        let length = object.as_str().len();
        match kind {
            CHUNK => {
                // Without a usable chunk the answer is interrupted.
                let chunk = fields.get("chunk").filter(|_| fields.duplicate_key().is_none());
                Self::Chunk(id, chunk.cloned().unwrap_or_else(RawJson::null))
            }
            CANCEL => Self::Cancel(id),
            _ => match Trigger::read(Arc::clone(&id), fields, length) {
                Ok(trigger) => Self::Start(Box::new(trigger)),
                Err(error) => Self::Invalid(id, error),
            },
        }
    }
}

impl Trigger {
    fn read(id: Arc<str>, fields: JsonObject, bytes: usize) -> Result<Self, TriggerError> {
        reject_duplicate_field(&fields)?;
        let mut fields = FieldReader::new(fields);
        let kind = read_name(&mut fields, "trigger", TriggerKind::EXPECTED, TriggerKind::from_name)
            .required("trigger", TriggerKind::EXPECTED)?;
        let deadline = fields.any("deadlineMs").map_or(Ok(None), |value| read_deadline(&value));
        let deadline = deadline.map_err(|problem| TriggerError::new("invalid_request", problem))?;
        let run_token = fields.text("runToken")?.map(Into::into);
        let mut call = fields.object("call").required("call", "an object")?.fields();
        reject_duplicate_field(&call)?;
        let session = fields.object("session")?.unwrap_or_else(RawObject::empty).fields();
        reject_duplicate_field(&session)?;
        let mut session = FieldReader::new(session);
        let read_max = |max: RawJson| {
            let number = max.to_u64().and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| ShapeError::new("maxContinuations", "a count", max.as_str()))
        };
        let max_continuations = session.number("maxContinuations")?.map(read_max).transpose()?;
        for (name, value) in session.into_rest().iter() {
            if call.get(name).is_none() {
                call.insert(name, value.clone());
            }
        }
        let (call, base, extra) = Call::read(kind, call)?;
        Ok(Self { id, deadline, run_token, max_continuations, base, extra, call, bytes })
    }
}

impl Call {
    /// Reads a call, and the other fields of its input.
    fn read(
        kind: TriggerKind,
        fields: JsonObject,
    ) -> Result<(Self, BaseOverrides, JsonObject), TriggerError> {
        let mut fields = FieldReader::new(fields);
        let (mut suggestions, mut sdk, mut hooks, mut context) = (None, None, None, None);
        match kind {
            TriggerKind::Tool => suggestions = fields.items("suggestions")?,
            TriggerKind::Model => {
                fields.alias("request", "llm_request");
                fields.alias("available_tools", "tools");
                sdk = read_name(&mut fields, "sdk", Sdk::EXPECTED, Sdk::from_name)?;
                let expected = ChunkHooks::EXPECTED;
                hooks = read_name(&mut fields, "chunks", expected, ChunkHooks::from_name)?;
                context = fields.text("context")?;
            }
            _ => {}
        }
        let mut fields = fields.into_rest();
        if matches!(kind, TriggerKind::TurnEnd) {
            // Set when the event is fired.
            fields.insert("stop_hook_active", RawJson::from_bool(false));
        }
        let RequestInput { payload, base, extra, .. } = RequestInput::read(kind.event(), fields)?;
        let call = match payload {
            EventPayload::BeforeTool(payload) => Self::Tool(Box::new(ToolCall {
                mcp_context: payload.mcp_context,
                id: payload.tool_call_id,
                recent_tools: payload.recent_tools.unwrap_or_default(),
                token_usage: payload.token_usage,
                suggestions: suggestions.as_ref().map(JsonArray::from_items),
                ..ToolCall::new(payload.tool_name, payload.tool_input)
            })),
            EventPayload::BeforeModel(payload) => {
                let call = ModelCall {
                    sdk,
                    request: payload.llm_request,
                    available_tools: payload.tools,
                    messages: payload.messages,
                    prompt: payload.prompt,
                    system_prompt: payload.system_prompt,
                    context,
                    duration: None,
                };
                Self::Model(Box::new(call), hooks.unwrap_or_default())
            }
            EventPayload::BeforeAgent(payload) => Self::Prompt(payload),
            EventPayload::AfterAgent(payload) => Self::TurnEnd(payload),
            payload => Self::Lifecycle(Box::new(payload.into())),
        };
        Ok((call, base, extra))
    }
}

/// Takes a name out of a list, if there is one.
fn read_name<T>(
    fields: &mut FieldReader,
    field: &str,
    expected: &'static str,
    from_name: fn(&str) -> Option<T>,
) -> Result<Option<T>, ShapeError> {
    let Some(name) = fields.text(field)? else { return Ok(None) };
    let error = || ShapeError::new(field, expected, format_args!("{:?}", shortened(&name)));
    from_name(&name).map(Some).ok_or_else(error)
}

/// A trigger's call of its client.
#[derive(Debug)]
pub(super) struct TriggerCall {
    pub(super) trigger: Arc<str>,
    pub(super) method: &'static str,
    pub(super) params: RawObject,
    /// The channel for its result.
    pub(super) answer: oneshot::Sender<Result<RawJson, HostCallError>>,
}

/// Returns the line with a trigger's call of its client.
pub(super) fn call_line(id: u64, call: &TriggerCall) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", "hook-host-call");
        object.text("hostCallId", &id.to_string());
        object.text("triggerId", &call.trigger);
        object.text("method", call.method);
        object.raw("params", call.params.as_raw());
    })
}

/// Returns the line with the outcome of a trigger.
pub(super) fn result_line(id: &str, outcome: &RawObject) -> Result<Vec<u8>, TooDeep> {
    ObjectWriter::whole_line(|object| {
        object.text("type", RESULT);
        object.text("triggerId", id);
        object.raw("result", outcome.as_raw());
    })
}

/// Returns the line with the reason why a trigger has no outcome.
pub(super) fn error_line(id: &str, error: &TriggerError) -> Vec<u8> {
    ObjectWriter::line(|object| {
        object.text("type", RESULT);
        object.text("triggerId", id);
        object.object("error", |out| {
            out.text("code", error.code);
            out.text("message", &error.message);
        });
    })
}

/// Returns the line with a part of an answer for the client's display.
pub(super) fn chunk_line(id: &str, chunk: &ModelChunk) -> Result<Vec<u8>, TooDeep> {
    ObjectWriter::whole_line(|object| {
        object.text("type", CHUNK);
        object.text("triggerId", id);
        match chunk {
            ModelChunk::Chunk(chunk) => object.raw("chunk", chunk.as_raw()),
            ModelChunk::Complete(response) => object.raw("complete", response.as_raw()),
        }
    })
}
