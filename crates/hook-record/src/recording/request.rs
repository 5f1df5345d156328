//! One recorded request, with its hooks and its response.

use hook_json::{JsonObject, RawJson, RawObject, keywords};
use std::time::Duration;

use hook_protocol::{HookEventName, PolicyDecision};
use hook_run::WorkerHistory;

/// One recorded request. Times count from the start of the recording.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// A number unique in the recording; correlation ids may repeat.
    pub number: u64,
    /// The time of acceptance.
    pub at: Duration,
    /// The event's name, from the response or else from another message.
    pub event_name: Option<String>,
    /// The request message; `None` if the recorder missed it.
    pub message: Option<JsonObject>,
    /// The request's hooks: in plan order if the response lists them, else in start order.
    pub hooks: Vec<RecordedHook>,
    /// The response; `None` if the recorder missed it, or the engine ended before.
    pub response: Option<RecordedResponse>,
    /// The groups in the response's line.
    pub(super) groups: Option<RawJson>,
}

/// A hook that was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedNotStarted {
    /// The hook's name, or else its command.
    pub name: String,
    /// The hook whose answer kept it from starting.
    pub ended_by: String,
}

/// The group of hooks that ran together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedGroup {
    /// The group's number in its request, from 1.
    pub number: usize,
    /// The priority of its hooks.
    pub priority: i32,
}

/// The response to a recorded request.
#[derive(Debug, Clone)]
pub struct RecordedResponse {
    /// The time of the response.
    pub at: Duration,
    /// The response message.
    pub message: RawJson,
}

/// One run of a hook.
#[derive(Debug, Clone)]
pub struct RecordedHook {
    /// The hook's name, or else its command.
    pub name: String,
    /// The name of its [`HookKind`](hook_run::HookKind), such as `command`.
    pub kind: String,
    /// The source of its settings.
    pub source: String,
    /// The start time.
    pub start: Duration,
    /// The end time; `None` if not recorded.
    pub end: Option<Duration>,
    /// `true` if the times are inferred from its duration, since the recorder missed its messages.
    pub estimated: bool,
    /// The hook's group; `None` if all hooks of the request ran together, or it is not recorded.
    pub group: Option<RecordedGroup>,
    /// The hook's result, with the fields of reference/messages.md; `None` if not recorded.
    pub result: Option<JsonObject>,
}

