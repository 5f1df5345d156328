//! Requests from other agents.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::Matching;
use hook_protocol::event::input::PayloadError;
use hook_protocol::{HookEventName, RequestInput};
use hook_settings::language::AskedBy;

use super::table::{Agent, AgentEvent, Base, Ours, Variable};
use super::{refusal, told};

/// A request from an agent about one of its events.
#[derive(Debug, Clone)]
pub struct Asked {
    agent: &'static Agent,
    event: &'static AgentEvent,
    input: JsonObject,
    said: RawObject,
    ending: Box<str>,
    is_other_form: bool,
}

impl Asked {
    /// Keeps the bytes after the JSON in the request's text: the agent's own hooks get them, too.
    #[must_use]
    pub fn written_in(self, text: &str) -> Self {
        let ending = text.get(text.trim_end().len()..).unwrap_or_default();
        Self { ending: ending.into(), ..self }
    }

    /// Returns the native name of the event.
    pub fn event_name(&self) -> &'static str {
        match self.event.ours {
            Ours::BuiltIn(ours) => ours.as_str(),
            Ours::Declared => self.event.name,
        }
    }

    /// Returns the agent's name of the event.
    pub fn foreign_event(&self) -> &'static str {
        self.event.name
    }

    /// Returns the agent's directories: project variable, first workspace, working directory. The
    /// project of `settings` comes first if only the working directory is known.
    pub fn places_with(&self, settings: &[PathBuf]) -> Vec<PathBuf> {
        let mut places = self.places();
        let of_settings = settings.iter().find_map(|path| self.agent.project_of(path));
        let is_cwd = self.said.fields().get("cwd").and_then(RawJson::to_text).map(PathBuf::from);
        if let Some(project) = of_settings.filter(|it| it.is_dir())
            && (places.is_empty() || places.first() == is_cwd.as_ref())
        {
            places.insert(0, project);
        }
        places
    }

    fn places(&self) -> Vec<PathBuf> {
        let of_project =
            |variable: &Variable| matches!(variable, Variable::Project | Variable::Cwd);
        let named = self.agent.variables.iter().filter(|(_, variable)| of_project(variable));
        let set = named.filter_map(|(name, _)| std::env::var_os(name)).map(PathBuf::from);
        let fields = self.said.fields();
        let roots = fields.get("workspace_roots").and_then(RawJson::to_items).unwrap_or_default();
        let root = roots.first().and_then(RawJson::to_text);
        let cwd = fields.get("cwd").and_then(RawJson::to_text);
        let said = root.into_iter().chain(cwd).map(PathBuf::from);
        set.chain(said).filter(|place| place.is_absolute() && place.is_dir()).collect()
    }

    /// Returns `true` if this is another agent's form: that agent may read this one's settings.
    pub fn is_other_form(&self) -> bool {
        self.is_other_form
    }

    /// Returns the agent's timeout for an answer, for entries that `hook connect` wrote.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(super::entry::patience(self.event))
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
        let mut asked =
            AskedBy::new(self.agent.name, self.event.name, self.said.clone(), &input.payload);
        asked.ending.clone_from(&self.ending);
        input.asked = Some(asked.into());
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
                Matching::Exact { field, words } if field == name && is_text => {
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

/// An error that makes a request unintelligible.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAsked {
    /// The request does not name its event.
    NoEvent,
    /// The agent has no event of this name.
    UnknownEvent(String),
}

impl fmt::Display for NotAsked {
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
    pub fn patience(&self, foreign_event: Option<&str>) -> Duration {
        let event = foreign_event.and_then(|name| self.event(name));
        Duration::from_secs(event.map_or(super::entry::PATIENCE, super::entry::patience))
    }

    /// Parses a request about the given event, or about the event that it names itself.
    ///
    /// # Errors
    /// Returns an error if the request names no event of the agent.
    pub fn asked(&'static self, event: Option<&str>, said: &RawObject) -> Result<Asked, NotAsked> {
        let fields = said.fields();
        let named = || {
            let known = ["hook_event_name", "hookEventName"].iter();
            known.filter_map(|name| fields.get(name)).find_map(RawJson::to_text)
        };
        let name = event.map(str::to_owned).or_else(named).ok_or(NotAsked::NoEvent)?;
        let event = self.event(&name).ok_or(NotAsked::UnknownEvent(name))?;
        let is_other_form = refusal::is_other_form(self, event, &fields);
        let input = match event.ours {
            Ours::BuiltIn(ours) => {
                repeating(event, &fields).unwrap_or_else(|| told::to_ours(self, event, ours, said))
            }
            Ours::Declared => {
                let mut input = fields;
                for (base, theirs) in event.base.unwrap_or(self.base) {
                    let ours = match base {
                        Base::Session => "session_id",
                        Base::Cwd => "cwd",
                        Base::Transcript | Base::TranscriptOrNull => "transcript_path",
                        _ => continue,
                    };
                    if let Some(value) = input.remove(theirs).filter(|it| it.to_text().is_some()) {
                        input.insert(ours, value);
                    }
                }
                input
            }
        };
        let ending = "".into();
        Ok(Asked { agent: self, event, input, said: said.clone(), ending, is_other_form })
    }
}

/// Returns the object that has a duplicate key: the request, or an object in it that the event
/// reads. Such a request is invalid: the agent may use the first value while a guard sees the last.
fn repeating(event: &AgentEvent, said: &JsonObject) -> Option<JsonObject> {
    if said.repeated().is_some() {
        return Some(said.clone());
    }
    let outer = event.fields.iter().filter_map(|(_, theirs)| Some(theirs.split_once('.')?.0));
    let mut inner = outer.filter_map(|name| said.get(name)?.to_object().ok());
    inner.find(|it| it.repeated().is_some())
}
