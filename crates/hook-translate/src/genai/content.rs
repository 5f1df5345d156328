//! A content of a conversation: a role and its parts.

use hook_json::shape::{ShapeError, read_text};
use hook_json::{JsonKind, JsonText, JsonWalk, RawJson};
use hook_protocol::model::{LlmMessage, LlmRole};

use super::parts::{Parts, text_part_of};
use crate::conversation::Entry;
use crate::spread::spread;
use crate::{Warning, json};

/// An element of a request's `contents`.
#[derive(Debug)]
pub(super) struct Content {
    raw: RawJson,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// A string of the user.
    Text(JsonText),
    /// A role and parts.
    Spoken { role: LlmRole, parts: Parts },
    /// An object without parts, such as a part outside of any content. It has no message.
    Bare,
}

impl Content {
    /// Reads the next value as an element of `contents`.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        match walk.kind() {
            JsonKind::Object => Self::read_object(walk),
            _ => match JsonText::try_from(walk.value().to_raw()) {
                Ok(text) => Ok(Self { raw: text.as_raw().clone(), form: Form::Text(text) }),
                Err(null) if null.is_null() => Ok(Self { raw: null, form: Form::Bare }),
                Err(other) => Err(ShapeError::new("", "a string or an object", other.kind())),
            },
        }
    }

    fn read_object(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let (mut role, mut parts) = (None, None);
        let raw = walk.entries(|walk, name| match name {
            "role" => role = Some(walk.value()),
            "parts" => parts = Some(Parts::read(walk)),
            _ => {}
        });
        let raw = raw.to_raw();
        let Some(parts) = parts else { return Ok(Self { raw, form: Form::Bare }) };
        let parts = parts.map_err(|error| error.within("parts"))?;
        let role = read_text("role", role)?;
        // Every other role counts as the user's, such as `function`.
        let role = role.and_then(|role| LlmRole::from_name(&role)).unwrap_or(LlmRole::User);
        Ok(Self { raw, form: Form::Spoken { role, parts } })
    }

    /// Returns a content for a message.
    pub(super) fn of_message(message: &LlmMessage) -> RawJson {
        spoken(message.role, &text_part_of(message.content.normalized()))
    }

    /// Returns `true` if it answers a function call, and so must directly follow the content with
    /// the call.
    pub(super) fn answers_a_call(&self) -> bool {
        matches!(&self.form, Form::Spoken { parts, .. } if parts.answer_a_call())
    }

    /// Returns `true` if it has a role and parts.
    pub(super) fn is_spoken(&self) -> bool {
        matches!(self.form, Form::Spoken { .. })
    }

    /// Returns the same content with a role and parts.
    pub(super) fn as_spoken(&self) -> RawJson {
        match &self.form {
            Form::Text(text) => spoken(LlmRole::User, &text_part_of(text.normalized())),
            Form::Bare if !self.raw.is_null() => spoken(LlmRole::User, &self.raw),
            Form::Bare | Form::Spoken { .. } => self.raw.clone(),
        }
    }
}

impl Entry for Content {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn said(&self) -> Option<LlmMessage> {
        let (role, content) = match &self.form {
            Form::Text(text) => (LlmRole::User, text.clone()),
            Form::Spoken { role, parts } => (*role, parts.text()?),
            Form::Bare => return None,
        };
        Some(LlmMessage { role, content })
    }

    fn with_text(&self, text: &str, path: &str, warnings: &mut Vec<Warning>) -> Option<RawJson> {
        match &self.form {
            Form::Text(_) => (!text.is_empty()).then(|| RawJson::from_text(text)),
            Form::Bare => Some(self.raw.clone()),
            Form::Spoken { parts, .. } => {
                let portions = spread(&parts.pieces(), text);
                let path = format!("{path}.parts");
                let parts = parts.rewritten(portions, &path, warnings)?;
                let mut fields = self.raw.to_object().unwrap_or_default();
                fields.insert("parts", parts);
                Some(fields.to_raw().into())
            }
        }
    }
}

fn spoken(role: LlmRole, part: &RawJson) -> RawJson {
    let parts = RawJson::from_items([part]);
    json::object([("role", RawJson::from_text(role.as_str())), ("parts", parts)]).into()
}
