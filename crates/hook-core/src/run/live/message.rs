//! What is said between the engine and a hook that stays alive: one JSON object a line.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::host::HostCallError;
use crate::json::{JsonObject, ObjectWriter, RawJson, RawObject};
use crate::text::shortened;

/// How long a line from a hook may be, in bytes: 4 MiB.
pub const MAX_LIVE_LINE: usize = 4 * 1024 * 1024;

/// The version of these messages.
pub(in crate::run) const LIVE_PROTOCOL: u64 = 1;

/// How many hooks a worker may say it has.
const MAX_DECLARED_HOOKS: usize = 256;

/// What the engine says to a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ToHook {
    /// An event that it is asked about.
    Call(Arc<Told>),
    /// The answer to this call counts for nothing any more.
    Cancelled {
        /// The call.
        call: u64,
        /// The hook that was called.
        hook: Arc<str>,
    },
    /// What came of something that it asked of the host.
    HostResult {
        /// Its own id for that, as it wrote it.
        id: RawJson,
        /// What came of it.
        outcome: Result<RawJson, HostCallError>,
    },
    /// What is left of a line, without its end.
    #[doc(hidden)]
    Rest(Vec<u8>),
    /// Nothing comes after this.
    Close {
        /// Why, in one word.
        reason: &'static str,
    },
}

/// What a hook is told of one event.
#[derive(Debug)]
#[non_exhaustive]
pub struct Told {
    /// The number of the call in its conversation.
    pub call: u64,
    /// The hook that is called.
    pub hook: Arc<str>,
    /// The event, in the hook's own words.
    pub event: Arc<str>,
    /// The input, in the hook's own words.
    pub input: RawObject,
    /// The session that the event belongs to.
    pub session: Arc<str>,
    /// The request that the call is part of, where that is known.
    pub correlation: Option<Arc<str>>,
    /// By when the answer must be there.
    pub deadline: Instant,
    /// Whether whoever asked for the event can ask a user something.
    pub has_ui: bool,
}

impl Told {
    /// How long the hook still has, in whole milliseconds.
    pub fn milliseconds_left(&self) -> u64 {
        let left = self.deadline.saturating_duration_since(Instant::now());
        u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
    }

    /// About how many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        256 + self.hook.len() + self.event.len() + self.input.as_str().len()
    }
}

impl ToHook {
    /// The message as a line, without its end.
    pub fn to_line(&self) -> Vec<u8> {
        if let Self::Rest(rest) = self {
            return rest.clone();
        }
        ObjectWriter::line(|object| match self {
            Self::Call(told) => {
                object.text("type", "hook-call");
                object.text("callId", &told.call.to_string());
                object.text("hookId", &told.hook);
                object.text("eventName", &told.event);
                object.raw("input", told.input.as_raw());
                object.optional_text("correlationId", told.correlation.as_deref());
                object.integer("deadlineMs", told.milliseconds_left().into());
                if told.has_ui {
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

    /// About how many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Call(told) => told.weight(),
            Self::HostResult { outcome: Ok(result), .. } => 128 + result.as_str().len(),
            _ => 256,
        }
    }
}

/// What a hook says.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FromHook {
    /// A worker is ready, and has these hooks of its own.
    Ready {
        /// Its hooks; absent where it says nothing of them.
        hooks: Option<Vec<WorkerHook>>,
        /// The modules that it was to load.
        modules: Vec<WorkerModule>,
    },
    /// What it answers to a call.
    Answer {
        /// The call; `None` where it is none of ours.
        call: Option<u64>,
        /// The answer.
        said: Said,
    },
    /// It asks something of the host.
    HostCall {
        /// Its own id for that.
        id: RawJson,
        /// The call that it is about; `None` where it is none of ours.
        call: Option<u64>,
        /// What is to be done.
        method: String,
        /// With what.
        params: RawJson,
    },
    /// Something for the log.
    Log {
        /// How much it matters: `error`, `warn`, `info` or `debug`.
        level: String,
        /// The text.
        message: String,
    },
}

/// What a hook answers to a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Said {
    /// An answer as a script prints it.
    Output(RawObject),
    /// An answer by an `action`: all fields of the message that are not its envelope.
    Action(RawObject),
    /// An answer in our own words, whatever words its events come in: of a carrier that has a form of
    /// its own for answers.
    Native(RawObject),
    /// Nothing: it has no objection.
    Nothing,
    /// It failed.
    Error(String),
}

/// A hook that a worker says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHook {
    /// What it is called.
    pub hook: String,
    /// The module whose it is, by its path, where the worker loads modules.
    pub module: Option<String>,
    /// The event, in the words of the vocabulary.
    pub event: String,
    /// The words that it is told and answers in; absent for ours.
    pub vocabulary: Option<String>,
    /// What it is for; absent for everything.
    pub matcher: Option<RawJson>,
    /// How it runs.
    pub config: JsonObject,
}

