//! The result of a translation.

use std::fmt;

use hook_core::{JsonObject, RawObject};

/// A translated payload and what its reader should know about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    /// The payload in its new form.
    pub value: RawObject,
    /// What was not carried over as written.
    pub warnings: Vec<Warning>,
}

impl Translated {
    /// A payload that was carried over completely.
    pub(crate) fn complete(value: RawObject) -> Self {
        Self { value, warnings: Vec::new() }
    }
}

/// Something that a hook wrote and that was not carried over as written.
///
/// What the stable form never shows is no warning: that is its contract (protocol.md §7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    path: String,
    message: &'static str,
}

impl Warning {
    pub(crate) fn new(path: impl Into<String>, message: &'static str) -> Self {
        Self { path: path.into(), message }
    }

    /// Fields of a hook's request that no request has.
    pub(crate) fn unknown_in_request(fields: &JsonObject) -> Vec<Self> {
        let message = "not a field of a stable request; it is ignored";
        fields.iter().map(|(name, _)| Self::new(name, message)).collect()
    }

    /// A hook's tool config that is dropped: an API refuses a tool choice in a request without tools.
    pub(crate) fn no_tools_to_choose_from() -> Self {
        let message = "the request has no tools, and without them it takes no tool choice";
        Self::new("toolConfig", message)
    }

    /// Fields of a hook's response that no response has.
    pub(crate) fn unknown_in_response(fields: &JsonObject) -> Vec<Self> {
        let message = "not a field of a stable response; it is ignored";
        fields.iter().map(|(name, _)| Self::new(name, message)).collect()
    }

    /// The field in question, such as `contents[3].parts[0]`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What became of it.
    pub fn message(&self) -> &str {
        self.message
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "field `{}`: {}", self.path, self.message)
    }
}
