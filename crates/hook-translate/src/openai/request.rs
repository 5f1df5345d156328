//! What the requests of both APIs have in common.

use hook_core::json::shape::{FieldReader, ShapeError, fields_and};
use hook_core::model::{LlmMessage, LlmRequest};
use hook_core::{JsonObject, JsonWalk, RawJson, RawObject};

use super::settings::{self, Setting};
use super::tool_choice::{self, Nesting};
use crate::rewritten::{Overlaid, Rewritten};
use crate::{TranslateError, Translated, Warning, json};

/// A conversation of one of the APIs.
pub(super) trait Conversation: Default {
    /// The field that holds it.
    const FIELD: &'static str;
    /// The settings that stand beside it.
    const SETTINGS: &'static [Setting];
    /// How a `tool_choice` beside it is written.
    const NESTING: Nesting;

    /// Reads the field ahead. An error has no path before.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError>;

    /// What hooks see of it.
    fn messages(&self) -> Vec<LlmMessage>;

    /// This with `messages` laid over it, or nothing if that changes nothing.
    fn overlaid(&self, messages: &[LlmMessage], warnings: &mut Vec<Warning>) -> Option<Overlaid>;
}

/// A request as hooks see it.
pub(super) fn to_stable<C: Conversation>(request: &RawObject) -> Result<RawObject, TranslateError> {
    let (fields, conversation) = fields_and(request, C::FIELD, C::read);
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

/// A stable request laid over `base`; without a base, on its own.
pub(super) fn from_stable<C: Conversation>(
    request: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = LlmRequest::read(request)?;
    let mut warnings = Vec::new();
    for (name, _) in given.extra.iter() {
        warnings.push(Warning::new(name, "not a field of a stable request; it is ignored"));
    }

    let own = base.map(|base| fields_and(base, C::FIELD, C::read));
    let (fields, conversation) = own.unwrap_or_default();
    let mut changes = JsonObject::new();
    let model = FieldReader::new(fields.clone()).text("model")?;
    if let Some(new) = given.model.as_ref().filter(|new| Some(*new) != model.as_ref()) {
        changes.insert("model", RawJson::from_text(new));
    }
    let conversation = conversation.transpose()?.unwrap_or_default();
    let laid = given.messages.as_deref().and_then(|new| conversation.overlaid(new, &mut warnings));
    let rewritten = match laid {
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
        changes.overlay(&settings::changes(C::SETTINGS, config, &fields, &mut warnings));
    }
    // Read in any case: a base that cannot be shown cannot be laid over either.
    let tool_config = given.tool_config.unwrap_or_default();
    let path = "toolConfig.mode";
    let choice = tool_choice::changes(C::NESTING, &tool_config, path, &fields, &mut warnings)?;
    if base.is_some() && !choice.is_empty() && json::given(&fields, "tools").is_none() {
        warnings.push(Warning::no_tools_to_choose_from());
    } else {
        changes.overlay(&choice);
    }
    let value = match (base, rewritten) {
        (Some(base), Some(items)) => items.laid_over(base, changes),
        (Some(base), None) => base.overlaid(&changes),
        (None, _) => changes.to_raw(),
    };
    Ok(Translated { value, warnings })
}
