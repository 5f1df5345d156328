//! Requests.

use std::cell::LazyCell;

use hook_json::shape::ShapeError;
use hook_json::{JsonKind, JsonText, JsonWalk, RawJson, RawObject};
use hook_protocol::model::{LlmMessage, LlmRole};

use super::item::Item;
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
    request::to_stable::<Input>(request)
}

/// Translates a stable request, applied to `base` if there is one.
pub(crate) fn from_stable_request(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    request::from_stable::<Input>(request, base)
}

/// The `input` of a request.
#[derive(Debug, Default)]
struct Input {
    items: Vec<Item>,
    /// `true` if the input was a string instead of a list.
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

    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        if walk.kind() == JsonKind::Array {
            return Ok(Self { items: Item::read_list(walk)?, single: false });
        }
        match JsonText::try_from(walk.value().to_raw()) {
            Ok(text) => Ok(Self { items: vec![Item::from_text(text)], single: true }),
            Err(other) if other.is_null() => Ok(Self::default()),
            Err(other) => Err(ShapeError::new("", "a string or an array", other.kind())),
        }
    }

    fn messages(&self) -> Vec<LlmMessage> {
        self.items.iter().filter_map(Entry::message).collect()
    }

    fn overlaid(&self, messages: &[LlmMessage], warnings: &mut Vec<Warning>) -> Option<Overlaid> {
        // Most hooks insert nothing.
        let open_positions =
            LazyCell::new(|| OpenPositions::of(self.items.iter().map(Item::relation)));
        let between = |before, after| open_positions.between(before, after);
        let plan = Plan::of(&self.items, messages, between)?;
        let system = role::system_name(self.items.iter().map(Item::is_by_developer));
        let new = |message: &LlmMessage| Item::from_hook(message, system);
        let path = |index| match self.single {
            true => Self::FIELD.to_owned(),
            false => format!("{}[{index}]", Self::FIELD),
        };
        let result = plan.apply_to(&self.items, path, new, warnings);
        if !self.single {
            let old = self.items.iter().map(Entry::raw);
            return Some(Overlaid::Items(Rewritten::of(Self::FIELD, old, result)));
        }
        Some(Overlaid::Value(match result.as_slice() {
            [text] if text.kind() == JsonKind::String => text.clone(),
            items => list(items, system),
        }))
    }
}

/// Returns a list of items. A string among them was the whole input; it becomes a message, since a
/// list cannot contain it.
fn list(items: &[RawJson], system: &'static str) -> RawJson {
    let item = |item: &RawJson| match JsonText::try_from(item.clone()) {
        Ok(content) => Item::from_hook(&LlmMessage { role: LlmRole::User, content }, system),
        Err(item) => item,
    };
    RawJson::from_items(&items.iter().map(item).collect::<Vec<_>>())
}
