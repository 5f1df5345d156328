//! The conversation of a request, and a hook's changes to it.

use hook_json::shape::{ShapeError, read_items};
use hook_json::{JsonKind, JsonWalk, RawJson};
use hook_protocol::model::{LlmMessage, LlmRole};

use super::content::Content;
use crate::Warning;
use crate::conversation::{Entry, Plan, insertion_index};
use crate::rewritten::{Overlaid, Rewritten};

/// The `contents` of a request.
#[derive(Debug, Default)]
pub(super) struct Contents {
    items: Vec<Content>,
    /// `true` if there was one content instead of a list.
    single: bool,
}

/// The form of a new content. The SDK accepts a list of contents, or a list of strings and parts of
/// the user, but no mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NewContentForm {
    /// A content, as the others are.
    Content,
    /// A string, as the others are.
    String,
    /// A content, as the others must become: they are strings, but the new one has another role.
    WrapAll,
}

impl Contents {
    /// Reads the next value as `contents`: absent, a string, one content, or a list of either.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        match walk.kind() {
            JsonKind::Array => Ok(Self { items: read_items(walk, Content::read)?, single: false }),
            JsonKind::String | JsonKind::Object => {
                Ok(Self { items: vec![Content::read(walk)?], single: true })
            }
            kind => {
                walk.value();
                match kind {
                    JsonKind::Null => Ok(Self::default()),
                    other => Err(ShapeError::new("", "a string, an object or an array", other)),
                }
            }
        }
    }

    /// Returns the messages that hooks see, one for each content with text.
    pub(super) fn messages(&self) -> Vec<LlmMessage> {
        self.items.iter().filter_map(Entry::message).collect()
    }

    /// Returns the contents with `messages` applied, or `None` if nothing changes.
    pub(super) fn overlaid(
        &self,
        messages: &[LlmMessage],
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Overlaid>, ShapeError> {
        let insertion_index = |before, after| {
            insertion_index(self.items.len(), (before, after), |item| {
                self.items[item].has_function_response()
            })
        };
        let Some(plan) = Plan::of(&self.items, messages, insertion_index) else {
            return Ok(None);
        };
        let form = self.new_form(plan.new_messages());
        let wrapped = if form == NewContentForm::WrapAll { self.wrapped()? } else { Vec::new() };
        let items = if form == NewContentForm::WrapAll { &wrapped } else { &self.items };
        let path = |index| if self.single { "contents".to_owned() } else { item_path(index) };
        let new = |message: &LlmMessage| match form {
            NewContentForm::String => message.content.normalized(),
            NewContentForm::Content | NewContentForm::WrapAll => Content::from_message(message),
        };
        let result = plan.apply_to(items, path, new, warnings);
        Ok(Some(match result.as_slice() {
            [item] if self.single => Overlaid::Value(item.clone()),
            items if self.single => Overlaid::Value(RawJson::from_items(items)),
            _ => Overlaid::Items(Rewritten::of(
                "contents",
                self.items.iter().map(Entry::raw),
                result,
            )),
        }))
    }

    /// Returns the form of new contents that the SDK accepts next to the others.
    fn new_form<'m>(&self, mut new: impl Iterator<Item = &'m LlmMessage>) -> NewContentForm {
        if self.items.is_empty() || self.items.iter().any(Content::has_role) {
            NewContentForm::Content
        } else if new.all(|message| message.role == LlmRole::User) {
            NewContentForm::String
        } else {
            NewContentForm::WrapAll
        }
    }

    fn wrapped(&self) -> Result<Vec<Content>, ShapeError> {
        let wrap = |(index, item): (usize, &Content)| {
            // Only a part outside of any content can fail as a content, because of its text.
            let path = if self.single { "contents".to_owned() } else { item_path(index) };
            let as_part_error = |error: ShapeError| {
                ShapeError::new(format!("{path}.text"), error.expected(), error.found())
            };
            Content::read(&mut item.with_role().walk()).map_err(as_part_error)
        };
        self.items.iter().enumerate().map(wrap).collect()
    }
}

fn item_path(index: usize) -> String {
    format!("contents[{index}]")
}
