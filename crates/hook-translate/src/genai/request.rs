//! Requests.

use hook_json::shape::{FieldReader, split_field};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::LlmRequest;

use super::contents::Contents;
use super::tool_config;
use crate::rewritten::{Overlaid, Rewritten};
use crate::{TranslateError, Translated, Warning, json};

/// The generation settings that hooks see.
const SHOWN_SETTINGS: [&str; 4] = ["temperature", "maxOutputTokens", "topP", "topK"];

/// Fields among the generation settings that are none; a hook's `config` does not change them.
const NO_SETTINGS: [&str; 4] = ["systemInstruction", "tools", "toolConfig", "safetySettings"];

/// Translates a request into the stable form.
pub(crate) fn to_stable_request(request: &RawObject) -> Result<RawObject, TranslateError> {
    let (fields, contents) = split_field(request, "contents", Contents::read);
    let mut fields = FieldReader::new(fields);
    let model = fields.text("model")?;
    let contents = contents.transpose()?.unwrap_or_default();
    let config = fields.object("config")?.map(|config| config.fields()).unwrap_or_default();
    let shown = SHOWN_SETTINGS
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), json::given(&config, name)?.clone())));
    let stable = LlmRequest {
        model,
        messages: Some(contents.messages()),
        config: Some(shown.collect()),
        tool_config: tool_config::shown_in(config)?,
        extra: JsonObject::new(),
    };
    Ok(stable.to_raw())
}

/// Translates a stable request, applied to `base` if there is one.
pub(crate) fn from_stable_request(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = LlmRequest::read(request)?;
    let mut warnings = Warning::unknown_in_request(&given.extra);

    let own = base.map(|base| split_field(base, "contents", Contents::read));
    let (fields, contents) = own.unwrap_or_default();
    let mut fields = FieldReader::new(fields);
    let mut changes = JsonObject::new();
    let model = fields.text("model")?;
    if let Some(new) = given.model.as_ref().filter(|new| Some(*new) != model.as_ref()) {
        changes.insert("model", RawJson::from_text(new));
    }

    let contents = contents.transpose()?.unwrap_or_default();
    let messages = given.messages.as_deref().map(|new| contents.overlaid(new, &mut warnings));
    let rewritten = match messages.transpose()?.flatten() {
        Some(Overlaid::Value(contents)) => {
            changes.insert("contents", contents);
            None
        }
        Some(Overlaid::Items(items)) => Some(items),
        None => None,
    };
    if base.is_none() && changes.get("contents").is_none() {
        let list = rewritten.as_ref().map_or_else(|| RawJson::from_items([]), Rewritten::list);
        changes.insert("contents", list);
    }

    let base_config = fields.object("config")?;
    match overlaid_config(&given, base_config.as_ref(), &mut warnings)? {
        Some(config) => changes.insert("config", config),
        None if base.is_none() && given.config.is_some() => {
            changes.insert("config", RawObject::empty());
        }
        None => {}
    }
    let value = match (base, rewritten) {
        (Some(base), Some(contents)) => contents.apply_to(base, changes),
        (Some(base), None) => base.merged(&changes),
        (None, _) => changes.to_raw(),
    };
    Ok(Translated { value, warnings })
}

/// Returns the base's `config` with the given settings and tool config, or `None` if they change
/// nothing.
fn overlaid_config(
    given: &LlmRequest,
    base: Option<&RawObject>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<RawObject>, TranslateError> {
    let fields = base.map(RawObject::fields).unwrap_or_default();
    let mut changes = JsonObject::new();
    for (name, value) in given.config.iter().flat_map(JsonObject::iter) {
        if NO_SETTINGS.contains(&name) {
            let path = format!("config.{name}");
            warnings
                .push(Warning::new(path, "not a setting that a hook can change; it is ignored"));
        } else if !value.is_null() && fields.get(name) != Some(value) {
            changes.insert(name, value.clone());
        }
    }
    if let Some(tool_config) = &given.tool_config
        && let Some(overlaid) = tool_config::overlaid_in(&fields, tool_config)?
    {
        changes.insert("toolConfig", overlaid);
    }
    if changes.is_empty() {
        return Ok(None);
    }
    Ok(Some(base.map_or_else(|| changes.to_raw(), |base| base.merged(&changes))))
}
