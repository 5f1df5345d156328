//! A message of a conversation: a role and its content.

use hook_json::shape::{ShapeError, read_text};
use hook_json::{JsonKind, JsonText, JsonWalk, RawJson};
use hook_protocol::model::{LlmMessage, LlmRole};

use super::block::Blocks;
use crate::conversation::Entry;
use crate::distribute::distribute;
use crate::{Warning, json};

/// An element of a request's `messages`.
#[derive(Debug)]
pub(super) struct Message {
    raw: RawJson,
    role: LlmRole,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Text(JsonText),
    Blocks(Blocks),
}

impl Content {
    /// Reads the next value as `content`.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        match walk.kind() {
            JsonKind::Array | JsonKind::Null => Blocks::read(walk).map(Self::Blocks),
            _ => JsonText::try_from(walk.value().to_raw())
                .map(Self::Text)
                .map_err(|other| ShapeError::new("", "a string or an array", other.kind())),
        }
    }
}

impl Message {
    /// Reads the next value as an element of `messages`.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let mut role = None;
        let mut content = Ok(Content::Blocks(Blocks::default()));
        let raw = walk.entries(|walk, name| match name {
            "role" => role = Some(walk.value()),
            "content" => content = Content::read(walk),
            _ => {}
        });
        if raw.kind() != JsonKind::Object {
            return Err(ShapeError::new("", "an object", raw.kind()));
        }
        let role = match read_text("role", role)?.as_deref() {
            Some("assistant") => LlmRole::Model,
            Some("system") => LlmRole::System,
            _ => LlmRole::User,
        };
        let content = content.map_err(|error| error.within("content"))?;
        Ok(Self { raw: raw.to_raw(), role, content })
    }

    /// Returns a message for a hook's message.
    pub(super) fn from_hook(message: &LlmMessage) -> RawJson {
        let role = match message.role {
            LlmRole::Model => "assistant",
            LlmRole::User => "user",
            LlmRole::System => "system",
        };
        let content = message.content.normalized();
        json::object([("role", RawJson::from_text(role)), ("content", content)]).into()
    }

    /// Returns the role.
    pub(super) fn role(&self) -> LlmRole {
        self.role
    }

    /// Returns `true` if it contains a tool result, and so must directly follow the message with
    /// the call.
    pub(super) fn has_tool_result(&self) -> bool {
        matches!(&self.content, Content::Blocks(blocks) if blocks.have_tool_result())
    }
}

impl Entry for Message {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn visible_message(&self) -> Option<LlmMessage> {
        let content = match &self.content {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => blocks.text()?,
        };
        Some(LlmMessage { role: self.role, content })
    }

    fn with_text(&self, text: &str, path: &str, warnings: &mut Vec<Warning>) -> Option<RawJson> {
        let content = match &self.content {
            Content::Text(_) if text.is_empty() => return None,
            Content::Text(_) => RawJson::from_text(text),
            Content::Blocks(blocks) => {
                let path = format!("{path}.content");
                let portions = distribute(&blocks.pieces(), text);
                // The API rejects a message that ends with thinking.
                let dangling = blocks.trailing_thinking(&portions);
                let mut result = blocks.rewritten(portions, &path, warnings);
                result.truncate(result.len().saturating_sub(dangling.len()));
                warnings.extend(dangling.into_iter().map(|index| {
                    let message = "the hook's text leaves out what this thinking led to; \
                                   it is gone with that";
                    Warning::new(format!("{path}[{index}]"), message)
                }));
                if result.is_empty() {
                    return None;
                }
                RawJson::from_items(&result)
            }
        };
        let mut fields = self.raw.to_object().unwrap_or_default();
        fields.insert("content", content);
        Some(fields.to_raw().into())
    }
}
