//! Responses in chunks (`chat.completion.chunk`).

use hook_json::shape::ShapeError;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmResponse};

use super::choice::Holder;
use super::response::{CHOICES, Response, overlaid};
use crate::openai::growing::Growing;
use crate::openai::response::unshown_chunk;
use crate::{TranslateError, Translated, Warning, json};

/// Fields of chunks only: padding that hides the length of text.
const ONLY_IN_CHUNKS: [&str; 1] = ["obfuscation"];

/// Joins the chunks of a stream to the complete response.
pub(crate) fn join_chunks(chunks: &[RawObject]) -> Result<Translated, TranslateError> {
    let mut growing = Growing::default();
    for (index, chunk) in chunks.iter().enumerate() {
        let in_chunk = |error: ShapeError| error.within(&format!("chunks[{index}]"));
        let read = Response::read(chunk, Holder::Delta).map_err(in_chunk)?;
        // Without an index, the choice of a delta is unknown.
        let has_no_index = |candidate: &LlmCandidate| candidate.index.is_none();
        if let Some(position) = read.shown().candidates.iter().position(has_no_index) {
            let path = format!("{CHOICES}[{position}].index");
            return Err(in_chunk(ShapeError::new(path, "a number", "nothing")).into());
        }
        growing.add(&chunk.fields());
    }
    let mut joined = growing.joined()?;
    for name in ONLY_IN_CHUNKS {
        joined.remove(name);
    }
    joined.insert("object", RawJson::from_text("chat.completion"));
    let choices = json::given(&joined, CHOICES).and_then(RawJson::to_items).unwrap_or_default();
    let choices: Vec<RawJson> = choices.iter().map(complete).collect();
    joined.insert(CHOICES, RawJson::from_items(&choices));
    let value = joined.to_raw();
    let shown = Response::read(&value, Holder::Message)?.shown();
    let unfinished = |(_, choice): &(usize, &LlmCandidate)| choice.finish_reason.is_none();
    let unfinished = shown.candidates.iter().enumerate().filter(unfinished).map(|(index, _)| {
        let path = format!("{CHOICES}[{index}].finish_reason");
        Warning::new(path, "the stream ended before this choice did")
    });
    Ok(Translated { warnings: unfinished.collect(), value })
}

/// Returns the choice of a complete response from one whose `delta` has all deltas joined.
fn complete(choice: &RawJson) -> RawJson {
    let object = |value: Option<&RawJson>| {
        value.and_then(|value| value.to_object().ok()).unwrap_or_default()
    };
    let fields = object(Some(choice));
    let mut message = object(fields.get(Holder::Delta.field()));
    if json::given(&message, "role").is_none() {
        message.insert("role", RawJson::from_text("assistant"));
    }
    for name in ["content", "refusal"] {
        if message.get(name).is_none() {
            message.insert(name, RawJson::null());
        }
    }
    if let Some(calls) = json::given(&message, "tool_calls").and_then(RawJson::to_items) {
        // The number only identifies the call of a piece.
        let call = |call: &RawJson| {
            let mut fields = object(Some(call));
            fields.remove("index");
            RawJson::from(fields.to_raw())
        };
        let calls: Vec<RawJson> = calls.iter().map(call).collect();
        message.insert("tool_calls", RawJson::from_items(&calls));
    }
    let mut complete: JsonObject = fields
        .iter()
        .map(|(name, value)| match name == Holder::Delta.field() {
            true => (Holder::Message.field().to_owned(), message.to_raw().into()),
            false => (name.to_owned(), value.clone()),
        })
        .collect();
    if complete.get(Holder::Message.field()).is_none() {
        complete.insert(Holder::Message.field(), message.to_raw());
    }
    complete.to_raw().into()
}

/// Translates the text of a chunk into a stable response.
pub(crate) fn to_stable_chunk(chunk: &RawObject) -> Result<Option<RawObject>, TranslateError> {
    let shown = Response::read(chunk, Holder::Delta)?.shown();
    Ok(shows_text(&shown).then(|| shown.to_raw()))
}

/// Returns a chunk with the text of a hook's answer.
pub(crate) fn from_stable_chunk(
    answer: &RawObject,
    chunk: &RawObject,
) -> Result<Translated, TranslateError> {
    if shows_text(&Response::read(chunk, Holder::Delta)?.shown()) {
        return overlaid(answer, chunk, Holder::Delta);
    }
    unshown_chunk(answer, chunk)
}

fn shows_text(chunk: &LlmResponse) -> bool {
    let parts = chunk.candidates.iter().filter_map(|candidate| candidate.parts.as_ref());
    parts.flatten().any(|text| !text.is_empty())
}
