//! The JSON form of results, as clients of a server get them (reference/messages.md).

use hook_json::{ObjectWriter, RawObject};

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
        write_decision(outcome, None, reason, out);
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
        write_decision(outcome, None, reason, out);
        out.bool("called", called);
        write_object("response", self.response.as_ref(), out);
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
        let (outcome, prompt, reason) = match &self.decision {
            BeforeAgentDecision::Proceed { prompt } => ("proceed", Some(prompt), None),
            BeforeAgentDecision::Refuse { reason } => ("refused", None, Some(reason)),
            BeforeAgentDecision::Stop { reason } => ("stopped", None, Some(reason)),
        };
        write_decision(outcome, prompt, reason, out);
        write_object("message", self.message.as_ref(), out);
        write_advice(&self.advice, &self.warnings, out);
    }
}

impl AfterAgentHookResult {
    /// Writes the outcome of the turn.
    pub fn write_outcome(&self, out: &mut ObjectWriter<'_>) {
        let (outcome, prompt, reason) = match &self.end {
            TurnEnd::Done => ("done", None, None),
            TurnEnd::Continue { prompt } => ("continue", Some(prompt), None),
            TurnEnd::LimitReached { reason, .. } => ("limit-reached", None, Some(reason)),
            TurnEnd::Stop { reason } => ("stopped", None, Some(reason)),
        };
        write_decision(outcome, prompt, reason, out);
        if let TurnEnd::LimitReached { continuations, .. } = self.end {
            out.integer("continuations", continuations.into());
        }
        write_flag("clearContext", self.clear_context, out);
        write_advice(&self.advice, &self.warnings, out);
    }
}

impl LifecycleHookResult {
    /// Writes the outcome of the event.
    pub fn write_outcome(&self, out: &mut ObjectWriter<'_>) {
        out.optional_text("stop", self.stop.as_deref());
        out.optional_text("refused", self.refused.as_deref());
        write_object("compaction", self.compaction.as_ref(), out);
        write_advice(&self.advice, &self.warnings, out);
    }
}

fn write_decision(
    outcome: &str,
    prompt: Option<&String>,
    reason: Option<&String>,
    out: &mut ObjectWriter<'_>,
) {
    out.text("outcome", outcome);
    out.optional_text("prompt", prompt.map(String::as_str));
    out.optional_text("reason", reason.map(String::as_str));
}

fn write_advice(advice: &HookAdvice, warnings: &[String], out: &mut ObjectWriter<'_>) {
    out.optional_text("forModel", advice.for_model.as_deref());
    out.optional_text("forUser", advice.for_user.as_deref());
    write_flag("suppressOutput", advice.suppress_output, out);
    out.texts("warnings", warnings);
}

fn write_object(name: &str, value: Option<&RawObject>, out: &mut ObjectWriter<'_>) {
    if let Some(value) = value {
        out.raw(name, value.as_raw());
    }
}

/// Writes a field that is present only if it is `true`.
fn write_flag(name: &str, value: bool, out: &mut ObjectWriter<'_>) {
    if value {
        out.bool(name, true);
    }
}
