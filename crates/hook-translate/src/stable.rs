//! The stable form itself, which is checked and not translated. Its chunks are stable responses
//! with a piece of the text each.

use std::collections::HashMap;

use hook_json::shape::ShapeError;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmRequest, LlmResponse, ToolConfig};

use crate::{TranslateError, Translated, json};

pub(crate) fn to_stable_request(request: &RawObject) -> Result<RawObject, TranslateError> {
    LlmRequest::read(request)?;
    Ok(request.clone())
}

pub(crate) fn from_stable_request(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    Ok(overlay(to_stable_request(request)?, base))
}

pub(crate) fn to_stable_response(response: &RawObject) -> Result<RawObject, TranslateError> {
    LlmResponse::read(response)?;
    Ok(response.clone())
}

pub(crate) fn from_stable_response(
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    Ok(overlay(to_stable_response(response)?, original))
}

pub(crate) fn to_stable_tool_config(config: &RawObject) -> Result<RawObject, TranslateError> {
    ToolConfig::read(config.fields())?;
    Ok(config.clone())
}

pub(crate) fn from_stable_tool_config(
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    Ok(overlay(to_stable_tool_config(config)?, base))
}

/// Overlays a hook's answer on the original: field by field, and `config` setting by setting.
fn overlay(given: RawObject, base: Option<&RawObject>) -> Translated {
    let Some(base) = base.filter(|base| **base != given) else {
        return Translated::complete(given);
    };
    let mut changes = given.fields();
    let settings = |fields: &JsonObject| json::given(fields, "config")?.to_object().ok();
    if let (Some(mut base_config), Some(config)) = (settings(&base.fields()), settings(&changes)) {
        base_config.merge(&config);
        changes.insert("config", base_config.to_raw());
    }
    Translated::complete(base.merged(&changes))
}

/// Joins chunks to the complete response: texts are concatenated, other fields come from the last
/// chunk that has them.
pub(crate) fn join_chunks(chunks: &[RawObject]) -> Result<RawObject, TranslateError> {
    let mut joined = LlmResponse::default();
    let mut slots: HashMap<String, usize> = HashMap::new();
    for (number, chunk) in chunks.iter().enumerate() {
        let chunk =
            LlmResponse::read(chunk).map_err(|error| error.within(&format!("chunks[{number}]")))?;
        append(&mut joined.text, chunk.text);
        for (position, candidate) in chunk.candidates.into_iter().enumerate() {
            let index = candidate.index.as_ref().map_or(position.to_string(), RawJson::to_string);
            let slot = *slots.entry(index).or_insert_with(|| {
                joined.candidates.push(LlmCandidate::default());
                joined.candidates.len() - 1
            });
            join(&mut joined.candidates[slot], candidate);
        }
        joined.usage_metadata = chunk.usage_metadata.or(joined.usage_metadata);
        joined.extra.merge(&chunk.extra);
    }
    Ok(joined.to_raw())
}

fn append(text: &mut Option<String>, more: Option<String>) {
    match (text, more) {
        (Some(text), Some(more)) => text.push_str(&more),
        (text @ None, more) => *text = more,
        (Some(_), None) => {}
    }
}

fn join(joined: &mut LlmCandidate, chunk: LlmCandidate) {
    if let Some(parts) = chunk.parts {
        let joined = joined.parts.get_or_insert_default();
        let mut text = joined.pop();
        append(&mut text, (!parts.is_empty()).then(|| parts.concat()));
        joined.extend(text);
    }
    joined.finish_reason = chunk.finish_reason.or(joined.finish_reason.take());
    joined.index = chunk.index.or(joined.index.take());
    joined.safety_ratings = chunk.safety_ratings.or(joined.safety_ratings.take());
}

/// Returns a chunk with the text of `answer`, which has all candidates of the chunk and only text.
pub(crate) fn from_stable_chunk(
    answer: &RawObject,
    chunk: &RawObject,
) -> Result<Translated, TranslateError> {
    let (given, shown) = (LlmResponse::read(answer)?, LlmResponse::read(chunk)?);
    let mut changes = JsonObject::new();
    let mut candidates =
        json::given(&chunk.fields(), "candidates").and_then(RawJson::to_items).unwrap_or_default();
    let mut changed = false;
    let given_text = given.text.filter(|text| Some(text) != shown.text.as_ref());
    let mut text = given_text.clone();
    for (index, given) in given.candidates.into_iter().enumerate() {
        let same = given.parts == shown.candidates[index].parts;
        let parts = match (&given_text, given.parts) {
            (Some(text), Some(_)) if same && index == 0 => vec![text.clone()],
            (_, Some(parts)) if !same => parts,
            _ => continue,
        };
        if index == 0 {
            text = Some(parts.concat());
        }
        candidates[index] = with_parts(&candidates[index], &parts)?;
        changed = true;
    }
    if changed {
        changes.insert("candidates", RawJson::from_items(&candidates));
    }
    if let Some(text) = text.filter(|text| shown.text.as_ref().is_some_and(|shown| shown != text)) {
        changes.insert("text", RawJson::from_text(&text));
    }
    Ok(Translated::complete(chunk.merged(&changes)))
}

fn with_parts(candidate: &RawJson, parts: &[String]) -> Result<RawJson, TranslateError> {
    let object = |value: &RawJson| {
        value.to_object().map_err(|_| ShapeError::new("candidates", "objects", value.kind()))
    };
    let mut fields = object(candidate)?;
    let mut content = fields.get("content").map(object).transpose()?.unwrap_or_default();
    let texts: Vec<RawJson> = parts.iter().map(|part| RawJson::from_text(part)).collect();
    content.insert("parts", RawJson::from_items(&texts));
    fields.insert("content", content.to_raw());
    Ok(fields.to_raw().into())
}
