//! Tables of fields, which readers and schemas share.

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The kind of value.
    pub kind: FieldKind,
    /// `true` if the field is required.
    pub required: bool,
    /// The value if the field is absent, as JSON text.
    pub default: Option<&'static str>,
    /// The description.
    pub about: &'static str,
}

impl Field {
    /// Returns a required field.
    pub const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Self { name, kind, required: true, default: None, about }
    }

    /// Returns an optional field.
    pub const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> Self {
        Self { name, kind, required: false, default: None, about }
    }

    /// Returns a field with a default, as JSON text.
    pub const fn with_default(
        name: &'static str,
        kind: FieldKind,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, kind, required: false, default: Some(default), about }
    }
}

/// The kind of value of a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// A string with a maximum length in bytes.
    TextUpTo(usize),
    /// A string with a maximum length in bytes, without NUL.
    ShortText(usize),
    /// A non-empty string, with a maximum length in bytes if there is one.
    NonEmpty(Option<usize>),
    /// A string that is not only whitespace.
    NotBlank,
    /// Exactly this string.
    Literal(&'static str),
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A whole number between the two, inclusive.
    Integer(i64, i64),
    /// A whole number between the two, inclusive.
    Unsigned(u64, Option<u64>),
    /// An array.
    List,
    /// An array of values of this kind.
    ListOf(&'static FieldKind),
    /// A string, or a non-empty array of strings.
    OneOrMore,
    /// A string, or an object with these fields.
    TextOr(&'static [Field]),
    /// An object with any fields.
    AnyObject,
    /// An object with these fields, and no others.
    Closed(&'static [Field]),
    /// An object with these fields; others are kept or ignored.
    Open(&'static [Field]),
    /// An object whose keys match a pattern, and whose values have these fields, and no others.
    Map(&'static str, &'static [Field]),
    /// Environment variables for a process.
    Variables,
    /// The definition of that name in the schema.
    Defined(&'static str),
    /// A model SDK's payload: in any form from a caller, in the stable form for a hook.
    Model(&'static str),
}

impl FieldKind {
    /// Returns the JSON type as a schema names it; `any` if there are several.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Any | Self::OneOrMore | Self::TextOr(_) => "any",
            Self::Text
            | Self::TextUpTo(_)
            | Self::ShortText(_)
            | Self::NonEmpty(_)
            | Self::NotBlank
            | Self::Literal(_)
            | Self::OneOf(_) => "string",
            Self::Bool => "boolean",
            Self::Number | Self::Integer(..) | Self::Unsigned(..) => "number",
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

/// Declares tables of fields, one field per entry: name, kind, default or presence, description. An
/// entry `..FIELD;` is one that tables share.
///
/// ```
/// hook_json::fields! {
///     /// The fields of a point.
///     pub POINT:
///     "x" Number, required, "The distance from the left edge.";
///     "unit" OneOf(&["mm", "px"]), = "\"mm\"", "The unit.";
/// }
/// assert_eq!(POINT[1].default, Some("\"mm\""));
/// ```
#[macro_export]
macro_rules! fields {
    ($(#[$doc:meta])* $visibility:vis $table:ident: $(
        $($name:literal $kind:expr, $(= $default:literal)? $($presence:ident)?, $about:literal)?
        $(..$shared:expr)?;
    )+) => {
        $(#[$doc])*
        $visibility static $table:
            [$crate::field::Field; [$(concat!($(stringify!($shared))? $($name)?)),+].len()] =
            $crate::fields!(@list $(
                $($name $kind, $(= $default)? $($presence)?, $about)?
                $(..$shared)?;
            )+);
    };
    (@list $(
        $($name:literal $kind:expr, $(= $default:literal)? $($presence:ident)?, $about:literal)?
        $(..$shared:expr)?;
    )*) => {{
        #[allow(unused_imports, reason = "a table may have shared fields only")]
        use $crate::field::FieldKind::*;
        [$(
            $($shared)?
            $($crate::fields!(@field $name, $kind, $(= $default)? $($presence)?, $about))?
        ),*]
    }};
    (@field $name:expr, $kind:expr, = $default:expr, $about:expr) => {
        $crate::field::Field::with_default($name, $kind, $default, $about)
    };
    (@field $name:expr, $kind:expr, $presence:ident, $about:expr) => {
        $crate::field::Field::$presence($name, $kind, $about)
    };
}

/// Returns `true` if a table has a field of that name.
pub fn has_field(fields: &[Field], name: &str) -> bool {
    fields.iter().any(|field| field.name == name)
}
