//! One item of an input or an output.

use hook_core::model::{LlmMessage, LlmRole};
use hook_core::shape::{FieldReader, ShapeError};
use hook_core::{JsonKind, JsonObject, RawJson};

use crate::conversation::Entry;
use crate::openai::content::{Content, says_more};
use crate::openai::pairing::Tie;
use crate::openai::role;
use crate::spread::{Portion, spread};
use crate::{TranslateError, Warning, json};

/// What a message has beside its text and is not lost with it.
const LABELS: [&str; 7] = ["type", "role", "content", "id", "status", "phase", "name"];

/// An element of an `input` or an `output`.
#[derive(Debug)]
pub(super) struct Item {
    raw: RawJson,
    form: Form,
    /// Whether the item before it led to this one, which so cannot go.
    needed: bool,
}

#[derive(Debug)]
enum Form {
    /// A string, which the user says.
    Text(String),
    /// A message.
    Message(Message),
    /// Anything else: calls of tools and their results, reasoning, references.
    Other { kind: Option<String>, fields: JsonObject },
}

#[derive(Debug)]
struct Message {
    fields: JsonObject,
    role: Option<String>,
    /// The role that hooks see, unless a tool speaks.
    speaker: Option<LlmRole>,
    content: Content,
}

impl Item {
    /// Reads the elements of a list. `field` is its name.
    pub(super) fn read_all(field: &str, items: &[RawJson]) -> Result<Vec<Self>, ShapeError> {
        let mut read: Vec<Self> = Vec::with_capacity(items.len());
        for (index, raw) in items.iter().enumerate() {
            let path = || format!("{field}[{index}]");
            let fields = match raw.kind() {
                JsonKind::Null => JsonObject::new(),
                kind => raw.to_object().map_err(|_| ShapeError::new(path(), "an object", kind))?,
            };
            let form = Form::read(fields).map_err(|error| error.within(&path()))?;
            let needed = read.last().is_some_and(Self::leads);
            read.push(Self { raw: raw.clone(), form, needed });
        }
        Ok(read)
    }

    /// A whole input that is a string.
    pub(super) fn of_text(raw: &RawJson, text: String) -> Self {
        Self { raw: raw.clone(), form: Form::Text(text), needed: false }
    }

    /// A message that says what a hook's one does.
    pub(super) fn of_hook(message: &LlmMessage, system: &'static str) -> RawJson {
        json::object([
            ("type", RawJson::from_text("message")),
            ("role", RawJson::from_text(role::written(message.role, system))),
            ("content", RawJson::from_text(&message.content)),
        ])
        .into()
    }

    /// Who speaks, as it is written.
    pub(super) fn role(&self) -> Option<&str> {
        match &self.form {
            Form::Message(message) => message.role.as_deref(),
            Form::Text(_) | Form::Other { .. } => None,
        }
    }

    /// What is said, if this is a message.
    pub(super) fn content(&self) -> Option<&Content> {
        match &self.form {
            Form::Message(message) => Some(&message.content),
            Form::Text(_) | Form::Other { .. } => None,
        }
    }

    /// What this has to do with the items around it.
    pub(super) fn tie(&self) -> Tie {
        let Form::Other { kind, fields } = &self.form else { return Tie::Free };
        let id = |name: &str| fields.get(name).and_then(RawJson::to_text);
        match kind.as_deref() {
            Some("reasoning") => Tie::Leads,
            // A reference needs no type.
            Some("item_reference") => Tie::Refers,
            None if fields.get("id").is_some() => Tie::Refers,
            Some("mcp_approval_request") => Tie::Calls(id("id").into_iter().collect()),
            Some("mcp_approval_response") => Tie::Answers(id("approval_request_id")),
            Some(kind) if kind.ends_with("_output") => Tie::Answers(id("call_id").or(id("id"))),
            Some(kind) if kind.ends_with("_call") => {
                // Calls of hosted tools, such as `web_search_call`, hold their results, and are
                // found by no answer.
                Tie::Calls([id("call_id"), id("id")].into_iter().flatten().collect())
            }
            _ => Tie::Free,
        }
    }

    fn leads(&self) -> bool {
        matches!(self.tie(), Tie::Leads)
    }

    /// A message with other texts. What it says may be nothing afterwards, but it stays. `path` is
    /// where it stands.
    pub(super) fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<RawJson, TranslateError> {
        let Form::Message(message) = &self.form else { return Ok(self.raw.clone()) };
        let content = message.rewritten(portions, path, warnings)?;
        let content = content.map_or_else(|| message.content.emptied(), Ok)?;
        Ok(message.with_content(content))
    }
}

impl Form {
    fn read(fields: JsonObject) -> Result<Self, ShapeError> {
        let mut reader = FieldReader::new(fields.clone());
        let kind = reader.text("type")?;
        let is_message = match &kind {
            Some(kind) => kind == "message",
            None => ["role", "content"].iter().any(|name| json::given(&fields, name).is_some()),
        };
        if !is_message {
            return Ok(Self::Other { kind, fields });
        }
        let role = reader.text("role")?;
        let speaker = role::shown(role.as_deref());
        let content = match speaker {
            Some(_) => Content::read(fields.get("content"))?,
            None => Content::Nothing,
        };
        Ok(Self::Message(Message { fields, role, speaker, content }))
    }
}

impl Message {
    fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let none = json::array("annotations", [])?;
        let new = |text: &str| match self.speaker {
            Some(LlmRole::Model) => output_text(text, &none),
            _ => input_text(text),
        };
        self.content.rewritten(portions, &format!("{path}.content"), new, warnings)
    }

    fn with_content(&self, content: RawJson) -> RawJson {
        let mut fields = self.fields.clone();
        fields.insert("content", content);
        fields.to_raw().into()
    }
}

impl Entry for Item {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn message(&self) -> Option<LlmMessage> {
        let (role, content) = match &self.form {
            Form::Text(text) => (LlmRole::User, text.clone()),
            Form::Message(message) => (message.speaker?, message.content.texts().concat()),
            Form::Other { .. } => return None,
        };
        (!content.is_empty()).then_some(LlmMessage { role, content })
    }

    fn with_text(
        &self,
        text: &str,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let message = match &self.form {
            Form::Text(_) => return Ok((!text.is_empty()).then(|| RawJson::from_text(text))),
            Form::Message(message) => message,
            Form::Other { .. } => return Ok(Some(self.raw.clone())),
        };
        let portions = spread(&message.content.pieces(), text);
        let content = match message.rewritten(portions, path, warnings)? {
            Some(content) => content,
            None if self.needed || says_more(&message.fields, &LABELS) => {
                message.content.emptied()?
            }
            None => return Ok(None),
        };
        Ok(Some(message.with_content(content)))
    }
}

fn input_text(text: &str) -> RawJson {
    let kind = RawJson::from_text("input_text");
    json::object([("type", kind), ("text", RawJson::from_text(text))]).into()
}

/// A part of what the model says. `none` is the empty list of annotations that it has.
pub(super) fn output_text(text: &str, none: &RawJson) -> RawJson {
    json::object([
        ("type", RawJson::from_text("output_text")),
        ("text", RawJson::from_text(text)),
        ("annotations", none.clone()),
    ])
    .into()
}
