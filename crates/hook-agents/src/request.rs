//! Requests from other agents.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::Matching;
use hook_protocol::event::input::PayloadError;
use hook_protocol::tool::path_of_uri;
use hook_protocol::{HookEventName, RequestInput};
use hook_settings::language::OriginalMessage;

use super::table::{Agent, AgentEvent, BaseField, NativeEvent, Variable};
use super::{caller, convert, refusal};

/// A request from an agent about one of its events.
#[derive(Debug, Clone)]
pub struct AgentRequest {
    agent: &'static Agent,
    event: &'static AgentEvent,
    input: JsonObject,
    message: RawObject,
    trailing_text: Box<str>,
    is_other_form: bool,
}

impl AgentRequest {
    /// Keeps the bytes after the JSON in the request's text: the agent's own hooks get them, too.
    #[must_use]
    pub fn with_trailing_text(self, text: &str) -> Self {
        let trailing_text = text.get(text.trim_end().len()..).unwrap_or_default();
        Self { trailing_text: trailing_text.into(), ..self }
    }

    /// Returns the native name of the event.
    pub fn event_name(&self) -> &'static str {
        match self.event.native {
            NativeEvent::BuiltIn(native) => native.as_str(),
            NativeEvent::Declared => self.event.name,
        }
    }

    /// Returns the agent's name of the event.
    pub fn foreign_event(&self) -> &'static str {
        self.event.name
    }

    /// Returns the agent's directories, which need not exist: project variable, first workspace,
    /// working directory. The project of `settings` comes first if only the working directory is
    /// known.
    pub fn directories_with(&self, settings: &[PathBuf]) -> Vec<PathBuf> {
        let mut directories = self.directories();
        let settings_project = settings.iter().find_map(|path| self.agent.project_of(path));
        let is_cwd = self.cwd();
        if let Some(project) = settings_project.filter(|project| project.is_dir())
            && (directories.is_empty() || directories.first() == is_cwd.as_ref())
        {
            directories.insert(0, project);
        }
        directories
    }

    /// Returns the value of a field that every input has, by the agent's name of it or else this one.
    fn base_value(&self, wanted: BaseField, name: &str) -> Option<RawJson> {
        let names = self.event.base_fields.unwrap_or(self.agent.base_fields);
        let own = names.iter().find(|(base, _)| *base == wanted).map(|(_, own)| *own);
        self.message.fields().get(own.unwrap_or(name)).cloned()
    }

    fn cwd(&self) -> Option<PathBuf> {
        self.base_value(BaseField::Cwd, "cwd")?.to_text().map(|text| directory(&text))
    }

    fn directories(&self) -> Vec<PathBuf> {
        let names_directory =
            |variable: &Variable| matches!(variable, Variable::Project | Variable::Cwd);
        let project_variables =
            self.agent.variables.iter().filter(|(_, variable)| names_directory(variable));
        let variables =
            project_variables.filter_map(|(name, _)| std::env::var_os(name)).map(PathBuf::from);
        let reported = self.workspace().into_iter().take(1).chain(self.cwd());
        variables.chain(reported).filter(|directory| directory.is_absolute()).collect()
    }

    /// Returns the directories of the agent's workspace, if it names any.
    pub fn workspace(&self) -> Vec<PathBuf> {
        self.roots().into_iter().filter_map(Result::ok).collect()
    }

    /// Returns what the agent calls a directory of its workspace and is none on this machine, as JSON.
    pub fn unread_workspace(&self) -> Vec<String> {
        self.roots().into_iter().filter_map(Result::err).collect()
    }

    fn roots(&self) -> Vec<Result<PathBuf, String>> {
        let roots = self.base_value(BaseField::Roots, "workspace_roots");
        let Some(roots) = roots.filter(|roots| !roots.is_null()) else { return Vec::new() };
        let items = roots.to_items().unwrap_or_else(|| vec![roots]);
        let read = items.iter().map(|root| {
            let path = root.to_text().map(|text| directory(&text));
            path.filter(|path| path.is_absolute()).ok_or_else(|| root.as_str().to_owned())
        });
        read.collect()
    }

    /// Returns `true` if this is another agent's form: that agent may read this one's settings.
    pub fn is_other_form(&self) -> bool {
        self.is_other_form
    }

    /// Returns the agent's timeout for an answer, for entries that `hook connect` wrote.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(super::entry::bridge_timeout_secs(self.event))
    }

    /// Returns `true` if this is about a call of a tool that has an id.
    pub fn is_of_tool(&self) -> bool {
        let id = self.input.get("tool_call_id").and_then(RawJson::to_text);
        id.is_some_and(|id| !id.is_empty())
    }

    /// Returns the input of the native event.
    pub fn input(&self) -> &JsonObject {
        &self.input
    }

    /// Returns the native request, with the original attached. The agent's own hooks get the
    /// original, with any values that native events do not know.
    ///
    /// # Errors
    /// Returns an error if the request lacks what the event requires.
    pub fn request(&self, event: HookEventName) -> Result<RequestInput, PayloadError> {
        let mut input = self.read(event)?;
        let mut original = OriginalMessage::new(
            self.agent.name,
            self.event.name,
            self.message.clone(),
            &input.payload,
        );
        original.ending.clone_from(&self.trailing_text);
        input.original = Some(original.into());
        Ok(input)
    }

    /// Reads the input. An unknown keyword becomes a known one; the agent's own hooks get the
    /// original input.
    fn read(&self, event: HookEventName) -> Result<RequestInput, PayloadError> {
        let sample = event.sample_input().fields();
        let mut fields = self.input.clone();
        loop {
            let error = match RequestInput::read(event, fields.clone()) {
                Ok(input) => return Ok(input),
                Err(error) => error,
            };
            let name = error.shape().path();
            let other = RawJson::from_text("other");
            // Replace only an unknown keyword. Guards must see any other error.
            let is_text = fields.get(name).is_some_and(|value| value.to_text().is_some());
            let known = match event.row().matching {
                Matching::Exact { field, keywords: words } if field == name && is_text => {
                    if words.contains(&"other") { Some(&other) } else { sample.get(name) }
                }
                _ => None,
            };
            // The replacement did not fix the error.
            let Some(known) = known.filter(|known| fields.get(name) != Some(*known)) else {
                return Err(error);
            };
            fields.insert(name, known.clone());
        }
    }
}

