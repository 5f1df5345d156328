//! A response that a hook gives instead of the model.

use hook_json::{RawJson, RawObject};
use hook_protocol::model::{LlmResponse, UsageMetadata};

use super::block::text_block;
use super::stop_reason;
use crate::json;

/// The placeholders for the id and the model of a response without them.
const PLACEHOLDERS: [(&str, &str); 2] = [("id", "msg_hook"), ("model", "hook")];

/// Returns a complete response for a hook's response.
pub(super) fn response(given: &LlmResponse) -> RawObject {
    let candidate = given.candidates.first();
    let texts = match candidate.and_then(|candidate| candidate.parts.as_deref()) {
        Some(parts) => parts,
        None => given.text.as_slice(),
    };
    let blocks: Vec<RawJson> =
        texts.iter().filter(|text| !text.is_empty()).map(|text| text_block(text)).collect();
    let reason = candidate
        .and_then(|candidate| candidate.finish_reason.as_deref())
        .map_or("end_turn", |reason| stop_reason::from_stable(reason, None));
    let usage = given.usage_metadata.clone().unwrap_or_default();
    let UsageMetadata { prompt_token_count, candidates_token_count, .. } = usage;
    let zero = || RawJson::from_u64(0);
    let usage = json::object([
        ("input_tokens", prompt_token_count.unwrap_or_else(zero)),
        ("output_tokens", candidates_token_count.unwrap_or_else(zero)),
    ]);
    let text = RawJson::from_text;
    let [id, model] = PLACEHOLDERS.map(|(name, value)| (name, text(value)));
    json::object([
        id,
        ("type", text("message")),
        ("role", text("assistant")),
        model,
        ("content", RawJson::from_items(&blocks)),
        ("stop_reason", text(reason)),
        ("stop_sequence", RawJson::null()),
        ("usage", usage.into()),
    ])
}
