//! The typed payload of each event that has one: its fields, once for reading, writing, checking
//! and describing them. The events themselves are in [`crate::event`].

mod context;
mod model;
mod session;
mod tool;
mod turn;

use super::tool::MAX_TOOL_NAME;
use super::value::{FieldValue, Subject};
use crate::event::HookEventName;
use crate::json::field::Field;
use crate::json::shape::{FieldReader, ShapeError};
use crate::json::{JsonObject, ObjectWriter, RawObject};

pub use context::*;
pub use model::*;
pub use session::*;
pub use tool::*;
pub use turn::*;

/// What the event table needs of a payload type.
pub(crate) trait Payload: Sized {
    /// Its fields.
    const FIELDS: &'static [Field];

    /// A payload as one might come, as JSON without blanks.
    const SAMPLE: &'static str;

    /// Takes the payload's fields, and is the check of them.
    fn read(fields: &mut FieldReader) -> Result<Self, ShapeError>;

    fn write(&self, out: &mut ObjectWriter<'_>);

    /// What a matcher is compared with.
    fn match_subject(&self) -> Option<&str> {
        None
    }

    /// The arguments of a tool, which matchers look at instead of the whole payload.
    fn tool_input(&self) -> Option<&RawObject> {
        None
    }

    /// Checks what the types of the fields do not say.
    fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    /// The model request and response, which are translated before hooks see them.
    fn model_payloads(&mut self) -> ModelPayloads<'_> {
        ModelPayloads::default()
    }
}

/// The parts of a payload that are a model SDK's.
#[derive(Debug, Default)]
pub struct ModelPayloads<'p> {
    /// `llm_request`.
    pub request: Option<&'p mut RawObject>,
    /// `llm_response`.
    pub response: Option<&'p mut RawObject>,
}

/// Declares a payload: the fields that must be there, then those that may be, each with what it is
/// for. A field whose type alone does not say what a schema should has its kind behind it.
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
            /// A payload of what must be there. The optional fields are empty, and can be set.
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
        /// Reads the payload; fields it does not know are left out.
        impl TryFrom<JsonObject> for $payload {
            type Error = ShapeError;

            fn try_from(fields: JsonObject) -> Result<Self, ShapeError> {
                <$payload as Payload>::read(&mut FieldReader::new(fields))
            }
        }
    };
}
use payload;

/// The payload of an event without a type of its own: an object of whatever fields.
///
/// ```
/// use hook_core::{HookEventName, JsonObject, OpenInput};
///
/// let input = OpenInput::new(HookEventName::AgentStart, JsonObject::new())?;
/// assert_eq!(input.event(), HookEventName::AgentStart);
/// # Ok::<(), hook_core::PayloadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenInput {
    event: HookEventName,
    /// What matchers are compared with, where the event has a field for that.
    subject: Option<String>,
    fields: JsonObject,
}

impl OpenInput {
    /// Checks the fields: the one that matchers are compared with must be a string.
    ///
    /// # Errors
    /// When it is not, or the event has a payload type of its own, which is to be used.
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

    /// The event.
    pub fn event(&self) -> HookEventName {
        self.event
    }

    /// A field's value; that which matchers are compared with is the [subject](Self::subject).
    pub fn get(&self, name: &str) -> Option<&crate::json::RawJson> {
        self.fields.get(name)
    }

    /// All fields but the one that matchers are compared with.
    pub fn fields(&self) -> &JsonObject {
        &self.fields
    }

    /// What matchers are compared with.
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
