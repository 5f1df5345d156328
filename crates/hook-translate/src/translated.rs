//! The result of a translation.

use std::fmt;

use hook_json::{JsonObject, RawObject};

/// A translated payload with its warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    /// The payload in its new form.
    pub value: RawObject,
    /// The content that was not translated as written.
    pub warnings: Vec<Warning>,
}

impl Translated {
    /// Creates a completely translated payload.
    pub(crate) fn complete(value: RawObject) -> Self {
        Self { value, warnings: Vec::new() }
    }
}

/// Content of a hook's answer that was not translated as written.
///
/// Content that the stable form never shows is no warning, by contract (docs/model-sdks.md).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    path: String,
    message: &'static str,
}

impl Warning {
    pub(crate) fn new(path: impl Into<String>, message: &'static str) -> Self {
        Self { path: path.into(), message }
    }

    /// Returns warnings for unknown fields of a hook's request.
    pub(crate) fn unknown_in_request(fields: &JsonObject) -> Vec<Self> {
        let message = "not a field of a stable request; it is ignored";
        fields.iter().map(|(name, _)| Self::new(name, message)).collect()
    }

    /// Returns the warning for a tool config without tools: an API rejects such a tool choice.
    pub(crate) fn no_tools_to_choose_from() -> Self {
        let message = "the request has no tools, and without them it takes no tool choice";
        Self::new("toolConfig", message)
    }

    /// Returns warnings for unknown fields of a hook's response.
    pub(crate) fn unknown_in_response(fields: &JsonObject) -> Vec<Self> {
        let message = "not a field of a stable response; it is ignored";
        fields.iter().map(|(name, _)| Self::new(name, message)).collect()
    }

    /// Returns the path of the field, such as `contents[3].parts[0]`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the reason.
    pub fn message(&self) -> &str {
        self.message
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "field `{}`: {}", self.path, self.message)
    }
}
