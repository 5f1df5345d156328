//! A client's description of a hook, and its conversion to a hook of the engine.

use std::sync::Arc;
use std::time::Duration;

use hook_agents::Agent;
use hook_json::text::{is_hidden, nearest, shortened};
use hook_json::{JsonKind, JsonObject, ObjectWriter, RawJson};
use hook_protocol::event::input::CallerField;
use hook_protocol::{Events, ToolKind};
use hook_run::{CallTarget, HandlerHook, WorkerHook};
use hook_settings::{FailBehavior, MatcherDefinition, MatcherFields};

use crate::handler::RegisterError;

/// The maximum timeout, in milliseconds: one day.
const MAX_TIMEOUT: u64 = 86_400_000;

/// The maximum length of an id, in bytes.
const MAX_ID: usize = 256;

/// The maximum number of names or globs in one matcher.
const MAX_MATCHER_ITEMS: usize = 256;

/// A client's description of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookRegister {
    /// The client's id of the hook.
    pub hook_id: String,
    /// The event's name in the vocabulary.
    pub event_name: String,
    /// The hook's format of events and answers: `native` (the default) or an agent's name.
    pub vocabulary: Option<String>,
    /// The matcher, a text or an object; by default the hook runs for everything.
    pub matcher: Option<RawJson>,
    /// The configuration: `priority`, `timeout` (milliseconds), `async`, `failBehavior`.
    pub config: JsonObject,
}

/// The error of registering or unregistering a client's hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRegistered {
    /// The description is invalid.
    #[error("field `{field}`: {problem}")]
    Invalid {
        /// The invalid field.
        field: String,
        /// The error in it.
        problem: String,
    },
    /// The event is unknown.
    #[error("there is no event `{event}` in the vocabulary `{vocabulary}`{}", meant(nearest.as_deref()))]
    UnknownEvent {
        /// The event.
        event: String,
        /// The vocabulary.
        vocabulary: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// The client already has a hook with this id.
    #[error("this client has registered a hook with the id `{id}` already")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// The client has no hook with this id.
    #[error("this client has registered no hook with the id `{id}`")]
    UnknownId {
        /// The id.
        id: String,
    },
    /// The client has reconnected over another connection.
    #[error("this client goes on over another connection; use that")]
    Superseded,
    /// The file for the next server cannot be written, so nothing was changed.
    #[error(
        "failed to remember the guards of this server for the next one, so nothing was changed: {file} \
         cannot be written: {problem}; make room there or let it be written, and try again"
    )]
    NotSaved {
        /// The file.
        file: String,
        /// The error.
        problem: String,
    },
    /// The hook is a guard, and the engine is one of a fleet.
    #[error(
        "this engine is one of a fleet, whose other engines do not have this guard: it would see a share of the \
         requests, and the others would go on; put it into the settings of all engines, as a worker for example, or \
         register it with `failBehavior: continue`"
    )]
    GuardInFleet,
    /// The engine rejected the hook.
    #[error(transparent)]
    Refused(#[from] RegisterError),
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

impl NotRegistered {
    /// Returns the error code used in messages.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_request",
            Self::UnknownEvent { .. } => "unsupported_event",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::UnknownId { .. } => "unknown_id",
            Self::Superseded => "superseded",
            Self::NotSaved { .. } => "not_saved",
            Self::GuardInFleet => "guard_in_fleet",
            Self::Refused(error) => error.code(),
        }
    }

    /// Returns details for programs: the field, the most similar name, the limit.
    pub(crate) fn details(&self) -> JsonObject {
        let mut details = JsonObject::new();
        let mut text = |name: &str, value: &str| details.insert(name, RawJson::from_text(value));
        match self {
            Self::Invalid { field, .. } => text("field", field),
            Self::UnknownEvent { vocabulary, nearest, .. } => {
                text("field", "eventName");
                text("vocabulary", vocabulary);
                if let Some(nearest) = nearest {
                    text("nearest", nearest);
                }
            }
            Self::DuplicateId { .. } | Self::UnknownId { .. } => text("field", "hookId"),
            Self::NotSaved { file, .. } => text("file", file),
            Self::Superseded => {}
            Self::GuardInFleet => text("field", "config.failBehavior"),
            Self::Refused(error) => return error.details(),
        }
        details
    }

    fn invalid(field: &str, problem: impl Into<String>) -> Self {
        Self::Invalid { field: shortened(field), problem: problem.into() }
    }
}

