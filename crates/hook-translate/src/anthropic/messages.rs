//! The conversation of a request, and a hook's changes to it.

use hook_json::JsonWalk;
use hook_json::shape::{ShapeError, read_list};
use hook_protocol::model::{LlmMessage, LlmRole};

use super::message::Message;
use crate::Warning;
use crate::conversation::{Entry, Plan, insertion_index};
use crate::rewritten::Rewritten;

/// The `messages` of a request.
#[derive(Debug, Default)]
pub(super) struct Messages {
    items: Vec<Message>,
}

impl Messages {
    /// Reads the next value as `messages`.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        Ok(Self { items: read_list(walk, Message::read)?.unwrap_or_default() })
    }

    /// Returns the messages that hooks see, one for each with text.
    pub(super) fn shown(&self) -> Vec<LlmMessage> {
        self.items.iter().filter_map(Entry::message).collect()
    }

    /// Returns the messages with a hook's changes, or `None` if nothing changes.
    pub(super) fn overlaid(
        &self,
        given: &[LlmMessage],
        warnings: &mut Vec<Warning>,
    ) -> Option<Rewritten> {
        let insertion_index = |before, after| {
            insertion_index(self.items.len(), (before, after), |item| {
                self.items[item].has_tool_result()
            })
        };
        let plan = Plan::of(&self.items, given, insertion_index)?;
        let result = plan.apply_to(&self.items, item_path, Message::from_hook, warnings);
        Some(Rewritten::of("messages", self.items.iter().map(Entry::raw), result))
    }

    /// Returns `true` if one of them has the role `system`, which is usually a request's own field.
    pub(super) fn has_system_message(&self) -> bool {
        self.items.iter().any(|message| message.role() == LlmRole::System)
    }
}

fn item_path(index: usize) -> String {
    format!("messages[{index}]")
}
