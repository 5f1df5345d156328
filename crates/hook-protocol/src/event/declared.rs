//! Events that hosts, clients and settings declare.
//!
//! A declared event is a row like any other. Rows are never freed, so that an event's name is a
//! plain reference to its row. Declaring the same event again returns the same row, and the number
//! of different events per process is limited.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::foreign_names::FOREIGN_NAMES;
use super::matching::Matching;
use super::merge_strategy::MergeStrategy;
use super::row::{EventRow, HookEventName, WILDCARD};
use crate::event::input::BASE_FIELDS;
use hook_json::shape::{FieldReader, ShapeError};
use hook_json::text::{is_hidden, nearest, shortened};
use hook_json::{JsonObject, field, fields};

/// The maximum length of a declared event's name, in bytes.
const MAX_EVENT_NAME: usize = 64;

/// The pattern for names of declared events, as a regular expression.
pub const EVENT_NAME_PATTERN: &str = "^[A-Za-z][A-Za-z0-9_]{0,63}$";

/// The maximum number of declared events per engine.
pub const MAX_DECLARED: usize = 100;

/// The maximum number of different declarations per process.
const MAX_ROWS: usize = 10_000;

/// The maximum length of a field's name and of `blockMeans`, in bytes.
const MAX_TEXT: usize = 256;

fields! {
    /// The fields of an event definition in settings and messages, without its name.
    pub DEFINITION_FIELDS:
    "matching" Closed(&MATCHING_FIELDS), optional,
        "What matchers are compared with; without it, every matcher matches.";
    "merge" OneOf(&MergeStrategy::NAMES), = "\"or-decision\"", "How several answers become one.";
    "blockMeans" TextUpTo(MAX_TEXT), optional,
        "What a block means to the caller; without it, it means nothing.";
}

fields! {
    /// The fields of `matching`. A definition has exactly one of them.
    pub MATCHING_FIELDS:
    "exact" Text, optional, "The field of the input that matchers are compared with exactly.";
    "pattern" Text, optional, "The field of the input that matchers are patterns for.";
}

/// Returns `true` if the name matches [`EVENT_NAME_PATTERN`].
fn is_event_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= MAX_EVENT_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(is_inner)
}

/// An event that is not built in: its name, and the values of its row. Its payload is an open
/// object, [`OpenInput`](crate::OpenInput).
///
/// ```
/// use hook_protocol::event::{EventDefinition, Events, MergeStrategy};
///
/// let mut events = Events::built_in();
/// let deploy = EventDefinition::new("DeployFinished")
///     .matching_exactly("environment")
///     .merge(MergeStrategy::OrDecision)
///     .block_means("it is rolled back");
/// let deploy = events.declare(deploy)?;
/// assert_eq!(events.from_name("DeployFinished"), Some(deploy));
/// # Ok::<(), hook_protocol::event::DeclareError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct EventDefinition {
    name: String,
    matching: DeclaredMatching,
    merge: MergeStrategy,
    block_means: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum DeclaredMatching {
    Always,
    Pattern(String),
    Exact(String),
}

impl DeclaredMatching {
    fn field(&self) -> Option<&str> {
        match self {
            Self::Always => None,
            Self::Pattern(field) | Self::Exact(field) => Some(field),
        }
    }
}