impl HookRegister {
    /// Describes a hook for an event, with defaults for the other fields.
    pub fn new(hook_id: impl Into<String>, event_name: impl Into<String>) -> Self {
        Self {
            hook_id: hook_id.into(),
            event_name: event_name.into(),
            vocabulary: None,
            matcher: None,
            config: JsonObject::new(),
        }
    }

    /// Describes a hook declared by a worker.
    pub(crate) fn from_worker(hook: &WorkerHook) -> Self {
        Self {
            hook_id: hook.hook.clone(),
            event_name: hook.event.clone(),
            vocabulary: hook.vocabulary.clone(),
            matcher: hook.matcher.clone(),
            config: hook.config.clone(),
        }
    }

    /// Reads the description from the fields of a message.
    ///
    /// # Errors
    /// If a field is missing, of the wrong type, unknown, or repeated.
    pub fn read(fields: &JsonObject) -> Result<Self, NotRegistered> {
        if let Some(name) = fields.duplicate_key() {
            return Err(NotRegistered::invalid(name, "expected one value, found several"));
        }
        let value_of = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let text = |name: &str| match value_of(name) {
            None => Ok(None),
            Some(value) => {
                let text = value.to_text();
                text.map(Some).ok_or_else(|| type_error(name, "a string", value))
            }
        };
        let required = |name: &str, value: Option<String>| {
            value.ok_or_else(|| NotRegistered::invalid(name, "expected a string, found nothing"))
        };
        for (name, _) in fields.iter() {
            const KNOWN: [&str; 7] =
                ["type", "hookId", "eventName", "vocabulary", "matcher", "config", "correlationId"];
            if !KNOWN.contains(&name) {
                return Err(unknown_field(name, &KNOWN));
            }
        }
        let config = match value_of("config") {
            None => JsonObject::new(),
            Some(config) => {
                config.to_object().map_err(|_| type_error("config", "an object", config))?
            }
        };
        Ok(Self {
            hook_id: required("hookId", text("hookId")?)?,
            event_name: required("eventName", text("eventName")?)?,
            vocabulary: text("vocabulary")?,
            matcher: value_of("matcher").cloned(),
            config,
        })
    }

    /// Writes the description as fields of a message, as [`read`](Self::read) reads them.
    pub(crate) fn write(&self, object: &mut ObjectWriter<'_>) {
        object.text("hookId", &self.hook_id);
        object.text("eventName", &self.event_name);
        object.text("vocabulary", self.vocabulary.as_deref().unwrap_or("native"));
        if let Some(matcher) = &self.matcher {
            object.raw("matcher", matcher);
        }
        object.object("config", |object| object.fields(&self.config));
    }

