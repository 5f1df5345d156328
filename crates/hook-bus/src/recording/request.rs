//! One request of a recording, with its hooks and its response.

use std::time::Duration;

use hook_core::run::WorkerHistory;
use hook_core::{HookEventName, JsonObject, PolicyDecision, RawJson, RawObject};

/// One request and what became of it. Times count from the beginning of the recording.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// What tells it apart from the recording's other requests; correlation ids may repeat.
    pub number: u64,
    /// When it was accepted.
    pub at: Duration,
    /// The event's name: as the response says it, else as another of its messages does.
    pub event_name: Option<String>,
    /// The request message; absent where the recorder missed it.
    pub message: Option<JsonObject>,
    /// Its hooks: in plan order where there is a response that names them, else as they started.
    pub hooks: Vec<RecordedHook>,
    /// The response; absent where the recorder missed it, or the engine ended before.
    pub response: Option<RecordedResponse>,
    /// What the response's line says of groups.
    pub(super) groups: Option<RawJson>,
}

/// A hook that was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedNotStarted {
    /// Its name, else its command.
    pub name: String,
    /// The hook by whose answer it was not.
    pub ended_by: String,
}

/// The group that a hook ran in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedGroup {
    /// Its number among the groups of its request, from 1.
    pub number: usize,
    /// The priority of its hooks.
    pub priority: i32,
}

/// The answer to a recorded request.
#[derive(Debug, Clone)]
pub struct RecordedResponse {
    /// When it came.
    pub at: Duration,
    /// The response message.
    pub message: RawJson,
}

/// One run of a hook.
#[derive(Debug, Clone)]
pub struct RecordedHook {
    /// Its name, else its command.
    pub name: String,
    /// `command`, `inline`, `async` or `blocking`.
    pub kind: String,
    /// The source of its settings.
    pub source: String,
    /// When it started.
    pub start: Duration,
    /// When it ended; absent where nothing says so.
    pub end: Option<Duration>,
    /// Whether the times were reckoned from its duration, since the recorder missed its messages.
    pub estimated: bool,
    /// The group it ran in; absent where all hooks of the request ran together, or nothing says so.
    pub group: Option<RecordedGroup>,
    /// What became of it, with the fields of protocol.md §6; absent where nothing says so.
    pub result: Option<JsonObject>,
}

/// What came of a request or of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordedOutcome {
    /// Things may go on.
    Proceed,
    /// The user is asked.
    Ask,
    /// It is tried again after a while.
    Retry,
    /// It was forbidden.
    Block,
    /// The agent stops.
    Stop,
    /// A stage of the request failed, or the hook did; and nothing was decided.
    Failed,
    /// The recording does not say.
    Unfinished,
}

