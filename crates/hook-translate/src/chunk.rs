//! The effective part of a hook's answer to a chunk: its text.

use hook_json::RawObject;
use hook_protocol::model::{LlmCandidate, LlmResponse};

use crate::{TranslateError, Warning, json};

/// Returns the response if it has any text.
pub(crate) fn with_text(response: RawObject) -> Result<Option<RawObject>, TranslateError> {
    let has_text = has_text(&LlmResponse::read(&response)?);
    Ok(has_text.then_some(response))
}

/// Returns a response with only this text.
pub(crate) fn text_response(text: String) -> RawObject {
    let candidate = LlmCandidate { parts: Some(vec![text.clone()]), ..LlmCandidate::default() };
    let (text, candidates) = (Some(text), vec![candidate]);
    LlmResponse { text, candidates, ..LlmResponse::default() }.to_raw()
}

/// Returns the answer with all original candidates, in their order, and only text: the hook's, or
/// else the original. Other changes of the hook become warnings.
pub(crate) fn text_only_answer(
    answer: &RawObject,
    shown: Option<&RawObject>,
) -> Result<(RawObject, Vec<Warning>), TranslateError> {
    let given = LlmResponse::read(answer)?;
    let mut warnings = Warning::unknown_in_response(&given.extra);
    let Some(shown) = shown else {
        if has_text(&given) {
            let message = "the chunk shows no text that could be changed; it is ignored";
            warnings.push(Warning::new("text", message));
        }
        return Ok((RawObject::empty(), warnings));
    };
    let shown = LlmResponse::read(shown)?;
    warn_about_non_text(&given, &shown, &mut warnings);
    let answered = |(position, shown): (usize, &LlmCandidate)| {
        let parts = match matching_candidate(&given.candidates, shown, position) {
            Some(given) => given.parts.clone().or_else(|| shown.parts.clone()),
            None if json::given(&answer.fields(), "candidates").is_none() => shown.parts.clone(),
            // The hook removed the candidate; a chunk can only lose its text.
            None => Some(Vec::new()),
        };
        LlmCandidate { parts, index: shown.index.clone(), ..LlmCandidate::default() }
    };
    let text_only = LlmResponse {
        text: given.text.clone(),
        candidates: shown.candidates.iter().enumerate().map(answered).collect(),
        ..LlmResponse::default()
    };
    Ok((text_only.to_raw(), warnings))
}

/// Returns the hook's candidate with the same `index`, else the one at the same position.
fn matching_candidate<'g>(
    given: &'g [LlmCandidate],
    shown: &LlmCandidate,
    position: usize,
) -> Option<&'g LlmCandidate> {
    let same_position = given.get(position);
    let same_index = || given.iter().find(|given| given.index == shown.index);
    match same_position {
        Some(candidate) if candidate.index == shown.index => Some(candidate),
        _ if shown.index.is_some() => {
            same_index().or_else(|| same_position.filter(|candidate| candidate.index.is_none()))
        }
        _ => same_position,
    }
}

fn has_text(response: &LlmResponse) -> bool {
    let parts = response.candidates.iter().flat_map(|candidate| candidate.parts.iter().flatten());
    response.text.iter().chain(parts).any(|text| !text.is_empty())
}

fn warn_about_non_text(given: &LlmResponse, shown: &LlmResponse, warnings: &mut Vec<Warning>) {
    let message = "only the text of a chunk can be changed; it is ignored";
    let mut warn = |path: String| warnings.push(Warning::new(path, message));
    for (position, given) in given.candidates.iter().enumerate() {
        let shown =
            matching_candidate(&shown.candidates, given, position).cloned().unwrap_or_default();
        if given.finish_reason.is_some() && given.finish_reason != shown.finish_reason {
            warn(format!("candidates[{position}].finishReason"));
        }
        if given.safety_ratings.is_some() && given.safety_ratings != shown.safety_ratings {
            warn(format!("candidates[{position}].safetyRatings"));
        }
    }
    for position in shown.candidates.len()..given.candidates.len() {
        warn(format!("candidates[{position}]"));
    }
    if given.usage_metadata.is_some() && given.usage_metadata != shown.usage_metadata {
        warn("usageMetadata".to_owned());
    }
}