keywords! {
    /// The outcome of a request or a hook.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum RecordedOutcome {
        /// The event proceeds.
        Proceed = "proceed",
        /// The user is asked.
        Ask = "ask",
        /// The request is retried after a delay.
        Retry = "retry",
        /// The event was blocked.
        Block = "block",
        /// The agent stops.
        Stop = "stop",
        /// A stage or the hook failed, without a decision.
        Failed = "failed",
        /// The recording has no outcome.
        Unfinished = "unfinished",
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
    /// Returns the event, if it is built in.
    pub(crate) fn event(&self) -> Option<HookEventName> {
        HookEventName::from_name(self.event_name.as_deref()?)
    }

    /// Checks whether the request is for this event, declared or built in.
    pub fn is_for_event(&self, event: HookEventName) -> bool {
        self.event_name.as_deref() == Some(event.as_str()) || self.event() == Some(event)
    }

    /// Returns the event's input.
    pub fn input(&self) -> Option<&RawJson> {
        let message = self.message.as_ref()?;
        message.get("input").or_else(|| message.get("payload"))
    }

    /// Returns the subject that matchers are compared with, such as the tool's name.
    pub fn subject(&self) -> Option<String> {
        let field = self.event()?.row().matching.field()?;
        self.input()?.to_object().ok()?.get(field)?.to_text()
    }

    /// Returns a value of the response by its path, such as `["processed", "reason"]`.
    pub fn response_value(&self, path: &[&str]) -> Option<RawJson> {
        let start = self.response.as_ref()?.message.clone();
        path.iter().try_fold(start, |value, name| value.to_object().ok()?.get(name).cloned())
    }

    /// Returns the hooks that an earlier hook's answer kept from starting.
    pub fn not_started(&self) -> Vec<RecordedNotStarted> {
        let hooks = self.response_value(&["notStarted"]).and_then(|hooks| hooks.to_items());
        let read = |hook: RawJson| {
            let hook = hook.to_object().ok()?;
            let text = |name: &str| hook.get(name).and_then(RawJson::to_text).unwrap_or_default();
            Some(RecordedNotStarted { name: text("name"), ended_by: text("endedBy") })
        };
        hooks.unwrap_or_default().into_iter().filter_map(read).collect()
    }

    /// Returns the delay before a retry, if one was requested.
    pub fn retry_after(&self) -> Option<Duration> {
        milliseconds(&self.response_value(&["processed", "retryAfterMs"])?)
    }

    /// Checks whether a hook granted the user's permission.
    pub fn granted(&self) -> bool {
        self.response_value(&["processed", "granted"]).and_then(|value| value.to_bool())
            == Some(true)
    }

    /// Returns the outcome of the request.
    pub fn outcome(&self) -> RecordedOutcome {
        if self.response.is_none() {
            return RecordedOutcome::Unfinished;
        }
        let decision_name =
            self.response_value(&["processed", "decision"]).and_then(|value| value.to_text());
        match decision_name.as_deref().and_then(decision) {
            Some(decision) => decision,
            None => RecordedOutcome::Failed,
        }
    }

    /// Returns the end of the request and all its hooks, as far as recorded.
    pub fn end(&self) -> Duration {
        let hooks = self.hooks.iter().map(|hook| hook.end.unwrap_or(hook.start));
        let answered_at = self.response.iter().map(|response| response.at);
        hooks.chain(answered_at).fold(self.at, Duration::max)
    }
}

impl RecordedHook {
    /// Returns the hook's outcome. A denial sticks, whatever happened to the hook after it.
    pub fn outcome(&self) -> RecordedOutcome {
        if self.result.is_none() {
            return RecordedOutcome::Unfinished;
        }
        match self.text("decision").as_deref().and_then(decision) {
            Some(outcome) if outcome != RecordedOutcome::Proceed => outcome,
            _ if self.text("error").is_some() => RecordedOutcome::Failed,
            _ => RecordedOutcome::Proceed,
        }
    }

    /// Checks whether the hook failed. A failed guard still decides: its failure blocks.
    pub fn has_failed(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.get("error").is_some())
    }

    /// Returns the history of its worker, if recorded.
    pub fn worker(&self) -> Option<WorkerHistory> {
        let worker = self.result.as_ref()?.get("worker")?.clone();
        WorkerHistory::read_back(&RawObject::try_from(worker).ok()?)
    }

    /// Returns a text of its result, such as `error`.
    pub fn text(&self, name: &str) -> Option<String> {
        self.result.as_ref()?.get(name)?.to_text()
    }

    /// Returns the hook's duration, from its result or else from start to end.
    pub fn duration(&self) -> Option<Duration> {
        let reported =
            self.result.as_ref().and_then(|result| milliseconds(result.get("duration")?));
        reported.or_else(|| Some(self.end?.saturating_sub(self.start)))
    }
}

/// Returns the group of each hook of a response, as far as recorded.
pub(super) fn groups(recorded: Option<&RawJson>) -> impl Iterator<Item = RecordedGroup> {
    let groups = recorded.and_then(RawJson::to_items).unwrap_or_default();
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

/// Parses a duration in milliseconds, which may have decimals.
pub(super) fn milliseconds(value: &RawJson) -> Option<Duration> {
    let milliseconds: f64 = value.as_str().parse().ok()?;
    Duration::try_from_secs_f64(milliseconds / 1_000.0).ok()
}

fn decision(name: &str) -> Option<RecordedOutcome> {
    RecordedOutcome::ALL
        .into_iter()
        .filter(|outcome| !matches!(outcome, RecordedOutcome::Failed | RecordedOutcome::Unfinished))
        .find(|outcome| outcome.as_str() == name)
}
