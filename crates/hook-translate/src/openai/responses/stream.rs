//! Responses as a stream of events.
//!
//! Only events with new text are shown. Those that repeat a text at its end
//! (`response.output_text.done`, `response.completed` and the like) are not, since all text would
//! appear twice.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmResponse};

use super::output::Output;
use crate::openai::response::{read_given, unshown_chunk};
use crate::{TranslateError, Translated, Warning, json};

/// The event with new text.
const TEXT: &str = "response.output_text.delta";

/// The final events of a stream, which contain the whole response.
const LAST: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

/// Joins the events of a stream to the complete response: that of the final event, or else the one
/// joined from the others.
pub(crate) fn join_chunks(events: &[RawObject]) -> Result<Translated, TranslateError> {
    let mut snapshot = None;
    let mut output = Output::default();
    let mut error = None;
    for (index, event) in events.iter().enumerate() {
        let in_chunk = |error: ShapeError| error.within(&format!("chunks[{index}]"));
        let fields = event.fields();
        let mut reader = FieldReader::new(fields.clone());
        let kind = reader.text("type").map_err(in_chunk)?.unwrap_or_default();
        let response = reader.object("response").map_err(in_chunk)?;
        if let Some(value) = response.as_ref().filter(|_| LAST.contains(&kind.as_str())) {
            return Ok(Translated::complete(value.clone()));
        }
        snapshot = response.or(snapshot);
        if kind == "error" {
            error = Some(fields);
        } else {
            output.add(&kind, reader).map_err(in_chunk)?;
        }
    }
    let mut response = snapshot.map(|snapshot| snapshot.fields()).unwrap_or_default();
    response.insert("output", output.joined());
    if let Some(error) = error {
        response.insert("status", RawJson::from_text("failed"));
        response.insert("error", error_object(&error));
    }
    let message = "the stream ended before the response did; this is what came of it";
    let warnings = vec![Warning::new("response", message)];
    Ok(Translated { value: response.to_raw(), warnings })
}

fn error_object(event: &JsonObject) -> RawObject {
    let names = ["code", "message", "param"].into_iter();
    let field = |name: &str| Some((name.to_owned(), event.get(name)?.clone()));
    names.filter_map(field).collect::<JsonObject>().to_raw()
}

/// Translates the text of an event into a stable response.
pub(crate) fn to_stable_chunk(event: &RawObject) -> Result<Option<RawObject>, TranslateError> {
    let Some(text) = shown(event)? else { return Ok(None) };
    let parts = Some(vec![text.clone()]);
    let shown = LlmResponse {
        text: Some(text),
        candidates: vec![LlmCandidate { parts, ..LlmCandidate::default() }],
        ..LlmResponse::default()
    };
    Ok(Some(shown.to_raw()))
}

/// Returns an event with the text of a hook's answer.
pub(crate) fn from_stable_chunk(
    answer: &RawObject,
    event: &RawObject,
) -> Result<Translated, TranslateError> {
    let Some(shown) = shown(event)? else { return unshown_chunk(answer, event) };
    let (given, mut warnings) = read_given(answer)?;
    let has_finish_reason = |candidate: &LlmCandidate| candidate.finish_reason.is_some();
    if given.usage_metadata.is_some() || given.candidates.iter().any(has_finish_reason) {
        let message = "this chunk shows nothing but text; all else is ignored";
        warnings.push(Warning::new("candidates", message));
    }
    // As in a complete response, `text` counts if the candidate is unchanged.
    let parts = given.candidates.first().and_then(|candidate| candidate.parts.as_ref());
    let parts = parts.map(|texts| texts.concat()).filter(|text| *text != shown);
    let text = parts.or_else(|| given.text.clone()).filter(|text| *text != shown);
    let mut changes = JsonObject::new();
    if let Some(text) = text {
        changes.insert("delta", RawJson::from_text(&text));
        let tokens = json::given(&event.fields(), "logprobs").and_then(RawJson::to_items);
        if tokens.is_some_and(|tokens| !tokens.is_empty()) {
            let message =
                "the hook changed the text; the log probabilities still spell the old one";
            warnings.push(Warning::new("logprobs", message));
        }
    }
    Ok(Translated { value: event.merged(&changes), warnings })
}

fn shown(event: &RawObject) -> Result<Option<String>, ShapeError> {
    let mut reader = FieldReader::new(event.fields());
    match reader.text("type")? {
        Some(kind) if kind == TEXT => Ok(reader.text("delta")?.filter(|text| !text.is_empty())),
        _ => Ok(None),
    }
}
