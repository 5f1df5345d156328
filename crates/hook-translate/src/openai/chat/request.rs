//! Requests.

use std::cell::LazyCell;

use hook_json::shape::{ShapeError, read_list};
use hook_json::{JsonWalk, RawObject};
use hook_protocol::model::LlmMessage;

use super::message::Message;
use crate::conversation::{Entry, Plan};
use crate::openai::pairing::OpenPositions;
use crate::openai::request::{self, Conversation};
use crate::openai::role;
use crate::openai::settings::Setting;
use crate::openai::tool_choice::Nesting;
use crate::rewritten::{Overlaid, Rewritten};
use crate::{TranslateError, Translated, Warning};

/// Translates a request into the stable form.
pub(crate) fn to_stable_request(request: &RawObject) -> Result<RawObject, TranslateError> {
    request::to_stable::<Messages>(request)
}

/// Translates a stable request, applied to `base` if there is one.
pub(crate) fn from_stable_request(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    request::from_stable::<Messages>(request, base)
}

/// The `messages` of a request.
#[derive(Debug, Default)]
struct Messages(Vec<Message>);

impl Conversation for Messages {
    const FIELD: &'static str = "messages";

    const SETTINGS: &'static [Setting] = &[
        Setting { stable: "temperature", names: &["temperature"], new: Some("temperature") },
        Setting {
            stable: "maxOutputTokens",
            // The second is the older name, which reasoning models reject.
            names: &["max_completion_tokens", "max_tokens"],
            new: Some("max_completion_tokens"),
        },
        Setting { stable: "topP", names: &["top_p"], new: Some("top_p") },
        // Only other servers with this API have it.
        Setting { stable: "topK", names: &["top_k"], new: None },
    ];

    const NESTING: Nesting = Nesting::ByType;

    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        Ok(Self(read_list(walk, Message::read)?.unwrap_or_default()))
    }

    fn messages(&self) -> Vec<LlmMessage> {
        self.0.iter().filter_map(Entry::message).collect()
    }

    fn overlaid(&self, messages: &[LlmMessage], warnings: &mut Vec<Warning>) -> Option<Overlaid> {
        // Most hooks insert nothing.
        let open_positions =
            LazyCell::new(|| OpenPositions::of(self.0.iter().map(Message::relation)));
        let between = |before, after| open_positions.between(before, after);
        let plan = Plan::of(&self.0, messages, between)?;
        let system = role::system_name(self.0.iter().map(Message::is_by_developer));
        let new = |message: &LlmMessage| Message::from_hook(message, system);
        let result = plan.apply_to(&self.0, item_path, new, warnings);
        let old = self.0.iter().map(Entry::raw);
        Some(Overlaid::Items(Rewritten::of(Self::FIELD, old, result)))
    }
}

fn item_path(index: usize) -> String {
    format!("messages[{index}]")
}
