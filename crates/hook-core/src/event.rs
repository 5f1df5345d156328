//! The event table: one row per event, and everything the engine needs to know about it.
//!
//! Adding an event is adding a row here and a payload in [`crate::input`]. Nothing else decides
//! by event name (architecture.md, "The event table").

use std::fmt;

use crate::chain::{self, Chain};
use crate::field::Field;
use crate::input::{
    AfterAgentInput, AfterModelInput, AfterToolInput, BeforeAgentInput, BeforeModelInput,
    BeforeToolInput, BeforeToolSelectionInput, EventPayload, NotificationInput, Payload,
    PreCompressInput, PreCompressTrigger, SessionEndInput, SessionEndReason, SessionStartInput,
    SessionStartSource,
};
use crate::json::RawObject;
use crate::shape::{FieldReader, ShapeError};

/// The name of an event that hooks can listen to (protocol.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum HookEventName {
    /// Before a tool runs.
    BeforeTool,
    /// After a tool ran.
    AfterTool,
    /// A prompt was submitted.
    BeforeAgent,
    /// The agent finished its turn.
    AfterAgent,
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// Before the conversation is compressed.
    PreCompress,
    /// Before the model is called.
    BeforeModel,
    /// After the model's complete response.
    AfterModel,
    /// Before the tools of a model call are chosen.
    BeforeToolSelection,
    /// The agent notifies the user.
    Notification,
}

/// What a matcher is compared with, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// The event has no subject: every matcher matches.
    Always,
    /// An unanchored regular expression against the tool's name.
    Pattern,
    /// Exact comparison with a field of the payload.
    Exact {
        /// The field's name.
        field: &'static str,
        /// The words that the field can be.
        words: &'static [&'static str],
    },
}

impl Matching {
    /// The field of the payload that matchers are compared with.
    pub fn field(self) -> Option<&'static str> {
        match self {
            Self::Always => None,
            Self::Pattern => Some("tool_name"),
            Self::Exact { field, .. } => Some(field),
        }
    }
}

/// How several outputs become one (protocol.md §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStrategy {
    /// Any stop wins, then any block, then any ask; texts are joined.
    OrDecision,
    /// Later fields replace earlier ones, decisions rank.
    FieldReplacement,
    /// Tool modes rank and tool lists intersect.
    ToolSelection,
    /// Later fields replace earlier ones.
    Simple,
}

/// Which of an event's fields hold a model SDK's payload that must be translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPayload {
    /// None.
    None,
    /// `llm_request`.
    Request,
    /// `llm_request` and `llm_response`.
    RequestAndResponse,
}

/// One row of the event table.
#[derive(Debug)]
pub struct EventRow {
    /// The event.
    pub event: HookEventName,
    /// Its name in settings and messages.
    pub name: &'static str,
    /// Other names that stand for it at the public doors.
    pub aliases: &'static [&'static str],
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
    /// Whether `hookSpecificOutput.permissionDecision` decides too.
    pub has_permission_decision: bool,
    /// An input as one might come, as JSON.
    pub(crate) sample: &'static str,
    /// The fields of its payload.
    pub fields: &'static [Field],
    /// What of `hookSpecificOutput` it acts on, beside what every event does.
    pub specific: &'static [&'static str],
    pub(crate) chain: Chain,
    pub(crate) read: fn(&mut FieldReader) -> Result<EventPayload, ShapeError>,
}

impl EventRow {
    /// Whether the event acts on that field of `hookSpecificOutput`.
    pub(crate) fn answers(&self, field: &str) -> bool {
        matches!(field, "hookEventName" | "additionalContext") || self.specific.contains(&field)
    }
}

fn read<P: Payload>(fields: &mut FieldReader) -> Result<EventPayload, ShapeError> {
    P::read(fields).map(Into::into)
}

