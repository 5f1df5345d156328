//! Responses in chunks, for all SDKs.

use hook_json::{RawJson, RawObject};

use crate::openai::{chat, responses};
use crate::{
    Sdk, TranslateError, Translated, anthropic, chunk, from_stable_response, genai, json, stable,
    to_stable_response,
};

/// Joins the chunks (or events) of a stream, in their order, to a complete response.
///
/// Warnings name what is missing from a stream that ended early.
///
/// # Errors
/// [`Shape`](TranslateError::Shape) names the field that does not have its shape, such as
/// `chunks[3].choices`.
pub fn join_chunks(sdk: Sdk, chunks: &[RawObject]) -> Result<Translated, TranslateError> {
    if let [only] = chunks
        && is_complete(sdk, only)
    {
        return Ok(Translated::complete(only.clone()));
    }
    match sdk {
        Sdk::GenAi => genai::join_chunks(chunks).map(Translated::complete),
        Sdk::Anthropic => anthropic::join_chunks(chunks),
        Sdk::Stable => stable::join_chunks(chunks).map(Translated::complete),
        Sdk::OpenAiChat => chat::join_chunks(chunks),
        Sdk::OpenAiResponses => responses::join_chunks(chunks),
    }
}

/// Translates the text of one chunk into a stable response. Returns `None` for a chunk without new
/// text, such as a final one that repeats the text of the others.
///
/// # Errors
/// As [`join_chunks`], for the chunk.
pub fn to_stable_chunk(sdk: Sdk, chunk: &RawObject) -> Result<Option<Translated>, TranslateError> {
    if is_complete(sdk, chunk) {
        return to_stable_response(sdk, chunk).map(Some);
    }
    let shown = match sdk {
        Sdk::GenAi => chunk::with_text(genai::to_stable_response(chunk)?)?,
        Sdk::Anthropic => anthropic::to_stable_chunk(chunk)?,
        Sdk::Stable => chunk::with_text(chunk.clone())?,
        Sdk::OpenAiChat => chat::to_stable_chunk(chunk)?,
        Sdk::OpenAiResponses => responses::to_stable_chunk(chunk)?,
    };
    Ok(shown.map(Translated::complete))
}

/// Returns the chunk with the text of a hook's answer, and nothing else changed.
///
/// A chunk without visible text is returned unchanged, with a warning if the answer has text.
///
/// # Errors
/// As [`join_chunks`], for the answer and for the chunk.
pub fn from_stable_chunk(
    sdk: Sdk,
    answer: &RawObject,
    chunk: &RawObject,
) -> Result<Translated, TranslateError> {
    if is_complete(sdk, chunk) {
        return from_stable_response(sdk, answer, Some(chunk));
    }
    let apply: fn(&_, &_) -> _ = match sdk {
        Sdk::GenAi => {
            |answer: &RawObject, chunk: &RawObject| genai::from_stable_response(answer, Some(chunk))
        }
        Sdk::Anthropic => anthropic::from_stable_chunk,
        Sdk::OpenAiChat => chat::from_stable_chunk,
        Sdk::OpenAiResponses => responses::from_stable_chunk,
        Sdk::Stable => stable::from_stable_chunk,
    };
    let shown = to_stable_chunk(sdk, chunk)?.map(|shown| shown.value);
    let (answer, warnings) = chunk::text_only_answer(answer, shown.as_ref())?;
    let mut translated = match shown {
        Some(_) => apply(&answer, chunk)?,
        None => Translated::complete(chunk.clone()),
    };
    translated.warnings.splice(..0, warnings);
    Ok(translated)
}

/// Returns `true` if a chunk is a whole response: a call without streaming is a stream of one.
fn is_complete(sdk: Sdk, chunk: &RawObject) -> bool {
    let (name, expected) = match sdk {
        Sdk::OpenAiChat => ("object", "chat.completion"),
        Sdk::OpenAiResponses => ("object", "response"),
        Sdk::Anthropic => ("type", "message"),
        // Their chunks have the form of responses.
        Sdk::GenAi | Sdk::Stable => return false,
    };
    json::given(&chunk.fields(), name).and_then(|value| value.to_text()).as_deref()
        == Some(expected)
}

/// Returns `true` if a response has the form of a chunk (or event) of the SDK's streams. Always
/// `false` for SDKs whose chunks have the form of responses.
pub fn is_chunk(sdk: Sdk, response: &RawObject) -> bool {
    const ANTHROPIC: [&str; 8] = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    ];
    let fields = response.fields();
    let text = |name| json::given(&fields, name).and_then(|value| value.to_text());
    match sdk {
        Sdk::GenAi | Sdk::Stable => false,
        Sdk::Anthropic => text("type").is_some_and(|kind| ANTHROPIC.contains(&&*kind)),
        Sdk::OpenAiResponses => {
            text("type").is_some_and(|kind| kind == "error" || kind.starts_with("response."))
        }
        Sdk::OpenAiChat => {
            let choices = || json::given(&fields, "choices").and_then(|value| value.to_items());
            let has_delta = |choice: &RawJson| {
                choice.to_object().is_ok_and(|choice| json::given(&choice, "delta").is_some())
            };
            text("object").as_deref() == Some("chat.completion.chunk")
                || choices().is_some_and(|choices| choices.iter().any(has_delta))
        }
    }
}

/// Returns `true` if a chunk only repeats text of other chunks, so that a display can ignore it.
pub fn repeats_text(sdk: Sdk, chunk: &RawObject) -> bool {
    const WHOLE: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];
    let kind = json::given(&chunk.fields(), "type").and_then(|value| value.to_text());
    let kind = kind.unwrap_or_default();
    sdk == Sdk::OpenAiResponses && (kind.ends_with(".done") || WHOLE.contains(&kind.as_str()))
}