/// A module that a worker was to load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerModule {
    /// Its file.
    pub path: String,
    /// Why it is not loaded; absent where it is.
    pub error: Option<String>,
    /// The commands that it has.
    pub commands: Vec<ModuleCommand>,
    /// The types of messages that it renders.
    pub renderers: Vec<String>,
}

/// A command that a module has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleCommand {
    /// What it is called by.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
}

/// A line that is no message of a hook.
#[derive(Debug, Clone, thiserror::Error)]
#[error("it sent a line that is no message: {0}")]
#[non_exhaustive]
pub struct Unreadable(String);

impl FromHook {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is no message; the conversation is over then, since nobody knows what it meant.
    pub fn read(line: String) -> Result<Self, Unreadable> {
        match RawObject::parse(line.as_str()) {
            Ok(object) => Self::of(&object.fields()),
            Err(error) => Err(Unreadable(format!(
                "{} ({}); standard output is for messages, print to standard error",
                error.reason(),
                shortened(&line)
            ))),
        }
    }

    /// Reads a message that is an object already.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of(fields: &JsonObject) -> Result<Self, Unreadable> {
        if let Some(name) = fields.repeated() {
            return Err(Unreadable(format!("the field `{}` stands twice", shortened(name))));
        }
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let call = || text("callId").and_then(|id| id.parse().ok());
        match text("type").as_deref() {
            Some("hook-worker") => Self::ready(fields),
            Some("hook-answer") => match text("callId") {
                Some(_) => Ok(Self::Answer { call: call(), said: Said::of(fields)? }),
                None => {
                    let found = fields.get("callId").map(|id| shortened(id.as_str()));
                    Err(Unreadable(format!(
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
            Some(other) => Err(Unreadable(format!("there is no message {:?}", shortened(other)))),
            None => Err(Unreadable("it has no `type`".to_owned())),
        }
    }

    fn ready(fields: &JsonObject) -> Result<Self, Unreadable> {
        // Of two versions the lower is spoken; the process knows ours from its environment.
        let theirs = fields.get("protocol").filter(|theirs| !theirs.is_null());
        if let Some(theirs) = theirs
            && theirs.to_whole_number().is_none_or(|theirs| theirs < LIVE_PROTOCOL)
        {
            let theirs = shortened(theirs.as_str());
            return Err(Unreadable(format!(
                "it speaks protocol {theirs}, and this engine speaks {LIVE_PROTOCOL}"
            )));
        }
        let hooks = match fields.get("hooks").filter(|hooks| !hooks.is_null()) {
            None => return Ok(Self::Ready { hooks: None, modules: Vec::new() }),
            Some(hooks) => {
                hooks.to_items().ok_or_else(|| Unreadable("its `hooks` are no array".to_owned()))?
            }
        };
        if hooks.len() > MAX_DECLARED_HOOKS {
            let count = hooks.len();
            return Err(Unreadable(format!(
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

impl Said {
    fn of(fields: &JsonObject) -> Result<Self, Unreadable> {
        let given = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let envelope = ["type", "callId", "hookId"];
        if let Some(error) = given("error") {
            let text = error.to_text().unwrap_or_else(|| error.as_str().to_owned());
            return Ok(Self::Error(text));
        }
        if let Some(output) = given("output") {
            let beside = fields.iter().find(|(name, value)| {
                !envelope.contains(name) && *name != "output" && !value.is_null()
            });
            // Which of the two counts is not known.
            if let Some((name, _)) = beside {
                let name = shortened(name);
                return Ok(Self::Error(format!("`{name}` stands beside `output`, which says all")));
            }
            return match RawObject::try_from(output.clone()) {
                Ok(output) => Ok(Self::Output(output)),
                Err(_) => Err(Unreadable("`output` is no object".to_owned())),
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
    fn of(value: &RawJson) -> Result<Self, Unreadable> {
        let wrong = |what: &str| Unreadable(format!("a hook in `hooks` {what}"));
        let fields = value.to_object().map_err(|_| wrong("is no object"))?;
        if fields.repeated().is_some() {
            return Err(wrong("has a field twice"));
        }
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let config = match fields.get("config").filter(|config| !config.is_null()) {
            None => JsonObject::new(),
            Some(config) => {
                config.to_object().map_err(|_| wrong("has a `config` that is no object"))?
            }
        };
        Ok(Self {
            event: text("eventName").ok_or_else(|| wrong("has no `eventName`"))?,
            hook: text("hookId").ok_or_else(|| wrong("has no `hookId`"))?,
            module: text("module"),
            vocabulary: text("vocabulary"),
            matcher: fields.get("matcher").filter(|matcher| !matcher.is_null()).cloned(),
            config,
        })
    }
}

/// How long a hook may take, as a message says it.
pub(super) fn by(after: Duration) -> Instant {
    // Beyond what a clock can say is beyond what anybody waits.
    Instant::now()
        .checked_add(after)
        .unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30))
}
