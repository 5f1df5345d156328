//! Errors of a translation.

use hook_json::JsonError;
use hook_json::shape::ShapeError;
use hook_json::text::shortened;

use crate::Sdk;

/// The reason why a payload could not be translated (`translation_failed` in reference/messages.md).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// A field does not have its shape; the error names the path, such as
    /// `contents[2].parts[0].text`.
    #[error(transparent)]
    Shape(#[from] ShapeError),

    /// The input names an unknown SDK.
    #[error("unknown sdk `{}`: expected one of {}", shortened(name), Sdk::names())]
    UnknownSdk {
        /// The name as given.
        name: String,
    },

    /// The request does not show which SDK made it.
    #[error(
        "cannot tell which sdk made the request: it has no `contents` (genai), and no `messages` \
         of text by user, model and system (stable); set `sdk` to one of {}",
        Sdk::names()
    )]
    UnclearSdk,

    /// The translation of a field did not come out as JSON. Only text that was checked to be JSON
    /// goes in, so this is a defect of the engine.
    #[error("the translation of `{path}` is not JSON")]
    Unwritable {
        /// The field that was being written.
        path: &'static str,
        /// The position at which it stops being JSON.
        source: JsonError,
    },
}
