//! The six translations, each for whatever SDK the payload is of.

use hook_core::RawObject;

use crate::openai::{chat, responses};
use crate::{Sdk, TranslateError, Translated, anthropic, genai, stable};

/// A payload of an SDK, as hooks see it.
type ToStable = fn(&RawObject) -> Result<RawObject, TranslateError>;

/// A stable payload, laid over the SDK's own where there is one.
type FromStable = fn(&RawObject, Option<&RawObject>) -> Result<Translated, TranslateError>;

/// The translations of one SDK.
struct Translations {
    request: (ToStable, FromStable),
    response: (ToStable, FromStable),
    tool_config: (ToStable, FromStable),
}

/// The translations that a module has under their usual names.
macro_rules! translations {
    ($module:ident) => {
        &Translations {
            request: ($module::to_stable_request, $module::from_stable_request),
            response: ($module::to_stable_response, $module::from_stable_response),
            tool_config: ($module::to_stable_tool_config, $module::from_stable_tool_config),
        }
    };
}

fn of(sdk: Sdk) -> &'static Translations {
    match sdk {
        Sdk::GenAi => translations!(genai),
        Sdk::Anthropic => translations!(anthropic),
        Sdk::OpenAiChat => translations!(chat),
        Sdk::OpenAiResponses => translations!(responses),
        Sdk::Stable => translations!(stable),
    }
}

/// A request to a model, as hooks are shown it.
///
/// For [`Stable`](Sdk::Stable) the request is checked and given back as it is.
///
/// # Errors
/// [`Shape`](TranslateError::Shape) names the field that does not have its shape.
pub fn to_stable_request(sdk: Sdk, request: &RawObject) -> Result<Translated, TranslateError> {
    of(sdk).request.0(request).map(Translated::complete)
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
    of(sdk).request.1(request, base)
}

/// A model's complete response, as hooks are shown it.
///
/// For [`Stable`](Sdk::Stable) the response is checked and given back as it is.
///
/// # Errors
/// As [`to_stable_request`].
pub fn to_stable_response(sdk: Sdk, response: &RawObject) -> Result<Translated, TranslateError> {
    of(sdk).response.0(response).map(Translated::complete)
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
    of(sdk).response.1(response, original)
}

/// An SDK's tool config, as hooks are shown it.
///
/// For [`Stable`](Sdk::Stable) the tool config is checked and given back as it is.
///
/// # Errors
/// As [`to_stable_request`].
pub fn to_stable_tool_config(sdk: Sdk, config: &RawObject) -> Result<Translated, TranslateError> {
    of(sdk).tool_config.0(config).map(Translated::complete)
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
    of(sdk).tool_config.1(config, base)
}
