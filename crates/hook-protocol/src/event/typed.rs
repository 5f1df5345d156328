//! Events as types, so that a handler gets its event's own payload and can set its event's fields.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::Duration;

use super::table::{Event, events};
use crate::event::input::{EventInput, HookInput};
use crate::event::output::{Decision, HookOutput};
use hook_json::{JsonArray, RawJson, RawObject};

/// The input of a typed handler. It dereferences to the event's payload.
pub struct TypedInput<E> {
    input: HookInput,
    event: PhantomData<fn() -> E>,
}

impl<E: Event> TypedInput<E> {
    /// Returns the typed input, if the input belongs to this event.
    pub fn of(input: &HookInput) -> Option<Self> {
        E::input(&input.payload)?;
        Some(Self { input: input.clone(), event: PhantomData })
    }

    /// Returns the base fields (session, working directory, time) and the request's unknown fields.
    pub fn base(&self) -> &EventInput {
        &self.input
    }
}

impl<E: Event> Deref for TypedInput<E> {
    type Target = E::Input;

    fn deref(&self) -> &E::Input {
        let payload = E::input(&self.input.payload);
        // `of` has checked the event, and an input never changes.
        #[expect(clippy::unreachable, reason = "checked where it is made")]
        payload.unwrap_or_else(|| unreachable!())
    }
}

impl<E> Clone for TypedInput<E> {
    fn clone(&self) -> Self {
        Self { input: self.input.clone(), event: PhantomData }
    }
}

impl<E> fmt::Debug for TypedInput<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.input.fmt(formatter)
    }
}

/// The output of a typed handler. A handler that sets nothing gives no output.
pub struct TypedAnswer<E> {
    output: Option<HookOutput>,
    event: PhantomData<fn() -> E>,
}

impl<E: Event> Default for TypedAnswer<E> {
    fn default() -> Self {
        Self { output: None, event: PhantomData }
    }
}

impl<E: Event> TypedAnswer<E> {
    /// Returns the answer; `None` if no field is set.
    pub fn into_output(self) -> Option<HookOutput> {
        self.output
    }

    /// Returns the output so far, for arbitrary changes.
    pub fn output(&mut self) -> &mut HookOutput {
        self.output.get_or_insert_default()
    }

    fn decide(&mut self, decision: Decision, reason: impl Into<String>) {
        let output = self.output();
        output.decision = Some(decision);
        output.reason = Some(reason.into());
    }

    /// Allows the action.
    pub fn allow(&mut self) {
        self.output().decision = Some(Decision::Allow);
    }

    /// Denies the action.
    pub fn deny(&mut self, reason: impl Into<String>) {
        self.decide(Decision::Deny, reason);
    }

    /// Asks the user for confirmation first.
    pub fn ask(&mut self, reason: impl Into<String>) {
        self.decide(Decision::Ask, reason);
    }

    /// Asks the caller to retry after a delay.
    pub fn retry(&mut self, after: Duration, reason: impl Into<String>) {
        self.decide(Decision::Retry, reason);
        self.output().retry_after = Some(after);
    }

    /// Stops the agent.
    pub fn stop(&mut self, reason: impl Into<String>) {
        let output = self.output();
        output.should_continue = Some(false);
        output.stop_reason = Some(reason.into());
    }

    /// Adds a message for the user and the model.
    pub fn message(&mut self, message: impl Into<String>) {
        self.output().system_message = Some(message.into());
    }

    /// Adds context for the model.
    pub fn context(&mut self, context: &str) {
        self.specific("additionalContext", RawJson::from_text(context));
    }

    /// Skips hooks of later priorities that are no more trusted than this one, except guards.
    pub fn skip_remaining(&mut self) {
        self.output().skip_remaining = Some(true);
    }

    /// Sets a field of `hookSpecificOutput`.
    pub fn specific(&mut self, name: &str, value: impl Into<RawJson>) {
        self.output().hook_specific_output.get_or_insert_default().insert(name, value);
    }
}

impl TypedAnswer<events::BeforeTool> {
    /// Replaces the given fields of the tool's input.
    pub fn replace_tool_input(&mut self, fields: RawObject) {
        self.specific("tool_input", fields);
    }
}

impl TypedAnswer<events::AfterTool> {
    /// Replaces the tool's response with a value of the same JSON kind.
    pub fn replace_tool_response(&mut self, response: impl Into<RawJson>) {
        self.specific("tool_response", response);
    }
}

impl TypedAnswer<events::BeforeModel> {
    /// Replaces the given fields of the request, in the stable form.
    pub fn replace_request(&mut self, fields: RawObject) {
        self.specific("llm_request", fields);
    }

    /// Answers in place of the model, in the stable form.
    pub fn respond(&mut self, response: RawObject) {
        self.specific("llm_response", response);
    }

    /// Replaces the conversation of this call, in the agent's own format.
    pub fn replace_messages(&mut self, messages: JsonArray) {
        self.specific("messages", messages);
    }
}

impl TypedAnswer<events::AfterModel> {
    /// Replaces the given fields of the response, in the stable form.
    pub fn replace_response(&mut self, fields: RawObject) {
        self.specific("llm_response", fields);
    }
}

impl<E> fmt::Debug for TypedAnswer<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.output.fmt(formatter)
    }
}
