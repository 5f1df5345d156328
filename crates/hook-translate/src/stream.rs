//! Responses that come in chunks, for whatever SDK they are of.

use hook_core::RawObject;

use crate::openai::{chat, responses};
use crate::{Sdk, TranslateError, Translated, anthropic, chunk, genai, stable};

/// The complete, non-streaming response that the chunks (or events) of a stream make together, in
/// their order.
///
/// Warnings say what a stream that ended early leaves open.
///
/// # Errors
/// [`Shape`](TranslateError::Shape) names the field that does not have its shape, such as
/// `chunks[3].choices`.
pub fn join_chunks(sdk: Sdk, chunks: &[RawObject]) -> Result<Translated, TranslateError> {
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
