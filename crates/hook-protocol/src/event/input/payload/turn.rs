//! The agent's turns: prompts, answers, subagents, commands, and what it tells the user.

use super::{FieldValue, Payload, Subject, payload};
pub(super) use hook_json::field::{Field, FieldKind};
use hook_json::shape::{FieldReader, Required, ShapeError};
use hook_json::{JsonArray, JsonNumber, JsonObject, ObjectWriter, RawJson, RawObject};

payload! {
    /// A prompt was submitted.
    BeforeAgentInput {
        /// The prompt's text.
        prompt: String,
    }
    optional {
        /// The images that come with the prompt.
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
        /// `true` if an earlier AfterAgent hook caused this turn.
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

/// Creates the payload from a prompt and the agent's answer to it.
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
        /// The resulting prompt.
        prompt: String,
    }
    optional {
        /// The arguments after the command.
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
        /// The start time, in milliseconds since 1970.
        turn_timestamp: JsonNumber,
    }
    sample: r#"{"turn_index":0}"#,
}

payload! {
    /// A model call with its tools is over.
    TurnEndInput {
        /// The turn's number in its session, from 0.
        turn_index: u64,
        /// The model's message, in the agent's own format.
        message: RawJson,
        /// The results of the tools.
        tool_results: JsonArray,
    }
    optional {
        /// The end time, in milliseconds since 1970.
        turn_timestamp: JsonNumber,
    }
    sample: r#"{"turn_index":0,"message":{"role":"assistant","content":"Done."},"tool_results":[]}"#,
}

payload! {
    /// A turn ended in an error.
    TurnFailedInput {
        /// The error message.
        error: String,
    }
    optional {
        /// Details of the error.
        error_details: RawJson,
    }
    sample: r#"{"error":"the model's service is overloaded"}"#,
}

payload! {
    /// A subagent is about to start.
    SubagentStartInput {
        /// The subagent's id.
        agent_id: String,
        /// The subagent's type.
        agent_type: String,
    }
    optional {
        /// The subagent's task.
        task: String,
    }
    subject: agent_type,
    sample: r#"{"agent_id":"a1","agent_type":"reviewer","task":"Review the last change."}"#,
}

payload! {
    /// A subagent is done.
    SubagentStopInput {
        /// The subagent's id.
        agent_id: String,
        /// The subagent's type.
        agent_type: String,
    }
    optional {
        /// The subagent's task.
        task: String,
        /// The subagent's answer.
        prompt_response: String,
        /// `true` if an earlier hook made the subagent continue.
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
        /// The arguments after the command.
        arguments: String,
    }
    optional {}
    subject: command_name,
    sample: r#"{"command_name":"handoff","arguments":""}"#,
}

payload! {
    /// A stream rule fired.
    RuleTriggeredInput {
        /// The rules that fired.
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
        /// The number of times they were shown, including this one.
        attempt: u64,
        /// The maximum number of times they are shown.
        max_attempts: u64,
    }
    optional {}
    sample: r#"{"todos":[{"content":"Write the greeting"}],"attempt":1,"max_attempts":3}"#,
}

payload! {
    /// A failed model call is about to be retried.
    AutoRetryStartInput {
        /// The number of this attempt, from 1.
        attempt: u64,
        /// The maximum number of attempts.
        max_attempts: u64,
        /// The delay before the attempt, in milliseconds.
        delay_ms: u64,
        /// The error message.
        error: String,
    }
    optional {}
    sample: concat!(
        r#"{"attempt":1,"max_attempts":3,"delay_ms":2000,"#,
        r#""error":"the model's service is overloaded"}"#,
    ),
}

payload! {
    /// A failed model call was retried.
    AutoRetryEndInput {
        /// `true` if the attempt succeeded.
        success: bool,
        /// The number of the attempt, from 1.
        attempt: u64,
    }
    optional {}
    sample: r#"{"success":true,"attempt":1}"#,
}

/// A notification from the agent to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotificationInput {
    /// The message; not empty.
    pub message: String,
    /// The kind of notification; `other` by default.
    pub notification_type: String,
    /// Further details; `{}` by default.
    pub details: RawObject,
    /// The urgency.
    pub level: Option<String>,
}

impl NotificationInput {
    const MESSAGE: &str = "a non-empty string";

    /// Creates a notification with a message and no details.
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

// Written by hand because its fields have defaults.
impl Payload for NotificationInput {
    const FIELDS: &'static [Field] = &[
        Field::required("message", FieldKind::NonEmpty(None), "What the agent says."),
        Field::with_default(
            "notification_type",
            FieldKind::Text,
            "\"other\"",
            "What kind of notification it is.",
        ),
        Field::with_default("details", FieldKind::AnyObject, "{}", "More about it."),
        Field::optional("level", FieldKind::Text, "How urgent it is."),
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
