//! An event of a stream, and its text.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{RawJson, RawObject};
use hook_protocol::model::LlmResponse;

use crate::{TranslateError, Translated, chunk};

/// The text of an event, and the field that contains it.
struct EventText {
    field: &'static str,
    text: String,
}

/// Translates the text of an event into a stable response, if it has text.
pub(crate) fn to_stable_chunk(chunk: &RawObject) -> Result<Option<RawObject>, TranslateError> {
    Ok(read(chunk)?.map(|shown| chunk::text_response(shown.text)))
}

/// Returns the event with the text of `answer`, which has one candidate with only text.
pub(crate) fn from_stable_chunk(
    answer: &RawObject,
    chunk: &RawObject,
) -> Result<Translated, TranslateError> {
    let given = LlmResponse::read(answer)?;
    let Some(shown) = read(chunk)? else { return Ok(Translated::complete(chunk.clone())) };
    let parts = given.candidates.into_iter().next().and_then(|candidate| candidate.parts);
    let text = parts
        .map(|parts| parts.concat())
        .filter(|text| *text != shown.text)
        .or(given.text)
        .filter(|text| *text != shown.text);
    let Some(text) = text else { return Ok(Translated::complete(chunk.clone())) };
    let mut fields = chunk.fields();
    let mut inner =
        fields.get(shown.field).and_then(|inner| inner.to_object().ok()).unwrap_or_default();
    inner.insert("text", RawJson::from_text(&text));
    fields.insert(shown.field, inner.to_raw());
    Ok(Translated::complete(fields.to_raw()))
}

fn read(chunk: &RawObject) -> Result<Option<EventText>, ShapeError> {
    let mut reader = FieldReader::new(chunk.fields());
    let (field, kind) = match reader.text("type")?.as_deref() {
        Some("content_block_delta") => ("delta", "text_delta"),
        Some("content_block_start") => ("content_block", "text"),
        _ => return Ok(None),
    };
    let Some(inner) = reader.object(field)? else { return Ok(None) };
    let mut inner = FieldReader::new(inner.fields());
    let mut text = |name| inner.text(name).map_err(|error| error.within(field));
    if text("type")?.as_deref() != Some(kind) {
        return Ok(None);
    }
    Ok(text("text")?.filter(|text| !text.is_empty()).map(|text| EventText { field, text }))
}
