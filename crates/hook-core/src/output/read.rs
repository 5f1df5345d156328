//! Reading an output: known fields by their type, the rest kept.

use super::fields::json_kind;
use super::{COMMON_FIELDS, Decision, HookOutput, SPECIFIC_FIELDS};
use crate::json::{JsonKind, JsonObject, RawJson, RawObject};
use crate::nearest::shortened;

impl HookOutput {
    /// Reads an output. Known fields of another type are dropped, unknown decision words kept,
    /// each with a warning (protocol.md §3); nothing else is lost.
    pub fn read(fields: JsonObject, warnings: &mut Vec<String>) -> Self {
        let mut fields = Known { fields, warnings };
        let output = Self {
            should_continue: fields.take("continue", RawJson::to_bool),
            stop_reason: fields.take("stopReason", RawJson::to_text),
            suppress_output: fields.take("suppressOutput", RawJson::to_bool),
            system_message: fields.take("systemMessage", RawJson::to_text),
            decision: fields
                .take("decision", RawJson::to_text)
                .map(|word| Decision::from_word(&word)),
            reason: fields.take("reason", RawJson::to_text),
            hook_specific_output: fields
                .take("hookSpecificOutput", |value| RawObject::try_from(value.clone()).ok())
                .map(|specific| fields.specific(specific.fields())),
            extra: fields.fields,
        };
        let word =
            output.specific_text("permissionDecision").map(|word| Decision::from_word(&word));
        for (field, decision) in [("decision", &output.decision), ("permissionDecision", &word)] {
            if let Some(Decision::Other(word)) = decision {
                let hint = match Decision::nearest(word) {
                    Some(known) => format!("did you mean \"{known}\"?"),
                    None => format!("the words are {}", Decision::WORDS.join(", ")),
                };
                let word = shortened(word);
                warnings.push(format!("{field} \"{word}\" is not known and has no effect; {hint}"));
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
    fn take<T>(&mut self, name: &str, read: impl FnOnce(&RawJson) -> Option<T>) -> Option<T> {
        let value = self.fields.remove(name).filter(|value| !value.is_null())?;
        let read = read(&value);
        if read.is_none()
            && let Some(field) = COMMON_FIELDS.iter().find(|field| field.name == name)
        {
            self.wrong_type(name, json_kind(field), value.kind());
        }
        read
    }

    fn specific(&mut self, mut specific: JsonObject) -> JsonObject {
        for field in &SPECIFIC_FIELDS {
            let (name, expected) = (field.name, json_kind(field));
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
        for (fields, specific) in [(&COMMON_FIELDS[..], false), (&SPECIFIC_FIELDS[..], true)] {
            for field in fields {
                let warnings = warnings_of(field.name, specific);
                let expected = format!("{} must be {}, found", field.name, json_kind(field));
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
