//! The fields of an input that describe a tool: its name, and its MCP server.

use std::fmt;

use super::value::{FieldValue, Subject};
use hook_json::field::FieldKind;
use hook_json::shape::{FieldReader, ShapeError, reject_duplicate_field};
use hook_json::{JsonObject, ObjectWriter, fields};

/// The maximum length of a tool's name, in bytes: patterns from settings are matched against it.
pub const MAX_TOOL_NAME: usize = 1024;

/// The name of a tool: not empty, at most 1 KiB.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolName(String);

impl ToolName {
    pub(super) const EXPECTED: &str = "a non-empty string of at most 1 KiB";

    /// Creates a checked name.
    ///
    /// # Errors
    /// If the name is empty or longer than 1 KiB.
    pub fn new(name: impl Into<String>) -> Result<Self, ShapeError> {
        let name = name.into();
        match name.len() {
            0 => Err(ShapeError::new("tool_name", Self::EXPECTED, "an empty string")),
            1..=MAX_TOOL_NAME => Ok(Self(name)),
            bytes => Err(ShapeError::new("tool_name", Self::EXPECTED, format!("{bytes} bytes"))),
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FieldValue for ToolName {
    const KIND: FieldKind = FieldKind::NonEmpty(Some(MAX_TOOL_NAME));
    const EXPECTED: &'static str = Self::EXPECTED;

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        match fields.text(name)? {
            None => Ok(None),
            Some(text) => Self::new(text).map(Some).map_err(|error| error.with_path(name)),
        }
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.text(name, self.as_str());
    }
}

impl Subject for ToolName {
    fn subject(&self) -> &str {
        self.as_str()
    }
}

/// The MCP server that a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpContext {
    /// The server's name.
    pub server_name: String,
    /// The server's address.
    pub server_uri: Option<String>,
    /// Unknown fields.
    pub extra: JsonObject,
}

fields! {
    MCP_CONTEXT_FIELDS:
    "server_name" Text, required, "The server's name.";
    "server_uri" Text, optional, "Where the server is.";
}

impl FieldValue for McpContext {
    const KIND: FieldKind = FieldKind::Open(&MCP_CONTEXT_FIELDS);
    const EXPECTED: &'static str = "an object";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        let Some(context) = fields.object(name)? else { return Ok(None) };
        let context = context.fields();
        reject_duplicate_field(&context).map_err(|error| error.within(name))?;
        let mut fields = FieldReader::new(context);
        let mut read = || -> Result<_, ShapeError> {
            Ok((String::require(&mut fields, "server_name")?, fields.text("server_uri")?))
        };
        let (server_name, server_uri) = read().map_err(|error| error.within(name))?;
        Ok(Some(Self { server_name, server_uri, extra: fields.into_rest() }))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.object(name, |out| {
            out.text("server_name", &self.server_name);
            out.optional_text("server_uri", self.server_uri.as_deref());
            out.fields(&self.extra);
        });
    }
}
