//! The messages between the engine and a live hook: one JSON object per line.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::host::HostCallError;
use hook_json::text::shortened;
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject, TooDeep};

/// The maximum length of a line from a hook: 4 MiB.
pub const MAX_LIVE_LINE: usize = 4 * 1024 * 1024;

/// The version of the messages.
pub(crate) const LIVE_PROTOCOL: u64 = 1;

/// The maximum number of hooks that a worker may declare.
const MAX_DECLARED_HOOKS: usize = 256;

/// A message to a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ToHook {
    /// A call for an event.
    Call(Arc<CallMessage>),
    /// The cancellation of a call, whose answer would be ignored.
    Cancelled {
        /// The call.
        call: u64,
        /// The hook that was called.
        hook: Arc<str>,
    },
    /// The result of a host request.
    HostResult {
        /// The hook's own id of the request, unchanged.
        id: RawJson,
        /// The outcome.
        outcome: Result<RawJson, HostCallError>,
    },
    /// The rest of a partly written line, without its end.
    Rest(Vec<u8>),
    /// The last message.
    Close {
        /// The reason, as a single word.
        reason: &'static str,
    },
}

/// The call of a hook for one event.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallMessage {
    /// The id of the call in its session.
    pub call: u64,
    /// The hook that is called.
    pub hook: Arc<str>,
    /// The event's name in the hook's format.
    pub event: Arc<str>,
    /// The input in the hook's format.
    pub input: RawObject,
    /// The session that the event belongs to.
    pub session: Arc<str>,
    /// The request that the call belongs to, if known.
    pub correlation: Option<Arc<str>>,
    /// The deadline for the answer.
    pub deadline: Instant,
    /// `true` if the event's caller can ask a user questions.
    pub has_ui: bool,
}

impl CallMessage {
    /// Returns the time until the deadline, in whole milliseconds.
    pub fn remaining_milliseconds(&self) -> u64 {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the approximate size in bytes.
    pub(super) fn approximate_size(&self) -> usize {
        256 + self.hook.len() + self.event.len() + self.input.as_str().len()
    }
}

impl ToHook {
    /// Returns the message as a line, without its end. A result that nests deeper than a message is
    /// an error in it.
    pub fn to_line(&self) -> Vec<u8> {
        match self {
            Self::Rest(rest) => rest.clone(),
            Self::HostResult { id, outcome: Ok(result) } => {
                match TooDeep::check("result", result) {
                    Ok(()) => self.written(),
                    Err(error) => {
                        let outcome = Err(HostCallError::failed(error.to_string()));
                        Self::HostResult { id: id.clone(), outcome }.written()
                    }
                }
            }
            _ => self.written(),
        }
    }

    fn written(&self) -> Vec<u8> {
        ObjectWriter::line(|object| match self {
            // Only an input that a message can hold is sent.
            Self::Call(call) => {
                object.text("type", "hook-call");
                object.text("callId", &call.call.to_string());
                object.text("hookId", &call.hook);
                object.text("eventName", &call.event);
                object.raw("input", call.input.as_raw());
                object.optional_text("correlationId", call.correlation.as_deref());
                object.integer("deadlineMs", call.remaining_milliseconds().into());
                if call.has_ui {
                    object.bool("hasUI", true);
                }
            }
            Self::Cancelled { call, hook } => {
                object.text("type", "hook-call-cancelled");
                object.text("callId", &call.to_string());
                object.text("hookId", hook);
            }
            Self::HostResult { id, outcome } => {
                object.text("type", "hook-host-result");
                object.raw("hostCallId", id);
                match outcome {
                    Ok(result) => object.raw("result", result),
                    Err(error) => object.object("error", |object| {
                        object.text("code", error.code());
                        object.text("message", &error.to_string());
                    }),
                }
            }
            Self::Rest(_) => {}
            Self::Close { reason } => {
                object.text("type", "hook-close");
                object.text("reason", reason);
            }
        })
    }

