//! Helpers to build and read JSON text.

use hook_json::{JsonObject, RawJson, RawObject};

/// Returns an object with these fields.
pub(crate) fn object<const N: usize>(fields: [(&str, RawJson); N]) -> RawObject {
    let fields: JsonObject =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    fields.to_raw()
}

/// Returns a field's value, unless it is absent or `null` (reference/messages.md).
pub fn given<'a>(fields: &'a JsonObject, name: &str) -> Option<&'a RawJson> {
    fields.get(name).filter(|value| !value.is_null())
}

/// Overlays the non-null fields of `changes` on `fields`.
pub fn overlay_given(fields: &mut JsonObject, changes: &JsonObject) {
    for (name, value) in changes.iter().filter(|(_, value)| !value.is_null()) {
        fields.insert(name, value.clone());
    }
}
