//! The agent's turns: prompts, answers, subagents, commands, and what it tells the user.

use super::{FieldValue, Payload, Subject, payload};
use crate::json::field::{Field, Kind};
use crate::json::shape::{FieldReader, Required, ShapeError};
use crate::json::{JsonArray, JsonNumber, JsonObject, ObjectWriter, RawJson, RawObject};

payload! {
    /// A prompt was submitted.
    BeforeAgentInput {
        /// The prompt's text.
        prompt: String,
    }
    optional {
        /// The images that come with it.
        images: JsonArray,
    }
    sample: r#"{"prompt":"Write a greeting to notes.txt"}"#,
}

impl From<&str> for BeforeAgentInput {
    fn from(prompt: &str) -> Self {
        Self::new(prompt)
    }
}

payload! {
    /// The agent finished its turn.
    AfterAgentInput {
        /// The prompt that began the turn.
        prompt: String,
        /// The agent's answer.
        prompt_response: String,
        /// Whether the turn is one that an earlier AfterAgent hook asked for.
        stop_hook_active: bool,
    }
    optional {
        /// The conversation.
        messages: JsonArray,
    }
    sample: concat!(
        r#"{"prompt":"Write a greeting to notes.txt","prompt_response":"It is written.","#,
        r#""stop_hook_active":false}"#,
    ),
}

/// Of a prompt and the agent's answer to it.
impl From<(&str, &str)> for AfterAgentInput {
    fn from((prompt, response): (&str, &str)) -> Self {
        Self::new(prompt, response, false)
    }
}

payload! {
    /// A command became a prompt.
    PromptExpansionInput {
        /// The command.
        command_name: String,
        /// The prompt that it became.
        prompt: String,
    }
    optional {
        /// What the user wrote behind the command.
        command_args: String,
    }
    subject: command_name,
    sample: r#"{"command_name":"review","prompt":"Review the last change."}"#,
}

payload! {
    /// A model call with its tools begins.
    TurnStartInput {
        /// The turn's number in its session, from 0.
        turn_index: u64,
    }
    optional {
        /// When it began, in milliseconds since 1970.
        turn_timestamp: JsonNumber,
    }
    sample: r#"{"turn_index":0}"#,
}

payload! {
    /// A model call with its tools is over.
    TurnEndInput {
        /// The turn's number in its session, from 0.
        turn_index: u64,
        /// What the model said, in the agent's own shape.
        message: RawJson,
        /// What its tools gave back.
        tool_results: JsonArray,
    }
    optional {
        /// When it ended, in milliseconds since 1970.
        turn_timestamp: JsonNumber,
    }
    sample: r#"{"turn_index":0,"message":{"role":"assistant","content":"Done."},"tool_results":[]}"#,
}

payload! {
    /// A turn ended in an error.
    TurnFailedInput {
        /// What went wrong.
        error: String,
    }
    optional {
        /// More about it.
        error_details: RawJson,
    }
    sample: r#"{"error":"the model's service is overloaded"}"#,
}

payload! {
    /// A subagent is about to start.
    SubagentStartInput {
        /// Identifies it.
        agent_id: String,
        /// What kind of agent it is.
        agent_type: String,
    }
    optional {
        /// What it is to do.
        task: String,
    }
    subject: agent_type,
    sample: r#"{"agent_id":"a1","agent_type":"reviewer","task":"Review the last change."}"#,
}

payload! {
    /// A subagent is done.
    SubagentStopInput {
        /// Identifies it.
        agent_id: String,
        /// What kind of agent it is.
        agent_type: String,
    }
    optional {
        /// What it was to do.
        task: String,
        /// Its answer.
        prompt_response: String,
        /// Whether it works on because an earlier hook asked for it.
        stop_hook_active: bool,
    }
    subject: agent_type,
    sample: concat!(
        r#"{"agent_id":"a1","agent_type":"reviewer","#,
        r#""prompt_response":"The change is good.","stop_hook_active":false}"#,
    ),
}

payload! {
    /// A slash command is run.
    CommandInput {
        /// The command.
        command_name: String,
        /// What the user wrote behind it.
        arguments: String,
    }
    optional {}
    subject: command_name,
    sample: r#"{"command_name":"handoff","arguments":""}"#,
}

payload! {
    /// A stream rule fired.
    RuleTriggeredInput {
        /// The rules.
        rules: JsonArray,
    }
    optional {}
    sample: r#"{"rules":["no-todo-comments"]}"#,
}

payload! {
    /// Open todos are shown to the model.
    TodoReminderInput {
        /// The todos.
        todos: JsonArray,
        /// How often they were shown, this time included.
        attempt: u64,
        /// How often they are shown at most.
        max_attempts: u64,
    }
    optional {}
    sample: r#"{"todos":[{"content":"Write the greeting"}],"attempt":1,"max_attempts":3}"#,
}

payload! {
    /// A failed model call is about to be tried again.
    AutoRetryStartInput {
        /// Which attempt it is, from 1.
        attempt: u64,
        /// How many there are at most.
        max_attempts: u64,
        /// How long the agent waits before, in milliseconds.
        delay_ms: u64,
        /// What went wrong.
        error: String,
    }
    optional {}
    sample: concat!(
        r#"{"attempt":1,"max_attempts":3,"delay_ms":2000,"#,
        r#""error":"the model's service is overloaded"}"#,
    ),
}

payload! {
    /// A failed model call was tried again.
    AutoRetryEndInput {
        /// Whether it worked.
        success: bool,
        /// Which attempt it was, from 1.
        attempt: u64,
    }
    optional {}
    sample: r#"{"success":true,"attempt":1}"#,
}

/// The agent tells the user something.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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

    /// A notification that says something, without more about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            notification_type: "other".to_owned(),
            details: RawObject::empty(),
            level: None,
        }
    }
}

payload! { @try_from NotificationInput }

// By hand: its fields have defaults.
impl Payload for NotificationInput {
    const FIELDS: &'static [Field] = &[
        Field::required("message", Kind::NonEmpty(None), "What the agent says."),
        Field::with_default(
            "notification_type",
            Kind::Text,
            "\"other\"",
            "What kind of notification it is.",
        ),
        Field::with_default("details", Kind::AnyObject, "{}", "More about it."),
        Field::optional("level", Kind::Text, "How urgent it is."),
    ];
    const SAMPLE: &'static str = concat!(
        r#"{"message":"The agent waits for your answer","notification_type":"other","#,
        r#""details":{}}"#,
    );

    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
        let mut input = Self::new(fields.text("message").required("message", Self::MESSAGE)?);
        if let Some(notification_type) = fields.text("notification_type")? {
            input.notification_type = notification_type;
        }
        if let Some(details) = fields.object("details")? {
            input.details = details;
        }
        input.level = fields.text("level")?;
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
