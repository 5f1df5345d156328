//! The system prompt, which hooks do not see but may extend.

use hook_json::shape::ShapeError;
use hook_json::{JsonKind, JsonText, RawJson};

use super::block::block_from_text;

/// Returns `system` with these texts appended as blocks of their own; the existing ones stay.
pub(super) fn appended(
    system: Option<&RawJson>,
    texts: &[&JsonText],
) -> Result<RawJson, ShapeError> {
    let mut blocks = match system.map(|system| (system, system.kind())) {
        None | Some((_, JsonKind::Null)) => Vec::new(),
        // The API rejects a block of empty text.
        Some((text, JsonKind::String)) if text.as_str() == "\"\"" => Vec::new(),
        Some((text, JsonKind::String)) => vec![block_from_text(text.clone())],
        Some((blocks, JsonKind::Array)) => blocks.to_items().unwrap_or_default(),
        Some((_, other)) => {
            return Err(ShapeError::new("system", "a string or an array", other));
        }
    };
    blocks.extend(texts.iter().map(|text| block_from_text(text.normalized())));
    Ok(RawJson::from_items(&blocks))
}
