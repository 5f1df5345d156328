//! The common parts of responses of both APIs.

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmResponse, UsageMetadata};

use crate::usage::UsageNames;
use crate::{TranslateError, Translated, Warning};

/// Reads a hook's response, with warnings for content that neither API can express.
pub(super) fn read_given(
    response: &RawObject,
) -> Result<(LlmResponse, Vec<Warning>), TranslateError> {
    let given = LlmResponse::read(response)?;
    let mut warnings = Vec::new();
    for (name, _) in given.extra.iter() {
        warnings.push(Warning::new(name, "not a field of a stable response; it is ignored"));
    }
    for (index, candidate) in given.candidates.iter().enumerate() {
        if candidate.safety_ratings.as_ref().is_some_and(|ratings| !ratings.is_empty()) {
            let path = format!("candidates[{index}].safetyRatings");
            warnings.push(Warning::new(path, "responses of this sdk have none; it is ignored"));
        }
    }
    Ok((given, warnings))
}

/// Returns the token counts of a synthetic response; missing ones are zero.
pub(super) fn synthetic_usage(names: &UsageNames, given: &UsageMetadata) -> RawObject {
    let [prompt, answer, total] = names.counts;
    let count = |given: &Option<RawJson>| given.clone().unwrap_or_else(|| RawJson::from_u64(0));
    let (prompt_count, answer_count) =
        (count(&given.prompt_token_count), count(&given.candidates_token_count));
    let number = |count: &RawJson| count.to_u64().unwrap_or_default();
    let sum = || RawJson::from_u64(number(&prompt_count).saturating_add(number(&answer_count)));
    let sum = given.total_token_count.clone().unwrap_or_else(sum);
    let mut counts = JsonObject::new();
    for (name, count) in [(prompt, prompt_count), (answer, answer_count), (total, sum)] {
        counts.insert(name, count);
    }
    counts.to_raw()
}

/// Returns a chunk unchanged, because hooks do not see it.
pub(super) fn unshown_chunk(
    answer: &RawObject,
    chunk: &RawObject,
) -> Result<Translated, TranslateError> {
    let (given, mut warnings) = read_given(answer)?;
    let parts = given.candidates.first().and_then(|candidate| candidate.parts.as_ref());
    let text = parts.map(|texts| texts.concat()).or_else(|| given.text.clone());
    if text.is_some_and(|text| !text.is_empty()) {
        warnings.push(Warning::new("text", "this chunk shows no text that it could replace"));
    }
    Ok(Translated { value: chunk.clone(), warnings })
}
