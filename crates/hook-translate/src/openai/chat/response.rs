//! Responses.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmResponse};

use super::choice::{Choice, Holder};
use crate::alternatives::Alternatives;
use crate::openai::response::{read_given, synthetic_usage};
use crate::usage::{Usage, UsageNames};
use crate::{TranslateError, Translated, json};

const USAGE: UsageNames =
    UsageNames { field: "usage", counts: ["prompt_tokens", "completion_tokens", "total_tokens"] };

pub(super) const CHOICES: &str = "choices";

/// Translates a response into the stable form.
pub(crate) fn to_stable_response(response: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(Response::read(response, Holder::Message)?.shown().to_raw())
}

/// Translates a stable response, applied to `original` if there is one.
pub(crate) fn from_stable_response(
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    match original {
        Some(original) => overlaid(response, original, Holder::Message),
        None => synthetic(response),
    }
}

/// Applies a stable response to a complete one, or to a chunk.
///
/// A hook's `candidates` take precedence over its `text`, which is the first one's. An empty list
/// of candidates counts as none.
pub(super) fn overlaid(
    response: &RawObject,
    original: &RawObject,
    holder: Holder,
) -> Result<Translated, TranslateError> {
    let (given, mut warnings) = read_given(response)?;
    let base = Response::read(original, holder)?;
    let shown_text = base.choices.text().unwrap_or_default();
    let text = given.text.as_deref().filter(|text| *text != shown_text);
    let new = |given: &LlmCandidate, position| Choice::from_hook(given, holder, position);
    let choices = if given.candidates.is_empty() {
        text.map(|text| base.choices.with_text(text, new, &mut warnings))
    } else {
        base.choices.overlaid(&given.candidates, text, new, &mut warnings)
    };
    let mut changes = JsonObject::new();
    if let Some(choices) = choices {
        changes.insert(CHOICES, RawJson::from_items(&choices));
    }
    if let Some(usage) = given.usage_metadata.and_then(|usage| base.usage.overlaid(&usage)) {
        changes.insert(USAGE.field, usage);
    }
    Ok(Translated { value: original.merged(&changes), warnings })
}

/// Returns the complete response of a hook that answers instead of the model.
fn synthetic(response: &RawObject) -> Result<Translated, TranslateError> {
    let (mut given, warnings) = read_given(response)?;
    if given.candidates.is_empty() {
        given.candidates.push(LlmCandidate::default());
    }
    if let Some(text) = given.text.take()
        && let Some(first) = given.candidates.first_mut().filter(|first| first.parts.is_none())
    {
        first.parts = Some(vec![text]);
    }
    let choice = |(position, given): (usize, &LlmCandidate)| {
        Choice::from_hook(given, Holder::Message, position)
    };
    let choices: Vec<RawJson> = given.candidates.iter().enumerate().map(choice).collect();
    let mut fields = json::object([
        ("id", RawJson::from_text("chatcmpl-hook")),
        ("object", RawJson::from_text("chat.completion")),
        ("created", RawJson::from_u64(0)),
        ("model", RawJson::from_text("hook")),
        (CHOICES, RawJson::from_items(&choices)),
    ])
    .fields();
    if let Some(usage) = &given.usage_metadata {
        fields.insert(USAGE.field, synthetic_usage(&USAGE, usage));
    }
    Ok(Translated { value: fields.to_raw(), warnings })
}

/// A response of the SDK.
#[derive(Debug)]
pub(super) struct Response {
    choices: Alternatives<Choice>,
    usage: Usage,
}

impl Response {
    pub(super) fn read(response: &RawObject, holder: Holder) -> Result<Self, ShapeError> {
        let mut reader = FieldReader::new(response.fields());
        let choices = reader.items(CHOICES)?.unwrap_or_default();
        let choices =
            Alternatives::read(CHOICES, &choices, |raw, path| Choice::read(raw, holder, path))?;
        Ok(Self { choices, usage: Usage::read(&USAGE, &mut reader)? })
    }

    pub(super) fn shown(&self) -> LlmResponse {
        LlmResponse {
            text: self.choices.text(),
            candidates: self.choices.shown(),
            usage_metadata: self.usage.shown(),
            extra: JsonObject::new(),
        }
    }
}
