//! The tools that the model may call.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::ToolConfig;

use crate::{TranslateError, Translated, json};

const CALLING: &str = "functionCallingConfig";

/// Translates a tool config into the stable form.
pub(crate) fn to_stable_tool_config(config: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(read(config.fields())?.to_raw())
}

/// Translates a stable tool config, applied to `base` if there is one.
pub(crate) fn from_stable_tool_config(
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = ToolConfig::read(config.fields())?;
    let base = base.cloned().unwrap_or_else(RawObject::empty);
    Ok(Translated::complete(overlaid(&base, &given)?.unwrap_or(base)))
}

/// Returns the tool config in a request's `config`, if it is not the default.
pub(super) fn shown_in(config: JsonObject) -> Result<Option<ToolConfig>, TranslateError> {
    let Some(tool_config) = FieldReader::new(config).object("toolConfig").map_err(in_config)?
    else {
        return Ok(None);
    };
    let shown =
        read(tool_config.fields()).map_err(|error| in_config(error.within("toolConfig")))?;
    Ok((shown != ToolConfig::default()).then_some(shown))
}

/// Returns the `toolConfig` of a request's `config` with `given` applied, or `None` if nothing
/// changes.
pub(super) fn overlaid_in(
    config: &JsonObject,
    given: &ToolConfig,
) -> Result<Option<RawObject>, TranslateError> {
    let base = FieldReader::new(config.clone()).object("toolConfig").map_err(in_config)?;
    let base = base.unwrap_or_else(RawObject::empty);
    Ok(overlaid(&base, given).map_err(|error| in_config(error.within("toolConfig")))?)
}

fn in_config(error: ShapeError) -> ShapeError {
    error.within("config")
}

fn read(config: JsonObject) -> Result<ToolConfig, ShapeError> {
    match FieldReader::new(config).object(CALLING)? {
        Some(calling) => ToolConfig::read(calling.fields()).map_err(|error| error.within(CALLING)),
        None => Ok(ToolConfig::default()),
    }
}

fn overlaid(base: &RawObject, given: &ToolConfig) -> Result<Option<RawObject>, ShapeError> {
    let fields = base.fields();
    let shown = read(fields.clone())?;
    let mut calling = json::given(&fields, CALLING)
        .and_then(|calling| calling.to_object().ok())
        .unwrap_or_default();
    let mut changed = false;
    if let Some(mode) = given.mode.as_ref().filter(|mode| Some(*mode) != shown.mode.as_ref()) {
        calling.insert("mode", RawJson::from_text(mode));
        changed = true;
    }
    if given.allowed_function_names.is_some()
        && given.allowed_function_names != shown.allowed_function_names
    {
        let names = ToolConfig { mode: None, ..given.clone() }.to_raw().fields();
        calling.merge(&names);
        changed = true;
    } else if given.allowed_function_names.is_none() && given.mode.as_deref() == Some("NONE") {
        // The API rejects a list of names if no function may be called.
        changed |= calling.remove("allowedFunctionNames").is_some_and(|names| !names.is_null());
    }
    if !changed {
        return Ok(None);
    }
    let mut fields = fields;
    fields.insert(CALLING, calling.to_raw());
    Ok(Some(fields.to_raw()))
}
