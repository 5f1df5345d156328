//! A row of the event table, and the name of an event, which is a reference to its row.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::matching::Matching;
use super::merge_strategy::MergeStrategy;
use super::topic::Topic;
use hook_json::RawObject;
use hook_json::field::Field;

/// The name in settings that stands for every event.
pub const WILDCARD: &str = "*";

/// An event that hooks can listen to (reference/events.md): a row of the table. Copying it copies a
/// reference.
#[derive(Clone, Copy)]
pub struct HookEventName(&'static EventRow);

/// The fields of an event that hold a model SDK's payload and must be translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPayload {
    /// No fields.
    None,
    /// `llm_request`.
    Request,
    /// `llm_request` and `llm_response`.
    RequestAndResponse,
}

/// The part of an output that changes the input of the next group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// No part.
    Nothing,
    /// Fields of the tool's input.
    ToolInput,
    /// The tool's response.
    ToolResponse,
    /// The request to the model, and the conversation.
    ModelRequest,
    /// The model's response.
    ModelResponse,
    /// Context, which is appended to the prompt.
    Prompt,
}

/// One row of the event table.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventRow {
    /// The row's index. Declared events come after the built-in ones.
    pub(crate) index: usize,
    /// The name in settings and messages.
    pub name: &'static str,
    /// Other names that the public entry points accept.
    pub aliases: &'static [&'static str],
    /// The event's topic.
    pub topic: Topic,
    /// The moment when the event happens, in a few words.
    pub moment: &'static str,
    /// The comparison of matchers with the payload.
    pub matching: Matching,
    /// The strategy for merging several outputs.
    pub merge: MergeStrategy,
    /// The payload fields that must be translated before a hook sees them.
    pub model: ModelPayload,
    /// The effect of a block on the caller; `None` if it has none.
    pub block_means: Option<&'static str>,
    /// The effect of a retry on the caller; `None` if it has none.
    pub retry_means: Option<&'static str>,
    /// `true` if `hookSpecificOutput.permissionDecision` also decides.
    pub has_permission_decision: bool,
    /// A sample input, as JSON.
    pub(crate) sample: &'static str,
    /// The fields of the payload.
    pub fields: &'static [Field],
    /// The fields of `hookSpecificOutput` that the event acts on, besides those of every event.
    pub answers: &'static [&'static str],
    /// Those of `answers` that come from the first hook that sets them.
    pub first: &'static [&'static str],
    /// The part of an output that changes the input of the next group.
    pub chain: Chain,
}

impl EventRow {
    /// Returns a row with defaults, for events whose payload has these fields.
    pub(super) const fn of(sample: &'static str, fields: &'static [Field]) -> Self {
        Self {
            index: 0,
            name: "",
            aliases: &[],
            topic: Topic::Declared,
            moment: "",
            matching: Matching::Always,
            merge: MergeStrategy::OrDecision,
            model: ModelPayload::None,
            block_means: None,
            retry_means: None,
            has_permission_decision: false,
            sample,
            fields,
            answers: &[],
            first: &[],
            chain: Chain::Nothing,
        }
    }

    /// Returns a row with defaults, for events whose payload is open.
    pub(super) const fn open() -> Self {
        Self::of("{}", &[])
    }

    /// Returns `true` if the payload is an object with any fields, [`OpenInput`](crate::OpenInput).
    pub fn is_open(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns `true` if the event acts on that field of `hookSpecificOutput`.
    pub fn acts_on(&self, field: &str) -> bool {
        matches!(field, "hookEventName" | "additionalContext") || self.answers.contains(&field)
    }
}

impl HookEventName {
    /// Returns `true` if it stands for every event, in settings.
    pub fn is_wildcard(self) -> bool {
        self.row().name == WILDCARD
    }

    /// Returns the event of a row.
    pub(super) const fn of(row: &'static EventRow) -> Self {
        Self(row)
    }

    /// Returns the event's row in the table.
    pub fn row(self) -> &'static EventRow {
        self.0
    }

    /// Returns `true` if the event ends a turn. If a hook blocks it, the agent continues.
    pub fn is_turn_end(self) -> bool {
        [Self::AfterAgent, Self::SubagentStop].contains(&self)
    }

    /// Returns `true` if the event is about a tool call that has not run.
    pub fn is_before_tool(self) -> bool {
        [Self::BeforeTool, Self::PermissionRequest].contains(&self)
    }

    /// Returns `true` if the event is about a tool call.
    pub fn is_tool_event(self) -> bool {
        self.row().fields.iter().any(|field| field.name == "tool_input")
    }

    /// Returns `true` if the event is about a model call.
    pub(crate) fn is_model_event(self) -> bool {
        self.row().model != ModelPayload::None
    }

    /// Returns the event's index in the table: a small number, for tables indexed by event.
    pub(crate) fn index(self) -> usize {
        self.0.index
    }

    /// Returns the canonical name.
    pub fn as_str(self) -> &'static str {
        self.0.name
    }

    /// Returns a sample input of the event for trying out hooks: complete and valid, without base
    /// fields.
    pub fn sample_input(self) -> RawObject {
        RawObject::from_written(self.0.sample.as_bytes().to_vec())
    }
}

impl PartialEq for HookEventName {
    fn eq(&self, other: &Self) -> bool {
        self.index() == other.index()
    }
}

impl Eq for HookEventName {}

impl PartialOrd for HookEventName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HookEventName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.index().cmp(&other.index())
    }
}

impl Hash for HookEventName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index().hash(state);
    }
}

impl fmt::Debug for HookEventName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
