//! The typed payloads of events. One declaration of the fields serves for reading, writing,
//! checking and describing them. The events themselves are in [`crate::event`].

mod context;
mod model;
mod session;
mod tool;
mod turn;

use super::tool::MAX_TOOL_NAME;
use super::value::{FieldValue, Subject};
use crate::event::HookEventName;
use hook_json::field::Field;
use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, ObjectWriter, RawObject};

pub use self::tool::*;
pub use context::*;
pub use model::*;
pub use session::*;
pub use turn::*;

/// The interface of a payload type for the event table.
pub(crate) trait Payload: Sized {
    /// The payload's fields.
    const FIELDS: &'static [Field];

    /// A sample payload, as JSON without whitespace.
    const SAMPLE: &'static str;

    /// Takes and checks the payload's fields.
    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError>;

    fn write(&self, out: &mut ObjectWriter<'_>);

    /// Returns the text that matchers are compared with.
    fn match_subject(&self) -> Option<&str> {
        None
    }

    /// Returns the arguments of a tool, which matchers look at instead of the whole payload.
    fn tool_input(&self) -> Option<&RawObject> {
        None
    }

    /// Checks constraints that the types of the fields do not express.
    fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    /// Returns the model request and response, which are translated before hooks see them.
    fn model_payloads(&mut self) -> ModelPayloads<'_> {
        ModelPayloads::default()
    }
}

/// The parts of a payload that are in a model SDK's format.
#[derive(Debug, Default)]
pub struct ModelPayloads<'p> {
    /// `llm_request`.
    pub request: Option<&'p mut RawObject>,
    /// `llm_response`.
    pub response: Option<&'p mut RawObject>,
}

/// Declares a payload: its required fields, then its optional ones, each with a description. If a
/// field's type does not determine its kind in the schema, the kind follows the type.
macro_rules! payload {
    (
        $(#[doc = $doc:literal])+
        $payload:ident {
            $($(#[doc = $about:literal])+ $field:ident: $type:ty $([$kind:expr])?,)+
        }
        optional {
            $($(#[doc = $more_about:literal])+ $more:ident: $more_type:ty,)*
        }
        $(subject: $subject:ident,)?
        $(arguments: $arguments:ident,)?
        $(model: { $($part:ident: $model:ident),+ },)?
        sample: $sample:expr $(,)?
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $payload {
            $($(#[doc = $about])+ pub $field: $type,)+
            $($(#[doc = $more_about])+ pub $more: Option<$more_type>,)*
        }

        impl $payload {
            /// Creates a payload from its required fields. The optional fields are empty.
            pub fn new($($field: impl Into<$type>),+) -> Self {
                Self { $($field: $field.into(),)+ $($more: None,)* }
            }
        }

        impl Payload for $payload {
            const FIELDS: &'static [Field] = &[
                $(Field::required(
                    stringify!($field),
                    payload!(@kind $type $(, $kind)?),
                    concat!($($about),+).trim_ascii(),
                ),)+
                $(Field::optional(
                    stringify!($more),
                    <$more_type as FieldValue>::KIND,
                    concat!($($more_about),+).trim_ascii(),
                ),)*
            ];
            const SAMPLE: &'static str = $sample;

            fn read(fields: &mut FieldReader) -> Result<Self, ShapeError> {
                Ok(Self {
                    $($field: FieldValue::require(fields, stringify!($field))?,)+
                    $($more: FieldValue::take(fields, stringify!($more))?,)*
                })
            }

            fn write(&self, out: &mut ObjectWriter<'_>) {
                $(self.$field.write(stringify!($field), out);)+
                $(if let Some(value) = &self.$more {
                    value.write(stringify!($more), out);
                })*
            }

            $(fn match_subject(&self) -> Option<&str> {
                Some(Subject::subject(&self.$subject))
            })?

            $(fn tool_input(&self) -> Option<&RawObject> {
                Some(&self.$arguments)
            })?

            $(fn model_payloads(&mut self) -> ModelPayloads<'_> {
                let mut payloads = ModelPayloads::default();
                $(payloads.$part = Some(&mut self.$model);)+
                payloads
            })?
        }

        payload! { @try_from $payload }
    };
    (@kind $type:ty) => { <$type as FieldValue>::KIND };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@try_from $payload:ident) => {
        /// Reads the payload and ignores unknown fields.
        impl TryFrom<JsonObject> for $payload {
            type Error = ShapeError;

            fn try_from(fields: JsonObject) -> Result<Self, ShapeError> {
                <$payload as Payload>::read(&mut FieldReader::new(fields))
            }
        }
    };
}
use payload;

/// The payload of an event without a type of its own: an object with any fields.
///
/// ```
/// use hook_protocol::{HookEventName, OpenInput};
/// use hook_json::JsonObject;
///
/// let input = OpenInput::new(HookEventName::AgentStart, JsonObject::new())?;
/// assert_eq!(input.event(), HookEventName::AgentStart);
/// # Ok::<(), hook_protocol::PayloadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenInput {
    event: HookEventName,
    /// The text that matchers are compared with, if the event has a field for it.
    subject: Option<String>,
    fields: JsonObject,
}

impl OpenInput {
    /// Creates a payload. The field that matchers are compared with must be a string.
    ///
    /// # Errors
    /// If it is not a string, or if the event has a payload type of its own.
    pub fn new(event: HookEventName, fields: JsonObject) -> Result<Self, super::PayloadError> {
        let mut reader = FieldReader::new(fields);
        let read = match event.row().is_open() {
            true => Self::read(event, &mut reader),
            false => Err(ShapeError::new("", "the event's own payload type", "an open payload")),
        };
        read.map_err(|shape| super::PayloadError { event, shape })
    }

    pub(crate) fn read(event: HookEventName, fields: &mut FieldReader) -> Result<Self, ShapeError> {
        let subject = match event.row().matching.field() {
            None => None,
            Some(field) => {
                let text = String::require(fields, field)?;
                if text.len() > MAX_TOOL_NAME {
                    let found = format!("{} bytes", text.len());
                    return Err(ShapeError::new(field, "a string of at most 1 KiB", found));
                }
                Some(text)
            }
        };
        Ok(Self { event, subject, fields: fields.take_rest() })
    }

    /// Returns the event.
    pub fn event(&self) -> HookEventName {
        self.event
    }

    /// Returns the value of a field other than the [subject](Self::subject).
    pub fn get(&self, name: &str) -> Option<&hook_json::RawJson> {
        self.fields.get(name)
    }

    /// Returns all fields except the one that matchers are compared with.
    pub fn fields(&self) -> &JsonObject {
        &self.fields
    }

    /// Returns the text that matchers are compared with.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>) {
        if let Some((field, subject)) = self.event.row().matching.field().zip(self.subject()) {
            out.text(field, subject);
        }
        out.fields(&self.fields);
    }
}
