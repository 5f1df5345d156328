//! Tables of fields: what a reader knows, written down once for the reader and for its schema.

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// What holds without it, as JSON text.
    pub default: Option<&'static str>,
    /// What it is for.
    pub about: &'static str,
}

impl Field {
    /// A field that must be there.
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: true, default: None, about }
    }

    /// A field that may be absent.
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: false, default: None, about }
    }

    /// A field with a default, as JSON text.
    pub const fn with_default(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, kind, required: false, default: Some(default), about }
    }
}

/// What a field may be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// A string of at most so many bytes.
    TextUpTo(usize),
    /// A string of at most so many bytes, without NUL.
    ShortText(usize),
    /// A string that is not empty, and has at most so many bytes where there is a limit.
    NonEmpty(Option<usize>),
    /// A string that is not only blanks.
    NotBlank,
    /// This very string.
    Word(&'static str),
    /// One of these strings.
    Words(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A whole number from the first to the second.
    Integer(i64, i64),
    /// A whole number in this range.
    Whole(u64, Option<u64>),
    /// An array.
    List,
    /// An array of values of that kind.
    ListOf(&'static Kind),
    /// A string, or an array of at least one.
    OneOrMore,
    /// A string, or an object with these fields.
    TextOr(&'static [Field]),
    /// An object of any form.
    AnyObject,
    /// An object with these fields, and no others.
    Closed(&'static [Field]),
    /// An object with these fields; others are kept or ignored.
    Open(&'static [Field]),
    /// An object whose names match that pattern, and whose values have these fields, and no others.
    Map(&'static str, &'static [Field]),
    /// Variables for a process.
    Variables,
    /// What the document defines by that name.
    Defined(&'static str),
    /// The payload of a model's SDK: of any form from a caller, in the stable form for a hook.
    Model(&'static str),
}

impl Kind {
    /// The kind of JSON, as a schema names it; `any` where it may be of several.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Any | Self::OneOrMore | Self::TextOr(_) => "any",
            Self::Text
            | Self::TextUpTo(_)
            | Self::ShortText(_)
            | Self::NonEmpty(_)
            | Self::NotBlank
            | Self::Word(_)
            | Self::Words(_) => "string",
            Self::Bool => "boolean",
            Self::Number | Self::Integer(..) | Self::Whole(..) => "number",
            Self::List | Self::ListOf(_) => "array",
            Self::AnyObject
            | Self::Closed(_)
            | Self::Open(_)
            | Self::Map(..)
            | Self::Variables
            | Self::Defined(_)
            | Self::Model(_) => "object",
        }
    }
}

/// Whether a table has a field of that name.
pub(crate) fn has(fields: &[Field], name: &str) -> bool {
    fields.iter().any(|field| field.name == name)
}
