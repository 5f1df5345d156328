//! Events that a settings file declares, under `hooksConfig.events`.

use super::document::{Field, Node};
use super::file::Reader;
use super::load::declare;
use super::rule::Rule;
use crate::event::EventDefinition;
use crate::json::RawJson;

impl Reader<'_> {
    /// Reads the declarations, and adds them to the events that hooks of this file can listen to.
    pub(super) fn read_declared_events(&mut self, node: &Node) {
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", "no event was declared");
            return;
        };
        for field in &fields {
            match self.declare(field) {
                Ok(definition) => self.declared.push(definition),
                Err(problem) => {
                    let message = format!("{problem}; the event was not declared");
                    self.document.report(Rule::InvalidEvent, &field.value, message);
                }
            }
        }
    }

    fn declare(&mut self, field: &Field) -> Result<EventDefinition, String> {
        let value =
            RawJson::parse(field.value.value.as_str()).map_err(|error| error.to_string())?;
        let fields =
            value.to_object().map_err(|_| format!("expected an object, found {}", value.kind()))?;
        let definition = EventDefinition::read(field.name.as_str(), fields)
            .map_err(|error| error.to_string())?;
        declare(&self.source, definition.clone(), &mut self.events)
            .map_err(|error| error.to_string())?;
        Ok(definition)
    }
}
