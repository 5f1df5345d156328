//! Requests.

use hook_core::model::LlmMessage;
use hook_core::shape::ShapeError;
use hook_core::{RawJson, RawObject};

use super::message::Message;
use crate::conversation::{Entry, Plan};
use crate::openai::pairing::{Places, Tie};
use crate::openai::request::{self, Conversation};
use crate::openai::role;
use crate::openai::settings::Setting;
use crate::openai::tool_choice::Nesting;
use crate::{TranslateError, Translated, Warning, json};

/// A request as hooks see it.
pub(crate) fn to_stable_request(request: &RawObject) -> Result<RawObject, TranslateError> {
    request::to_stable::<Messages>(request)
}

/// A stable request laid over `base`; without a base, on its own.
pub(crate) fn from_stable_request(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    request::from_stable::<Messages>(request, base)
}

/// The `messages` of a request.
#[derive(Debug)]
struct Messages(Vec<Message>);

impl Conversation for Messages {
    const FIELD: &'static str = "messages";

    const SETTINGS: &'static [Setting] = &[
        Setting { stable: "temperature", names: &["temperature"], new: Some("temperature") },
        Setting {
            stable: "maxOutputTokens",
            // The second is the older name, which reasoning models refuse.
            names: &["max_completion_tokens", "max_tokens"],
            new: Some("max_completion_tokens"),
        },
        Setting { stable: "topP", names: &["top_p"], new: Some("top_p") },
        // Only other servers with this API have it.
        Setting { stable: "topK", names: &["top_k"], new: None },
    ];

    const NESTING: Nesting = Nesting::ByType;

    fn read(messages: Option<&RawJson>) -> Result<Self, TranslateError> {
        let Some(value) = messages.filter(|messages| !messages.is_null()) else {
            return Ok(Self(Vec::new()));
        };
        let items = value
            .to_items()
            .ok_or_else(|| ShapeError::new(Self::FIELD, "an array", value.kind()))?;
        let read = |(index, item)| Message::read(item, || place(index));
        Ok(Self(items.iter().enumerate().map(read).collect::<Result<_, _>>()?))
    }

    fn messages(&self) -> Vec<LlmMessage> {
        self.0.iter().filter_map(Message::message).collect()
    }

    fn overlaid(
        &self,
        messages: &[LlmMessage],
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let ties: Vec<Tie> = self.0.iter().map(Message::tie).collect();
        let places = Places::of(&ties);
        let between = |before, after| places.between(before, after);
        let Some(plan) = Plan::of(&self.0, messages, between) else { return Ok(None) };
        let system = role::of_system(self.0.iter().filter_map(Message::role));
        let new = |message: &LlmMessage| Ok(Message::of_hook(message, system));
        let written = plan.written(&self.0, place, new, warnings)?;
        json::array(Self::FIELD, &written).map(Some)
    }
}

fn place(index: usize) -> String {
    format!("messages[{index}]")
}
