//! A tool call and its result, for the model, for the display and for hooks.

use std::sync::Arc;

use hook_core::{HookEventName, JsonArray, McpContext, RawJson, RawObject, ToolName};

use super::advice::{HookAdvice, add_warnings};
use crate::host::ApprovalRequest;

/// A tool that the model wants called.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool.
    pub name: ToolName,
    /// What the model wants it called with.
    pub input: RawObject,
    /// The MCP server it comes from.
    pub mcp_context: Option<Arc<McpContext>>,
    /// What the model calls this call.
    pub id: Option<String>,
    /// The tools that were called before, the latest last.
    pub recent_tools: Vec<String>,
    /// What the conversation has used so far: `prompt_tokens`, `completion_tokens`, `total_tokens`.
    pub token_usage: Option<RawObject>,
    /// What the user is offered to allow for good where they are asked, in the agent's own shape.
    pub suggestions: Option<JsonArray>,
}

impl ToolCall {
    /// A call of a tool that does not come from an MCP server.
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

/// What a tool gives the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolContent {
    /// Text.
    Text(String),
    /// Parts of whatever kind the model's SDK knows.
    Parts(Vec<RawJson>),
}

impl ToolContent {
    /// Adds text: to the text, or as a part of its own.
    pub fn append(&mut self, text: &str) {
        match self {
            Self::Text(own) => {
                if !own.is_empty() {
                    own.push_str("\n\n");
                }
                own.push_str(text);
            }
            Self::Parts(parts) => {
                // Some SDKs tell parts apart by a `type`, others by the name of the field.
                let typed = parts.last().and_then(|part| part.to_object().ok());
                let typed = typed.is_some_and(|part| part.get("type").is_some());
                let part = RawObject::of(|part| {
                    part.optional_text("type", typed.then_some("text"));
                    part.text("text", text);
                });
                parts.push(part.into());
            }
        }
    }

    /// What the model sees of a tool's response as hooks give it.
    pub(super) fn of_response(response: &RawJson) -> Option<Self> {
        Self::read(response.to_object().ok()?.get("llmContent")?)
    }

    fn read(value: &RawJson) -> Option<Self> {
        value.to_text().map(Self::Text).or_else(|| value.to_items().map(Self::Parts))
    }

    fn to_raw(&self) -> RawJson {
        match self {
            Self::Text(text) => RawJson::from_text(text),
            Self::Parts(parts) => RawJson::from_items(parts),
        }
    }
}

/// What came of a tool call, for the model and for the display (seed 000 §5.1).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the model sees.
    pub llm_content: ToolContent,
    /// What the user sees, where that is something else.
    pub return_display: Option<String>,
    /// Whether the display is to show nothing of it; the model sees it all the same.
    pub suppress_display: bool,
    /// What went wrong, if the tool failed.
    pub error: Option<String>,
    /// The exit code, of a tool that has one.
    pub exit_code: Option<i64>,
    /// More about it, for hooks.
    pub metadata: Option<RawObject>,
    /// What hooks say to the user.
    pub message_for_user: Option<String>,
    /// What hooks made of the call.
    pub verdict: ToolVerdict,
    /// What the agent should tell its user of its hooks: see [`ProcessedHookResult::warnings`], and
    /// why hooks could not be asked, if they could not.
    ///
    /// [`ProcessedHookResult::warnings`]: hook_core::ProcessedHookResult::warnings
    pub warnings: Vec<String>,
}

/// What hooks made of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolVerdict {
    /// It ran; the result is its own, perhaps with more text from hooks.
    #[default]
    Ran,
    /// It never ran. The result tells the model why; nothing is retried.
    Blocked {
        /// Why.
        reason: String,
    },
    /// It ran, and a hook put its reason in the place of the result.
    Replaced {
        /// Why.
        reason: String,
    },
    /// The agent is to stop.
    Stopped {
        /// Why.
        reason: String,
        /// Whether the tool ran before.
        ran: bool,
    },
}

impl ToolResult {
    /// The result of a tool that gave text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(ToolContent::Text(text.into()))
    }

    /// The result of a tool.
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

    /// The result of a tool that failed.
    pub fn failed(error: impl Into<String>) -> Self {
        let error = error.into();
        Self { error: Some(error.clone()), ..Self::text(error) }
    }

    pub(super) fn blocked(reason: String, advice: HookAdvice, warnings: Vec<String>) -> Self {
        let verdict = ToolVerdict::Blocked { reason: reason.clone() };
        let return_display = Some(format!("blocked by a hook: {reason}"));
        Self { verdict, return_display, ..Self::failed(reason) }.advised(advice, warnings)
    }

    pub(super) fn stopped(
        reason: String,
        ran: bool,
        advice: HookAdvice,
        warnings: Vec<String>,
    ) -> Self {
        let verdict = ToolVerdict::Stopped { reason: reason.clone(), ran };
        Self { verdict, ..Self::text(reason) }.advised(advice, warnings)
    }

    pub(super) fn advised(mut self, advice: HookAdvice, warnings: Vec<String>) -> Self {
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

    /// Takes over the response that hooks put in the place of this one, as far as it is one.
    pub(super) fn replace(&mut self, response: &RawJson, warnings: &mut Vec<String>) {
        let fields = response.to_object().unwrap_or_default();
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let Some(content) = ToolContent::of_response(response) else {
            let warning = "the hooks' `tool_response` has no `llmContent` that is a text or a list \
                           of parts; the tool's own response is kept";
            warnings.push(warning.to_owned());
            return;
        };
        self.llm_content = content;
        self.return_display = text("returnDisplay");
        self.error = text("error");
        let metadata = fields.get("metadata").cloned().map(RawObject::try_from);
        self.metadata = metadata.and_then(Result::ok);
    }

    /// What AfterTool hooks are told of it.
    pub(super) fn to_raw(&self) -> RawJson {
        let result = RawObject::of(|result| {
            result.raw("llmContent", &self.llm_content.to_raw());
            result.optional_text("returnDisplay", self.return_display.as_deref());
            result.optional_text("error", self.error.as_deref());
            if let Some(metadata) = &self.metadata {
                result.raw("metadata", metadata.as_raw());
            }
        });
        result.into()
    }
}
