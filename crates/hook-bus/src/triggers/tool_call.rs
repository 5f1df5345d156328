//! A tool call and its result, for the model, the display and hooks.

use std::sync::Arc;

use hook_json::{JsonArray, ObjectWriter, RawJson, RawObject};
use hook_protocol::{HookEventName, McpContext, ToolName};

use super::advice::{HookAdvice, add_warnings};
use crate::host::ApprovalRequest;

/// A model's call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool.
    pub name: ToolName,
    /// The model's input.
    pub input: RawObject,
    /// The MCP server of the tool.
    pub mcp_context: Option<Arc<McpContext>>,
    /// The model's id of the call.
    pub id: Option<String>,
    /// The tools called before, the latest last.
    pub recent_tools: Vec<String>,
    /// The tokens used by the conversation so far: `prompt_tokens`, `completion_tokens`,
    /// `total_tokens`.
    pub token_usage: Option<RawObject>,
    /// The permanent permissions that the user is offered when asked, in the agent's own format.
    pub suggestions: Option<JsonArray>,
}

impl ToolCall {
    /// Creates a call of a tool that is not from an MCP server.
    pub fn new(name: ToolName, input: RawObject) -> Self {
        Self {
            name,
            input,
            mcp_context: None,
            id: None,
            recent_tools: Vec::new(),
            token_usage: None,
            suggestions: None,
        }
    }

    pub(super) fn approval(
        &self,
        event: HookEventName,
        input: RawJson,
        reason: String,
    ) -> ApprovalRequest {
        ApprovalRequest { event, subject: self.name.to_string(), input: Some(input), reason }
    }
}

/// A tool's content for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolContent {
    /// Text.
    Text(String),
    /// Parts of any kind known to the model's SDK.
    Parts(Vec<RawJson>),
}

impl ToolContent {
    /// Appends text: to the text, or as a part of its own.
    pub(crate) fn append(&mut self, text: &str) {
        match self {
            Self::Text(content) => {
                if !content.is_empty() {
                    content.push_str("\n\n");
                }
                content.push_str(text);
            }
            Self::Parts(parts) => {
                // Some SDKs mark parts by a `type`, others by the name of the field.
                let last_part = parts.last().and_then(|part| part.to_object().ok());
                let is_typed = last_part.is_some_and(|part| part.get("type").is_some());
                let part = RawObject::build(|part| {
                    part.optional_text("type", is_typed.then_some("text"));
                    part.text("text", text);
                });
                parts.push(part.into());
            }
        }
    }

    /// Returns the model's content of a tool response in the hooks' form.
    pub(super) fn from_response(response: &RawJson) -> Option<Self> {
        let fields = response.to_object().ok()?;
        let content = fields.get("llmContent")?;
        content.to_text().map(Self::Text).or_else(|| content.to_items().map(Self::Parts))
    }

    fn to_raw(&self) -> RawJson {
        match self {
            Self::Text(text) => RawJson::from_text(text),
            Self::Parts(parts) => RawJson::from_items(parts),
        }
    }
}

/// The result of a tool call, for the model and the display (seed 000 §5.1).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The content for the model.
    pub llm_content: ToolContent,
    /// The content for the user, if different.
    pub return_display: Option<String>,
    /// Hides the result from the display; the model still sees it.
    pub suppress_display: bool,
    /// The error, if the tool failed.
    pub error: Option<String>,
    /// The exit code, if the tool has one.
    pub exit_code: Option<i64>,
    /// More data for hooks.
    pub metadata: Option<RawObject>,
    /// The hooks' text for the user.
    pub message_for_user: Option<String>,
    /// The outcome of the call.
    pub verdict: ToolVerdict,
    /// Warnings for the agent's user about hooks: see [`ProcessedHookResult::warnings`]; also the
    /// reason if hooks could not run.
    ///
    /// [`ProcessedHookResult::warnings`]: hook_core::ProcessedHookResult::warnings
    pub warnings: Vec<String>,
}

