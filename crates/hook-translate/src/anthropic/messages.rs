//! The conversation of a request, and laying the messages that a hook gave over it.

use hook_core::JsonWalk;
use hook_core::json::shape::{ShapeError, read_list};
use hook_core::model::{LlmMessage, LlmRole};

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
    /// Reads the `messages` ahead.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        Ok(Self { items: read_list(walk, Message::read)?.unwrap_or_default() })
    }

    /// What hooks see of them: one message for each with text.
    pub(super) fn shown(&self) -> Vec<LlmMessage> {
        self.items.iter().filter_map(Entry::message).collect()
    }

    /// These messages with a hook's over them, or nothing if that changes nothing.
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

    /// Whether one of them is by `system`, as only the top level of a request is otherwise.
    pub(super) fn have_system(&self) -> bool {
        self.items.iter().any(|message| message.role() == LlmRole::System)
    }
}

fn place(index: usize) -> String {
    format!("messages[{index}]")
}
