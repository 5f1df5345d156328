//! The six translations, for all SDKs.

use hook_json::RawObject;

use crate::openai::{chat, responses};
use crate::{Sdk, TranslateError, Translated, anthropic, genai, stable};

/// A translation of an SDK's payload to the stable form.
type ToStable = fn(&RawObject) -> Result<RawObject, TranslateError>;

/// A translation of a stable payload, applied to the SDK's own if there is one.
type FromStable = fn(&RawObject, Option<&RawObject>) -> Result<Translated, TranslateError>;

/// The translations of one SDK.
struct Translations {
    request: (ToStable, FromStable),
    response: (ToStable, FromStable),
    tool_config: (ToStable, FromStable),
}

/// The translations of a module, which all have the same names.
macro_rules! translations {
    ($module:ident) => {
        &Translations {
            request: ($module::to_stable_request, $module::from_stable_request),
            response: ($module::to_stable_response, $module::from_stable_response),
            tool_config: ($module::to_stable_tool_config, $module::from_stable_tool_config),
        }
    };
}

fn translations_of(sdk: Sdk) -> &'static Translations {
    match sdk {
        Sdk::GenAi => translations!(genai),
        Sdk::Anthropic => translations!(anthropic),
        Sdk::OpenAiChat => translations!(chat),
        Sdk::OpenAiResponses => translations!(responses),
        Sdk::Stable => translations!(stable),
    }
}

/// Translates a request to a model into the stable form.
///
/// For [`Stable`](Sdk::Stable) the request is checked and returned unchanged.
///
/// # Errors
/// [`Shape`](TranslateError::Shape) names the field that does not have its shape.
pub fn to_stable_request(sdk: Sdk, request: &RawObject) -> Result<Translated, TranslateError> {
    translations_of(sdk).request.0(request).map(Translated::complete)
}

/// Translates a stable request into the SDK's form: `request` is applied to `base`, the SDK's own
/// request, so that content which the stable form cannot express survives (docs/model-sdks.md).
///
/// `request` may be a whole stable request or only the fields of a hook's answer. One that changes
/// nothing returns `base` byte for byte. Without a base, a new request is built. For
/// [`Stable`](Sdk::Stable) `request` is overlaid field by field, and `config` one level deeper.
///
/// Warnings name content of a hook's answer that the SDK's request cannot express, and thoughts
/// that an edit leaves out.
///
/// # Errors
/// As [`to_stable_request`], for the request and for the base.
pub fn from_stable_request(
    sdk: Sdk,
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    translations_of(sdk).request.1(request, base)
}

/// Translates a model's complete response into the stable form.
///
/// For [`Stable`](Sdk::Stable) the response is checked and returned unchanged.
///
/// # Errors
/// As [`to_stable_request`].
pub fn to_stable_response(sdk: Sdk, response: &RawObject) -> Result<Translated, TranslateError> {
    translations_of(sdk).response.0(response).map(Translated::complete)
}

/// Translates a stable response into the SDK's form, applied to the `original` response if there is
/// one. Without one (a hook's synthetic response) a new response is built.
///
/// A response that changes nothing returns `original` byte for byte. For [`Stable`](Sdk::Stable)
/// `response` is overlaid field by field.
///
/// # Errors
/// As [`to_stable_request`], for the response and for the original.
pub fn from_stable_response(
    sdk: Sdk,
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    translations_of(sdk).response.1(response, original)
}

/// Translates an SDK's tool config into the stable form.
///
/// For [`Stable`](Sdk::Stable) the tool config is checked and returned unchanged.
///
/// # Errors
/// As [`to_stable_request`].
pub fn to_stable_tool_config(sdk: Sdk, config: &RawObject) -> Result<Translated, TranslateError> {
    translations_of(sdk).tool_config.0(config).map(Translated::complete)
}

/// Translates a stable tool config into the SDK's form, applied to the SDK's own if there is one.
///
/// For [`Stable`](Sdk::Stable) `config` is overlaid field by field.
///
/// # Errors
/// As [`to_stable_request`], for the config and for the base.
pub fn from_stable_tool_config(
    sdk: Sdk,
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    translations_of(sdk).tool_config.1(config, base)
}