impl RecordedOutcome {
    /// Every outcome.
    pub const ALL: [Self; 7] = [
        Self::Proceed,
        Self::Ask,
        Self::Retry,
        Self::Block,
        Self::Stop,
        Self::Failed,
        Self::Unfinished,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proceed => "proceed",
            Self::Ask => "ask",
            Self::Retry => "retry",
            Self::Block => "block",
            Self::Stop => "stop",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

impl From<PolicyDecision> for RecordedOutcome {
    fn from(decision: PolicyDecision) -> Self {
        match decision {
            PolicyDecision::Proceed => Self::Proceed,
            PolicyDecision::Ask => Self::Ask,
            PolicyDecision::Retry => Self::Retry,
            PolicyDecision::Block => Self::Block,
            PolicyDecision::Stop => Self::Stop,
        }
    }
}

impl RecordedRequest {
    /// The event, if it is a built-in one.
    pub fn event(&self) -> Option<HookEventName> {
        HookEventName::from_name(self.event_name.as_deref()?)
    }

    /// Whether it is about that event, declared or built in.
    pub fn is_of(&self, event: HookEventName) -> bool {
        self.event_name.as_deref() == Some(event.as_str()) || self.event() == Some(event)
    }

    /// The event's input.
    pub fn input(&self) -> Option<&RawJson> {
        let message = self.message.as_ref()?;
        message.get("input").or_else(|| message.get("payload"))
    }

    /// What the event is about: what its matchers are compared with, such as the tool's name.
    pub fn subject(&self) -> Option<String> {
        let field = self.event()?.row().matching.field()?;
        self.input()?.to_object().ok()?.get(field)?.to_text()
    }

    /// A value of the response, such as `["processed", "reason"]`.
    pub fn answered(&self, path: &[&str]) -> Option<RawJson> {
        let start = self.response.as_ref()?.message.clone();
        path.iter().try_fold(start, |value, name| value.to_object().ok()?.get(name).cloned())
    }

    /// The hooks that were not started, because of what one before them said.
    pub fn not_started(&self) -> Vec<RecordedNotStarted> {
        let hooks = self.answered(&["notStarted"]).and_then(|hooks| hooks.to_items());
        let read = |hook: RawJson| {
            let hook = hook.to_object().ok()?;
            let text = |name: &str| hook.get(name).and_then(RawJson::to_text).unwrap_or_default();
            Some(RecordedNotStarted { name: text("name"), ended_by: text("endedBy") })
        };
        hooks.unwrap_or_default().into_iter().filter_map(read).collect()
    }

    /// How long the caller was to wait before it tries again, where it was to.
    pub fn retry_after(&self) -> Option<Duration> {
        milliseconds(&self.answered(&["processed", "retryAfterMs"])?)
    }

    /// Whether what the user would be asked for was granted.
    pub fn granted(&self) -> bool {
        self.answered(&["processed", "granted"]).and_then(|it| it.to_bool()) == Some(true)
    }

    /// What came of it.
    pub fn outcome(&self) -> RecordedOutcome {
        if self.response.is_none() {
            return RecordedOutcome::Unfinished;
        }
        let word = self.answered(&["processed", "decision"]).and_then(|word| word.to_text());
        match word.as_deref().and_then(decision) {
            Some(decision) => decision,
            None => RecordedOutcome::Failed,
        }
    }

    /// When it was over: answered, and every hook of it done, as far as the recording says.
    pub fn end(&self) -> Duration {
        let hooks = self.hooks.iter().map(|hook| hook.end.unwrap_or(hook.start));
        let answered = self.response.iter().map(|response| response.at);
        hooks.chain(answered).fold(self.at, Duration::max)
    }
}

impl RecordedHook {
    /// What came of it. A denial sticks, whatever happened to the hook after it.
    pub fn outcome(&self) -> RecordedOutcome {
        if self.result.is_none() {
            return RecordedOutcome::Unfinished;
        }
        match self.text("decision").as_deref().and_then(decision) {
            Some(decided) if decided != RecordedOutcome::Proceed => decided,
            _ if self.text("error").is_some() => RecordedOutcome::Failed,
            _ => RecordedOutcome::Proceed,
        }
    }

    /// Whether it failed. A guard that did has decided all the same: its failure blocks.
    pub fn has_failed(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.get("error").is_some())
    }

    /// What its worker had been through by then, where that is worth knowing.
    pub fn worker(&self) -> Option<WorkerHistory> {
        let worker = self.result.as_ref()?.get("worker")?.clone();
        WorkerHistory::read_back(&RawObject::try_from(worker).ok()?)
    }

    /// A text of its result, such as `error`.
    pub fn text(&self, name: &str) -> Option<String> {
        self.result.as_ref()?.get(name)?.to_text()
    }

    /// How long it ran: as its result says, else between start and end.
    pub fn duration(&self) -> Option<Duration> {
        let told = self.result.as_ref().and_then(|result| milliseconds(result.get("duration")?));
        told.or_else(|| Some(self.end?.saturating_sub(self.start)))
    }
}

/// The group of each hook of a response, as far as its line says.
pub(super) fn groups(said: Option<&RawJson>) -> impl Iterator<Item = RecordedGroup> {
    let groups = said.and_then(RawJson::to_items).unwrap_or_default();
    groups.into_iter().enumerate().flat_map(|(index, group)| {
        let read = || {
            let group = group.to_object().ok()?;
            let priority = group.get("priority")?.as_str().parse().ok()?;
            let hooks: u32 = group.get("hooks")?.as_str().parse().ok()?;
            Some((RecordedGroup { number: index + 1, priority }, hooks as usize))
        };
        let (group, hooks) = read().map_or((None, 0), |(group, hooks)| (Some(group), hooks));
        std::iter::repeat_n(group, hooks).flatten()
    })
}

/// A time as messages have it: milliseconds, perhaps with decimals.
pub(super) fn milliseconds(value: &RawJson) -> Option<Duration> {
    let milliseconds: f64 = value.as_str().parse().ok()?;
    Duration::try_from_secs_f64(milliseconds / 1_000.0).ok()
}

fn decision(word: &str) -> Option<RecordedOutcome> {
    RecordedOutcome::ALL
        .into_iter()
        .filter(|outcome| !matches!(outcome, RecordedOutcome::Failed | RecordedOutcome::Unfinished))
        .find(|outcome| outcome.as_str() == word)
}
