//! The typed payload of each event: how it is read, written and matched.

use std::fmt;

use crate::event::HookEventName;
use crate::input::words::{PreCompressTrigger, SessionEndReason, SessionStartSource};
use crate::input::{fields, repeated_field};
use crate::json::{JsonKind, JsonObject, ObjectWriter, RawJson, RawObject};
use crate::schema::{Field, Kind};
use crate::shape::{FieldReader, Required, ShapeError};
use crate::text::shortened;

/// A tool's name is matched against patterns from settings, so its length is bounded.
pub(crate) const MAX_TOOL_NAME: usize = 1024;

/// What the event table needs of a payload type.
pub(crate) trait Payload: Sized + Into<EventPayload> {
    const EVENT: HookEventName;

    /// Its fields.
    const FIELDS: &'static [Field];

    /// A payload as one might come, as JSON without blanks.
    const SAMPLE: &'static str;

    /// Takes the payload's fields, and is the check of them.
    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError>;

    fn write(&self, out: &mut ObjectWriter<'_>);

    /// What a matcher is compared with.
    fn match_subject(&self) -> Option<&str> {
        None
    }

    /// The arguments of a tool, which matchers look at instead of the whole payload.
    fn tool_input(&self) -> Option<&RawObject> {
        None
    }

    /// Checks what the types of the fields do not say.
    fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    /// The model request and response, which are translated before hooks see them.
    fn model_payloads(&mut self) -> ModelPayloads<'_> {
        ModelPayloads::default()
    }
}

/// The parts of a payload that are a model SDK's.
#[derive(Debug, Default)]
pub struct ModelPayloads<'p> {
    /// `llm_request`.
    pub request: Option<&'p mut RawObject>,
    /// `llm_response`.
    pub response: Option<&'p mut RawObject>,
}

macro_rules! payloads {
    ($($event:ident: $payload:ident,)+) => {
        /// The payload of one event.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum EventPayload {
            $(
                #[doc = concat!("Of ", stringify!($event), ".")]
                $event($payload),
            )+
        }

        impl EventPayload {
            /// The event that the payload belongs to.
            pub fn event(&self) -> HookEventName {
                match self {
                    $(Self::$event(_) => <$payload as Payload>::EVENT,)+
                }
            }

            /// What a matcher of the event is compared with; `None` where there is nothing.
            pub fn match_subject(&self) -> Option<&str> {
                match self {
                    $(Self::$event(payload) => payload.match_subject(),)+
                }
            }

            /// The arguments of a tool, if the event is about one.
            pub fn tool_input(&self) -> Option<&RawObject> {
                match self {
                    $(Self::$event(payload) => payload.tool_input(),)+
                }
            }

            /// The parts that are a model SDK's, to be translated before hooks see them.
            pub fn model_payloads(&mut self) -> ModelPayloads<'_> {
                match self {
                    $(Self::$event(payload) => payload.model_payloads(),)+
                }
            }

            /// The payload's fields, whether they are there or not.
            pub(crate) fn fields(&self) -> &'static [Field] {
                match self {
                    $(Self::$event(_) => <$payload as Payload>::FIELDS,)+
                }
            }

            pub(crate) fn check(&self) -> Result<(), ShapeError> {
                match self {
                    $(Self::$event(payload) => payload.check(),)+
                }
            }

            pub(crate) fn write(&self, out: &mut ObjectWriter<'_>) {
                match self {
                    $(Self::$event(payload) => payload.write(out),)+
                }
            }
        }

        $(
            impl From<$payload> for EventPayload {
                fn from(payload: $payload) -> Self {
                    Self::$event(payload)
                }
            }

            /// Reads the payload; fields it does not know are left out.
            impl TryFrom<JsonObject> for $payload {
                type Error = ShapeError;

                fn try_from(fields: JsonObject) -> Result<Self, ShapeError> {
                    <$payload as Payload>::read(&mut FieldReader::new(fields))
                }
            }
        )+
    };
}

payloads! {
    BeforeTool: BeforeToolInput,
    AfterTool: AfterToolInput,
    BeforeAgent: BeforeAgentInput,
    AfterAgent: AfterAgentInput,
    SessionStart: SessionStartInput,
    SessionEnd: SessionEndInput,
    PreCompress: PreCompressInput,
    BeforeModel: BeforeModelInput,
    AfterModel: AfterModelInput,
    BeforeToolSelection: BeforeToolSelectionInput,
    Notification: NotificationInput,
}

