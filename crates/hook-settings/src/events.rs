//! Events that a settings file declares, under `hooksConfig.events`.

use super::declaring::declare;
use super::document::{Field, Node};
use super::file::Reader;
use super::rule::Rule;
use hook_json::text::{nearest, shortened};
use hook_json::{JsonObject, RawJson, field};
use hook_protocol::event::{DEFINITION_FIELDS, EventDefinition, MATCHING_FIELDS};

/// A problem in a declaration, with its node.
struct DeclarationError<'d> {
    node: &'d Node,
    message: String,
}

impl Reader<'_> {
    /// Declares events. Invalid declarations are reported and skipped.
    pub(super) fn read_declared_events(&mut self, node: &Node) {
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", "no event was declared");
            return;
        };
        for field in &fields {
            if let Some(definition) = self.declaration(field) {
                match declare(&self.file.source, definition.clone(), &mut self.events) {
                    Ok(_) => self.file.declared.push(definition),
                    Err(error) => self.report_invalid_name(field, &error.to_string()),
                }
            }
        }
    }

    fn declaration(&mut self, field: &Field) -> Option<EventDefinition> {
        let Some(keys) = self.document.fields(&field.value) else {
            self.document.wrong_kind(&field.value, "an object", "the event was not declared");
            self.invalid_declarations.push(field.name.clone());
            return None;
        };
        if self.has_unknown_keys(field, &keys, &DEFINITION_FIELDS) {
            return None;
        }
        let matching = keys.iter().find(|key| key.name == "matching");
        if let Some(matching) = matching
            && let Some(keys) = self.document.fields(&matching.value)
            && self.has_unknown_keys(field, &keys, &MATCHING_FIELDS)
        {
            return None;
        }
        match read(field, &keys) {
            Ok(definition) => Some(definition),
            Err(DeclarationError { node, message }) => {
                self.report_invalid(field, node, &message);
                None
            }
        }
    }

    /// Reports unknown keys; returns `true` if there are any.
    fn has_unknown_keys(
        &mut self,
        event: &Field,
        keys: &[Field],
        known: &'static [field::Field],
    ) -> bool {
        let unknown: Vec<&Field> =
            keys.iter().filter(|key| !field::has_field(known, &key.name)).collect();
        for key in &unknown {
            let message =
                format!("unknown key `{}`; the event was not declared", shortened(&key.name));
            let known = known.iter().map(|field| field.name);
            self.document.unknown_name(Rule::InvalidEvent, key, message, known);
            self.invalid_declarations.push(event.name.clone());
        }
        !unknown.is_empty()
    }

    fn report_invalid(&mut self, event: &Field, node: &Node, problem: &str) {
        let message = format!("{problem}; the event was not declared");
        self.document.report(Rule::InvalidEvent, node, message);
        self.invalid_declarations.push(event.name.clone());
    }

    fn report_invalid_name(&mut self, event: &Field, problem: &str) {
        let message = format!("{problem}; the event was not declared");
        self.document.unknown_name(Rule::InvalidEvent, event, message, []);
        self.invalid_declarations.push(event.name.clone());
    }
}

/// Parses a declaration without unknown keys.
fn read<'d>(field: &'d Field, keys: &'d [Field]) -> Result<EventDefinition, DeclarationError<'d>> {
    let mut fields = JsonObject::new();
    for key in keys {
        let value = RawJson::parse(key.value.value.as_str())
            .map_err(|error| DeclarationError { node: &key.value, message: error.to_string() })?;
        fields.insert(key.name.as_str(), value);
    }
    let key_of = |path: &str| {
        let first = path.split('.').next().unwrap_or_default();
        keys.iter().find(|key| key.name == first)
    };
    EventDefinition::read(field.name.as_str(), fields).map_err(|error| {
        let key = key_of(error.path());
        let mut message = error.to_string();
        let name = key.filter(|key| key.name == "merge").and_then(|key| key.value.value.to_text());
        let words = hook_protocol::event::MergeStrategy::NAMES;
        if let Some(suggestion) = name.and_then(|name| nearest(&name, words)) {
            message.push_str(&format!(" (did you mean \"{suggestion}\"?)"));
        }
        DeclarationError { node: key.map_or(&field.value, |key| &key.value), message }
    })
}
