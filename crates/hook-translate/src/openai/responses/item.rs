//! An item of an input or an output.

use hook_json::shape::{ShapeError, read_items, read_text};
use hook_json::{JsonKind, JsonObject, JsonSlice, JsonText, JsonWalk, RawJson};
use hook_protocol::model::{LlmMessage, LlmRole};

use crate::conversation::Entry;
use crate::distribute::{Portion, distribute};
use crate::openai::content::{Content, PendingContent, has_other_content, object_or_null};
use crate::openai::pairing::Relation;
use crate::openai::role;
use crate::{Warning, json};

/// The fields of a message that need not be kept without its text.
const LABEL_FIELDS: [&str; 7] = ["type", "role", "content", "id", "status", "phase", "name"];

const MESSAGE: &str = "message";

/// An element of an `input` or an `output`.
#[derive(Debug)]
pub(super) struct Item {
    raw: RawJson,
    form: ItemForm,
    /// `true` if the item before it requires it, so that it cannot be removed.
    is_required: bool,
}

#[derive(Debug)]
enum ItemForm {
    /// A string of the user.
    Text(JsonText),
    /// A message.
    Message(Message),
    /// Any other item: tool calls and their results, reasoning, references.
    Other { kind: ItemKind, ids: Ids },
}

#[derive(Debug)]
struct Message {
    /// `true` for the role `developer`, another name of `system`.
    by_developer: bool,
    /// The role that hooks see, or `None` for a tool.
    shown_role: Option<LlmRole>,
    content: Content,
}

/// The kind of an item that is not a message, for its relation to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    /// An item that must precede the next one.
    Reasoning,
    /// A reference to an item stored by the server.
    Reference,
    ApprovalRequest,
    ApprovalResponse,
    /// The result of a call.
    Output,
    /// A call. Those of hosted tools, such as `web_search_call`, contain their results, so no
    /// answer refers to them.
    Call,
    /// An item without a type, such as a reference, which needs none.
    Untyped,
    Unknown,
}

impl ItemKind {
    fn of(kind: Option<&str>) -> Self {
        match kind {
            None => Self::Untyped,
            Some("reasoning") => Self::Reasoning,
            Some("item_reference") => Self::Reference,
            Some("mcp_approval_request") => Self::ApprovalRequest,
            Some("mcp_approval_response") => Self::ApprovalResponse,
            Some(kind) if kind.ends_with("_output") => Self::Output,
            Some(kind) if kind.ends_with("_call") => Self::Call,
            Some(_) => Self::Unknown,
        }
    }
}

/// The ids of an item, in JSON.
#[derive(Debug, Default)]
struct Ids {
    /// The item's id.
    own: Option<RawJson>,
    /// The id of the call that it makes or answers.
    call: Option<RawJson>,
    /// The id of the request that it approves or rejects.
    request: Option<RawJson>,
}

impl Item {
    /// Reads the next value as a list of items.
    pub(super) fn read_list(walk: &mut JsonWalk<'_>) -> Result<Vec<Self>, ShapeError> {
        let mut items = read_items(walk, Self::read)?;
        let mut needed = false;
        for item in &mut items {
            item.is_required = needed;
            needed = item.is_reasoning();
        }
        Ok(items)
    }

