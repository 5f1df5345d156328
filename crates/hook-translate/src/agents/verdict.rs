//! What hooks decided, to be said to the agent that asked.

use hook_core::event::output::{HookOutput, NO_REASON, PolicyDecision};
use hook_core::{JsonObject, RawJson, RawObject};

/// What hooks decided.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Verdict<'v> {
    /// The decision.
    pub decision: PolicyDecision,
    /// Why.
    pub reason: Option<&'v str>,
    /// Whether a hook itself said that it may happen.
    pub allowed: bool,
    /// What the user is told.
    pub system_message: Option<&'v str>,
    /// What the model is told.
    pub additional_context: Option<&'v str>,
    /// The arguments that the tool is to have, in the agent's form, if hooks changed them.
    pub tool_input: Option<&'v RawObject>,
    /// The merged answer, for fields that only the agent knows.
    pub answer: Option<&'v HookOutput>,
}

impl Verdict<'_> {
    /// Things go on, and nothing is said.
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

    /// The decision as most agents say it; nothing where hooks have no opinion.
    pub(super) fn word(&self) -> Option<&'static str> {
        match () {
            () if self.forbids() => Some("deny"),
            () if self.asks() => Some("ask"),
            () if self.allowed => Some("allow"),
            () => None,
        }
    }

    /// The reason beside that word.
    pub(super) fn word_reason(&self) -> Option<&str> {
        match self.word()? {
            "deny" => Some(self.why()),
            _ => self.reason,
        }
    }

    /// What is asked before a tool runs, as Claude Code and those who took over its form are told it.
    pub(super) fn permission(&self) -> JsonObject {
        let mut specific = JsonObject::new();
        put(&mut specific, "permissionDecision", self.word());
        put(&mut specific, "permissionDecisionReason", self.word_reason());
        if let Some(input) = self.tool_input {
            specific.insert("updatedInput", input.clone());
        }
        specific
    }

    /// The reason of a denial, which no agent takes without one.
    pub(super) fn why(&self) -> &str {
        let said = |reason: &&str| !reason.trim().is_empty() && *reason != NO_REASON;
        self.reason.filter(said).unwrap_or("blocked by a hook")
    }

    /// A field of `hookSpecificOutput`.
    pub(super) fn specific(&self, name: &str) -> Option<&RawJson> {
        self.answer?.specific(name).filter(|value| !value.is_null())
    }

    /// A field beside it.
    pub(super) fn extra(&self, name: &str) -> Option<&RawJson> {
        self.answer?.extra.get(name).filter(|value| !value.is_null())
    }

    /// Copies fields of `hookSpecificOutput` that are there.
    pub(super) fn copy(&self, names: &[&str], to: &mut JsonObject) {
        for name in names {
            if let Some(value) = self.specific(name) {
                to.insert(*name, value.clone());
            }
        }
    }
}

/// What is said to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// The answer on standard output; nothing where it is empty.
    pub stdout: String,
    /// What is written to standard error.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
    /// What hooks said that the agent has no ear for.
    pub lost: Vec<&'static str>,
}

impl Said {
    /// An answer on standard output; nothing at all of an empty one.
    pub(super) fn json(answer: &JsonObject) -> Self {
        let stdout =
            if answer.is_empty() { String::new() } else { answer.to_raw().as_str().to_owned() };
        Self { stdout, ..Self::default() }
    }
}

/// `hookSpecificOutput` with the event's name, where there is something in it.
pub(super) fn put_specific(answer: &mut JsonObject, event: &str, specific: &JsonObject) {
    if specific.is_empty() {
        return;
    }
    let mut whole = JsonObject::new();
    put(&mut whole, "hookEventName", Some(event));
    whole.overlay(specific);
    answer.insert("hookSpecificOutput", whole.to_raw());
}

/// A text as a field, where there is one.
pub(super) fn put(object: &mut JsonObject, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        object.insert(name, RawJson::from_text(text));
    }
}