static EVENTS: [EventRow; 11] = [
    EventRow {
        event: HookEventName::BeforeTool,
        name: "BeforeTool",
        aliases: &["before_tool"],
        moment: "a tool is about to run",
        matching: Matching::Pattern,
        merge: MergeStrategy::OrDecision,
        model: ModelPayload::None,
        block_means: Some("the tool does not run"),
        has_permission_decision: true,
        sample: BeforeToolInput::SAMPLE,
        fields: BeforeToolInput::FIELDS,
        specific: &["permissionDecision", "permissionDecisionReason", "tool_input"],
        chain: chain::TOOL_INPUT,
        read: read::<BeforeToolInput>,
    },
    EventRow {
        event: HookEventName::AfterTool,
        name: "AfterTool",
        aliases: &["after_tool"],
        moment: "a tool ran",
        matching: Matching::Pattern,
        merge: MergeStrategy::OrDecision,
        model: ModelPayload::None,
        block_means: Some("the reason replaces the result's content"),
        has_permission_decision: false,
        sample: AfterToolInput::SAMPLE,
        fields: AfterToolInput::FIELDS,
        specific: &[],
        chain: chain::NOTHING,
        read: read::<AfterToolInput>,
    },
    EventRow {
        event: HookEventName::BeforeAgent,
        name: "BeforeAgent",
        aliases: &["before_agent"],
        moment: "a prompt was submitted",
        matching: Matching::Always,
        merge: MergeStrategy::OrDecision,
        model: ModelPayload::None,
        block_means: Some("the prompt is refused"),
        has_permission_decision: false,
        sample: BeforeAgentInput::SAMPLE,
        fields: BeforeAgentInput::FIELDS,
        specific: &[],
        chain: chain::PROMPT,
        read: read::<BeforeAgentInput>,
    },
    EventRow {
        event: HookEventName::AfterAgent,
        name: "AfterAgent",
        aliases: &["after_agent"],
        moment: "the agent finished its turn",
        matching: Matching::Always,
        merge: MergeStrategy::OrDecision,
        model: ModelPayload::None,
        block_means: Some("the agent goes on working, with the reason as prompt"),
        has_permission_decision: false,
        sample: AfterAgentInput::SAMPLE,
        fields: AfterAgentInput::FIELDS,
        specific: &["clearContext"],
        chain: chain::NOTHING,
        read: read::<AfterAgentInput>,
    },
    EventRow {
        event: HookEventName::SessionStart,
        name: "SessionStart",
        aliases: &["session_start"],
        moment: "a session begins",
        matching: Matching::Exact { field: "source", words: SessionStartSource::WORDS },
        merge: MergeStrategy::OrDecision,
        model: ModelPayload::None,
        block_means: None,
        has_permission_decision: false,
        sample: SessionStartInput::SAMPLE,
        fields: SessionStartInput::FIELDS,
        specific: &[],
        chain: chain::NOTHING,
        read: read::<SessionStartInput>,
    },
    EventRow {
        event: HookEventName::SessionEnd,
        name: "SessionEnd",
        aliases: &["session_end"],
        moment: "a session ends",
        matching: Matching::Exact { field: "reason", words: SessionEndReason::WORDS },
        merge: MergeStrategy::Simple,
        model: ModelPayload::None,
        block_means: None,
        has_permission_decision: false,
        sample: SessionEndInput::SAMPLE,
        fields: SessionEndInput::FIELDS,
        specific: &[],
        chain: chain::NOTHING,
        read: read::<SessionEndInput>,
    },
    EventRow {
        event: HookEventName::PreCompress,
        name: "PreCompress",
        aliases: &["pre_compress"],
        moment: "the conversation is about to be compressed",
        matching: Matching::Exact { field: "trigger", words: PreCompressTrigger::WORDS },
        merge: MergeStrategy::Simple,
        model: ModelPayload::None,
        block_means: None,
        has_permission_decision: false,
        sample: PreCompressInput::SAMPLE,
        fields: PreCompressInput::FIELDS,
        specific: &[],
        chain: chain::NOTHING,
        read: read::<PreCompressInput>,
    },
    EventRow {
        event: HookEventName::BeforeModel,
        name: "BeforeModel",
        aliases: &["before_model"],
        moment: "the model is about to be called",
        matching: Matching::Always,
        merge: MergeStrategy::FieldReplacement,
        model: ModelPayload::Request,
        block_means: Some("the model is not called"),
        has_permission_decision: false,
        sample: BeforeModelInput::SAMPLE,
        fields: BeforeModelInput::FIELDS,
        specific: &["llm_request", "llm_response"],
        chain: chain::LLM_REQUEST,
        read: read::<BeforeModelInput>,
    },
    EventRow {
        event: HookEventName::AfterModel,
        name: "AfterModel",
        aliases: &["after_model"],
        moment: "the model answered",
        matching: Matching::Always,
        merge: MergeStrategy::FieldReplacement,
        model: ModelPayload::RequestAndResponse,
        block_means: Some("an error response takes the response's place"),
        has_permission_decision: false,
        sample: AfterModelInput::SAMPLE,
        fields: AfterModelInput::FIELDS,
        specific: &["llm_response"],
        chain: chain::LLM_RESPONSE,
        read: read::<AfterModelInput>,
    },
    EventRow {
        event: HookEventName::BeforeToolSelection,
        name: "BeforeToolSelection",
        aliases: &["before_tool_selection"],
        moment: "the tools of a model call are about to be chosen",
        matching: Matching::Always,
        merge: MergeStrategy::ToolSelection,
        model: ModelPayload::Request,
        block_means: Some("no tools may be called (NONE)"),
        has_permission_decision: false,
        sample: BeforeToolSelectionInput::SAMPLE,
        fields: BeforeToolSelectionInput::FIELDS,
        specific: &["toolConfig"],
        chain: chain::NOTHING,
        read: read::<BeforeToolSelectionInput>,
    },
    EventRow {
        event: HookEventName::Notification,
        name: "Notification",
        aliases: &["notification"],
        moment: "the agent tells the user something",
        matching: Matching::Always,
        merge: MergeStrategy::Simple,
        model: ModelPayload::None,
        block_means: None,
        has_permission_decision: false,
        sample: NotificationInput::SAMPLE,
        fields: NotificationInput::FIELDS,
        specific: &[],
        chain: chain::NOTHING,
        read: read::<NotificationInput>,
    },
];

