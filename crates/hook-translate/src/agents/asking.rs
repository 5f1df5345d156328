//! What an agent says that asks us.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hook_core::event::Matching;
use hook_core::event::input::PayloadError;
use hook_core::language::AskedBy;
use hook_core::{HookEventName, JsonObject, RawJson, RawObject, RequestInput};

use super::table::{Agent, AgentEvent, Base, Ours, Variable};
use super::{refusal, told};

/// An agent asks about something that happens.
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
    /// The same as it was written in that text: what stands behind it reaches hooks of the agent's own.
    #[must_use]
    pub fn written_in(self, text: &str) -> Self {
        let ending = text.get(text.trim_end().len()..).unwrap_or_default();
        Self { ending: ending.into(), ..self }
    }

    /// Our name of the event.
    pub fn event_name(&self) -> &'static str {
        match self.event.ours {
            Ours::BuiltIn(ours) => ours.as_str(),
            Ours::Declared => self.event.name,
        }
    }

    /// What the agent calls it.
    pub fn home_event(&self) -> &'static str {
        self.event.name
    }

    /// Where the agent works, as far as it says: its own variable of its project, its first workspace, its
    /// working directory; before that the project whose settings one of these files is.
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

    /// Whether it is in the form of another agent, which may read this one's settings and call us by them.
    pub fn is_other_form(&self) -> bool {
        self.is_other_form
    }

    /// How long the agent waits for an answer, where `hook connect` wrote the entry.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(super::entry::patience(self.event))
    }

    /// The input of our event.
    pub fn input(&self) -> &JsonObject {
        &self.input
    }

    /// The request's input, with what the agent said itself. Words that no field of ours has are left to
    /// hooks of the agent's own.
    ///
    /// # Errors
    /// When what the agent said is not what the event requires.
    pub fn request(&self, event: HookEventName) -> Result<RequestInput, PayloadError> {
        let mut input = self.read(event)?;
        let mut asked =
            AskedBy::new(self.agent.name, self.event.name, self.said.clone(), &input.payload);
        asked.ending.clone_from(&self.ending);
        input.asked = Some(asked.into());
        Ok(input)
    }

    /// The input, in which a word that our event does not know is one that it does: hooks of the agent's
    /// own are told the agent's.
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
            // Only a word that says why; anything else is wrong, and guards are to know.
            let is_text = fields.get(name).is_some_and(|value| value.to_text().is_some());
            let known = match event.row().matching {
                Matching::Exact { field, words } if field == name && is_text => {
                    if words.contains(&"other") { Some(&other) } else { sample.get(name) }
                }
                _ => None,
            };
            // What is wrong in it still is wrong.
            let Some(known) = known.filter(|known| fields.get(name) != Some(*known)) else {
                return Err(error);
            };
            fields.insert(name, known.clone());
        }
    }
}

/// What an agent said cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAsked {
    /// It does not say which event it is about.
    NoEvent,
    /// The agent has no event of that name.
    UnknownEvent(String),
}

impl fmt::Display for NotAsked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEvent => formatter.write_str("the input does not name its event"),
            Self::UnknownEvent(name) => {
                write!(formatter, "there is no event `{}`", hook_core::text::shortened(name))
            }
        }
    }
}

impl Agent {
    /// How long the agent waits for an answer to one of its events, where `hook connect` wrote the entry.
    pub fn patience(&self, home_event: Option<&str>) -> Duration {
        let event = home_event.and_then(|name| self.event(name));
        Duration::from_secs(event.map_or(super::entry::PATIENCE, super::entry::patience))
    }

    /// What an agent has said: about the event that is named, or that it names itself.
    ///
    /// # Errors
    /// When it cannot be known which event of the agent it is about.
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

/// What an agent says, or an object in it whose fields the event has, if a field is in there twice. The agent may
/// act on the first of two values, and a guard would be told of the last: as in a request, that is no input.
fn repeating(event: &AgentEvent, said: &JsonObject) -> Option<JsonObject> {
    if said.repeated().is_some() {
        return Some(said.clone());
    }
    let outer = event.fields.iter().filter_map(|(_, theirs)| Some(theirs.split_once('.')?.0));
    let mut inner = outer.filter_map(|name| said.get(name)?.to_object().ok());
    inner.find(|it| it.repeated().is_some())
}