    /// Reads the next value as an item.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let (mut kind, mut role) = (None, None);
        let (mut content, mut ids) = (PendingContent::default(), Ids::default());
        // The fields that identify a message without a type.
        let (mut has_role, mut has_content) = (false, false);
        let raw = object_or_null(walk, |walk, name| match name {
            "type" => kind = Some(walk.value()),
            "role" => {
                let value = walk.value();
                has_role = !value.is_null();
                role = Some(value);
            }
            "content" => {
                has_content = walk.kind() != JsonKind::Null;
                let likely = may_be_message(kind) && role::may_be_shown(role);
                content = PendingContent::read_if_likely(walk, likely);
            }
            "id" => ids.own = Some(walk.value().to_raw()),
            "call_id" => ids.call = Some(walk.value().to_raw()),
            "approval_request_id" => ids.request = Some(walk.value().to_raw()),
            _ => {}
        })?;
        let kind = read_text("type", kind)?;
        let is_message = match &kind {
            Some(kind) => *kind == *MESSAGE,
            None => has_role || has_content,
        };
        let form = match is_message {
            true => ItemForm::Message(Message::read(role, content)?),
            false => ItemForm::Other { kind: ItemKind::of(kind.as_deref()), ids },
        };
        Ok(Self { raw: raw.to_raw(), form, is_required: false })
    }

    /// Creates an item from an input that is a string.
    pub(super) fn from_text(text: JsonText) -> Self {
        Self { raw: text.as_raw().clone(), form: ItemForm::Text(text), is_required: false }
    }

    /// Returns a message for a hook's message.
    pub(super) fn from_hook(message: &LlmMessage, system: &'static str) -> RawJson {
        json::object([
            ("type", RawJson::from_text("message")),
            ("role", RawJson::from_text(role::sdk_name(message.role, system))),
            ("content", message.content.normalized()),
        ])
        .into()
    }

    /// Returns `true` for a message of the role `developer`, another name of `system`.
    pub(super) fn is_by_developer(&self) -> bool {
        matches!(&self.form, ItemForm::Message(message) if message.by_developer)
    }

    /// Returns the content, if this is a message.
    pub(super) fn content(&self) -> Option<&Content> {
        match &self.form {
            ItemForm::Message(message) => Some(&message.content),
            ItemForm::Text(_) | ItemForm::Other { .. } => None,
        }
    }

    /// Returns the relation to the items around it.
    pub(super) fn relation(&self) -> Relation {
        let ItemForm::Other { kind, ids } = &self.form else { return Relation::Free };
        let text = |id: &Option<RawJson>| id.as_ref().and_then(RawJson::to_text);
        let (own, call) = (|| text(&ids.own), || text(&ids.call));
        match kind {
            ItemKind::Reasoning => Relation::RequiresNext,
            ItemKind::Reference => Relation::Reference,
            ItemKind::Untyped if ids.own.is_some() => Relation::Reference,
            ItemKind::ApprovalRequest => Relation::Calls(own().into_iter().collect()),
            ItemKind::ApprovalResponse => Relation::ToolResult(text(&ids.request)),
            ItemKind::Output => Relation::ToolResult(call().or_else(own)),
            ItemKind::Call => Relation::Calls([call(), own()].into_iter().flatten().collect()),
            ItemKind::Untyped | ItemKind::Unknown => Relation::Free,
        }
    }

    fn is_reasoning(&self) -> bool {
        matches!(self.form, ItemForm::Other { kind: ItemKind::Reasoning, .. })
    }

    /// Returns a message with other texts. It stays even if it is empty then. `path` is its path.
    pub(super) fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> RawJson {
        let ItemForm::Message(message) = &self.form else { return self.raw.clone() };
        let content = message.rewritten(portions, path, warnings);
        let content = content.unwrap_or_else(|| message.content.emptied());
        with_content(self.fields(), content)
    }

    /// Returns all fields. Parsed on demand, since few edits need them.
    fn fields(&self) -> JsonObject {
        self.raw.to_object().unwrap_or_default()
    }
}

impl Message {
    fn read(role: Option<JsonSlice<'_>>, content: PendingContent<'_>) -> Result<Self, ShapeError> {
        let role = read_text("role", role)?;
        let shown_role = role::shown(role.as_deref());
        let by_developer = role::is_developer(role.as_deref());
        let content = match shown_role {
            Some(_) => content.content()?,
            None => Content::Absent,
        };
        Ok(Self { by_developer, shown_role, content })
    }

    fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Option<RawJson> {
        let none = RawJson::from_items([]);
        let new = |text: &str| match self.shown_role {
            Some(LlmRole::Model) => output_text(text, &none),
            _ => input_text(text),
        };
        self.content.rewritten(portions, &format!("{path}.content"), new, warnings)
    }
}

impl Entry for Item {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn visible_message(&self) -> Option<LlmMessage> {
        let (role, content) = match &self.form {
            ItemForm::Text(text) => (LlmRole::User, text.clone()),
            ItemForm::Message(message) => (message.shown_role?, message.content.text()?),
            ItemForm::Other { .. } => return None,
        };
        Some(LlmMessage { role, content })
    }

    fn with_text(&self, text: &str, path: &str, warnings: &mut Vec<Warning>) -> Option<RawJson> {
        let message = match &self.form {
            ItemForm::Text(_) => return (!text.is_empty()).then(|| RawJson::from_text(text)),
            ItemForm::Message(message) => message,
            ItemForm::Other { .. } => return Some(self.raw.clone()),
        };
        let portions = distribute(&message.content.pieces(), text);
        let content = match message.rewritten(portions, path, warnings) {
            Some(content) => content,
            None if self.is_required || has_other_content(&self.fields(), &LABEL_FIELDS) => {
                message.content.emptied()
            }
            None => return None,
        };
        Some(with_content(self.fields(), content))
    }
}

/// Returns `true` if an item may be a message, as far as its part read so far tells.
fn may_be_message(kind: Option<JsonSlice<'_>>) -> bool {
    kind.and_then(JsonSlice::text).is_none_or(|kind| kind == MESSAGE)
}

fn with_content(mut message: JsonObject, content: RawJson) -> RawJson {
    message.insert("content", content);
    message.to_raw().into()
}

fn input_text(text: &str) -> RawJson {
    let kind = RawJson::from_text("input_text");
    json::object([("type", kind), ("text", RawJson::from_text(text))]).into()
}

/// Returns a part of the model's text. `none` is its empty list of annotations.
pub(super) fn output_text(text: &str, none: &RawJson) -> RawJson {
    json::object([
        ("type", RawJson::from_text("output_text")),
        ("text", RawJson::from_text(text)),
        ("annotations", none.clone()),
    ])
    .into()
}
