//! The JSON form of results, as clients of a server get them (reference/messages.md).

use hook_json::ObjectWriter;

use super::advice::HookAdvice;
use super::agent::{
    AfterAgentHookResult, BeforeAgentDecision, BeforeAgentHookResult, LifecycleHookResult, TurnEnd,
};
use super::model_stream::{ModelCallResult, ModelVerdict};
use super::tool_call::{ToolResult, ToolVerdict};

impl ToolResult {
    /// Writes the outcome of the call.
    pub fn write_outcome(&self, out: &mut ObjectWriter<'_>) {
        let (outcome, reason, ran) = match &self.verdict {
            ToolVerdict::Ran => ("ran", None, true),
            ToolVerdict::Blocked { reason } => ("blocked", Some(reason), false),
            ToolVerdict::Replaced { reason } => ("replaced", Some(reason), true),
            ToolVerdict::Stopped { reason, ran } => ("stopped", Some(reason), *ran),
        };
        out.text("outcome", outcome);
        out.optional_text("reason", reason.map(String::as_str));
        out.bool("ran", ran);
        out.object("result", |out| {
            self.write(out);
            if let Some(code) = self.exit_code {
                out.integer("exitCode", code.into());
            }
        });
        out.optional_text("messageForUser", self.message_for_user.as_deref());
        write_flag("suppressDisplay", self.suppress_display, out);
        out.texts("warnings", &self.warnings);
    }
}

impl ModelCallResult {
    /// Writes the outcome of the call.
    pub fn write_outcome(&self, out: &mut ObjectWriter<'_>) {
        let (outcome, reason, called) = match &self.verdict {
            ModelVerdict::Called => ("called", None, true),
            ModelVerdict::Answered => ("answered", None, false),
            ModelVerdict::Blocked { reason, called } => ("blocked", Some(reason), *called),
            ModelVerdict::Stopped { reason, called } => ("stopped", Some(reason), *called),
            ModelVerdict::Interrupted => ("interrupted", None, true),
        };
        out.text("outcome", outcome);
        out.optional_text("reason", reason.map(String::as_str));
        out.bool("called", called);
        if let Some(response) = &self.response {
            out.raw("response", response.as_raw());
        }
        out.optional_text("toolsWithheld", self.tools_withheld.as_deref());
        out.optional_text("forNextRequest", self.for_next_request.as_deref());
        out.optional_text("forUser", self.for_user.as_deref());
        write_flag("suppressOutput", self.suppress_output, out);
        out.texts("warnings", &self.warnings);
    }
}

impl BeforeAgentHookResult {
    /// Writes the outcome of the prompt.
    pub fn write_outcome(&self, out: &mut ObjectWriter<'_>) {
        match &self.decision {
            BeforeAgentDecision::Proceed { prompt } => {
                out.text("outcome", "proceed");
                out.text("prompt", prompt);
            }
            BeforeAgentDecision::Refuse { reason } => {
                out.text("outcome", "refused");
                out.text("reason", reason);
            }
            BeforeAgentDecision::Stop { reason } => {
                out.text("outcome", "stopped");
                out.text("reason", reason);
            }
        }
        if let Some(message) = &self.message {
            out.raw("message", message.as_raw());
        }
        self.advice.write(out);
        out.texts("warnings", &self.warnings);
    }
}

impl AfterAgentHookResult {
    /// Writes the outcome of the turn.
    pub fn write_outcome(&self, out: &mut ObjectWriter<'_>) {
        match &self.end {
            TurnEnd::Done => out.text("outcome", "done"),
            TurnEnd::Continue { prompt } => {
                out.text("outcome", "continue");
                out.text("prompt", prompt);
            }
            TurnEnd::LimitReached { reason, continuations } => {
                out.text("outcome", "limit-reached");
                out.text("reason", reason);
                out.integer("continuations", (*continuations).into());
            }
            TurnEnd::Stop { reason } => {
                out.text("outcome", "stopped");
                out.text("reason", reason);
            }
        }
        write_flag("clearContext", self.clear_context, out);
        self.advice.write(out);
        out.texts("warnings", &self.warnings);
    }
}

impl LifecycleHookResult {
    /// Writes the outcome of the event.
    pub fn write_outcome(&self, out: &mut ObjectWriter<'_>) {
        out.optional_text("stop", self.stop.as_deref());
        out.optional_text("refused", self.refused.as_deref());
        if let Some(compaction) = &self.compaction {
            out.raw("compaction", compaction.as_raw());
        }
        self.advice.write(out);
        out.texts("warnings", &self.warnings);
    }
}

impl HookAdvice {
    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.optional_text("forModel", self.for_model.as_deref());
        out.optional_text("forUser", self.for_user.as_deref());
        write_flag("suppressOutput", self.suppress_output, out);
    }
}

/// Writes a field that is present only if it is `true`.
fn write_flag(name: &str, value: bool, out: &mut ObjectWriter<'_>) {
    if value {
        out.bool(name, true);
    }
}
