//! Values of one kind, kept as text.

use std::fmt;

use super::{JsonKind, RawJson};

macro_rules! typed {
    ($(#[$doc:meta])+ $name:ident, $kind:ident, $article:literal) => {
        $(#[$doc])+
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(RawJson);

        impl $name {
            /// Returns the value as one of any kind.
            pub fn as_raw(&self) -> &RawJson {
                &self.0
            }
        }

        #[doc = concat!("Gives back a value that is not ", $article, ".")]
        impl TryFrom<RawJson> for $name {
            type Error = RawJson;

            fn try_from(value: RawJson) -> Result<Self, RawJson> {
                match value.kind() {
                    JsonKind::$kind => Ok(Self(value)),
                    _ => Err(value),
                }
            }
        }

        impl From<$name> for RawJson {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.0.as_str())
            }
        }
    };
}

typed! {
    /// A [`RawJson`] that is known to be an array.
    JsonArray, Array, "an array"
}

typed! {
    /// A [`RawJson`] that is known to be a number. Its digits stay as they were written.
    JsonNumber, Number, "a number"
}

impl JsonArray {
    /// Creates an array of these values.
    pub fn from_items<'v>(items: impl IntoIterator<Item = &'v RawJson>) -> Self {
        Self(RawJson::from_items(items))
    }

    /// Returns the elements.
    pub fn to_items(&self) -> Vec<RawJson> {
        self.0.to_items().unwrap_or_default()
    }
}

impl JsonNumber {
    /// Returns the number, if it is a non-negative whole number that fits.
    pub fn to_u64(&self) -> Option<u64> {
        self.0.to_u64()
    }
}

impl From<u64> for JsonNumber {
    fn from(value: u64) -> Self {
        Self(RawJson::from_u64(value))
    }
}