impl EventDefinition {
    /// Creates a definition: every matcher matches, outputs are merged as those of a tool call, and
    /// a block has no effect.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            matching: DeclaredMatching::Always,
            merge: MergeStrategy::OrDecision,
            block_means: None,
        }
    }

    /// Sets the payload field that matchers are patterns for. The field becomes required.
    pub fn matching_pattern(mut self, field: impl Into<String>) -> Self {
        self.matching = DeclaredMatching::Pattern(field.into());
        self
    }

    /// Sets the payload field that matchers are compared with exactly. The field becomes required.
    pub fn matching_exactly(mut self, field: impl Into<String>) -> Self {
        self.matching = DeclaredMatching::Exact(field.into());
        self
    }

    /// Sets the strategy for merging several outputs.
    pub fn merge(mut self, merge: MergeStrategy) -> Self {
        self.merge = merge;
        self
    }

    /// Sets the effect of a block on the caller.
    pub fn block_means(mut self, meaning: impl Into<String>) -> Self {
        self.block_means = Some(meaning.into());
        self
    }

    /// Reads a definition from its fields: `matching`, `merge`, `blockMeans`.
    ///
    /// # Errors
    /// Names the field that is invalid or unknown.
    pub fn read(name: impl Into<String>, fields: JsonObject) -> Result<Self, ShapeError> {
        const MERGE: &str = "or-decision, field-replacement, simple, observe, first or last";
        let mut fields = FieldReader::new(fields);
        let mut definition = Self::new(name);
        if let Some(matching) = fields.object("matching")? {
            let mut matching = FieldReader::new(matching.fields());
            let mut read = || Ok((matching.text("exact")?, matching.text("pattern")?));
            let (exact, pattern) = read().map_err(|error: ShapeError| error.within("matching"))?;
            definition = match (exact, pattern) {
                (Some(field), None) => definition.matching_exactly(field),
                (None, Some(field)) => definition.matching_pattern(field),
                (exact, _) => {
                    reject_unknown(matching.into_rest(), "exact or pattern")
                        .map_err(|error| error.within("matching"))?;
                    let found = if exact.is_some() { "both" } else { "neither" };
                    return Err(ShapeError::new("matching", "`exact` or `pattern`", found));
                }
            };
            reject_unknown(matching.into_rest(), "exact or pattern")
                .map_err(|error| error.within("matching"))?;
        }
        if let Some(merge_name) = fields.text("merge")? {
            let merge = MergeStrategy::from_name(&merge_name);
            definition.merge =
                merge.ok_or_else(|| ShapeError::new("merge", MERGE, shortened(&merge_name)))?;
        }
        definition.block_means = fields.text("blockMeans")?;
        reject_unknown(fields.into_rest(), "matching, merge or blockMeans")?;
        Ok(definition)
    }

    /// Returns the event's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the event that every engine gets by declaring this definition.
    ///
    /// # Errors
    /// If the definition is invalid, or if too many different events were declared in this process.
    pub fn event(&self) -> Result<HookEventName, DeclareError> {
        self.check()?;
        self.row()
    }

    fn check(&self) -> Result<(), DeclareError> {
        let invalid =
            |reason: &'static str| DeclareError::Invalid { name: shortened(&self.name), reason };
        if !is_event_name(&self.name) {
            return Err(invalid("a name is a letter and at most 63 letters, digits and `_`"));
        }
        if let DeclaredMatching::Pattern(field) | DeclaredMatching::Exact(field) = &self.matching
            && (field.is_empty() || field.len() > MAX_TEXT)
        {
            return Err(invalid("the field that matchers are compared with has 1 to 256 bytes"));
        }
        if let DeclaredMatching::Pattern(field) | DeclaredMatching::Exact(field) = &self.matching
            && field::has_field(&BASE_FIELDS, field)
        {
            return Err(invalid("matchers cannot be compared with a field that every input has"));
        }
        let texts = [self.matching.field(), self.block_means.as_deref()];
        if texts.iter().flatten().any(|text| text.contains(is_hidden)) {
            return Err(invalid("its texts have no line ends and no other hidden characters"));
        }
        if self.block_means.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            return Err(invalid("what a block means has at most 256 bytes"));
        }
        if self.merge.is_observe_only() && self.block_means.is_some() {
            return Err(invalid("what only observes cannot be blocked"));
        }
        Ok(())
    }

    /// Returns `true` if the row has this definition.
    pub fn matches_row(&self, row: &EventRow) -> bool {
        let matching = match &self.matching {
            DeclaredMatching::Always => Matching::Always == row.matching,
            DeclaredMatching::Pattern(name) => {
                matches!(row.matching, Matching::Pattern { field } if field == name)
            }
            DeclaredMatching::Exact(name) => {
                matches!(row.matching, Matching::Exact { field, .. } if field == name)
            }
        };
        row.name == self.name
            && matching
            && row.merge == self.merge
            && row.block_means == self.block_means.as_deref()
    }

    /// Returns the known event of that name, if it has the same definition.
    fn resolve_existing(&self, known: HookEventName) -> Result<HookEventName, DeclareError> {
        let name = || self.name.clone();
        match (self.matches_row(known.row()), known.row().is_declared()) {
            (true, _) => Ok(known),
            (false, true) => Err(DeclareError::Exists { name: name() }),
            (false, false) => Err(DeclareError::BuiltIn { name: name(), event: known }),
        }
    }

    /// Returns the row, unless the engine has too many declared events already.
    fn row_within_limit(&self, declared_count: usize) -> Result<HookEventName, DeclareError> {
        if declared_count >= MAX_DECLARED {
            let name = self.name.clone();
            return Err(DeclareError::TooMany { name, limit: MAX_DECLARED });
        }
        self.row()
    }

    /// Returns the settings of a definition besides its name: keys, and values as text.
    pub fn row_settings(row: &EventRow) -> [(&'static str, Option<String>); 3] {
        let matching = match row.matching {
            Matching::Always => None,
            Matching::Pattern { field } => Some(format!("pattern {field}")),
            Matching::Exact { field, .. } => Some(format!("exact {field}")),
        };
        let merge = (row.merge != MergeStrategy::OrDecision).then(|| row.merge.as_str().to_owned());
        let block_means = row.block_means.map(str::to_owned);
        [("matching", matching), ("merge", merge), ("blockMeans", block_means)]
    }

    /// Returns the event that stands for every event in settings, for workers that announce their
    /// events themselves. No request has it.
    pub fn wildcard() -> Option<HookEventName> {
        // This is called early, when few of the `MAX_ROWS` rows are used.
        Self::new(WILDCARD).merge(MergeStrategy::Observe).row().ok()
    }

    /// Returns the row of this definition, which is created if it does not exist yet.
    fn row(&self) -> Result<HookEventName, DeclareError> {
        static ROWS: Mutex<Vec<HookEventName>> = Mutex::new(Vec::new());
        let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = rows.iter().find(|known| self.matches_row(known.row())) {
            return Ok(*known);
        }
        if rows.len() >= MAX_ROWS {
            return Err(DeclareError::TooManyRows { limit: MAX_ROWS });
        }
        let leak = |text: &str| -> &'static str { String::leak(text.to_owned()) };
        let matching = match &self.matching {
            DeclaredMatching::Always => Matching::Always,
            DeclaredMatching::Pattern(field) => Matching::Pattern { field: leak(field) },
            DeclaredMatching::Exact(field) => Matching::exact(leak(field)),
        };
        let sample = match matching.field() {
            Some(field) => {
                let sample = hook_json::RawObject::build(|out| out.text(field, "sample"));
                leak(sample.as_str())
            }
            None => "{}",
        };
        let row = EventRow {
            index: HookEventName::COUNT + rows.len(),
            name: leak(&self.name),
            moment: "declared by the host, a client or settings",
            matching,
            merge: self.merge,
            block_means: self.block_means.as_deref().map(leak),
            sample,
            ..EventRow::open()
        };
        let event = HookEventName::of(Box::leak(Box::new(row)));
        rows.push(event);
        Ok(event)
    }
}

