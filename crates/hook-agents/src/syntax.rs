//! Settings that are not plain JSON.

pub(super) use hook_json::{Comments, without_comments};

/// Converts TOML settings to JSON. Positions are lost.
pub(super) fn toml_to_json(text: &str) -> Result<String, String> {
    let settings: serde_json::Value =
        toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(settings.to_string())
}
