//! A content of a conversation: a role and its parts.

use hook_json::shape::{ShapeError, read_text};
use hook_json::{JsonKind, JsonText, JsonWalk, RawJson};
use hook_protocol::model::{LlmMessage, LlmRole};

use super::parts::{Parts, part_from_text};
use crate::conversation::Entry;
use crate::distribute::distribute;
use crate::{Warning, json};

/// An element of a request's `contents`.
#[derive(Debug)]
pub(super) struct Content {
    raw: RawJson,
    form: ContentForm,
}

#[derive(Debug)]
enum ContentForm {
    /// A string of the user.
    Text(JsonText),
    /// A role and parts.
    WithRole { role: LlmRole, parts: Parts },
    /// An object without parts, such as a part outside of any content. It has no message.
    Bare,
}

impl Content {
    /// Reads the next value as an element of `contents`.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        match walk.kind() {
            JsonKind::Object => Self::read_object(walk),
            _ => match JsonText::try_from(walk.value().to_raw()) {
                Ok(text) => Ok(Self { raw: text.as_raw().clone(), form: ContentForm::Text(text) }),
                Err(null) if null.is_null() => Ok(Self { raw: null, form: ContentForm::Bare }),
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
        let Some(parts) = parts else { return Ok(Self { raw, form: ContentForm::Bare }) };
        let parts = parts.map_err(|error| error.within("parts"))?;
        let role = read_text("role", role)?;
        // Every other role counts as the user's, such as `function`.
        let role = role.and_then(|role| LlmRole::from_name(&role)).unwrap_or(LlmRole::User);
        Ok(Self { raw, form: ContentForm::WithRole { role, parts } })
    }

    /// Returns a content for a message.
    pub(super) fn from_message(message: &LlmMessage) -> RawJson {
        content_from_part(message.role, &part_from_text(message.content.normalized()))
    }

    /// Returns `true` if it answers a function call, and so must directly follow the content with
    /// the call.
    pub(super) fn has_function_response(&self) -> bool {
        matches!(&self.form, ContentForm::WithRole { parts, .. } if parts.have_function_response())
    }

    /// Returns `true` if it has a role and parts.
    pub(super) fn has_role(&self) -> bool {
        matches!(self.form, ContentForm::WithRole { .. })
    }

    /// Returns the same content with a role and parts.
    pub(super) fn with_role(&self) -> RawJson {
        match &self.form {
            ContentForm::Text(text) => {
                content_from_part(LlmRole::User, &part_from_text(text.normalized()))
            }
            ContentForm::Bare if !self.raw.is_null() => content_from_part(LlmRole::User, &self.raw),
            ContentForm::Bare | ContentForm::WithRole { .. } => self.raw.clone(),
        }
    }
}

impl Entry for Content {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn visible_message(&self) -> Option<LlmMessage> {
        let (role, content) = match &self.form {
            ContentForm::Text(text) => (LlmRole::User, text.clone()),
            ContentForm::WithRole { role, parts } => (*role, parts.text()?),
            ContentForm::Bare => return None,
        };
        Some(LlmMessage { role, content })
    }

    fn with_text(&self, text: &str, path: &str, warnings: &mut Vec<Warning>) -> Option<RawJson> {
        match &self.form {
            ContentForm::Text(_) => (!text.is_empty()).then(|| RawJson::from_text(text)),
            ContentForm::Bare => Some(self.raw.clone()),
            ContentForm::WithRole { parts, .. } => {
                let portions = distribute(&parts.pieces(), text);
                let path = format!("{path}.parts");
                let parts = parts.rewritten(portions, &path, warnings)?;
                let mut fields = self.raw.to_object().unwrap_or_default();
                fields.insert("parts", parts);
                Some(fields.to_raw().into())
            }
        }
    }
}

fn content_from_part(role: LlmRole, part: &RawJson) -> RawJson {
    let parts = RawJson::from_items([part]);
    json::object([("role", RawJson::from_text(role.as_str())), ("parts", parts)]).into()
}