fn reject_unknown(rest: JsonObject, known: &'static str) -> Result<(), ShapeError> {
    match rest.iter().next() {
        Some((name, _)) => Err(ShapeError::new(shortened(name), known, "another name")),
        None => Ok(()),
    }
}

/// An error from declaring an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclareError {
    /// The definition is invalid.
    #[error("cannot declare the event `{name}`: {reason}")]
    Invalid {
        /// The name, shortened.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// An event of that name exists and has another definition.
    #[error(
        "cannot declare the event `{name}`: there is one of that name that means something else; \
         declare it the same, or take another name"
    )]
    Exists {
        /// The name.
        name: String,
    },
    /// The name is that of a built-in event, or an alias of one.
    #[error("cannot declare the event `{name}`: {event} is a built-in event; take another name")]
    BuiltIn {
        /// The name.
        name: String,
        /// The built-in event.
        event: HookEventName,
    },
    /// The engine has the maximum number of declared events.
    #[error("cannot declare the event `{name}`: there are {limit} declared events already")]
    TooMany {
        /// The name.
        name: String,
        /// The maximum number.
        limit: usize,
    },
    /// Too many different events were declared in this process.
    #[error(
        "cannot declare another event: {limit} different ones were declared in this process; restart \
         it"
    )]
    TooManyRows {
        /// The maximum number.
        limit: usize,
    },
}

/// The events of one engine: the built-in and the declared ones. A clone shares them until one of
/// the two declares another event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    declared: Arc<BTreeMap<&'static str, HookEventName>>,
    /// Events of possibly untrusted projects. Any other declaration of the same name wins.
    provisional: Arc<BTreeMap<&'static str, HookEventName>>,
}

impl Events {
    /// Returns the built-in events only.
    pub fn built_in() -> Self {
        Self::default()
    }

    /// Adds an event. Adding it again with the same definition is not an error.
    ///
    /// # Errors
    /// If the name is invalid or taken, or if there are too many events.
    pub fn declare(&mut self, definition: EventDefinition) -> Result<HookEventName, DeclareError> {
        definition.check()?;
        if let Some(known) = self.from_confirmed_name(&definition.name) {
            return definition.resolve_existing(known);
        }
        let event = definition.row_within_limit(self.declared.len())?;
        Arc::make_mut(&mut self.declared).insert(event.as_str(), event);
        if self.provisional.contains_key(event.as_str()) {
            Arc::make_mut(&mut self.provisional).remove(event.as_str());
        }
        Ok(event)
    }

    /// Adds an event of a possibly untrusted project. It is replaced when another source declares
    /// an event of the same name.
    ///
    /// # Errors
    /// The same as those of [`declare`](Self::declare).
    pub fn declare_provisionally(
        &mut self,
        definition: &EventDefinition,
    ) -> Result<HookEventName, DeclareError> {
        definition.check()?;
        if let Some(known) = self.from_name(&definition.name) {
            return definition.resolve_existing(known);
        }
        let event = definition.row_within_limit(self.provisional.len())?;
        Arc::make_mut(&mut self.provisional).insert(event.as_str(), event);
        Ok(event)
    }