    /// Converts the description to a hook that calls `target`; `events` are the known events.
    ///
    /// # Errors
    /// If anything is invalid: nothing is guessed, since the hook may be a guard.
    pub(crate) fn to_hook(
        &self,
        events: &Events,
        target: CallTarget,
    ) -> Result<HandlerHook, NotRegistered> {
        let id = self.hook_id.as_str();
        if id.trim().is_empty() || id.len() > MAX_ID || id.contains(is_hidden) {
            let problem = format!(
                "expected 1 to {MAX_ID} bytes that are not all blanks, without line ends and other \
                 hidden characters"
            );
            return Err(NotRegistered::invalid("hookId", problem));
        }
        let agent = self.agent()?;
        let text = self.matcher.as_ref().and_then(RawJson::to_text);
        let (event, foreign) = match agent {
            None => (events.from_name(&self.event_name), None),
            Some(agent) => {
                let text = text.clone().filter(|text| !text.is_empty());
                let called = agent.registered_hook(&self.event_name, text, events);
                called.map_or((None, None), |(event, foreign)| (Some(event), Some(foreign)))
            }
        };
        let event = event.ok_or_else(|| self.unknown_event(agent, events))?;
        let mut hook = HandlerHook::called(event, id, id, target, foreign.map(Arc::new));
        match (&self.matcher, text) {
            (None, _) => {}
            // If an agent's vocabulary applies, the text is matched by that agent's rules.
            (Some(_), Some(text)) => {
                if !text.is_empty() {
                    hook = hook.matcher(text);
                }
            }
            (Some(matcher), None) => hook = hook.matcher(self.matcher_fields(matcher, agent)?),
        }
        self.with_config(hook)
    }

    fn agent(&self) -> Result<Option<&'static Agent>, NotRegistered> {
        match self.vocabulary.as_deref() {
            None | Some("" | "native") => Ok(None),
            Some(name) => match hook_agents::agent(name) {
                Some(agent) => Ok(Some(agent)),
                None => {
                    let name_iter = std::iter::once("native")
                        .chain(hook_agents::agents().iter().map(|agent| agent.name()));
                    let names: Vec<&str> = name_iter.collect();
                    let found = shortened(name);
                    let problem = format!("expected one of {}; found `{found}`", names.join(", "));
                    Err(NotRegistered::invalid("vocabulary", problem))
                }
            },
        }
    }

    fn unknown_event(&self, agent: Option<&'static Agent>, events: &Events) -> NotRegistered {
        let name = &self.event_name;
        let nearest = match agent {
            Some(agent) => nearest(name, agent.event_names()).map(str::to_owned),
            None => events.nearest(name).map(str::to_owned),
        };
        let vocabulary = agent.map_or("native", |agent| agent.name()).to_owned();
        NotRegistered::UnknownEvent { event: shortened(name), vocabulary, nearest }
    }

    fn matcher_fields(
        &self,
        matcher: &RawJson,
        agent: Option<&'static Agent>,
    ) -> Result<MatcherDefinition, NotRegistered> {
        let fields = matcher
            .to_object()
            .map_err(|_| type_error("matcher", "a string or an object", matcher))?;
        let mut matcher = MatcherFields::new();
        for (name, value) in fields.iter() {
            let path = format!("matcher.{name}");
            if value.is_null() {
                continue;
            }
            let single_text =
                || value.to_text().ok_or_else(|| type_error(&path, "a string", value));
            match name {
                "tool" => {
                    for tool in one_or_more(&path, value)? {
                        let tool = agent.map_or(tool.clone(), |agent| {
                            agent.native_tool_name(&self.event_name, &tool)
                        });
                        matcher = matcher.tool(tool);
                    }
                }
                "kind" => {
                    for kind in one_or_more(&path, value)? {
                        let names = ToolKind::ALL.map(ToolKind::as_str);
                        let kind = ToolKind::from_name(&kind).ok_or_else(|| {
                            type_error(&path, &format!("one of {}", names.join(", ")), value)
                        })?;
                        matcher = matcher.kind(kind);
                    }
                }
                "pathPattern" => {
                    for glob in one_or_more(&path, value)? {
                        matcher = matcher.path(glob);
                    }
                }
                "toolPattern" => matcher = matcher.tool_pattern(single_text()?),
                "commandPattern" => matcher = matcher.command_pattern(single_text()?),
                other => {
                    const KNOWN: [&str; 9] = [
                        "kind",
                        "tool",
                        "toolPattern",
                        "pathPattern",
                        "commandPattern",
                        "agent",
                        "subagent",
                        "permissionMode",
                        "model",
                    ];
                    let field = CallerField::from_name(other);
                    let field = field.ok_or_else(|| unknown_field(other, &KNOWN))?;
                    for caller in one_or_more(&path, value)? {
                        matcher = matcher.caller(field, caller);
                    }
                }
            }
        }
        if fields.duplicate_key().is_some() {
            return Err(NotRegistered::invalid("matcher", "a field stands there twice"));
        }
        Ok(matcher.into())
    }

    fn with_config(&self, mut hook: HandlerHook) -> Result<HandlerHook, NotRegistered> {
        let config = &self.config;
        if let Some(name) = config.duplicate_key() {
            let field = format!("config.{name}");
            return Err(NotRegistered::invalid(&field, "expected one value, found several"));
        }
        let mut is_async = false;
        let mut fail_behavior = None;
        for (name, value) in config.iter().filter(|(_, value)| !value.is_null()) {
            let field = format!("config.{name}");
            let error = |expected: &str| type_error(&field, expected, value);
            match name {
                "priority" => {
                    const EXPECTED: &str = "a whole number from -1000000 to 1000000";
                    let priority = value.to_i64().and_then(|number| i32::try_from(number).ok());
                    let priority =
                        priority.filter(|number| (-1_000_000..=1_000_000).contains(number));
                    hook = hook.priority(priority.ok_or_else(|| error(EXPECTED))?);
                }
                "timeout" => {
                    let milliseconds = value.to_u64();
                    let milliseconds =
                        milliseconds.filter(|number| (1..=MAX_TIMEOUT).contains(number));
                    let milliseconds = milliseconds
                        .ok_or_else(|| error("whole milliseconds from 1 to 86400000"))?;
                    hook = hook.timeout(Duration::from_millis(milliseconds));
                }
                "async" => is_async = value.to_bool().ok_or_else(|| error("true or false"))?,
                "failBehavior" => {
                    let behavior_name = value.to_text();
                    let behavior = behavior_name.as_deref().and_then(FailBehavior::from_name);
                    let behavior = behavior.ok_or_else(|| error("`continue` or `block`"))?;
                    fail_behavior = Some(behavior);
                }
                other => {
                    const KNOWN: [&str; 4] = ["priority", "timeout", "async", "failBehavior"];
                    return Err(unknown_field(other, &KNOWN));
                }
            }
        }
        if is_async && fail_behavior == Some(FailBehavior::Block) {
            let problem = "a guard has to be waited for; leave `async` out";
            return Err(NotRegistered::invalid("config.async", problem));
        }
        let hook = hook.background(is_async);
        Ok(match fail_behavior {
            Some(behavior) => hook.fail_behavior(behavior),
            // The settings' default applies on registration.
            None => hook,
        })
    }
}

