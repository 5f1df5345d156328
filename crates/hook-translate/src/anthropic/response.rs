//! Responses.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmResponse};

use super::block::Blocks;
use super::usage::Usage;
use super::{stop_reason, synthetic};
use crate::distribute::{Portion, distribute, distribute_list};
use crate::{TranslateError, Translated, Warning, json};

/// Translates a response into the stable form.
pub(crate) fn to_stable_response(response: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(Response::read(response)?.shown().to_raw())
}

/// Translates a stable response, applied to `original` if there is one; else builds a complete one.
///
/// A hook's `candidates` take precedence over its `text`. Only the first can be expressed.
pub(crate) fn from_stable_response(
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = LlmResponse::read(response)?;
    let mut warnings = Warning::unknown_in_response(&given.extra);
    warn_about_unsupported(&given, &mut warnings);
    let Some(original) = original else {
        return Ok(Translated { value: synthetic::response(&given), warnings });
    };
    let base = Response::read(original)?;
    let mut changes = JsonObject::new();

    let has_candidates = json::given(&response.fields(), "candidates").is_some();
    if let Some(portions) = base.portions(&given, has_candidates) {
        let content = base.blocks.rewritten(portions, "content", &mut warnings);
        changes.insert("content", RawJson::from_items(&content));
    }
    let reason = given.candidates.first().and_then(|candidate| candidate.finish_reason.as_deref());
    let shown = base.stop_reason.as_deref().map(stop_reason::shown);
    if let Some(reason) = reason.filter(|reason| Some(*reason) != shown) {
        let name = stop_reason::from_stable(reason, base.stop_reason.as_deref());
        if Some(name) != base.stop_reason.as_deref() {
            changes.insert("stop_reason", RawJson::from_text(name));
        }
    }
    if let Some(usage) = &given.usage_metadata
        && let Some(usage) = base.usage.overlaid(usage, &mut warnings)
    {
        changes.insert("usage", usage);
    }
    Ok(Translated { value: original.merged(&changes), warnings })
}

/// Warns about content that responses of this SDK cannot express.
fn warn_about_unsupported(given: &LlmResponse, warnings: &mut Vec<Warning>) {
    for index in 1..given.candidates.len() {
        let message = "the sdk's response has one candidate; this one is ignored";
        warnings.push(Warning::new(format!("candidates[{index}]"), message));
    }
    let Some(candidate) = given.candidates.first() else { return };
    if candidate.safety_ratings.is_some() {
        let message = "the sdk's response has no safety ratings; they are ignored";
        warnings.push(Warning::new("candidates[0].safetyRatings", message));
    }
    if let Some(reason) = &candidate.finish_reason
        && !stop_reason::is_known(stop_reason::from_stable(reason, None))
    {
        let message = "not a word of this sdk; it is given on as written";
        warnings.push(Warning::new("candidates[0].finishReason", message));
    }
}

/// A response of the SDK.
#[derive(Debug, Default)]
struct Response {
    blocks: Blocks,
    /// `true` if there is a `content`; a response without one, such as an error, has no candidate.
    has_content: bool,
    stop_reason: Option<String>,
    usage: Usage,
}

impl Response {
    fn read(response: &RawObject) -> Result<Self, ShapeError> {
        let fields = response.fields();
        let content = json::given(&fields, "content");
        let blocks = content.map(|content| Blocks::read(&mut content.walk())).transpose();
        let blocks = blocks.map_err(|error| error.within("content"))?;
        let mut reader = FieldReader::new(fields);
        Ok(Self {
            has_content: blocks.is_some(),
            blocks: blocks.unwrap_or_default(),
            stop_reason: reader.text("stop_reason")?,
            usage: Usage::read(&mut reader)?,
        })
    }

    fn text(&self) -> Option<String> {
        let texts = self.blocks.texts();
        (!texts.is_empty()).then(|| texts.concat())
    }

    fn shown(&self) -> LlmResponse {
        let candidate = LlmCandidate {
            parts: Some(self.blocks.texts()),
            finish_reason: self.stop_reason.as_deref().map(stop_reason::shown).map(str::to_owned),
            ..LlmCandidate::default()
        };
        LlmResponse {
            text: self.text(),
            candidates: Vec::from_iter(self.has_content.then_some(candidate)),
            usage_metadata: self.usage.shown(),
            extra: JsonObject::new(),
        }
    }

    /// Returns the portions of the blocks with text, if a hook changed any.
    fn portions(&self, given: &LlmResponse, has_candidates: bool) -> Option<Vec<Portion>> {
        let pieces = self.blocks.pieces();
        let given_parts = match given.candidates.first() {
            Some(candidate) => candidate.parts.as_deref(),
            // A hook that removes the only candidate removes its text.
            None => (has_candidates && self.has_content).then_some([].as_slice()),
        };
        let is_same = |parts: &&[String]| self.blocks.texts() == **parts;
        if let Some(parts) = given_parts.filter(|parts| !is_same(parts)) {
            return Some(distribute_list(&pieces, parts));
        }
        let text = given.text.as_deref()?;
        (text != self.text().unwrap_or_default()).then(|| distribute(&pieces, text))
    }
}
