//! The output of one hook, or of several merged.

use std::time::Duration;

use super::decision::{Decision, PolicyDecision};
use super::fields::is_specific;
use crate::event::{HookEventName, MergeStrategy};
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject};

/// The field of `hookSpecificOutput` that makes `tool_input` replace all arguments.
pub const TOOL_INPUT_REPLACES: &str = "toolInputReplaces";

/// The reason that is shown for a decision without one.
pub const NO_REASON: &str = "No reason provided";

/// The output of one hook, or of several merged.
///
/// All fields are optional; unknown fields are kept. In-process handlers create one with
/// [`HookOutput::allow`], [`HookOutput::deny`] and the `with_` functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookOutput {
    /// `continue`: `false` stops the agent.
    pub should_continue: Option<bool>,
    /// `stopReason`: the reason for the stop.
    pub stop_reason: Option<String>,
    /// `suppressOutput`: `true` hides the message from the display.
    pub suppress_output: Option<bool>,
    /// `systemMessage`: a message for user and model.
    pub system_message: Option<String>,
    /// `decision`: the decision.
    pub decision: Option<Decision>,
    /// `reason`: the reason for the decision.
    pub reason: Option<String>,
    /// `retryAfterMs`: the delay before a retry.
    pub retry_after: Option<Duration>,
    /// `skipRemaining`: `true` skips later hooks that are no more trusted than this one.
    pub skip_remaining: Option<bool>,
    /// `hookSpecificOutput`: the fields of this event only.
    pub hook_specific_output: Option<JsonObject>,
    /// Unknown fields.
    pub extra: JsonObject,
}

impl HookOutput {
    /// Returns an output that allows the action.
    pub fn allow() -> Self {
        Self { decision: Some(Decision::Allow), ..Self::default() }
    }

