//! Responses that come in chunks, for whatever SDK they are of.

use hook_core::{RawJson, RawObject};

use crate::openai::{chat, responses};
use crate::{
    Sdk, TranslateError, Translated, anthropic, chunk, from_stable_response, genai, json, stable,
    to_stable_response,
};

/// The complete, non-streaming response that the chunks (or events) of a stream make together, in
/// their order.
///
/// Warnings say what a stream that ended early leaves open.
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

/// The text that one chunk displays, as a stable response; nothing for a chunk that shows none,
/// such as one that repeats at the end what the others have said.
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

/// The chunk with its text as a hook answered, and nothing else changed.
///
/// A chunk that shows no text is given back as it is, with a warning where the answer has one.
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
    let lay: fn(&_, &_) -> _ = match sdk {
        Sdk::GenAi => {
            |answer: &RawObject, chunk: &RawObject| genai::from_stable_response(answer, Some(chunk))
        }
        Sdk::Anthropic => anthropic::from_stable_chunk,
        Sdk::OpenAiChat => chat::from_stable_chunk,
        Sdk::OpenAiResponses => responses::from_stable_chunk,
        Sdk::Stable => stable::from_stable_chunk,
    };
    let shown = to_stable_chunk(sdk, chunk)?.map(|shown| shown.value);
    let (answer, warnings) = chunk::text_of_answer(answer, shown.as_ref())?;
    let mut laid = match shown {
        Some(_) => lay(&answer, chunk)?,
        None => Translated::complete(chunk.clone()),
    };
    laid.warnings.splice(..0, warnings);
    Ok(laid)
}

/// Whether a chunk is a whole response: a call that does not stream is a stream of one.
fn is_complete(sdk: Sdk, chunk: &RawObject) -> bool {
    let (name, word) = match sdk {
        Sdk::OpenAiChat => ("object", "chat.completion"),
        Sdk::OpenAiResponses => ("object", "response"),
        Sdk::Anthropic => ("type", "message"),
        // Their chunks have the form of responses anyway.
        Sdk::GenAi | Sdk::Stable => return false,
    };
    json::given(&chunk.fields(), name).and_then(|value| value.to_text()).as_deref() == Some(word)
}

/// Whether a response has the shape of a chunk (or event) of the SDK's streams. Of SDKs whose chunks
/// have the form of responses, none has.
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

/// Whether a chunk only repeats text that other chunks have shown: nothing that displays those
/// needs it.
pub fn repeats_text(sdk: Sdk, chunk: &RawObject) -> bool {
    const WHOLE: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];
    let kind = json::given(&chunk.fields(), "type").and_then(|value| value.to_text());
    let kind = kind.unwrap_or_default();
    sdk == Sdk::OpenAiResponses && (kind.ends_with(".done") || WHOLE.contains(&kind.as_str()))
}
