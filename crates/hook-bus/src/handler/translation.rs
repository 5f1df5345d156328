//! Stage 5: translation of model payloads into the form that hooks see (docs/model-sdks.md).

use hook_core::StageFailure;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::ModelPayload;
use hook_protocol::{EventPayload, FailureCode, RequestInput};
use hook_translate::{
    RequestDetails, ResponseDetails, Sdk, TranslateError, is_chunk, repeats_text, request_details,
    response_details, to_stable_chunk, to_stable_request, to_stable_response,
};

/// The outcome of translating an input's model payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Translation {
    /// The hooks can run.
    Done,
    /// The response is a chunk of a stream without displayed text: no hook runs.
    NoVisibleText,
}

/// The field that marks a response as one chunk of a stream.
const CHUNK_FIELD: &str = "chunk";

/// Translates an input's model payloads into the stable form, and fills in derived fields that the
/// agent has not set. The input's `sdk` field names the original form; it is removed, since it
/// would be wrong for the stable form.
pub(crate) fn translate(input: &mut RequestInput) -> Result<Translation, StageFailure> {
    if input.event().row().model == ModelPayload::None {
        return Ok(Translation::Done);
    }
    let sdk_name = input.extra.remove("sdk").filter(|sdk| !sdk.is_null());
    // Anything but a string is an unknown name; its JSON text goes into the error.
    let sdk_name = sdk_name.map(|sdk| sdk.to_text().unwrap_or_else(|| sdk.as_str().to_owned()));
    let payloads = input.payload.model_payloads();
    let Some(request) = payloads.request else { return Ok(Translation::Done) };
    // A response has the form of its request.
    let sdk = Sdk::of_request(sdk_name.as_deref(), request)
        .map_err(|error| translate_failure("llm_request", &error))?;
    let translated = to_stable_request(sdk, request)
        .map_err(|error| translate_failure("llm_request", &error))?;
    let request_details_found = request_details(sdk, request, &translated.value);
    *request = translated.value;
    let Some(response) = payloads.response else {
        set_details(&mut input.payload, request_details_found, ResponseDetails::default());
        return Ok(Translation::Done);
    };
    if is_single_chunk(sdk, &input.extra, response)? {
        let Some(chunk_text) = chunk_text(sdk, response)? else {
            return Ok(Translation::NoVisibleText);
        };
        *response = chunk_text;
        input.extra.insert(CHUNK_FIELD, RawJson::from_bool(true));
        // Tool calls and usage are in the complete response.
        set_details(&mut input.payload, request_details_found, ResponseDetails::default());
        return Ok(Translation::Done);
    }
    let translated = to_stable_response(sdk, response)
        .map_err(|error| translate_failure("llm_response", &error))?;
    let response_details_found = response_details(sdk, response, &translated.value);
    *response = translated.value;
    set_details(&mut input.payload, request_details_found, response_details_found);
    Ok(Translation::Done)
}

/// Fills in the fields that the agent has not set.
fn set_details(payload: &mut EventPayload, request: RequestDetails, response: ResponseDetails) {
    match payload {
        EventPayload::BeforeModel(payload) => {
            payload.prompt = payload.prompt.take().or(request.prompt);
            payload.system_prompt = payload.system_prompt.take().or(request.system_prompt);
            payload.tools = payload.tools.take().or(request.tools);
        }
        EventPayload::AfterModel(payload) => {
            payload.prompt = payload.prompt.take().or(request.prompt);
            payload.tool_calls = payload.tool_calls.take().or(response.tool_calls);
            payload.usage = payload.usage.take().or(response.usage);
        }
        _ => {}
    }
}

/// Checks whether the response is one chunk of a stream, by the input's `chunk` field or its shape.
fn is_single_chunk(
    sdk: Sdk,
    extra: &JsonObject,
    response: &RawObject,
) -> Result<bool, StageFailure> {
    let is_marked = match extra.get(CHUNK_FIELD).filter(|value| !value.is_null()) {
        None => false,
        Some(value) => value.to_bool().ok_or_else(|| {
            let message = "field `chunk`: expected true, for a chunk of a stream, or false";
            field_failure(CHUNK_FIELD, message.to_owned())
        })?,
    };
    Ok(is_marked || is_chunk(sdk, response))
}

/// Returns the text of a chunk in the stable form; `None` if it shows none. Never returns a
/// response without text that the chunk shows: hooks that look for secrets would miss them.
fn chunk_text(sdk: Sdk, chunk: &RawObject) -> Result<Option<RawObject>, StageFailure> {
    if repeats_text(sdk, chunk) {
        let message = format!(
            "failed to translate llm_response for hooks: this event of {sdk} repeats text of earlier \
             ones; do not display it, and fire AfterModel on the complete response"
        );
        return Err(field_failure("llm_response", message));
    }
    let shown =
        to_stable_chunk(sdk, chunk).map_err(|error| translate_failure("llm_response", &error))?;
    match shown {
        Some(shown) => Ok(Some(shown.value)),
        None if is_chunk(sdk, chunk) || chunks_look_like_responses(sdk) => Ok(None),
        None => {
            let message = format!(
                "failed to translate llm_response for hooks: it is said to be a chunk, but is none of \
                 {sdk}; set `sdk` to the SDK that the chunk is of"
            );
            Err(field_failure("llm_response", message))
        }
    }
}

/// Checks whether chunks of the SDK have the form of a response.
fn chunks_look_like_responses(sdk: Sdk) -> bool {
    matches!(sdk, Sdk::GenAi | Sdk::Stable)
}

fn translate_failure(field: &str, error: &TranslateError) -> StageFailure {
    field_failure(field, format!("failed to translate {field} for hooks: {error}"))
}

fn field_failure(field: &str, message: String) -> StageFailure {
    StageFailure::new(FailureCode::TranslationFailed, message)
        .with_detail("field", RawJson::from_text(field))
}