/// The name of a tool: not empty, at most 1 KiB.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolName(String);

impl ToolName {
    const EXPECTED: &str = "a non-empty string of at most 1 KiB";

    /// Checks a name.
    ///
    /// # Errors
    /// When it is empty or longer than 1 KiB.
    pub fn new(name: impl Into<String>) -> Result<Self, ShapeError> {
        let name = name.into();
        match name.len() {
            0 => Err(ShapeError::new("tool_name", Self::EXPECTED, "an empty string")),
            1..=MAX_TOOL_NAME => Ok(Self(name)),
            bytes => Err(ShapeError::new("tool_name", Self::EXPECTED, format!("{bytes} bytes"))),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn take(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Self::new(fields.text("tool_name").required("tool_name", Self::EXPECTED)?)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The MCP server that a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpContext {
    /// The server's name.
    pub server_name: String,
    /// Where the server is.
    pub server_uri: Option<String>,
    /// Unknown fields.
    pub extra: JsonObject,
}

impl McpContext {
    fn take(fields: &mut FieldReader) -> Result<Option<Self>, ShapeError> {
        let Some(context) = fields.object("mcp_context")? else { return Ok(None) };
        let context = context.fields();
        repeated_field(&context).map_err(|error| error.within("mcp_context"))?;
        let mut fields = FieldReader::new(context);
        let mut read = || -> Result<_, ShapeError> {
            let server_name = fields.text("server_name").required("server_name", "a string")?;
            Ok((server_name, fields.text("server_uri")?))
        };
        let (server_name, server_uri) = read().map_err(|error| error.within("mcp_context"))?;
        Ok(Some(Self { server_name, server_uri, extra: fields.rest() }))
    }

    fn write(context: Option<&Self>, out: &mut ObjectWriter<'_>) {
        if let Some(context) = context {
            out.object("mcp_context", |out| {
                out.text("server_name", &context.server_name);
                out.optional_text("server_uri", context.server_uri.as_deref());
                out.fields(&context.extra);
            });
        }
    }
}

/// A tool is about to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeToolInput {
    /// The tool.
    pub tool_name: ToolName,
    /// Its arguments.
    pub tool_input: RawObject,
    /// The MCP server it comes from.
    pub mcp_context: Option<McpContext>,
}

impl Payload for BeforeToolInput {
    const EVENT: HookEventName = HookEventName::BeforeTool;
    const FIELDS: &'static [Field] = &fields::BEFORE_TOOL;
    const SAMPLE: &'static str =
        r#"{"tool_name":"write_file","tool_input":{"path":"notes.txt","content":"Hello"}}"#;

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Ok(Self {
            tool_name: ToolName::take(fields)?,
            tool_input: fields.object("tool_input").required("tool_input", "an object")?,
            mcp_context: McpContext::take(fields)?,
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("tool_name", self.tool_name.as_str());
        out.raw("tool_input", self.tool_input.as_raw());
        McpContext::write(self.mcp_context.as_ref(), out);
    }

    fn match_subject(&self) -> Option<&str> {
        Some(self.tool_name.as_str())
    }

    fn tool_input(&self) -> Option<&RawObject> {
        Some(&self.tool_input)
    }
}

/// A tool ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterToolInput {
    /// The tool.
    pub tool_name: ToolName,
    /// The arguments it ran with.
    pub tool_input: RawObject,
    /// What it gave back; any value.
    pub tool_response: RawJson,
    /// The MCP server it comes from.
    pub mcp_context: Option<McpContext>,
}

impl Payload for AfterToolInput {
    const EVENT: HookEventName = HookEventName::AfterTool;
    const FIELDS: &'static [Field] = &fields::AFTER_TOOL;
    const SAMPLE: &'static str = concat!(
        r#"{"tool_name":"write_file","tool_input":{"path":"notes.txt","content":"Hello"},"#,
        r#""tool_response":{"llmContent":"wrote 5 bytes to notes.txt"}}"#,
    );

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Ok(Self {
            tool_name: ToolName::take(fields)?,
            tool_input: fields.object("tool_input").required("tool_input", "an object")?,
            tool_response: Ok(fields.any("tool_response"))
                .required("tool_response", "any value")?,
            mcp_context: McpContext::take(fields)?,
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("tool_name", self.tool_name.as_str());
        out.raw("tool_input", self.tool_input.as_raw());
        out.raw("tool_response", &self.tool_response);
        McpContext::write(self.mcp_context.as_ref(), out);
    }

    fn match_subject(&self) -> Option<&str> {
        Some(self.tool_name.as_str())
    }

    fn tool_input(&self) -> Option<&RawObject> {
        Some(&self.tool_input)
    }
}

/// A prompt was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeAgentInput {
    /// The prompt's text.
    pub prompt: String,
}

impl Payload for BeforeAgentInput {
    const EVENT: HookEventName = HookEventName::BeforeAgent;
    const FIELDS: &'static [Field] = &fields::BEFORE_AGENT;
    const SAMPLE: &'static str = r#"{"prompt":"Write a greeting to notes.txt"}"#;

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Ok(Self { prompt: fields.text("prompt").required("prompt", "a string")? })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("prompt", &self.prompt);
    }
}

/// The agent finished its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterAgentInput {
    /// The prompt that began the turn.
    pub prompt: String,
    /// The agent's answer.
    pub prompt_response: String,
    /// Whether the turn is one that an earlier AfterAgent hook asked for.
    pub stop_hook_active: bool,
}