/// The outcome of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolVerdict {
    /// The tool ran; the result is its own, perhaps with more text from hooks.
    #[default]
    Ran,
    /// The tool never ran. The result has the reason for the model; nothing is retried.
    Blocked {
        /// The reason.
        reason: String,
    },
    /// The tool ran, and a hook's reason replaced the result.
    Replaced {
        /// The reason.
        reason: String,
    },
    /// The agent is to stop.
    Stopped {
        /// The reason.
        reason: String,
        /// `true` if the tool ran before.
        ran: bool,
    },
}

impl ToolResult {
    /// Creates a result with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(ToolContent::Text(text.into()))
    }

    /// Creates a result with this content.
    pub fn of(content: ToolContent) -> Self {
        Self {
            llm_content: content,
            return_display: None,
            suppress_display: false,
            error: None,
            exit_code: None,
            metadata: None,
            message_for_user: None,
            verdict: ToolVerdict::Ran,
            warnings: Vec::new(),
        }
    }

    /// Creates the result of a tool that failed.
    pub fn failed(error: impl Into<String>) -> Self {
        let error = error.into();
        Self { error: Some(error.clone()), ..Self::text(error) }
    }

    pub(super) fn blocked(reason: String, advice: HookAdvice, warnings: Vec<String>) -> Self {
        let verdict = ToolVerdict::Blocked { reason: reason.clone() };
        let return_display = Some(format!("blocked by a hook: {reason}"));
        Self { verdict, return_display, ..Self::failed(reason) }.with_advice(advice, warnings)
    }

    pub(super) fn stopped(
        reason: String,
        ran: bool,
        advice: HookAdvice,
        warnings: Vec<String>,
    ) -> Self {
        let verdict = ToolVerdict::Stopped { reason: reason.clone(), ran };
        Self { verdict, ..Self::text(reason) }.with_advice(advice, warnings)
    }

    pub(super) fn with_advice(mut self, advice: HookAdvice, warnings: Vec<String>) -> Self {
        add_warnings(&mut self.warnings, warnings);
        if let Some(text) = advice.for_model {
            self.llm_content.append(&text);
        }
        self.suppress_display |= advice.suppress_output;
        self.message_for_user = match (self.message_for_user.take(), advice.for_user) {
            (Some(own), Some(more)) => Some(format!("{own}\n\n{more}")),
            (own, more) => own.or(more),
        };
        self
    }

    /// Replaces this by a hook's response, if that is valid.
    pub(super) fn replace(&mut self, response: &RawJson, warnings: &mut Vec<String>) {
        let Some(replacement) = Self::read(response) else {
            let warning = "the hooks' `tool_response` has no `llmContent` that is a text or a list \
                           of parts; the tool's own response is kept";
            warnings.push(warning.to_owned());
            return;
        };
        self.llm_content = replacement.llm_content;
        self.return_display = replacement.return_display;
        self.error = replacement.error;
        self.metadata = replacement.metadata;
    }

    /// Reads a result in the form that AfterTool hooks see; also its `exitCode`. Returns `None` if
    /// its `llmContent` is neither a text nor a list of parts.
    pub fn read(response: &RawJson) -> Option<Self> {
        let fields = response.to_object().ok()?;
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let metadata = fields.get("metadata").cloned().map(RawObject::try_from);
        Some(Self {
            return_display: text("returnDisplay"),
            error: text("error"),
            exit_code: fields.get("exitCode").and_then(RawJson::to_i64),
            metadata: metadata.and_then(Result::ok),
            ..Self::of(ToolContent::from_response(response)?)
        })
    }

    /// Returns the result in the form that AfterTool hooks see.
    pub(super) fn to_raw(&self) -> RawJson {
        RawObject::build(|out| self.write(out)).into()
    }

    /// Writes the result in the form that AfterTool hooks see.
    pub(super) fn write(&self, out: &mut ObjectWriter<'_>) {
        out.raw("llmContent", &self.llm_content.to_raw());
        out.optional_text("returnDisplay", self.return_display.as_deref());
        out.optional_text("error", self.error.as_deref());
        if let Some(metadata) = &self.metadata {
            out.raw("metadata", metadata.as_raw());
        }
    }
}
