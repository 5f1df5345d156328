//! Stage 5: model payloads in the form that hooks see (protocol.md §7).

use hook_core::event::ModelPayload;
use hook_core::{FailureCode, RawJson, RequestInput, StageFailure};
use hook_translate::{Sdk, TranslateError, to_stable_request, to_stable_response};

/// Brings an input's model payloads into the stable form. The input's `sdk` field says which form
/// they have; hooks do not see it, since it would not be true of what they see.
pub(crate) fn translate(input: &mut RequestInput) -> Result<(), StageFailure> {
    if input.event().row().model == ModelPayload::None {
        return Ok(());
    }
    let named = input.extra.remove("sdk").filter(|sdk| !sdk.is_null());
    // What is not a string is no name that anybody knows; its text says what it is.
    let named = named.map(|sdk| sdk.to_text().unwrap_or_else(|| sdk.as_str().to_owned()));
    let payloads = input.payload.model_payloads();
    let Some(request) = payloads.request else { return Ok(()) };
    // A response has the form of the request that it answers.
    let sdk = Sdk::of_request(named.as_deref(), request)
        .map_err(|error| failure("llm_request", &error))?;
    let translated =
        to_stable_request(sdk, request).map_err(|error| failure("llm_request", &error))?;
    *request = translated.value;
    if let Some(response) = payloads.response {
        let translated =
            to_stable_response(sdk, response).map_err(|error| failure("llm_response", &error))?;
        *response = translated.value;
    }
    Ok(())
}

fn failure(field: &str, error: &TranslateError) -> StageFailure {
    let message = format!("failed to translate {field} for hooks: {error}");
    StageFailure::new(FailureCode::TranslationFailed, message)
        .with_detail("field", RawJson::from_text(field))
}