    /// Returns the approximate size in bytes.
    pub(super) fn approximate_size(&self) -> usize {
        match self {
            Self::Call(call) => call.approximate_size(),
            Self::HostResult { outcome: Ok(result), .. } => 128 + result.as_str().len(),
            _ => 256,
        }
    }
}

/// A message from a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FromHook {
    /// A worker is ready and declares its hooks.
    Ready {
        /// The hooks; `None` if the worker does not declare any.
        hooks: Option<Vec<WorkerHook>>,
        /// The modules that the worker was to load.
        modules: Vec<WorkerModule>,
    },
    /// The answer to a call.
    Answer {
        /// The call's id; `None` if it is not one of this engine.
        call: Option<u64>,
        /// The answer.
        answer: HookAnswer,
    },
    /// A request to the host.
    HostCall {
        /// The hook's own id of the request.
        id: RawJson,
        /// The call that it belongs to; `None` if it is not one of this engine.
        call: Option<u64>,
        /// The requested method.
        method: String,
        /// The parameters.
        params: RawJson,
    },
    /// A log message.
    Log {
        /// The level: `error`, `warn`, `info` or `debug`.
        level: String,
        /// The text.
        message: String,
    },
}

/// The answer of a hook to a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum HookAnswer {
    /// A full answer, as a script prints it.
    Output(RawObject),
    /// An answer by an `action`: all fields of the message except those of the envelope.
    Action(RawObject),
    /// An answer in the native format, whatever the format of the hook's events; from a transport
    /// that has its own form of answers.
    Native(RawObject),
    /// No objection.
    Nothing,
    /// A failure.
    Error(String),
}

/// A hook that a worker declares.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHook {
    /// The hook's name.
    pub hook: String,
    /// The path of the hook's module, if the worker loads modules.
    pub module: Option<String>,
    /// The event's name in the vocabulary.
    pub event: String,
    /// The agent whose formats the hook uses; `None` for the native ones.
    pub vocabulary: Option<String>,
    /// The matcher; `None` matches everything.
    pub matcher: Option<RawJson>,
    /// The hook's options.
    pub config: JsonObject,
}

/// A module that a worker was to load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerModule {
    /// The path of the file.
    pub path: String,
    /// The reason why it is not loaded; `None` if it is.
    pub error: Option<String>,
    /// The module's commands.
    pub commands: Vec<ModuleCommand>,
    /// The message types that the module renders.
    pub renderers: Vec<String>,
}

/// A command of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleCommand {
    /// The name.
    pub name: String,
    /// The description.
    pub description: Option<String>,
}

/// The error of a line that is not a valid message.
#[derive(Debug, Clone, thiserror::Error)]
#[error("it sent a line that is no message: {0}")]
#[non_exhaustive]
pub struct InvalidMessage(String);

impl FromHook {
    /// Parses a line.
    ///
    /// # Errors
    /// Returns an error if the line is not a message; the session must end then.
    pub(crate) fn read(line: String) -> Result<Self, InvalidMessage> {
        match RawObject::parse(line.as_str()) {
            Ok(object) => Self::of(&object.fields()),
            Err(error) => Err(InvalidMessage(format!(
                "{} ({}); standard output is for messages, print to standard error",
                error.reason(),
                shortened(&line)
            ))),
        }
    }

    /// Parses a message that is already an object.
    ///
    /// # Errors
    /// Returns an error if it is not a valid message.
    pub fn of(fields: &JsonObject) -> Result<Self, InvalidMessage> {
        if let Some(name) = fields.duplicate_key() {
            return Err(InvalidMessage(format!("the field `{}` stands twice", shortened(name))));
        }
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let call = || text("callId").and_then(|id| id.parse().ok());
        match text("type").as_deref() {
            Some("hook-worker") => Self::ready(fields),
            Some("hook-answer") => match text("callId") {
                Some(_) => Ok(Self::Answer { call: call(), answer: HookAnswer::of(fields)? }),
                None => {
                    let found = fields.get("callId").map(|id| shortened(id.as_str()));
                    Err(InvalidMessage(format!(
                        "field `callId`: expected a string, found {}",
                        found.as_deref().unwrap_or("nothing")
                    )))
                }
            },
            Some("hook-host-call") => Ok(Self::HostCall {
                id: fields.get("hostCallId").cloned().unwrap_or_else(RawJson::null),
                call: call(),
                method: text("method").unwrap_or_default(),
                params: fields.get("params").cloned().unwrap_or_else(RawJson::null),
            }),
            Some("hook-log") => Ok(Self::Log {
                level: text("level").unwrap_or_default(),
                message: text("message").unwrap_or_default(),
            }),
            Some(other) => {
                Err(InvalidMessage(format!("there is no message {:?}", shortened(other))))
            }
            None => Err(InvalidMessage("it has no `type`".to_owned())),
        }
    }

