//! Stage 5: model payloads in the form that hooks see (protocol.md §7).

use hook_core::event::ModelPayload;
use hook_core::{EventPayload, FailureCode, RawJson, RawObject, RequestInput, StageFailure};
use hook_translate::{Sdk, TranslateError, to_stable_request, to_stable_response};

/// Brings an input's model payloads into the stable form. The input's `sdk` field says which form
/// they have; hooks do not see it, since it would not be true of what they see.
pub(crate) fn translate(input: &mut RequestInput) -> Result<(), StageFailure> {
    if input.event().row().model == ModelPayload::None {
        return Ok(());
    }
    let named = input.extra.remove("sdk").filter(|sdk| !sdk.is_null());
    match &mut input.payload {
        EventPayload::BeforeModel(payload) => request(&mut payload.llm_request, named.as_ref()),
        EventPayload::BeforeToolSelection(payload) => {
            request(&mut payload.llm_request, named.as_ref())
        }
        EventPayload::AfterModel(payload) => {
            let sdk = sdk_of(&payload.llm_request, named.as_ref())?;
            request(&mut payload.llm_request, named.as_ref())?;
            let translated = to_stable_response(sdk, &payload.llm_response)
                .map_err(|error| failure("llm_response", &error))?;
            payload.llm_response = translated.value;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn request(payload: &mut RawObject, named: Option<&RawJson>) -> Result<(), StageFailure> {
    let sdk = sdk_of(payload, named)?;
    let translated =
        to_stable_request(sdk, payload).map_err(|error| failure("llm_request", &error))?;
    *payload = translated.value;
    Ok(())
}

fn sdk_of(request: &RawObject, named: Option<&RawJson>) -> Result<Sdk, StageFailure> {
    // What is not a string is no name that anybody knows; its text says what it is.
    let named = named.map(|sdk| sdk.to_text().unwrap_or_else(|| sdk.as_str().to_owned()));
    Sdk::of_request(named.as_deref(), request).map_err(|error| failure("llm_request", &error))
}

fn failure(field: &str, error: &TranslateError) -> StageFailure {
    let message = format!("failed to translate {field} for hooks: {error}");
    StageFailure::new(FailureCode::TranslationFailed, message)
        .with_detail("field", RawJson::from_text(field))
}
