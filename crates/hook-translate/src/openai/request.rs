//! The common parts of requests of both APIs.

use hook_json::shape::{FieldReader, ShapeError, split_field};
use hook_json::{JsonObject, JsonWalk, RawJson, RawObject};
use hook_protocol::model::{LlmMessage, LlmRequest};

use super::settings::{self, Setting};
use super::tool_choice::{self, Nesting};
use crate::rewritten::{Overlaid, Rewritten};
use crate::{TranslateError, Translated, Warning, json};

/// A conversation of one of the APIs.
pub(super) trait Conversation: Default {
    /// The field of the conversation.
    const FIELD: &'static str;
    /// The settings that the API has.
    const SETTINGS: &'static [Setting];
    /// The form of a `tool_choice`.
    const NESTING: Nesting;

    /// Reads the field. Errors have relative paths.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError>;

    /// Returns the messages that hooks see.
    fn messages(&self) -> Vec<LlmMessage>;

    /// Returns the conversation with `messages` applied, or `None` if nothing changes.
    fn overlaid(&self, messages: &[LlmMessage], warnings: &mut Vec<Warning>) -> Option<Overlaid>;
}

/// Translates a request into the stable form.
pub(super) fn to_stable<C: Conversation>(request: &RawObject) -> Result<RawObject, TranslateError> {
    let (fields, conversation) = split_field(request, C::FIELD, C::read);
    let model = FieldReader::new(fields.clone()).text("model")?;
    let stable = LlmRequest {
        model,
        messages: Some(conversation.transpose()?.unwrap_or_default().messages()),
        config: Some(settings::shown(C::SETTINGS, &fields)),
        tool_config: tool_choice::shown(C::NESTING, &fields)?,
        extra: JsonObject::new(),
    };
    Ok(stable.to_raw())
}

/// Translates a stable request, applied to `base` if there is one.
pub(super) fn from_stable<C: Conversation>(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = LlmRequest::read(request)?;
    let mut warnings = Vec::new();
    for (name, _) in given.extra.iter() {
        warnings.push(Warning::new(name, "not a field of a stable request; it is ignored"));
    }

    let own = base.map(|base| split_field(base, C::FIELD, C::read));
    let (fields, conversation) = own.unwrap_or_default();
    let mut changes = JsonObject::new();
    let model = FieldReader::new(fields.clone()).text("model")?;
    if let Some(new) = given.model.as_ref().filter(|new| Some(*new) != model.as_ref()) {
        changes.insert("model", RawJson::from_text(new));
    }
    let conversation = conversation.transpose()?.unwrap_or_default();
    let overlaid =
        given.messages.as_deref().and_then(|new| conversation.overlaid(new, &mut warnings));
    let rewritten = match overlaid {
        Some(Overlaid::Value(conversation)) => {
            changes.insert(C::FIELD, conversation);
            None
        }
        Some(Overlaid::Items(items)) => Some(items),
        None => None,
    };
    if base.is_none() && changes.get(C::FIELD).is_none() {
        let list = rewritten.as_ref().map_or_else(|| RawJson::from_items([]), Rewritten::list);
        changes.insert(C::FIELD, list);
    }
    if let Some(config) = &given.config {
        changes.merge(&settings::changes(C::SETTINGS, config, &fields, &mut warnings));
    }
    // Always read, so that a base with an invalid tool choice is an error.
    let tool_config = given.tool_config.unwrap_or_default();
    let path = "toolConfig.mode";
    let choice = tool_choice::changes(C::NESTING, &tool_config, path, &fields, &mut warnings)?;
    if base.is_some() && !choice.is_empty() && json::given(&fields, "tools").is_none() {
        warnings.push(Warning::no_tools_to_choose_from());
    } else {
        changes.merge(&choice);
    }
    let value = match (base, rewritten) {
        (Some(base), Some(items)) => items.apply_to(base, changes),
        (Some(base), None) => base.merged(&changes),
        (None, _) => changes.to_raw(),
    };
    Ok(Translated { value, warnings })
}
