//! Types of payload fields: how each is read, written and described.

use std::sync::Arc;

use super::keywords::{
    CompactionReason, PreCompressTrigger, SessionEndReason, SessionStartSource, SwitchReason,
};
pub(super) use hook_json::field::FieldKind;
use hook_json::shape::{FieldReader, Required, ShapeError};
use hook_json::text::shortened;
use hook_json::{JsonArray, JsonKind, JsonNumber, ObjectWriter, RawJson, RawObject};

/// The type of a payload field. Reading a value validates it.
pub(crate) trait FieldValue: Sized {
    /// The kind of value, for a schema.
    const KIND: FieldKind;

    /// The expected value, for an error message.
    const EXPECTED: &'static str;

    /// Takes the field, if it is present.
    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError>;

    /// Takes a required field.
    fn require(fields: &mut FieldReader, name: &str) -> Result<Self, ShapeError> {
        Self::take(fields, name).required(name, Self::EXPECTED)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>);
}

/// For large fields that few requests have: an absent one costs only a pointer.
impl<T: FieldValue> FieldValue for Arc<T> {
    const KIND: FieldKind = T::KIND;
    const EXPECTED: &'static str = T::EXPECTED;

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        Ok(T::take(fields, name)?.map(Self::new))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        T::write(self, name, out);
    }
}

impl FieldValue for String {
    const KIND: FieldKind = FieldKind::Text;
    const EXPECTED: &'static str = "a string";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.text(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.text(name, self);
    }
}

impl FieldValue for bool {
    const KIND: FieldKind = FieldKind::Bool;
    const EXPECTED: &'static str = "a boolean";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.bool(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.bool(name, *self);
    }
}

impl FieldValue for u64 {
    const KIND: FieldKind = FieldKind::Unsigned(0, None);
    const EXPECTED: &'static str = "a whole number, not negative";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        take_number(fields, name, Self::EXPECTED, RawJson::to_u64)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.integer(name, (*self).into());
    }
}

impl FieldValue for i64 {
    const KIND: FieldKind = FieldKind::Integer(i64::MIN, i64::MAX);
    const EXPECTED: &'static str = "a whole number";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        take_number(fields, name, Self::EXPECTED, RawJson::to_i64)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.integer(name, (*self).into());
    }
}

impl FieldValue for JsonNumber {
    const KIND: FieldKind = FieldKind::Number;
    const EXPECTED: &'static str = "a number";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        Ok(fields.number(name)?.and_then(|number| Self::try_from(number).ok()))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.raw(name, self.as_raw());
    }
}

impl FieldValue for JsonArray {
    const KIND: FieldKind = FieldKind::List;
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
    const KIND: FieldKind = FieldKind::ListOf(&FieldKind::Text);
    const EXPECTED: &'static str = "an array of strings";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.texts(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.texts(name, self);
    }
}

impl FieldValue for RawObject {
    const KIND: FieldKind = FieldKind::AnyObject;
    const EXPECTED: &'static str = "an object";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        fields.object(name)
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.raw(name, self.as_raw());
    }
}

/// Any value, including `null`.
impl FieldValue for RawJson {
    const KIND: FieldKind = FieldKind::Any;
    const EXPECTED: &'static str = "any value";

    fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
        Ok(fields.any(name))
    }

    fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
        out.raw(name, self);
    }
}

/// A field that matchers are compared with.
pub(crate) trait Subject {
    fn subject(&self) -> &str;
}

impl Subject for String {
    fn subject(&self) -> &str {
        self
    }
}

/// Implements the traits for enums of keywords.
macro_rules! words {
    ($($words:ident)+) => {
        $(
            impl FieldValue for $words {
                const KIND: FieldKind = FieldKind::OneOf(&$words::NAMES);
                const EXPECTED: &'static str = $words::EXPECTED;

                fn take(fields: &mut FieldReader, name: &str) -> Result<Option<Self>, ShapeError> {
                    take_word(fields, name, Self::EXPECTED, Self::from_name)
                }

                fn write(&self, name: &str, out: &mut ObjectWriter<'_>) {
                    out.text(name, self.as_str());
                }
            }

            impl Subject for $words {
                fn subject(&self) -> &str {
                    self.as_str()
                }
            }
        )+
    };
}

words! {
    SessionStartSource SessionEndReason PreCompressTrigger SwitchReason CompactionReason
}

fn take_word<W>(
    fields: &mut FieldReader,
    name: &str,
    expected: &'static str,
    read: impl FnOnce(&str) -> Option<W>,
) -> Result<Option<W>, ShapeError> {
    let Some(keyword) = fields.text(name)? else { return Ok(None) };
    let unknown = || ShapeError::new(name, expected, format!("{:?}", shortened(&keyword)));
    read(&keyword).ok_or_else(unknown).map(Some)
}

fn take_number<N>(
    fields: &mut FieldReader,
    name: &str,
    expected: &'static str,
    read: impl FnOnce(&RawJson) -> Option<N>,
) -> Result<Option<N>, ShapeError> {
    let Some(number) = fields.number(name)? else { return Ok(None) };
    let invalid = || ShapeError::new(name, expected, shortened(number.as_str()));
    read(&number).ok_or_else(invalid).map(Some)
}
