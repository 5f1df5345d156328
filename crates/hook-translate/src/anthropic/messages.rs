//! The conversation of a request, and a hook's changes to it.

use hook_json::JsonWalk;
use hook_json::shape::{ShapeError, read_list};
use hook_protocol::model::{LlmMessage, LlmRole};

use super::message::Message;
use crate::Warning;
use crate::conversation::{Entry, Plan, place_between};
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
        let place_between = |before, after| {
            place_between(self.items.len(), (before, after), |item| {
                self.items[item].answers_a_call()
            })
        };
        let plan = Plan::of(&self.items, given, place_between)?;
        let written = plan.written(&self.items, place, Message::of_hook, warnings);
        Some(Rewritten::of("messages", self.items.iter().map(Entry::raw), written))
    }

    /// Returns `true` if one of them has the role `system`, which is usually a request's own field.
    pub(super) fn have_system(&self) -> bool {
        self.items.iter().any(|message| message.role() == LlmRole::System)
    }
}

fn place(index: usize) -> String {
    format!("messages[{index}]")
}