fn type_error(field: &str, expected: &str, found: &RawJson) -> NotRegistered {
    let found = match found.kind() {
        JsonKind::Object | JsonKind::Array => found.kind().to_string(),
        _ => shortened(found.as_str()),
    };
    NotRegistered::invalid(field, format!("expected {expected}, found {found}"))
}

fn unknown_field(name: &str, known: &[&'static str]) -> NotRegistered {
    let problem = match nearest(name, known.iter().copied()) {
        Some(suggested) => format!("it is not known; did you mean `{suggested}`?"),
        None => format!("it is not known; known are {}", known.join(", ")),
    };
    NotRegistered::invalid(name, problem)
}

fn one_or_more(field: &str, value: &RawJson) -> Result<Vec<String>, NotRegistered> {
    let expected = || type_error(field, "a string or an array of strings", value);
    if let Some(text) = value.to_text() {
        return Ok(vec![text]);
    }
    let items = value.to_items().ok_or_else(expected)?;
    if items.is_empty() || items.len() > MAX_MATCHER_ITEMS {
        let problem = format!("expected 1 to {MAX_MATCHER_ITEMS} strings, found {}", items.len());
        return Err(NotRegistered::invalid(field, problem));
    }
    items.iter().map(RawJson::to_text).collect::<Option<_>>().ok_or_else(expected)
}
