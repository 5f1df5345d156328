//! The `language` of definitions and hooks in native settings.

use super::document::parse_root;
use crate::language::{Language, Languages};
use hook_json::RawJson;
use hook_protocol::event::EventDefinition;

/// The key of the language.
pub(super) const LANGUAGE: &str = "language";

/// Checks whether a settings text may contain the key. Few files do, and reading it takes a parse.
pub(super) fn mentions_language(text: &str) -> bool {
    text.contains("\"language\"") || text.contains("\\u")
}

/// Returns the `language` of a definition or hook.
pub(super) fn language_of(value: &RawJson) -> Option<RawJson> {
    value.to_object().ok()?.get(LANGUAGE).filter(|language| !language.is_null()).cloned()
}

fn hooks_of(definition: &RawJson) -> Vec<RawJson> {
    let hooks = definition.to_object().ok().and_then(|fields| fields.get("hooks")?.to_items());
    hooks.unwrap_or_default()
}

/// Checks whether a definition, or each of its hooks, has a language.
pub(super) fn is_in_language(definition: &RawJson) -> bool {
    let hooks = || hooks_of(definition);
    let all_have_language = |hooks: Vec<RawJson>| {
        !hooks.is_empty() && hooks.iter().all(|hook| language_of(hook).is_some())
    };
    language_of(definition).is_some() || all_have_language(hooks())
}

/// Returns the agents' own events for which a settings text has hooks in their languages.
pub(super) fn declared_events(text: &str, languages: &Languages) -> Vec<EventDefinition> {
    if languages.is_empty() || !mentions_language(text) {
        return Vec::new();
    }
    let root = parse_root(text).ok().and_then(|root| root.to_object().ok());
    let events = root.and_then(|root| root.get("hooks")?.to_object().ok()).unwrap_or_default();
    let mut found: Vec<EventDefinition> = Vec::new();
    for (event, definitions) in events.iter() {
        for definition in definitions.to_items().unwrap_or_default() {
            let hooks = hooks_of(&definition);
            let definition_language = language_of(&definition).into_iter();
            for value in definition_language.chain(hooks.iter().filter_map(language_of)) {
                let language = value.to_text().and_then(|name| languages.get(&name));
                found.extend(language.and_then(|known| own_event(known, event)));
            }
        }
    }
    found
}

/// Returns the agent's own event with that name.
pub(super) fn own_event(language: &'static dyn Language, event: &str) -> Option<EventDefinition> {
    language
        .declared_events()
        .into_iter()
        .find(|definition| definition.name().eq_ignore_ascii_case(event))
}