    fn ready(fields: &JsonObject) -> Result<Self, InvalidMessage> {
        // The lower version is used; the process knows the engine's from its environment.
        let version = fields.get("protocol").filter(|value| !value.is_null());
        if let Some(version) = version
            && version.to_u64().is_none_or(|number| number < LIVE_PROTOCOL)
        {
            let shown_version = shortened(version.as_str());
            return Err(InvalidMessage(format!(
                "it speaks protocol {shown_version}, and this engine speaks {LIVE_PROTOCOL}"
            )));
        }
        let hooks = match fields.get("hooks").filter(|hooks| !hooks.is_null()) {
            None => return Ok(Self::Ready { hooks: None, modules: Vec::new() }),
            Some(hooks) => hooks
                .to_items()
                .ok_or_else(|| InvalidMessage("its `hooks` are no array".to_owned()))?,
        };
        if hooks.len() > MAX_DECLARED_HOOKS {
            let count = hooks.len();
            return Err(InvalidMessage(format!(
                "it has {count} hooks, and may have {MAX_DECLARED_HOOKS}"
            )));
        }
        let hooks = hooks.iter().map(WorkerHook::of).collect::<Result<_, _>>()?;
        let modules = fields.get("modules").and_then(RawJson::to_items).unwrap_or_default();
        let modules =
            modules.iter().take(MAX_DECLARED_HOOKS).filter_map(WorkerModule::of).collect();
        Ok(Self::Ready { hooks: Some(hooks), modules })
    }
}

impl HookAnswer {
    fn of(fields: &JsonObject) -> Result<Self, InvalidMessage> {
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let envelope = ["type", "callId", "hookId"];
        if let Some(error) = field("error") {
            let text = error.to_text().unwrap_or_else(|| error.as_str().to_owned());
            return Ok(Self::Error(text));
        }
        if let Some(output) = field("output") {
            let extra = fields.iter().find(|(name, value)| {
                !envelope.contains(name) && *name != "output" && !value.is_null()
            });
            // It is unknown which of the two counts.
            if let Some((name, _)) = extra {
                let name = shortened(name);
                return Ok(Self::Error(format!("`{name}` stands beside `output`, which says all")));
            }
            return match RawObject::try_from(output.clone()) {
                Ok(output) => Ok(Self::Output(output)),
                Err(_) => Err(InvalidMessage("`output` is no object".to_owned())),
            };
        }
        let mut rest = JsonObject::new();
        for (name, value) in fields.iter() {
            let is_absent = matches!(name, "output" | "error");
            if !envelope.contains(&name) && !is_absent {
                rest.insert(name, value.clone());
            }
        }
        Ok(if rest.is_empty() { Self::Nothing } else { Self::Action(rest.to_raw()) })
    }
}

impl WorkerModule {
    fn of(value: &RawJson) -> Option<Self> {
        let fields = value.to_object().ok()?;
        let items = |name: &str| fields.get(name).and_then(RawJson::to_items).unwrap_or_default();
        let command = |value: &RawJson| {
            let fields = value.to_object().ok()?;
            let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
            Some(ModuleCommand { name: text("name")?, description: text("description") })
        };
        Some(Self {
            path: fields.get("path").and_then(RawJson::to_text)?,
            error: fields.get("error").and_then(RawJson::to_text),
            commands: items("commands").iter().filter_map(command).collect(),
            renderers: items("renderers").iter().filter_map(RawJson::to_text).collect(),
        })
    }
}

impl WorkerHook {
    fn of(value: &RawJson) -> Result<Self, InvalidMessage> {
        let invalid = |what: &str| InvalidMessage(format!("a hook in `hooks` {what}"));
        let fields = value.to_object().map_err(|_| invalid("is no object"))?;
        if fields.duplicate_key().is_some() {
            return Err(invalid("has a field twice"));
        }
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let config = match fields.get("config").filter(|config| !config.is_null()) {
            None => JsonObject::new(),
            Some(config) => {
                config.to_object().map_err(|_| invalid("has a `config` that is no object"))?
            }
        };
        Ok(Self {
            event: text("eventName").ok_or_else(|| invalid("has no `eventName`"))?,
            hook: text("hookId").ok_or_else(|| invalid("has no `hookId`"))?,
            module: text("module"),
            vocabulary: text("vocabulary"),
            matcher: fields.get("matcher").filter(|matcher| !matcher.is_null()).cloned(),
            config,
        })
    }
}

/// Returns the instant after this time.
pub(super) fn deadline_after(after: Duration) -> Instant {
    // Durations beyond the clock's range become about 34 years.
    Instant::now()
        .checked_add(after)
        .unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30))
}