    /// Removes a declared event; built-in events stay.
    pub fn remove(&mut self, event: HookEventName) {
        if self.declared.get(event.as_str()) == Some(&event) {
            Arc::make_mut(&mut self.declared).remove(event.as_str());
        }
    }

    /// Returns the event with that name or alias.
    pub fn from_name(&self, name: &str) -> Option<HookEventName> {
        self.from_confirmed_name(name).or_else(|| self.provisional.get(name).copied())
    }

    /// Like [`from_name`](Self::from_name), but without the events that only possibly
    /// untrusted projects declare.
    pub fn from_confirmed_name(&self, name: &str) -> Option<HookEventName> {
        HookEventName::from_name(name).or_else(|| self.declared.get(name).copied())
    }

    /// Returns all events: the built-in ones as in reference/events.md, then the declared ones by name.
    pub fn all(&self) -> impl Iterator<Item = HookEventName> {
        HookEventName::all().chain(self.declared())
    }

    /// Returns the declared events, sorted by name.
    pub fn declared(&self) -> impl Iterator<Item = HookEventName> {
        let provisional = self
            .provisional
            .values()
            .filter(|event| self.from_confirmed_name(event.as_str()).is_none());
        let mut all: Vec<_> = self.declared.values().chain(provisional).copied().collect();
        all.sort_unstable_by_key(|event| event.as_str());
        all.into_iter()
    }

    /// Returns the names of all events, separated by commas.
    pub(crate) fn names(&self) -> String {
        self.all().map(HookEventName::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Returns a message about an unknown name, with a hint: the native name if other agents have
    /// an event of that name, else the nearest name, else all names.
    pub fn unknown_message(&self, name: &str) -> String {
        let hint = match (HookEventName::from_foreign_name(name), self.nearest(name)) {
            (Some(event), _) => format!("what other agents call so is {event} here"),
            (None, Some(nearest)) => format!("did you mean {nearest}?"),
            (None, None) => format!("the events are {}", self.names()),
        };
        format!("there is no event {:?}; {hint}", shortened(name))
    }

    /// Returns a suggestion for an unknown name: the native name if other agents have an event of
    /// that name, else the nearest name.
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        if let Some((_, event)) =
            FOREIGN_NAMES.iter().find(|(foreign, _)| foreign.eq_ignore_ascii_case(name))
        {
            return Some(event.as_str());
        }
        nearest(name, self.all().map(HookEventName::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_event_is_a_row_and_the_same_again_is_the_same() {
        let definition = EventDefinition::new("UnitDeployed").matching_pattern("environment");
        let mut events = Events::built_in();
        let event = events.declare(definition.clone()).unwrap();
        assert_eq!(events.from_name("UnitDeployed"), Some(event));
        assert_eq!(HookEventName::from_name("UnitDeployed"), None);
        assert_eq!(events.declare(definition.clone()), Ok(event));
        assert_eq!(Events::built_in().declare(definition), Ok(event));
        assert_eq!(event.row().matching.field(), Some("environment"));
        assert!(event.row().is_declared() && event > HookEventName::Command);
        let other = EventDefinition::new("UnitDeployed");
        assert!(matches!(events.declare(other.clone()), Err(DeclareError::Exists { .. })));
        let other_events = Events::built_in().declare(other).unwrap();
        assert_ne!(other_events, event, "another engine's event may mean something else");
        events.remove(event);
        assert_eq!(events, Events::built_in());
    }

    #[test]
    fn what_is_no_definition_is_refused() {
        let mut events = Events::built_in();
        let long = "x".repeat(300);
        for definition in [
            EventDefinition::new(""),
            EventDefinition::new("7up"),
            EventDefinition::new("a-b"),
            EventDefinition::new("é"),
            EventDefinition::new("x".repeat(65)),
            EventDefinition::new("A").matching_exactly(""),
            EventDefinition::new("A").matching_pattern(&long),
            EventDefinition::new("A").block_means(&long),
            EventDefinition::new("A").merge(MergeStrategy::Observe).block_means("x"),
            EventDefinition::new("BeforeTool"),
            EventDefinition::new("before_tool"),
        ] {
            assert!(events.declare(definition.clone()).is_err(), "{definition:?}");
        }
        for number in 0..MAX_DECLARED {
            events.declare(EventDefinition::new(format!("Unit{number}"))).unwrap();
        }
        let one_more = events.declare(EventDefinition::new("OneMore"));
        assert!(matches!(one_more, Err(DeclareError::TooMany { .. })));
    }
}
