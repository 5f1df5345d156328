//! Enums whose values have names in JSON.

/// Declares an enum whose values have names in settings and messages.
///
/// ```
/// hook_json::keywords! {
///     /// The direction of a message.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum Direction {
///         /// From the client.
///         In = "in",
///         /// To the client.
///         Out = "out",
///     }
/// }
/// assert_eq!(Direction::from_name("out"), Some(Direction::Out));
/// assert_eq!(Direction::EXPECTED, "one of `in` `out`");
/// ```
#[macro_export]
macro_rules! keywords {
    ($(#[$meta:meta])* $visibility:vis enum $type:ident {
        $($(#[$doc:meta])+ $variant:ident = $name:literal,)+
    }) => {
        $(#[$meta])*
        $visibility enum $type {
            $($(#[$doc])+ $variant,)+
        }

        impl $type {
            /// All values.
            $visibility const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The names of all values.
            $visibility const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// The expected names, for errors.
            $visibility const EXPECTED: &'static str = concat!("one of", $(" `", $name, "`"),+);

            /// Returns the value with that name.
            $visibility fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == name)
            }

            /// Returns the name used in settings and messages.
            $visibility fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}
