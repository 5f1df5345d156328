//! Reading an output: known fields by their type, the rest kept.

use super::{Decision, HookOutput, OutputField, SPECIFIC_FIELDS};
use crate::json::{JsonKind, JsonObject, RawJson, RawObject};
use crate::nearest::shortened;

impl HookOutput {
    /// Reads an output. Known fields of another type are dropped, unknown decision words kept,
    /// each with a warning (protocol.md §3); nothing else is lost.
    pub fn read(fields: JsonObject, warnings: &mut Vec<String>) -> Self {
        let mut fields = Known { fields, warnings };
        let output = Self {
            should_continue: fields.take("continue", JsonKind::Bool, RawJson::to_bool),
            stop_reason: fields.take("stopReason", JsonKind::String, RawJson::to_text),
            suppress_output: fields.take("suppressOutput", JsonKind::Bool, RawJson::to_bool),
            system_message: fields.take("systemMessage", JsonKind::String, RawJson::to_text),
            decision: fields
                .take("decision", JsonKind::String, RawJson::to_text)
                .map(|word| Decision::from_word(&word)),
            reason: fields.take("reason", JsonKind::String, RawJson::to_text),
            hook_specific_output: fields
                .take("hookSpecificOutput", JsonKind::Object, |value| {
                    RawObject::try_from(value.clone()).ok()
                })
                .map(|specific| fields.specific(specific.fields())),
            extra: fields.fields,
        };
        let word =
            output.specific_text("permissionDecision").map(|word| Decision::from_word(&word));
        for (field, decision) in [("decision", &output.decision), ("permissionDecision", &word)] {
            if let Some(Decision::Other(word)) = decision {
                let hint = Decision::nearest(word)
                    .map(|known| format!("; did you mean \"{known}\"?"))
                    .unwrap_or_default();
                let word = shortened(word);
                warnings.push(format!("{field} \"{word}\" is not known and has no effect{hint}"));
            }
        }
        output
    }
}

struct Known<'w> {
    fields: JsonObject,
    warnings: &'w mut Vec<String>,
}

impl Known<'_> {
    fn take<T>(
        &mut self,
        name: &str,
        expected: JsonKind,
        read: impl FnOnce(&RawJson) -> Option<T>,
    ) -> Option<T> {
        let value = self.fields.remove(name).filter(|value| !value.is_null())?;
        let read = read(&value);
        if read.is_none() {
            self.wrong_type(name, expected, value.kind());
        }
        read
    }

    fn specific(&mut self, mut specific: JsonObject) -> JsonObject {
        for OutputField { name, kind: expected, .. } in SPECIFIC_FIELDS {
            let Some(found) = specific.get(name).map(RawJson::kind) else { continue };
            if found != expected {
                specific.remove(name);
            }
            if found != expected && found != JsonKind::Null {
                self.wrong_type(&format!("hookSpecificOutput.{name}"), expected, found);
            }
        }
        specific
    }

    fn wrong_type(&mut self, name: &str, expected: JsonKind, found: JsonKind) {
        self.warnings.push(format!("{name} must be {expected}, found {found}; it was ignored"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OUTPUT_FIELDS;

    #[test]
    fn every_field_of_the_tables_is_read_with_its_type_and_nothing_else_is() {
        let warnings_of = |name: &str, specific: bool| {
            let mut fields = JsonObject::new();
            fields.insert(name, RawJson::parse("7").unwrap());
            if specific {
                let inner = fields.to_raw();
                fields = JsonObject::new();
                fields.insert("hookSpecificOutput", inner);
            }
            let mut warnings = Vec::new();
            HookOutput::read(fields, &mut warnings);
            warnings
        };
        for (fields, specific) in [(&OUTPUT_FIELDS[..], false), (&SPECIFIC_FIELDS[..], true)] {
            for field in fields {
                let warnings = warnings_of(field.name, specific);
                let expected = format!("{} must be {}, found a number", field.name, field.kind);
                assert!(warnings.iter().any(|it| it.contains(&expected)), "{warnings:?}");
            }
            assert_eq!(warnings_of("another", specific), [""; 0]);
        }
    }

    #[test]
    fn wrong_types_are_dropped_with_a_warning_and_the_rest_is_kept() {
        let text = r#"{"continue":"no","decision":"blok","reason":null,"other":[1],
            "hookSpecificOutput":{"tool_input":"x","additionalContext":"kept","mine":1}}"#;
        let mut warnings = Vec::new();
        let output =
            HookOutput::read(RawJson::parse(text).unwrap().to_object().unwrap(), &mut warnings);
        assert_eq!(
            output.to_raw().as_str(),
            r#"{"decision":"blok","hookSpecificOutput":{"additionalContext":"kept","mine":1},"other":[1]}"#
        );
        assert_eq!(
            warnings,
            [
                "continue must be a boolean, found a string; it was ignored",
                "hookSpecificOutput.tool_input must be an object, found a string; it was ignored",
                "decision \"blok\" is not known and has no effect; did you mean \"block\"?",
            ]
        );
    }
}
