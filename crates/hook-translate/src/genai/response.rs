//! Responses.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmResponse};

use super::candidate::Candidate;
use crate::alternatives::Alternatives;
use crate::usage::{Usage, UsageNames};
use crate::{TranslateError, Translated, Warning, json};

const USAGE: UsageNames = UsageNames {
    field: "usageMetadata",
    counts: ["promptTokenCount", "candidatesTokenCount", "totalTokenCount"],
};

/// Translates a response into the stable form.
pub(crate) fn to_stable_response(response: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(Response::read(response)?.shown().to_raw())
}

/// Translates a stable response, applied to `original` if there is one.
///
/// A hook's `candidates` take precedence over its `text`, which is the first candidate's.
pub(crate) fn from_stable_response(
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = LlmResponse::read(response)?;
    let mut warnings = Warning::unknown_in_response(&given.extra);

    let base = Response::read(original.unwrap_or(&RawObject::empty()))?;
    let shown_text = base.candidates.text().unwrap_or_default();
    let text = given.text.as_deref().filter(|text| *text != shown_text);
    let new = |given: &LlmCandidate, _| Candidate::from_hook(given);
    let candidates = if json::given(&response.fields(), "candidates").is_some() {
        base.candidates.overlaid(&given.candidates, text, new, &mut warnings)
    } else {
        text.map(|text| base.candidates.with_text(text, new, &mut warnings))
    };

    let mut changes = JsonObject::new();
    if original.is_none() {
        if let Some(text) = &given.text {
            changes.insert("text", RawJson::from_text(text));
        }
        let candidates = candidates.unwrap_or_default();
        changes.insert("candidates", RawJson::from_items(&candidates));
    } else if let Some(candidates) = candidates {
        if json::given(&base.fields, "text").is_some() {
            changes.insert("text", RawJson::from_text(&text_of(&candidates)?));
        }
        changes.insert("candidates", RawJson::from_items(&candidates));
    }
    if let Some(given) = &given.usage_metadata {
        match base.usage.overlaid(given) {
            Some(usage) => changes.insert(USAGE.field, usage),
            None if original.is_none() => changes.insert(USAGE.field, RawObject::empty()),
            None => {}
        }
    }
    let value = original.map_or_else(|| changes.to_raw(), |original| original.merged(&changes));
    Ok(Translated { value, warnings })
}

/// A response of the SDK.
#[derive(Debug)]
struct Response {
    fields: JsonObject,
    candidates: Alternatives<Candidate>,
    usage: Usage,
}

impl Response {
    fn read(response: &RawObject) -> Result<Self, TranslateError> {
        let fields = response.fields();
        let mut reader = FieldReader::new(fields.clone());
        let candidates = reader.items("candidates")?.unwrap_or_default();
        Ok(Self {
            fields,
            candidates: read_candidates(&candidates)?,
            usage: Usage::read(&USAGE, &mut reader)?,
        })
    }

    fn shown(&self) -> LlmResponse {
        LlmResponse {
            text: self.candidates.text(),
            candidates: self.candidates.shown(),
            usage_metadata: self.usage.shown(),
            extra: JsonObject::new(),
        }
    }
}

fn read_candidates(items: &[RawJson]) -> Result<Alternatives<Candidate>, ShapeError> {
    Alternatives::read("candidates", items, |raw, path| Candidate::read(raw, path))
}

fn text_of(candidates: &[RawJson]) -> Result<String, TranslateError> {
    let first = candidates.get(..1).unwrap_or_default();
    Ok(read_candidates(first)?.text().unwrap_or_default())
}
