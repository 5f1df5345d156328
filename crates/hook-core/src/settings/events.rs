//! Events that a settings file declares, under `hooksConfig.events`.

use super::Rule;
use super::document::Node;
use super::fields::{EVENT_FIELDS, MATCHING_FIELDS};
use super::file::Reader;
use crate::event::{EventDefinition, MergeStrategy};
use crate::text::shortened;

impl Reader<'_> {
    /// Reads the declarations, and adds them to the events that hooks of this file can listen to.
    pub(super) fn read_declared_events(&mut self, node: &Node) {
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", "no event was declared");
            return;
        };
        for field in &fields {
            let Some(definition) = self.event_definition(&field.name, &field.value) else {
                continue;
            };
            match self.events.declare(definition.clone()) {
                Ok(_) => self.declared.push(definition),
                Err(error) => {
                    self.document.report(Rule::InvalidEvent, &field.value, error.to_string())
                }
            }
        }
    }

    fn event_definition(&mut self, name: &str, node: &Node) -> Option<EventDefinition> {
        let mut definition = EventDefinition::new(name);
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", "the event was not declared");
            return None;
        };
        for field in &fields {
            let value = &field.value;
            definition = match field.name.as_str() {
                "matching" => self.matching_of_event(definition, value)?,
                "merge" => {
                    let word = self.text(value, "the event was not declared")?;
                    let Some(merge) = MergeStrategy::from_word(&word) else {
                        let known = MergeStrategy::WORDS.join(", ");
                        let message = format!(
                            "expected one of {known}, found `{}`; the event was not declared",
                            shortened(&word)
                        );
                        self.document.report(Rule::InvalidEvent, value, message);
                        return None;
                    };
                    definition.merge(merge)
                }
                "blockMeans" => {
                    definition.block_means(self.text(value, "the event was not declared")?)
                }
                _ => {
                    self.unknown_key(field, &EVENT_FIELDS);
                    definition
                }
            };
        }
        Some(definition)
    }

    fn matching_of_event(
        &mut self,
        definition: EventDefinition,
        node: &Node,
    ) -> Option<EventDefinition> {
        const NOT_DECLARED: &str = "the event was not declared";
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", NOT_DECLARED);
            return None;
        };
        let mut read = None;
        for field in &fields {
            match field.name.as_str() {
                "exact" | "pattern" if read.is_some() => {
                    let message = "the event has `exact` and `pattern`; it was not declared";
                    self.document.report(Rule::InvalidEvent, node, message);
                    return None;
                }
                "exact" => {
                    let name = self.text(&field.value, NOT_DECLARED)?;
                    read = Some(definition.clone().matching_exactly(name));
                }
                "pattern" => {
                    let name = self.text(&field.value, NOT_DECLARED)?;
                    read = Some(definition.clone().matching_pattern(name));
                }
                _ => self.unknown_key(field, &MATCHING_FIELDS),
            }
        }
        Some(read.unwrap_or(definition))
    }
}
