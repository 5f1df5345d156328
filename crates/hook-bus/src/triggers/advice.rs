//! The hooks' texts other than their decision: context and messages for the model, cut so that they
//! cannot flood a conversation, and messages for the user.

use hook_core::ProcessedHookResult;

/// The maximum size of the hooks' text for the model per event, in bytes (reference/answers.md).
const MAX_MODEL_TEXT: usize = 16 * 1024;

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
        let mut budget = TextBudget { remaining: MAX_MODEL_TEXT };
        let reason = budget.take(processed.reason.as_deref().unwrap_or_default());
        let context = processed.additional_context.as_deref().filter(|text| !text.is_empty());
        let context = context.map(|text| budget.take(text));
        let message = processed.model_message.as_deref();
        let message = message.map(|text| budget.take(&format!("[System] {text}")));
        let model_texts: Vec<String> = [context, message].into_iter().flatten().collect();
        let advice = Self {
            for_model: (!model_texts.is_empty()).then(|| model_texts.join("\n\n")),
            for_user: processed.system_message.clone(),
            suppress_output: processed.suppress_output,
        };
        (reason, advice)
    }

    /// Appends the texts of a later event.
    pub(crate) fn merge(self, later: Self) -> Self {
        let join = |one: Option<String>, other: Option<String>| match (one, other) {
            (Some(one), Some(other)) => Some(format!("{one}\n\n{other}")),
            (one, other) => one.or(other),
        };
        Self {
            for_model: join(self.for_model, later.for_model),
            for_user: join(self.for_user, later.for_user),
            suppress_output: self.suppress_output || later.suppress_output,
        }
    }
}

/// Adds warnings that are not in the list yet: the events of one call repeat some.
pub(super) fn add_warnings(warnings: &mut Vec<String>, more: Vec<String>) {
    for warning in more {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// The rest of an event's limit.
struct TextBudget {
    remaining: usize,
}

impl TextBudget {
    fn take(&mut self, text: &str) -> String {
        if text.len() <= self.remaining {
            self.remaining -= text.len();
            return text.to_owned();
        }
        let end = (0..=self.remaining).rev().find(|end| text.is_char_boundary(*end));
        let prefix = text.get(..end.unwrap_or_default()).unwrap_or_default();
        let omitted = text.len() - prefix.len();
        self.remaining = 0;
        tracing::warn!(target: "hook::event", bytes = omitted, "text of hooks for the model was cut");
        format!("{prefix}\n[{omitted} more bytes of hooks were cut]")
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
        let text = advice.for_model.unwrap();
        let (context, message) = text.split_once("\n\n").unwrap();
        assert_eq!(context.len(), 6_000);
        let (kept, note) = message.split_once('\n').unwrap();
        assert_eq!(10_000 + context.len() + kept.len(), MAX_MODEL_TEXT);
        assert_eq!(note, format!("[{} more bytes of hooks were cut]", 6_009 - kept.len()));
    }
}
