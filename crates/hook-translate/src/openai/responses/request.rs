//! Requests.

use hook_core::model::LlmMessage;
use hook_core::shape::ShapeError;
use hook_core::{RawJson, RawObject};

use super::item::Item;
use crate::conversation::{Entry, Plan};
use crate::openai::pairing::{Places, Tie};
use crate::openai::request::{self, Conversation};
use crate::openai::role;
use crate::openai::settings::Setting;
use crate::openai::tool_choice::Nesting;
use crate::{TranslateError, Translated, Warning, json};

/// A request as hooks see it.
pub(crate) fn to_stable_request(request: &RawObject) -> Result<RawObject, TranslateError> {
    request::to_stable::<Input>(request)
}

/// A stable request laid over `base`; without a base, on its own.
pub(crate) fn from_stable_request(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    request::from_stable::<Input>(request, base)
}

/// The `input` of a request.
#[derive(Debug)]
struct Input {
    items: Vec<Item>,
    /// Whether there was a string instead of a list.
    single: bool,
}

impl Conversation for Input {
    const FIELD: &'static str = "input";

    const SETTINGS: &'static [Setting] = &[
        Setting { stable: "temperature", names: &["temperature"], new: Some("temperature") },
        Setting {
            stable: "maxOutputTokens",
            names: &["max_output_tokens"],
            new: Some("max_output_tokens"),
        },
        Setting { stable: "topP", names: &["top_p"], new: Some("top_p") },
        // Only other servers with this API have it.
        Setting { stable: "topK", names: &["top_k"], new: None },
    ];

    const NESTING: Nesting = Nesting::Flat;

    fn read(input: Option<&RawJson>) -> Result<Self, TranslateError> {
        let Some(value) = input.filter(|input| !input.is_null()) else {
            return Ok(Self { items: Vec::new(), single: false });
        };
        if let Some(text) = value.to_text() {
            return Ok(Self { items: vec![Item::of_text(value, text)], single: true });
        }
        let items = value
            .to_items()
            .ok_or_else(|| ShapeError::new(Self::FIELD, "a string or an array", value.kind()))?;
        Ok(Self { items: Item::read_all(Self::FIELD, &items)?, single: false })
    }

    fn messages(&self) -> Vec<LlmMessage> {
        self.items.iter().filter_map(Item::message).collect()
    }

    fn overlaid(
        &self,
        messages: &[LlmMessage],
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let ties: Vec<Tie> = self.items.iter().map(Item::tie).collect();
        let places = Places::of(&ties);
        let between = |before, after| places.between(before, after);
        let Some(plan) = Plan::of(&self.items, messages, between) else { return Ok(None) };
        let system = role::of_system(self.items.iter().filter_map(Item::role));
        let new = |message: &LlmMessage| Ok(Item::of_hook(message, system));
        let path = |index| match self.single {
            true => Self::FIELD.to_owned(),
            false => format!("{}[{index}]", Self::FIELD),
        };
        let written = plan.written(&self.items, path, new, warnings)?;
        match written.as_slice() {
            [text] if self.single && text.to_text().is_some() => Ok(Some(text.clone())),
            items => self.list(items, system).map(Some),
        }
    }
}

impl Input {
    /// A list of items. A string among them is what the whole input was: a list cannot have it.
    fn list(&self, items: &[RawJson], system: &'static str) -> Result<RawJson, TranslateError> {
        let item = |item: &RawJson| match item.to_text().filter(|_| self.single) {
            Some(content) => {
                let role = hook_core::model::LlmRole::User;
                Item::of_hook(&LlmMessage { role, content }, system)
            }
            None => item.clone(),
        };
        json::array(Self::FIELD, &items.iter().map(item).collect::<Vec<_>>())
    }
}
