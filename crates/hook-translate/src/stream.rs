//! Responses that come in chunks, for whatever SDK they are of.

use hook_core::RawObject;

use crate::openai::{chat, responses};
use crate::{Sdk, TranslateError, Translated};

/// The complete, non-streaming response that the chunks (or events) of a stream make together, in
/// their order.
///
/// Warnings say what a stream that ended early leaves open.
///
/// # Errors
/// [`Shape`](TranslateError::Shape) names the field that does not have its shape, such as
/// `chunks[3].choices`, [`UnsupportedSdk`](TranslateError::UnsupportedSdk) an SDK to come.
pub fn join_chunks(sdk: Sdk, chunks: &[RawObject]) -> Result<Translated, TranslateError> {
    match sdk {
        Sdk::OpenAiChat => chat::join_chunks(chunks),
        Sdk::OpenAiResponses => responses::join_chunks(chunks),
        sdk => Err(TranslateError::UnsupportedSdk { sdk }),
    }
}

/// The text that one chunk displays, as a stable response; nothing for a chunk that shows none,
/// such as one that repeats at the end what the others have said.
///
/// # Errors
/// As [`join_chunks`], for the chunk.
pub fn to_stable_chunk(sdk: Sdk, chunk: &RawObject) -> Result<Option<Translated>, TranslateError> {
    let shown = match sdk {
        Sdk::OpenAiChat => chat::to_stable_chunk(chunk)?,
        Sdk::OpenAiResponses => responses::to_stable_chunk(chunk)?,
        sdk => return Err(TranslateError::UnsupportedSdk { sdk }),
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
    match sdk {
        Sdk::OpenAiChat => chat::from_stable_chunk(answer, chunk),
        Sdk::OpenAiResponses => responses::from_stable_chunk(answer, chunk),
        sdk => Err(TranslateError::UnsupportedSdk { sdk }),
    }
}
