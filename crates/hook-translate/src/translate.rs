//! The six translations, each for whatever SDK the payload is of.

use hook_core::RawObject;
use hook_core::model::{LlmRequest, LlmResponse, ToolConfig};

use crate::openai::{chat, responses};
use crate::{Sdk, TranslateError, Translated, anthropic, genai, stable};

/// A request to a model, as hooks are shown it.
///
/// For [`Stable`](Sdk::Stable) the request is checked and given back as it is.
///
/// # Errors
/// [`Shape`](TranslateError::Shape) names the field that does not have its shape.
pub fn to_stable_request(sdk: Sdk, request: &RawObject) -> Result<Translated, TranslateError> {
    match sdk {
        Sdk::GenAi => genai::to_stable_request(request).map(Translated::complete),
        Sdk::Anthropic => anthropic::to_stable_request(request).map(Translated::complete),
        Sdk::OpenAiChat => chat::to_stable_request(request).map(Translated::complete),
        Sdk::OpenAiResponses => responses::to_stable_request(request).map(Translated::complete),
        Sdk::Stable => checked_request(request),
    }
}

/// A stable request, as the SDK wants it: `request` is laid onto `base`, the SDK's own
/// request, so that what the stable form cannot express survives (protocol.md §7).
///
/// `request` may be a whole stable request or only the fields that a hook gave. One that
/// changes nothing gives back `base` byte for byte. Without a base, a request is built from
/// what there is. For [`Stable`](Sdk::Stable) `request` is laid over it field by field, and
/// `config` one level deeper.
///
/// Warnings name what a hook gave and the SDK's request cannot take, and thoughts that an
/// edit leaves out.
///
/// # Errors
/// As [`to_stable_request`], for the request and for the base.
pub fn from_stable_request(
    sdk: Sdk,
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    match sdk {
        Sdk::GenAi => genai::from_stable_request(request, base),
        Sdk::Anthropic => anthropic::from_stable_request(request, base),
        Sdk::OpenAiChat => chat::from_stable_request(request, base),
        Sdk::OpenAiResponses => responses::from_stable_request(request, base),
        Sdk::Stable => Ok(stable::laid_over(checked_request(request)?, base)),
    }
}

/// A model's complete response, as hooks are shown it.
///
/// For [`Stable`](Sdk::Stable) the response is checked and given back as it is.
///
/// # Errors
/// As [`to_stable_request`].
pub fn to_stable_response(sdk: Sdk, response: &RawObject) -> Result<Translated, TranslateError> {
    match sdk {
        Sdk::GenAi => genai::to_stable_response(response).map(Translated::complete),
        Sdk::Anthropic => anthropic::to_stable_response(response).map(Translated::complete),
        Sdk::OpenAiChat => chat::to_stable_response(response).map(Translated::complete),
        Sdk::OpenAiResponses => responses::to_stable_response(response).map(Translated::complete),
        Sdk::Stable => checked_response(response),
    }
}

/// A stable response, as the SDK wants it, laid onto the `original` response where there is
/// one; without one (a hook's synthetic response) it is built from what there is.
///
/// A response that changes nothing gives back `original` byte for byte. For
/// [`Stable`](Sdk::Stable) `response` is laid over it field by field.
///
/// # Errors
/// As [`to_stable_request`], for the response and for the original.
pub fn from_stable_response(
    sdk: Sdk,
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    match sdk {
        Sdk::GenAi => genai::from_stable_response(response, original),
        Sdk::Anthropic => anthropic::from_stable_response(response, original),
        Sdk::OpenAiChat => chat::from_stable_response(response, original),
        Sdk::OpenAiResponses => responses::from_stable_response(response, original),
        Sdk::Stable => Ok(stable::laid_over(checked_response(response)?, original)),
    }
}

/// An SDK's tool config, as hooks are shown it.
///
/// For [`Stable`](Sdk::Stable) the tool config is checked and given back as it is.
///
/// # Errors
/// As [`to_stable_request`].
pub fn to_stable_tool_config(sdk: Sdk, config: &RawObject) -> Result<Translated, TranslateError> {
    match sdk {
        Sdk::GenAi => genai::to_stable_tool_config(config).map(Translated::complete),
        Sdk::Anthropic => anthropic::to_stable_tool_config(config).map(Translated::complete),
        Sdk::OpenAiChat => chat::to_stable_tool_config(config).map(Translated::complete),
        Sdk::OpenAiResponses => responses::to_stable_tool_config(config).map(Translated::complete),
        Sdk::Stable => checked_tool_config(config),
    }
}

/// A stable tool config, as the SDK wants it, laid onto the SDK's own where there is one.
///
/// For [`Stable`](Sdk::Stable) `config` is laid over it field by field.
///
/// # Errors
/// As [`to_stable_request`], for the config and for the base.
pub fn from_stable_tool_config(
    sdk: Sdk,
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    match sdk {
        Sdk::GenAi => genai::from_stable_tool_config(config, base).map(Translated::complete),
        Sdk::Anthropic => anthropic::from_stable_tool_config(config, base),
        Sdk::OpenAiChat => chat::from_stable_tool_config(config, base),
        Sdk::OpenAiResponses => responses::from_stable_tool_config(config, base),
        Sdk::Stable => Ok(stable::laid_over(checked_tool_config(config)?, base)),
    }
}

fn checked_request(request: &RawObject) -> Result<Translated, TranslateError> {
    LlmRequest::read(request)?;
    Ok(Translated::complete(request.clone()))
}

fn checked_response(response: &RawObject) -> Result<Translated, TranslateError> {
    LlmResponse::read(response)?;
    Ok(Translated::complete(response.clone()))
}

fn checked_tool_config(config: &RawObject) -> Result<Translated, TranslateError> {
    ToolConfig::read(config.fields())?;
    Ok(Translated::complete(config.clone()))
}
