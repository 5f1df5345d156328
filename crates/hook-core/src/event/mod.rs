//! The event table: one row per event, and everything the engine needs to know about it.
//!
//! Adding an event is adding a row to the table in `event/table.rs` and, unless its payload is open, a payload to
//! [`crate::input`]. Nothing else decides by event name (architecture.md, "The event table"). Hosts,
//! clients and settings [declare](EventDefinition) events of their own, which are rows like any other.

mod by_event;
mod declared;
mod elsewhere;
mod matching;
mod table;
mod topic;
mod typed;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::chain::{self, Chain};
use crate::field::Field;
use crate::input::{OpenInput, Payload};
use crate::json::RawObject;
use crate::shape::{FieldReader, ShapeError};
use table::EVENTS;

pub(crate) use by_event::ByEvent;
pub use declared::{
    DEFINITION_FIELDS, DeclareError, EVENT_NAME_PATTERN, EventDefinition, Events, MAX_DECLARED,
};
pub use matching::Matching;
pub use table::EventPayload;
pub use topic::Topic;
pub use typed::{Event, TypedAnswer, TypedInput, events};

/// An event that hooks can listen to (protocol.md §2): a row of the table. Copying it copies a
/// reference.
#[derive(Clone, Copy)]
pub struct HookEventName(&'static EventRow);

/// How several outputs become one (protocol.md §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeStrategy {
    /// Any stop wins, then any block, then any ask; texts are joined.
    OrDecision,
    /// Later fields replace earlier ones, decisions rank.
    FieldReplacement,
    /// Tool modes rank and tool lists intersect.
    ToolSelection,
    /// Later fields replace earlier ones.
    Simple,
    /// Nothing is merged: answers are kept beside each other, and change nothing.
    Observe,
    /// As [`OrDecision`](Self::OrDecision), but the event's own fields are those of the first answer
    /// that has one.
    First,
    /// As [`OrDecision`](Self::OrDecision), but the event's own fields are those of the last answer
    /// that has one.
    Last,
    /// As [`OrDecision`](Self::OrDecision), and a hook can grant what a user would be asked for.
    Permission,
}

impl MergeStrategy {
    /// Those that a declared event can have.
    const DECLARABLE: [(&str, Self); 6] = [
        ("or-decision", Self::OrDecision),
        ("field-replacement", Self::FieldReplacement),
        ("simple", Self::Simple),
        ("observe", Self::Observe),
        ("first", Self::First),
        ("last", Self::Last),
    ];

    /// The words for it where an event is declared.
    pub const WORDS: [&'static str; 6] = [
        Self::DECLARABLE[0].0,
        Self::DECLARABLE[1].0,
        Self::DECLARABLE[2].0,
        Self::DECLARABLE[3].0,
        Self::DECLARABLE[4].0,
        Self::DECLARABLE[5].0,
    ];

    /// The strategy of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::DECLARABLE.iter().find(|(known, _)| *known == word).map(|(_, strategy)| *strategy)
    }

    /// Whether what hooks decide changes nothing.
    pub fn only_observes(self) -> bool {
        self == Self::Observe
    }
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
    pub(crate) chain: Chain,
    pub(crate) read: ReadPayload,
}

pub(crate) type ReadPayload =
    fn(HookEventName, &mut FieldReader) -> Result<EventPayload, ShapeError>;

impl EventRow {
    /// A row without meaning of its own, for events with that payload.
    const fn of<P: Payload + Into<EventPayload>>() -> Self {
        Self::with(P::SAMPLE, P::FIELDS, |_, fields| P::read(fields).map(Into::into))
    }

    /// A row without meaning of its own, for events whose payload is open.
    const fn open() -> Self {
        Self::with("{}", &[], |event, fields| {
            OpenInput::read(event, fields).map(EventPayload::Open)
        })
    }

    const fn with(sample: &'static str, fields: &'static [Field], read: ReadPayload) -> Self {
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
            chain: chain::NOTHING,
            read,
        }
    }

    /// Whether its payload is an object of whatever fields, [`OpenInput`].
    pub fn is_open(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether it was declared, and is not built in.
    pub fn is_declared(&self) -> bool {
        self.index >= EVENTS.len()
    }

    /// Whether the event acts on that field of `hookSpecificOutput`.
    pub(crate) fn acts_on(&self, field: &str) -> bool {
        matches!(field, "hookEventName" | "additionalContext") || self.answers.contains(&field)
    }
}

impl HookEventName {
    /// How many events are built in.
    pub const COUNT: usize = EVENTS.len();

    /// Every built-in event, in the order of protocol.md §2.
    pub fn all() -> impl Iterator<Item = HookEventName> {
        EVENTS.iter().map(Self)
    }

    /// Narrows a name from outside, canonical or alias, to the built-in event. [`Events`] knows
    /// those that are declared, too.
    pub fn from_name(name: &str) -> Option<Self> {
        EVENTS.iter().find(|row| row.name == name || row.aliases.contains(&name)).map(Self)
    }

    /// The event's row in the table.
    pub fn row(self) -> &'static EventRow {
        self.0
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{BaseOverrides, RequestInput};
    use crate::json::RawJson;
    use std::collections::HashSet;

    #[test]
    fn every_row_stands_at_its_events_place() {
        for (index, row) in EVENTS.iter().enumerate() {
            assert_eq!(row.index, index, "{}", row.name);
        }
    }

    #[test]
    fn names_and_aliases_are_unique_and_narrow_to_their_row() {
        let mut seen = HashSet::new();
        for row in &EVENTS {
            for name in row.aliases.iter().chain([&row.name]) {
                assert!(seen.insert(*name), "{name} stands for two events");
                assert_eq!(HookEventName::from_name(name), Some(HookEventName(row)));
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
    fn every_built_in_event_has_a_topic_and_every_topic_an_event() {
        let built_in = |topic: Topic| EVENTS.iter().any(|row| row.topic == topic);
        for topic in Topic::ALL {
            assert_eq!(built_in(topic), topic != Topic::Declared, "{topic:?}");
        }
    }

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        assert_eq!(Events::built_in().nearest("BeforeTools"), Some("BeforeTool"));
        assert_eq!(Events::built_in().nearest("xyzzy"), None);
    }

    #[test]
    fn what_other_agents_call_an_event_is_known_and_is_no_name_of_ours() {
        for (name, event) in elsewhere::ELSEWHERE {
            assert_eq!(HookEventName::from_name(name), None);
            assert_eq!(Events::built_in().nearest(&name.to_lowercase()), Some(event.as_str()));
        }
        assert_eq!(
            Events::built_in().unknown("PreToolUse"),
            "there is no event \"PreToolUse\"; what other agents call so is BeforeTool here"
        );
    }
}
