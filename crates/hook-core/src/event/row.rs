//! One row of the event table, and the name of an event, which stands for its row.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::matching::Matching;
use super::merge_strategy::MergeStrategy;
use super::topic::Topic;
use crate::json::RawObject;
use crate::json::field::Field;

/// What stands in settings for every event.
pub(crate) const EVERY: &str = "*";

/// An event that hooks can listen to (protocol.md §2): a row of the table. Copying it copies a
/// reference.
#[derive(Clone, Copy)]
pub struct HookEventName(&'static EventRow);

/// Which of an event's fields hold a model SDK's payload that must be translated.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPayload {
    /// None.
    None,
    /// `llm_request`.
    Request,
    /// `llm_request` and `llm_response`.
    RequestAndResponse,
}

/// What of an answer changes the input of the next group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chain {
    /// Nothing does.
    Nothing,
    /// Fields of the tool's input.
    ToolInput,
    /// The tool's response.
    ToolResponse,
    /// The request to the model, and the conversation.
    ModelRequest,
    /// The model's response.
    ModelResponse,
    /// Context, which is added to the prompt.
    Prompt,
}

/// One row of the event table.
#[doc(hidden)]
#[derive(Debug)]
#[non_exhaustive]
pub struct EventRow {
    /// Its position; those of declared events follow on those of the built-in ones.
    pub(crate) index: usize,
    /// Its name in settings and messages.
    pub name: &'static str,
    /// Other names that stand for it at the public doors.
    pub aliases: &'static [&'static str],
    /// What it is about.
    pub topic: Topic,
    /// When it happens, in a few words.
    pub moment: &'static str,
    /// What its matchers are compared with.
    pub matching: Matching,
    /// How several outputs become one.
    pub merge: MergeStrategy,
    /// Which payloads must be translated before a hook sees them.
    pub model: ModelPayload,
    /// What a block means to the caller; `None` when it means nothing.
    pub block_means: Option<&'static str>,
    /// What a retry means to the caller; `None` when it means nothing.
    pub retry_means: Option<&'static str>,
    /// Whether `hookSpecificOutput.permissionDecision` decides too.
    pub has_permission_decision: bool,
    /// An input as one might come, as JSON.
    pub(crate) sample: &'static str,
    /// The fields of its payload.
    pub fields: &'static [Field],
    /// What of `hookSpecificOutput` it acts on, beside what every event does.
    pub answers: &'static [&'static str],
    /// Which of those count as the first hook says that gives one.
    pub(crate) first: &'static [&'static str],
    /// What of an answer changes the input of the next group.
    pub(crate) chain: Chain,
}

impl EventRow {
    /// A row without meaning of its own, for events with a payload of those fields.
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

    /// A row without meaning of its own, for events whose payload is open.
    pub(super) const fn open() -> Self {
        Self::of("{}", &[])
    }

    /// Whether its payload is an object of whatever fields, [`OpenInput`](crate::OpenInput).
    pub fn is_open(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether the event acts on that field of `hookSpecificOutput`.
    pub(crate) fn acts_on(&self, field: &str) -> bool {
        matches!(field, "hookEventName" | "additionalContext") || self.answers.contains(&field)
    }
}

impl HookEventName {
    /// Whether it stands for every event, in settings.
    #[doc(hidden)]
    pub fn is_every(self) -> bool {
        self.row().name == EVERY
    }

    /// The event of a row.
    pub(super) const fn of(row: &'static EventRow) -> Self {
        Self(row)
    }

    /// The event's row in the table.
    #[doc(hidden)]
    pub fn row(self) -> &'static EventRow {
        self.0
    }

    /// Whether it is the end of a turn, at whose block the agent goes on working.
    pub fn ends_a_turn(self) -> bool {
        [Self::AfterAgent, Self::SubagentStop].contains(&self)
    }

    /// Whether it is about a call of a tool that has not run.
    pub(crate) fn is_before_a_tool(self) -> bool {
        [Self::BeforeTool, Self::PermissionRequest].contains(&self)
    }

    /// Whether it is about a call of a tool.
    #[doc(hidden)]
    pub fn is_about_a_tool(self) -> bool {
        self.row().fields.iter().any(|field| field.name == "tool_input")
    }

    /// Whether it is about a call of a model.
    pub(crate) fn is_about_a_model(self) -> bool {
        self.row().model != ModelPayload::None
    }

    /// Its position in the table: a small number, for tables by event.
    pub(crate) fn index(self) -> usize {
        self.0.index
    }

    /// The canonical name.
    pub fn as_str(self) -> &'static str {
        self.0.name
    }

    /// An input of the event as one might come, to try hooks with: complete and valid, without base
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
