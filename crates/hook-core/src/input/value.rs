//! What a field of a payload may be, by its Rust type: how it is read, written and described.

use super::payload::{McpContext, ToolName};
use super::words::{
    CompactionReason, PreCompressTrigger, SessionEndReason, SessionStartSource, SwitchReason,
};
use super::{MAX_TOOL_NAME, repeated_field};
use crate::field::{Field, Kind};
use crate::json::{JsonArray, JsonKind, JsonNumber, ObjectWriter, RawJson, RawObject};
use crate::shape::{FieldReader, Required, ShapeError};
use crate::text::shortened;

/// The type of a payload's field. A value that exists is valid: reading is the check.
pub(crate) trait FieldValue: Sized {
    /// What a schema says of it.
    const KIND: Kind;

    /// What an error says that was expected.
    const EXPECTED: &'static str;

    /// Takes the field, if it is there.
    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError>;

    /// Takes a field that must be there.
    fn require(fields: &mut FieldReader, name: &str) -> Result<Self, ShapeError> {
        Self::take(fields, name).required(name, Self::EXPECTED)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>);
}

impl FieldValue for String {
    const KIND: Kind = Kind::Text;
    const EXPECTED: &'static str = "a string";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.text(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.text(name, self);
    }
}

impl FieldValue for bool {
    const KIND: Kind = Kind::Bool;
    const EXPECTED: &'static str = "a boolean";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.bool(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.bool(name, *self);
    }
}

impl FieldValue for u64 {
    const KIND: Kind = Kind::Whole(0, None);
    const EXPECTED: &'static str = "a whole number, not negative";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        let Some(number) = fields.number(name)? else { return Ok(None) };
        let whole = number.to_whole_number();
        let found = || ShapeError::new(name, Self::EXPECTED, shortened(number.as_str()));
        whole.ok_or_else(found).map(Some)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.integer(name, (*self).into());
    }
}

impl FieldValue for i64 {
    const KIND: Kind = Kind::Integer(i64::MIN, i64::MAX);
    const EXPECTED: &'static str = "a whole number";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        let Some(number) = fields.number(name)? else { return Ok(None) };
        let whole = number.to_integer();
        let found = || ShapeError::new(name, Self::EXPECTED, shortened(number.as_str()));
        whole.ok_or_else(found).map(Some)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.integer(name, (*self).into());
    }
}

impl FieldValue for JsonNumber {
    const KIND: Kind = Kind::Number;
    const EXPECTED: &'static str = "a number";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        Ok(fields.number(name)?.and_then(|number| Self::try_from(number).ok()))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.raw(name, self.as_raw());
    }
}

impl FieldValue for JsonArray {
    const KIND: Kind = Kind::List;
    const EXPECTED: &'static str = "an array";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        let array = fields.of_kind(name, JsonKind::Array, Self::EXPECTED)?;
        Ok(array.and_then(|array| Self::try_from(array).ok()))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.raw(name, self.as_raw());
    }
}

impl FieldValue for Vec<String> {
    const KIND: Kind = Kind::ListOf(&Kind::Text);
    const EXPECTED: &'static str = "an array of strings";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.texts(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.texts(name, self);
    }
}

impl FieldValue for RawObject {
    const KIND: Kind = Kind::AnyObject;
    const EXPECTED: &'static str = "an object";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.object(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.raw(name, self.as_raw());
    }
}

/// Any value, `null` too.
impl FieldValue for RawJson {
    const KIND: Kind = Kind::Any;
    const EXPECTED: &'static str = "any value";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        Ok(fields.any(name))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.raw(name, self);
    }
}

impl FieldValue for ToolName {
    const KIND: Kind = Kind::NonEmpty(Some(MAX_TOOL_NAME));
    const EXPECTED: &'static str = Self::EXPECTED;

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        match fields.text(name)? {
            None => Ok(None),
            Some(text) => Self::new(text).map(Some).map_err(|error| error.of_field(name)),
        }
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.text(name, self.as_str());
    }
}

static MCP_CONTEXT_FIELDS: [Field; 2] = [
    Field::required("server_name", Kind::Text, "The server's name."),
    Field::optional("server_uri", Kind::Text, "Where the server is."),
];

impl FieldValue for McpContext {
    const KIND: Kind = Kind::Open(&MCP_CONTEXT_FIELDS);
    const EXPECTED: &'static str = "an object";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        let Some(context) = fields.object(name)? else { return Ok(None) };
        let context = context.fields();
        repeated_field(&context).map_err(|error| error.within(name))?;
        let mut fields = FieldReader::new(context);
        let mut read = || -> Result<_, ShapeError> {
            Ok((String::require(&mut fields, "server_name")?, fields.text("server_uri")?))
        };
        let (server_name, server_uri) = read().map_err(|error| error.within(name))?;
        Ok(Some(Self { server_name, server_uri, extra: fields.rest() }))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.object(name, |out| {
            out.text("server_name", &self.server_name);
            out.optional_text("server_uri", self.server_uri.as_deref());
            out.fields(&self.extra);
        });
    }
}

macro_rules! words {
    ($($words:ident)+) => {
        $(
            impl FieldValue for $words {
                const KIND: Kind = Kind::Words($words::WORDS);
                const EXPECTED: &'static str = $words::EXPECTED;

                fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
                    let Some(word) = fields.text(name)? else { return Ok(None) };
                    let unknown = || {
                        let found = format!("{:?}", shortened(&word));
                        ShapeError::new(name, Self::EXPECTED, found)
                    };
                    Self::from_name(&word).ok_or_else(unknown).map(Some)
                }

                fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
                    out.text(name, self.as_str());
                }
            }
        )+
    };
}

words! {
    SessionStartSource SessionEndReason PreCompressTrigger SwitchReason CompactionReason
}

/// What a matcher is compared with: the text of one field.
pub(crate) trait Subject {
    fn subject(&self) -> &str;
}

impl Subject for ToolName {
    fn subject(&self) -> &str {
        self.as_str()
    }
}

impl Subject for String {
    fn subject(&self) -> &str {
        self
    }
}

macro_rules! subjects {
    ($($words:ident)+) => {
        $(
            impl Subject for $words {
                fn subject(&self) -> &str {
                    self.as_str()
                }
            }
        )+
    };
}

subjects! {
    SessionStartSource SessionEndReason PreCompressTrigger SwitchReason CompactionReason
}
