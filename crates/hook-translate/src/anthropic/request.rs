//! Requests.

use std::borrow::Cow;

use hook_json::shape::{FieldReader, split_field};
use hook_json::{JsonObject, JsonText, RawJson, RawObject};
use hook_protocol::model::{LlmMessage, LlmRequest, LlmRole};

use super::messages::Messages;
use super::{system, tool_choice};
use crate::rewritten::Rewritten;
use crate::{TranslateError, Translated, Warning, json};

/// The generation settings that hooks see: the stable name and Anthropic's.
const SHOWN_SETTINGS: [(&str, &str); 4] = [
    ("temperature", "temperature"),
    ("maxOutputTokens", "max_tokens"),
    ("topP", "top_p"),
    ("topK", "top_k"),
];

/// A setting that hooks do not see, but may set.
const STOP_SEQUENCES: (&str, &str) = ("stopSequences", "stop_sequences");

/// Translates a request into the stable form.
pub(crate) fn to_stable_request(request: &RawObject) -> Result<RawObject, TranslateError> {
    let (fields, messages) = split_field(request, "messages", Messages::read);
    let messages = messages.transpose()?.unwrap_or_default();
    let config = SHOWN_SETTINGS
        .into_iter()
        .filter_map(|(name, own)| Some((name.to_owned(), json::given(&fields, own)?.clone())))
        .collect();
    let mut reader = FieldReader::new(fields);
    let stable = LlmRequest {
        model: reader.text("model")?,
        messages: Some(messages.shown()),
        config: Some(config),
        tool_config: tool_choice::shown_in(&mut reader)?,
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
    let own = base.map(|base| split_field(base, "messages", Messages::read));
    let (fields, messages) = own.unwrap_or_default();
    let mut reader = FieldReader::new(fields.clone());
    let mut changes = JsonObject::new();

    let model = reader.text("model")?;
    if let Some(new) = given.model.as_ref().filter(|new| Some(*new) != model.as_ref()) {
        changes.insert("model", RawJson::from_text(new));
    }

    let messages = messages.transpose()?.unwrap_or_default();
    let mut rewritten = None;
    if let Some(given) = given.messages.as_deref() {
        let (system, conversation) = divided(given, messages.has_system_message());
        rewritten = messages.overlaid(&conversation, &mut warnings);
        if !system.is_empty() {
            changes.insert("system", system::appended(fields.get("system"), &system)?);
        }
    }
    if base.is_none() {
        let list = rewritten.as_ref().map_or_else(|| RawJson::from_items([]), Rewritten::list);
        changes.insert("messages", list);
    }

    settings(&given, &fields, &mut changes, &mut warnings);

    let choice = reader.object("tool_choice")?;
    if let Some(config) = &given.tool_config
        && let Some(choice) = tool_choice::overlaid_in(choice.as_ref(), config, &mut warnings)?
    {
        if base.is_some() && json::given(&fields, "tools").is_none() {
            warnings.push(Warning::no_tools_to_choose_from());
        } else {
            changes.insert("tool_choice", choice);
        }
    }
    let value = match (base, rewritten) {
        (Some(base), Some(messages)) => messages.apply_to(base, changes),
        (Some(base), None) => base.merged(&changes),
        (None, _) => changes.to_raw(),
    };
    Ok(Translated { value, warnings })
}

/// Divides a hook's messages into texts for `system` and messages of the conversation. All stay in
/// the conversation if it already has system messages.
fn divided(given: &[LlmMessage], have_system: bool) -> (Vec<&JsonText>, Cow<'_, [LlmMessage]>) {
    let is_system = |message: &&LlmMessage| message.role == LlmRole::System && !have_system;
    let system: Vec<&JsonText> = given
        .iter()
        .filter(is_system)
        .map(|message| &message.content)
        .filter(|text| !text.is_empty())
        .collect();
    if !given.iter().any(|message| is_system(&message)) {
        return (system, Cow::Borrowed(given));
    }
    let conversation = given.iter().filter(|message| !is_system(message)).cloned().collect();
    (system, Cow::Owned(conversation))
}

/// Adds the changes of a hook's `config` to `changes`.
fn settings(
    given: &LlmRequest,
    fields: &JsonObject,
    changes: &mut JsonObject,
    warnings: &mut Vec<Warning>,
) {
    for (name, value) in given.config.iter().flat_map(JsonObject::iter) {
        let known = SHOWN_SETTINGS.iter().chain([&STOP_SEQUENCES]).find(|known| known.0 == name);
        let Some((_, own)) = known else {
            let message = "not a setting that a hook can change here; it is ignored";
            warnings.push(Warning::new(format!("config.{name}"), message));
            continue;
        };
        if !value.is_null() && fields.get(own) != Some(value) {
            changes.insert(*own, value.clone());
        }
    }
}
