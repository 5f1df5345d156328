//! The syntax of settings. What is not JSON becomes JSON.

use std::borrow::Cow;
use std::path::Path;

pub(super) use hook_json::{Comments, without_comments};
use hook_settings::language::ForeignFile;

use super::edit_error::ForeignEditError;
use super::yaml;

/// The syntax of a settings file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Toml,
    Yaml,
}

impl Syntax {
    /// Returns the syntax of a file.
    pub(super) fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Json,
        }
    }

    /// Returns the syntax of an agent's file.
    pub(super) fn of_file(file: &ForeignFile<'_>) -> Self {
        file.path.map_or(Self::Json, Self::of)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    /// Converts a text to JSON. Positions of TOML and YAML are lost.
    pub(super) fn to_json(
        self,
        text: &str,
        comments: Comments,
    ) -> Result<Cow<'_, str>, ForeignEditError> {
        match self {
            Self::Json => Ok(without_comments(text, comments)),
            Self::Toml => toml_to_json(text).map(Cow::Owned),
            Self::Yaml => yaml::to_json(text).map(Cow::Owned),
        }
    }
}

/// Converts TOML to JSON.
pub(super) fn toml_to_json(text: &str) -> Result<String, ForeignEditError> {
    let settings: serde_json::Value = toml::from_str(text).map_err(|error| ForeignEditError {
        at: error.span().unwrap_or_default(),
        message: error.message().to_owned(),
    })?;
    Ok(settings.to_string())
}
