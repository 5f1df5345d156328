//! `Debug` for types that are not to be shown as a whole.

/// Implements `Debug` for a type by its name, and by the named fields. For types with contents that
/// have no `Debug`, are secret, or too long.
/// ```
/// struct Server {
///     name: String,
///     handler: fn(),
/// }
/// hook_json::opaque_debug!(Server { name });
/// let server = Server { name: "one".to_owned(), handler: || () };
/// assert_eq!(format!("{server:?}"), r#"Server { name: "one", .. }"#);
/// ```
#[macro_export]
macro_rules! opaque_debug {
    ($name:ident $(<$lifetime:lifetime>)? $({ $($field:ident),+ })?) => {
        impl ::std::fmt::Debug for $name $(<$lifetime>)? {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut out = formatter.debug_struct(stringify!($name));
                $($(out.field(stringify!($field), &self.$field);)+)?
                out.finish_non_exhaustive()
            }
        }
    };
}