/// The directory that a text means: a path, or a `file://` address.
fn directory(text: &str) -> PathBuf {
    path_of_uri(text).map_or_else(|| PathBuf::from(text), PathBuf::from)
}

/// An error that makes a request unintelligible.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The request does not name its event.
    NoEvent,
    /// The agent has no event of this name.
    UnknownEvent(String),
}

impl RequestError {
    /// Returns `true` if the input is about a tool, which guards may refuse, whatever its event is called.
    pub fn is_about_tool(message: &RawObject) -> bool {
        const FIELDS: [&str; 6] =
            ["command", "toolArgs", "toolInput", "toolName", "tool_input", "tool_name"];
        let fields = message.fields();
        FIELDS.iter().any(|field| fields.get(field).is_some())
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEvent => formatter.write_str("the input does not name its event"),
            Self::UnknownEvent(name) => {
                write!(formatter, "there is no event `{}`", hook_json::text::shortened(name))
            }
        }
    }
}

impl Agent {
    /// Returns the agent's timeout for an answer to an event, for entries of `hook connect`.
    pub fn bridge_timeout(&self, foreign_event: Option<&str>) -> Duration {
        let event = foreign_event.and_then(|name| self.event(name));
        Duration::from_secs(
            event.map_or(super::entry::BRIDGE_TIMEOUT_SECS, super::entry::bridge_timeout_secs),
        )
    }

    /// Parses a request about the given event, or about the event that it names itself.
    ///
    /// # Errors
    /// Returns an error if the request names no event of the agent.
    pub fn parse_request(
        &'static self,
        event: Option<&str>,
        message: &RawObject,
    ) -> Result<AgentRequest, RequestError> {
        let fields = message.fields();
        let event_name = || {
            let own = self.base_fields.iter().filter(|(base, _)| *base == BaseField::Event);
            let names = own.map(|(_, name)| *name).chain(["hook_event_name", "hookEventName"]);
            names.filter_map(|name| fields.get(name)).find_map(RawJson::to_text)
        };
        let name = event.map(str::to_owned).or_else(event_name).ok_or(RequestError::NoEvent)?;
        let event = self.event(&name).ok_or(RequestError::UnknownEvent(name))?;
        let is_other_form = refusal::is_other_form(self, event, &fields);
        let mut input = match event.native {
            NativeEvent::BuiltIn(native) => with_duplicate_keys(event, &fields)
                .unwrap_or_else(|| convert::to_native(self, event, native, message)),
            NativeEvent::Declared => {
                let mut input = fields;
                for (base, foreign) in event.base_fields.unwrap_or(self.base_fields) {
                    let native = match base {
                        BaseField::Session => "session_id",
                        BaseField::Cwd => "cwd",
                        BaseField::Transcript | BaseField::TranscriptOrNull => "transcript_path",
                        _ => continue,
                    };
                    if let Some(value) =
                        input.remove(foreign).filter(|value| value.to_text().is_some())
                    {
                        input.insert(native, value);
                    }
                }
                input
            }
        };
        caller::add(self, &message.fields(), &mut input);
        let trailing_text = "".into();
        Ok(AgentRequest {
            agent: self,
            event,
            input,
            message: message.clone(),
            trailing_text,
            is_other_form,
        })
    }
}

/// Returns the object that has a duplicate key: the request, or an object in it that the event
/// reads. Such a request is invalid: the agent may use the first value while a guard sees the last.
fn with_duplicate_keys(event: &AgentEvent, message: &JsonObject) -> Option<JsonObject> {
    if message.duplicate_key().is_some() {
        return Some(message.clone());
    }
    let nested = event.fields.iter().filter(|(_, foreign)| foreign.contains('.'));
    let outer_names = nested.flat_map(|(_, foreign)| convert::outer_names(foreign));
    let mut objects = outer_names.filter_map(|name| message.get(name)?.to_object().ok());
    objects.find(|object| object.duplicate_key().is_some())
}