impl Payload for AfterAgentInput {
    const EVENT: HookEventName = HookEventName::AfterAgent;
    const FIELDS: &'static [Field] = &fields::AFTER_AGENT;
    const SAMPLE: &'static str = concat!(
        r#"{"prompt":"Write a greeting to notes.txt","prompt_response":"It is written.","#,
        r#""stop_hook_active":false}"#,
    );

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Ok(Self {
            prompt: fields.text("prompt").required("prompt", "a string")?,
            prompt_response: fields
                .text("prompt_response")
                .required("prompt_response", "a string")?,
            stop_hook_active: fields
                .bool("stop_hook_active")
                .required("stop_hook_active", "a boolean")?,
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("prompt", &self.prompt);
        out.text("prompt_response", &self.prompt_response);
        out.bool("stop_hook_active", self.stop_hook_active);
    }
}

macro_rules! lifecycle_payload {
    ($(#[$doc:meta])* $payload:ident of $event:ident: $about:literal $field:ident: $words:ident, such as $sample:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $payload {
            #[doc = $about]
            pub $field: $words,
        }

        impl Payload for $payload {
            const EVENT: HookEventName = HookEventName::$event;
            const FIELDS: &'static [Field] = &[Field::required(
                stringify!($field),
                Kind::Words($words::WORDS),
                $about,
            )];
            const SAMPLE: &'static str =
                concat!("{\"", stringify!($field), "\":\"", $sample, "\"}");

            fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
                const FIELD: &str = stringify!($field);
                let word = fields.text(FIELD).required(FIELD, $words::EXPECTED)?;
                let $field = $words::from_name(&word).ok_or_else(|| {
                    ShapeError::new(FIELD, $words::EXPECTED, format!("{:?}", shortened(&word)))
                })?;
                Ok(Self { $field })
            }

            fn write(&self, out: &mut ObjectWriter<'_>) {
                out.text(stringify!($field), self.$field.as_str());
            }

            fn match_subject(&self) -> Option<&str> {
                Some(self.$field.as_str())
            }
        }
    };
}

lifecycle_payload! {
    /// A session begins.
    SessionStartInput of SessionStart:
    "Why it began."
    source: SessionStartSource, such as "startup"
}

lifecycle_payload! {
    /// A session ends.
    SessionEndInput of SessionEnd:
    "Why it ended."
    reason: SessionEndReason, such as "exit"
}

lifecycle_payload! {
    /// The conversation is about to be compressed.
    PreCompressInput of PreCompress:
    "What asked for it."
    trigger: PreCompressTrigger, such as "manual"
}

/// The model is about to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeModelInput {
    /// The request: an SDK's in what a caller fires, the stable form in what a hook sees.
    pub llm_request: RawObject,
}

impl Payload for BeforeModelInput {
    const EVENT: HookEventName = HookEventName::BeforeModel;
    const FIELDS: &'static [Field] = &fields::BEFORE_MODEL;
    const SAMPLE: &'static str = concat!(
        r#"{"llm_request":{"model":"sample-model","#,
        r#""messages":[{"role":"user","content":"Write a greeting to notes.txt"}]}}"#,
    );

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Ok(Self { llm_request: fields.object("llm_request").required("llm_request", "an object")? })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.raw("llm_request", self.llm_request.as_raw());
    }

    fn model_payloads(&mut self) -> ModelPayloads<'_> {
        ModelPayloads { request: Some(&mut self.llm_request), response: None }
    }
}