/// What other agents call events of ours. Where one of theirs is only a part of ours, such as a
/// tool call of one kind, a matcher says which part.
const ELSEWHERE: [(&str, HookEventName); 12] = [
    ("PreToolUse", HookEventName::BeforeTool),
    ("beforeShellExecution", HookEventName::BeforeTool),
    ("beforeMCPExecution", HookEventName::BeforeTool),
    ("beforeReadFile", HookEventName::BeforeTool),
    ("PostToolUse", HookEventName::AfterTool),
    ("afterFileEdit", HookEventName::AfterTool),
    ("UserPromptSubmit", HookEventName::BeforeAgent),
    ("userPromptSubmitted", HookEventName::BeforeAgent),
    ("beforeSubmitPrompt", HookEventName::BeforeAgent),
    ("Stop", HookEventName::AfterAgent),
    ("agentStop", HookEventName::AfterAgent),
    ("PreCompact", HookEventName::PreCompress),
];

impl HookEventName {
    /// How many events there are.
    pub const COUNT: usize = EVENTS.len();

    /// Every event, in the order of protocol.md §2.
    pub fn all() -> impl Iterator<Item = HookEventName> {
        EVENTS.iter().map(|row| row.event)
    }

    /// Narrows a name from outside, canonical or alias, to the event.
    pub fn from_name(name: &str) -> Option<Self> {
        EVENTS
            .iter()
            .find(|row| row.name == name || row.aliases.contains(&name))
            .map(|row| row.event)
    }

    /// The event's row in the table.
    pub fn row(self) -> &'static EventRow {
        &EVENTS[self as usize]
    }

    /// The canonical name.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// An input of the event as one might come, to try hooks with: complete and valid, without base
    /// fields.
    pub fn sample_input(self) -> RawObject {
        RawObject::from_written(self.row().sample.as_bytes().to_vec())
    }

    /// The event that other agents call so, in whatever case.
    pub fn elsewhere(name: &str) -> Option<Self> {
        let known = ELSEWHERE.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(name));
        known.map(|(_, event)| *event)
    }

    /// The names of all events, for a sentence.
    pub fn names() -> String {
        Self::all().map(Self::as_str).collect::<Vec<_>>().join(", ")
    }

    /// What to say of a name that no event has: what it is called here if other agents have it, else
    /// the nearest one, else all of them.
    pub fn unknown(name: &str) -> String {
        let hint = match (Self::elsewhere(name), Self::nearest(name)) {
            (Some(event), _) => format!("what other agents call so is {event} here"),
            (None, Some(nearest)) => format!("did you mean {nearest}?"),
            (None, None) => format!("the events are {}", Self::names()),
        };
        format!("there is no event {:?}; {hint}", crate::text::shortened(name))
    }

    /// The known name that means what `name` means elsewhere, else looks most like it, for a
    /// suggestion.
    pub fn nearest(name: &str) -> Option<&'static str> {
        if let Some(event) = Self::elsewhere(name) {
            return Some(event.as_str());
        }
        crate::nearest::nearest(name, EVENTS.iter().map(|row| row.name))
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{BaseOverrides, RequestInput};
    use crate::json::RawJson;
    use std::collections::HashSet;

    #[test]
    fn every_row_stands_at_its_events_place() {
        for (index, row) in EVENTS.iter().enumerate() {
            assert_eq!(row.event as usize, index, "{}", row.name);
        }
    }

    #[test]
    fn names_and_aliases_are_unique_and_narrow_to_their_row() {
        let mut seen = HashSet::new();
        for row in &EVENTS {
            for name in row.aliases.iter().chain([&row.name]) {
                assert!(seen.insert(*name), "{name} stands for two events");
                assert_eq!(HookEventName::from_name(name), Some(row.event));
            }
        }
        assert_eq!(HookEventName::from_name("beforetool"), None);
    }

    #[test]
    fn every_sample_is_a_valid_input_of_its_event_and_nothing_more() {
        for event in HookEventName::all() {
            let text = event.sample_input().as_str().to_owned();
            let fields = RawJson::parse(text.as_str()).unwrap().to_object().unwrap();
            let input = RequestInput::read(event, fields).unwrap();
            assert!(input.extra.is_empty() && input.base == BaseOverrides::default(), "{text}");
            // Nothing was added by a default either: what is shown is what hooks get.
            assert_eq!(RawObject::of(|object| input.write(object)).as_str(), text);
        }
    }

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        assert_eq!(HookEventName::nearest("BeforeTools"), Some("BeforeTool"));
        assert_eq!(HookEventName::nearest("xyzzy"), None);
    }

    #[test]
    fn what_other_agents_call_an_event_is_known_and_is_no_name_of_ours() {
        for (name, event) in ELSEWHERE {
            assert_eq!(HookEventName::from_name(name), None);
            assert_eq!(HookEventName::nearest(&name.to_lowercase()), Some(event.as_str()));
        }
        assert_eq!(
            HookEventName::unknown("PreToolUse"),
            "there is no event \"PreToolUse\"; what other agents call so is BeforeTool here"
        );
    }
}