    /// Returns an output that denies the action, with the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: Some(reason.into()), ..Self::default() }
    }

    /// Returns an output that asks the user, with the reason.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Ask), reason: Some(reason.into()), ..Self::default() }
    }

    /// Returns an output that asks for a retry after a delay of at most ten minutes.
    pub fn retry(reason: impl Into<String>, after: Duration) -> Self {
        Self {
            decision: Some(Decision::Retry),
            reason: Some(reason.into()),
            retry_after: Some(after),
            ..Self::default()
        }
    }

    /// Returns an output that stops the agent, with the reason.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self { should_continue: Some(false), stop_reason: Some(reason.into()), ..Self::default() }
    }

    /// Adds a message for user and model.
    #[must_use]
    pub fn with_system_message(mut self, message: impl Into<String>) -> Self {
        self.system_message = Some(message.into());
        self
    }

    /// Adds context for the model.
    #[must_use]
    pub fn with_additional_context(self, context: &str) -> Self {
        self.with_specific("additionalContext", RawJson::from_text(context))
    }

    /// Sets a field of `hookSpecificOutput`, such as `tool_input`.
    #[must_use]
    pub fn with_specific(mut self, name: &str, value: impl Into<RawJson>) -> Self {
        self.hook_specific_output.get_or_insert_default().insert(name, value);
        self
    }

    /// Removes unknown fields of `hookSpecificOutput` on events where they make an output invalid.
    /// Another engine that merged the output has already warned about them.
    #[must_use]
    pub fn without_unknown_fields(mut self, event: HookEventName) -> Self {
        if let (Some(specific), true) = (&mut self.hook_specific_output, event.is_model_event()) {
            let known = specific.iter().filter(|(name, _)| is_specific(name));
            *specific = known.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        }
        self
    }

    /// Returns a field of `hookSpecificOutput`.
    pub fn specific(&self, name: &str) -> Option<&RawJson> {
        self.hook_specific_output.as_ref()?.get(name)
    }

    pub(crate) fn specific_text(&self, name: &str) -> Option<String> {
        self.specific(name)?.to_text()
    }

    /// Returns an object of `hookSpecificOutput`.
    pub fn specific_object(&self, name: &str) -> Option<RawObject> {
        RawObject::try_from(self.specific(name)?.clone()).ok()
    }

    /// Returns `true` if `decision` blocks. On BeforeTool `permissionDecision` counts too, see
    /// [`BeforeToolOutput`](super::BeforeToolOutput) and [`HookOutput::policy`].
    pub fn is_blocking_decision(&self) -> bool {
        self.decision.as_ref().is_some_and(Decision::is_blocking)
    }

    /// Returns `true` if `decision` asks the user.
    pub fn is_ask_decision(&self) -> bool {
        self.decision == Some(Decision::Ask)
    }

    /// Returns `true` if this stops the agent.
    pub fn should_stop_execution(&self) -> bool {
        self.should_continue == Some(false)
    }

    /// Returns the one reason to show: the stop reason, else the reason, else [`NO_REASON`].
    pub(crate) fn effective_reason(&self) -> String {
        let reason = self.stop_reason.as_ref().or(self.reason.as_ref());
        reason
            .filter(|reason| !reason.is_empty())
            .map_or_else(|| NO_REASON.to_owned(), Clone::clone)
    }

    /// Returns the policy decision for the caller, from all fields that count on this event.
    pub fn policy(&self, event: HookEventName) -> PolicyDecision {
        match event.row().merge.is_observe_only() {
            true => PolicyDecision::Proceed,
            false => self.strongest_policy(event, |decision| decision.policy_on(event)),
        }
    }

    /// Returns the policy decision, even if the event does not support it.
    pub fn requested_policy(&self, event: HookEventName) -> PolicyDecision {
        self.strongest_policy(event, Decision::policy)
    }

    fn strongest_policy(
        &self,
        event: HookEventName,
        meaning: impl Fn(&Decision) -> PolicyDecision,
    ) -> PolicyDecision {
        if self.should_stop_execution() {
            return PolicyDecision::Stop;
        }
        if self.cancels(event) {
            return PolicyDecision::Block;
        }
        let decisions = [self.decision.clone(), self.permission_decision(event)];
        decisions.iter().flatten().map(meaning).max().unwrap_or_default()
    }

    /// Returns `true` if this cancels the announced action, on events that have `cancel`.
    pub fn cancels(&self, event: HookEventName) -> bool {
        event.row().acts_on("cancel")
            && self.specific("cancel").and_then(RawJson::to_bool) == Some(true)
    }

    /// Returns the stop reason or the reason, or the permission decision's own reason if that is the
    /// stronger decision.
    pub fn policy_reason(&self, event: HookEventName) -> String {
        let meaning = |decision: &Decision| decision.policy_on(event);
        let decided = self.decision.as_ref().map(meaning).unwrap_or_default();
        self.permission_decision(event)
            .filter(|permission| meaning(permission) > decided && !self.should_stop_execution())
            .and_then(|_| self.specific_text("permissionDecisionReason"))
            .filter(|reason| !reason.is_empty())
            .unwrap_or_else(|| self.effective_reason())
    }

    /// Returns `true` if this explicitly allows the action and restricts nothing.
    pub fn allows(&self, event: HookEventName) -> bool {
        let allows = |decision: &Decision| matches!(decision, Decision::Allow | Decision::Approve);
        let decisions = [self.decision.clone(), self.permission_decision(event)];
        self.requested_policy(event) == PolicyDecision::Proceed
            && decisions.iter().flatten().any(allows)
    }

    /// Returns `true` if the user need not be asked, according to the native fields: an allow on
    /// events about permission, `permissionDecision` on others.
    pub fn approves(&self, event: HookEventName) -> bool {
        let is_allow =
            |decision: &Decision| matches!(decision, Decision::Allow | Decision::Approve);
        let is_about_permission = event.row().merge == MergeStrategy::Permission;
        let decided = self.decision.as_ref().filter(|_| is_about_permission);
        decided.is_some_and(is_allow)
            || self.permission_decision(event).as_ref().is_some_and(is_allow)
    }

    /// Returns `hookSpecificOutput.permissionDecision`, on events that have it.
    pub fn permission_decision(&self, event: HookEventName) -> Option<Decision> {
        if !event.row().has_permission_decision {
            return None;
        }
        Some(Decision::from_name(&self.specific_text("permissionDecision")?))
    }

    /// Returns `true` if `tool_input` replaces all arguments instead of being merged into them.
    pub fn replaces_tool_input(&self) -> bool {
        self.specific(TOOL_INPUT_REPLACES).and_then(RawJson::to_bool) == Some(true)
            && self.specific("tool_input").is_some()
    }

    /// Returns `hookSpecificOutput.additionalContext`, if it is a string.
    pub fn additional_context(&self) -> Option<String> {
        self.specific_text("additionalContext")
    }

    /// Writes the fields.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        if let Some(value) = self.should_continue {
            out.bool("continue", value);
        }
        out.optional_text("stopReason", self.stop_reason.as_deref());
        if let Some(value) = self.suppress_output {
            out.bool("suppressOutput", value);
        }
        out.optional_text("systemMessage", self.system_message.as_deref());
        out.optional_text("decision", self.decision.as_ref().map(Decision::as_str));
        out.optional_text("reason", self.reason.as_deref());
        if let Some(after) = self.retry_after {
            out.milliseconds("retryAfterMs", after);
        }
        if let Some(value) = self.skip_remaining {
            out.bool("skipRemaining", value);
        }
        if let Some(specific) = &self.hook_specific_output {
            out.object("hookSpecificOutput", |out| out.fields(specific));
        }
        out.fields(&self.extra);
    }

    /// Returns the output as JSON text.
    pub fn to_raw(&self) -> RawObject {
        RawObject::build(|object| self.write(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> HookOutput {
        HookOutput::read(RawJson::parse(text).unwrap().to_object().unwrap(), &mut Vec::new())
    }

    #[test]
    fn the_reason_falls_back_in_order() {
        for (text, reason) in [
            (r#"{"stopReason":"s","reason":"r"}"#, "s"),
            (r#"{"reason":"r"}"#, "r"),
            (r#"{"reason":""}"#, NO_REASON),
            (r#"{"stopReason":"","reason":"r"}"#, NO_REASON),
            ("{}", NO_REASON),
            (
                r#"{"reason":"r","hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"}}"#,
                "p",
            ),
            (
                r#"{"decision":"deny","reason":"r","hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"p"}}"#,
                "r",
            ),
        ] {
            assert_eq!(output(text).policy_reason(HookEventName::BeforeTool), reason, "{text}");
        }
    }

    #[test]
    fn permission_decisions_count_on_before_tool_alone() {
        let deny = output(r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#);
        assert_eq!(deny.policy(HookEventName::BeforeTool), PolicyDecision::Block);
        assert_eq!(deny.policy(HookEventName::AfterTool), PolicyDecision::Proceed);
        let ask =
            output(r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"ask"}}"#);
        assert_eq!(ask.policy(HookEventName::BeforeTool), PolicyDecision::Ask);
    }
}
