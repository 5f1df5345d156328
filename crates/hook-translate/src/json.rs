//! Putting JSON text together.

use hook_core::{JsonObject, RawJson, RawObject};

use crate::TranslateError;

/// An array of values, which are copied as they are. `_path` names it for readers of the code:
/// what was checked once cannot fail here.
pub(crate) fn array<'a>(
    _path: &'static str,
    items: impl IntoIterator<Item = &'a RawJson>,
) -> Result<RawJson, TranslateError> {
    Ok(RawJson::from_items(items))
}

/// An object of these fields.
pub(crate) fn object<const N: usize>(fields: [(&str, RawJson); N]) -> RawObject {
    let fields: JsonObject =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    fields.to_raw()
}

/// A field that is there; `null` means absence (protocol.md §6).
pub(crate) fn given<'a>(fields: &'a JsonObject, name: &str) -> Option<&'a RawJson> {
    fields.get(name).filter(|value| !value.is_null())
}

/// Lays the fields of `changes` that are there over `fields`.
pub(crate) fn overlay_given(fields: &mut JsonObject, changes: &JsonObject) {
    for (name, value) in changes.iter().filter(|(_, value)| !value.is_null()) {
        fields.insert(name, value.clone());
    }
}

/// `null`. `path` names it, should it fail.
pub(crate) fn null(path: &'static str) -> Result<RawJson, TranslateError> {
    RawJson::parse("null").map_err(|source| TranslateError::Unwritable { path, source })
}