/// The model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterModelInput {
    /// The request: an SDK's in what a caller fires, the stable form in what a hook sees.
    pub llm_request: RawObject,
    /// The complete response, likewise.
    pub llm_response: RawObject,
}

impl Payload for AfterModelInput {
    const EVENT: HookEventName = HookEventName::AfterModel;
    const FIELDS: &'static [Field] = &fields::AFTER_MODEL;
    const SAMPLE: &'static str = concat!(
        r#"{"llm_request":{"model":"sample-model","#,
        r#""messages":[{"role":"user","content":"Write a greeting to notes.txt"}]},"#,
        r#""llm_response":{"text":"It is written.","candidates":[{"content":"#,
        r#"{"role":"model","parts":["It is written."]},"finishReason":"STOP"}]}}"#,
    );

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Ok(Self {
            llm_request: fields.object("llm_request").required("llm_request", "an object")?,
            llm_response: fields.object("llm_response").required("llm_response", "an object")?,
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.raw("llm_request", self.llm_request.as_raw());
        out.raw("llm_response", self.llm_response.as_raw());
    }

    fn model_payloads(&mut self) -> ModelPayloads<'_> {
        ModelPayloads {
            request: Some(&mut self.llm_request),
            response: Some(&mut self.llm_response),
        }
    }
}

/// The tools of a model call are about to be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeToolSelectionInput {
    /// The request: an SDK's in what a caller fires, the stable form in what a hook sees.
    pub llm_request: RawObject,
    /// The tools there are; an array.
    pub available_tools: Option<RawJson>,
}

impl Payload for BeforeToolSelectionInput {
    const EVENT: HookEventName = HookEventName::BeforeToolSelection;
    const FIELDS: &'static [Field] = &fields::BEFORE_TOOL_SELECTION;
    const SAMPLE: &'static str = concat!(
        r#"{"llm_request":{"model":"sample-model","#,
        r#""messages":[{"role":"user","content":"Write a greeting to notes.txt"}],"#,
        r#""toolConfig":{"mode":"AUTO","allowedFunctionNames":["read_file","write_file"]}}}"#,
    );

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        Ok(Self {
            llm_request: fields.object("llm_request").required("llm_request", "an object")?,
            available_tools: fields.of_kind("available_tools", JsonKind::Array, "an array")?,
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.raw("llm_request", self.llm_request.as_raw());
        if let Some(tools) = &self.available_tools {
            out.raw("available_tools", tools);
        }
    }

    fn check(&self) -> Result<(), ShapeError> {
        match &self.available_tools {
            Some(tools) if tools.kind() != JsonKind::Array => {
                Err(ShapeError::new("available_tools", "an array", tools.kind()))
            }
            _ => Ok(()),
        }
    }

    fn model_payloads(&mut self) -> ModelPayloads<'_> {
        ModelPayloads { request: Some(&mut self.llm_request), response: None }
    }
}

/// The agent tells the user something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationInput {
    /// What it says; not empty.
    pub message: String,
    /// What kind of notification; `other` by default.
    pub notification_type: String,
    /// More about it; `{}` by default.
    pub details: RawObject,
    /// How urgent it is.
    pub level: Option<String>,
}

impl NotificationInput {
    const MESSAGE: &str = "a non-empty string";
}

impl Payload for NotificationInput {
    const EVENT: HookEventName = HookEventName::Notification;
    const FIELDS: &'static [Field] = &fields::NOTIFICATION;
    const SAMPLE: &'static str = concat!(
        r#"{"message":"The agent waits for your answer","notification_type":"other","#,
        r#""details":{}}"#,
    );

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        let message = fields.text("message").required("message", Self::MESSAGE)?;
        let notification_type = fields.text("notification_type")?;
        let input = Self {
            message,
            notification_type: notification_type.unwrap_or_else(|| "other".to_owned()),
            details: fields.object("details")?.unwrap_or_else(RawObject::empty),
            level: fields.text("level")?,
        };
        input.check()?;
        Ok(input)
    }

    fn check(&self) -> Result<(), ShapeError> {
        match self.message.is_empty() {
            true => Err(ShapeError::new("message", Self::MESSAGE, "an empty string")),
            false => Ok(()),
        }
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("message", &self.message);
        out.text("notification_type", &self.notification_type);
        out.raw("details", self.details.as_raw());
        out.optional_text("level", self.level.as_deref());
    }
}
