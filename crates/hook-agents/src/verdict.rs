//! The decision of hooks, and the response to the agent that made the request.

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::output::{HookOutput, NO_REASON, PolicyDecision};

/// The combined decision of an event's hooks.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Verdict<'v> {
    /// The decision.
    pub decision: PolicyDecision,
    /// The reason for the decision.
    pub reason: Option<&'v str>,
    /// `true` if a hook explicitly allowed the action.
    pub allowed: bool,
    /// A message to the user.
    pub system_message: Option<&'v str>,
    /// Context for the model.
    pub additional_context: Option<&'v str>,
    /// The tool's new arguments in the agent's form, if hooks changed them.
    pub tool_input: Option<&'v RawObject>,
    /// The merged answer, for fields that only the agent knows.
    pub answer: Option<&'v HookOutput>,
}

impl Verdict<'_> {
    /// Returns a verdict that proceeds and says nothing.
    pub fn proceed() -> Self {
        Self {
            decision: PolicyDecision::Proceed,
            reason: None,
            allowed: false,
            system_message: None,
            additional_context: None,
            tool_input: None,
            answer: None,
        }
    }

    pub(super) fn forbids(&self) -> bool {
        self.decision >= PolicyDecision::Retry
    }

    pub(super) fn stops(&self) -> bool {
        self.decision == PolicyDecision::Stop
    }

    pub(super) fn asks(&self) -> bool {
        self.decision == PolicyDecision::Ask
    }

    /// Returns the decision in most agents' keywords; `None` if no hook decided.
    pub(super) fn decision_name(&self) -> Option<&'static str> {
        match () {
            () if self.forbids() => Some("deny"),
            () if self.asks() => Some("ask"),
            () if self.allowed => Some("allow"),
            () => None,
        }
    }

    /// Returns the reason of that decision.
    pub(super) fn decision_reason(&self) -> Option<&str> {
        match self.decision_name()? {
            "deny" => Some(self.reason_or_default()),
            _ => self.reason,
        }
    }

    /// Returns the decision before a tool call, in the format of Claude Code and its followers.
    pub(super) fn permission(&self) -> JsonObject {
        let mut specific = JsonObject::new();
        put(&mut specific, "permissionDecision", self.decision_name());
        put(&mut specific, "permissionDecisionReason", self.decision_reason());
        if let Some(input) = self.tool_input {
            specific.insert("updatedInput", input.clone());
        }
        specific
    }

    /// Returns the reason of a denial, or a default one, since agents require a reason.
    pub(super) fn reason_or_default(&self) -> &str {
        let is_stated = |reason: &&str| !reason.trim().is_empty() && *reason != NO_REASON;
        self.reason.filter(is_stated).unwrap_or("blocked by a hook")
    }

    /// Returns a field of `hookSpecificOutput`, unless it is `null`.
    pub(super) fn specific(&self, name: &str) -> Option<&RawJson> {
        self.answer?.specific(name).filter(|value| !value.is_null())
    }

    /// Returns a top-level field of the answer that is not a standard one, unless it is `null`.
    pub(super) fn extra(&self, name: &str) -> Option<&RawJson> {
        self.answer?.extra.get(name).filter(|value| !value.is_null())
    }

    /// Copies the given fields of `hookSpecificOutput`, if present.
    pub(super) fn copy_fields(&self, names: &[&str], to: &mut JsonObject) {
        for name in names {
            if let Some(value) = self.specific(name) {
                to.insert(*name, value.clone());
            }
        }
    }
}

/// The response to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentResponse {
    /// The answer for standard output; empty for none.
    pub stdout: String,
    /// The text for standard error.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
    /// The parts of the hooks' answers that the agent cannot receive.
    pub lost: Vec<&'static str>,
}

impl AgentResponse {
    /// Returns a response with the given JSON on standard output, or an empty one for no fields.
    pub(super) fn json(answer: &JsonObject) -> Self {
        let stdout =
            if answer.is_empty() { String::new() } else { answer.to_raw().as_str().to_owned() };
        Self { stdout, ..Self::default() }
    }
}

/// Adds `hookSpecificOutput` with the event's name, unless it is empty.
pub(super) fn put_specific(answer: &mut JsonObject, event: &str, specific: &JsonObject) {
    if specific.is_empty() {
        return;
    }
    let mut output = JsonObject::new();
    put(&mut output, "hookEventName", Some(event));
    output.merge(specific);
    answer.insert("hookSpecificOutput", output.to_raw());
}

/// Adds a text field, if there is a text.
pub(super) fn put(object: &mut JsonObject, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        object.insert(name, RawJson::from_text(text));
    }
}
