//! The hooks' texts other than their decision: context and messages for the model, cut so that they
//! cannot flood a conversation, and messages for the user.

use hook_core::ProcessedHookResult;

/// The maximum size of the hooks' text for the model per event, in bytes (protocol.md §8).
const MOST_FOR_MODEL: usize = 16 * 1024;

/// The hooks' texts other than their decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookAdvice {
    /// The text for the model: additional context, then the message as `[System] …`. At most 16 KiB
    /// per event, with a note of how much was cut.
    pub for_model: Option<String>,
    /// The text for the user's display; `None` if a hook suppresses it.
    pub for_user: Option<String>,
    /// Hides the event's subject from the display. The model still sees it.
    pub suppress_output: bool,
}

impl HookAdvice {
    /// Returns the reason for the decision and the other texts, both cut to one limit together.
    pub(crate) fn with_reason(processed: &ProcessedHookResult) -> (String, Self) {
        let mut room = Room { left: MOST_FOR_MODEL };
        let reason = room.fit(processed.reason.as_deref().unwrap_or_default());
        let context = processed.additional_context.as_deref().filter(|text| !text.is_empty());
        let context = context.map(|text| room.fit(text));
        let message = processed.model_message.as_deref();
        let message = message.map(|text| room.fit(&format!("[System] {text}")));
        let said: Vec<String> = [context, message].into_iter().flatten().collect();
        let advice = Self {
            for_model: (!said.is_empty()).then(|| said.join("\n\n")),
            for_user: processed.system_message.clone(),
            suppress_output: processed.suppress_output,
        };
        (reason, advice)
    }

    /// Appends the texts of a later event.
    pub(crate) fn and(self, later: Self) -> Self {
        let both = |one: Option<String>, other: Option<String>| match (one, other) {
            (Some(one), Some(other)) => Some(format!("{one}\n\n{other}")),
            (one, other) => one.or(other),
        };
        Self {
            for_model: both(self.for_model, later.for_model),
            for_user: both(self.for_user, later.for_user),
            suppress_output: self.suppress_output || later.suppress_output,
        }
    }
}

/// Adds warnings that are not in the list yet: the events of one call repeat some.
pub(super) fn add_warnings(known: &mut Vec<String>, more: Vec<String>) {
    for warning in more {
        if !known.contains(&warning) {
            known.push(warning);
        }
    }
}

/// The rest of an event's limit.
struct Room {
    left: usize,
}

impl Room {
    fn fit(&mut self, text: &str) -> String {
        if text.len() <= self.left {
            self.left -= text.len();
            return text.to_owned();
        }
        let end = (0..=self.left).rev().find(|end| text.is_char_boundary(*end));
        let kept = text.get(..end.unwrap_or_default()).unwrap_or_default();
        let cut = text.len() - kept.len();
        self.left = 0;
        tracing::warn!(target: "hook::event", bytes = cut, "text of hooks for the model was cut");
        format!("{kept}\n[{cut} more bytes of hooks were cut]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_one_allowance_for_all_its_text() {
        let processed = ProcessedHookResult {
            reason: Some("é".repeat(5_000)),
            additional_context: Some("c".repeat(6_000)),
            model_message: Some("m".repeat(6_000)),
            ..ProcessedHookResult::empty_success()
        };
        let (reason, advice) = HookAdvice::with_reason(&processed);
        assert_eq!(reason.len(), 10_000);
        let said = advice.for_model.unwrap();
        let (context, message) = said.split_once("\n\n").unwrap();
        assert_eq!(context.len(), 6_000);
        let (kept, note) = message.split_once('\n').unwrap();
        assert_eq!(10_000 + context.len() + kept.len(), MOST_FOR_MODEL);
        assert_eq!(note, format!("[{} more bytes of hooks were cut]", 6_009 - kept.len()));
    }
}
