//! Reading an output: known fields by their type, other fields kept, and decisions recognized in
//! any spelling.

use std::collections::HashSet;
use std::time::Duration;

use super::answer::HookOutput;
use super::decision::{Decision, PolicyDecision};
use super::decision_field::{
    CANCEL, CONTINUE, DECISION, DecisionField, InvalidValue, Level, Meaning, PERMISSION,
    Restriction, decision_fields, foreign_restriction,
};
use super::fields::{
    COMMON_FIELDS, MAX_RETRY_AFTER, SPECIFIC_FIELDS, is_replacing_field, is_spelling_of, json_kind,
};
use super::mistakes::MAX_COMPARED;
use super::nested::restriction_within;
use crate::event::HookEventName;
use crate::failure::InvalidAnswer;
use crate::model::OLDER_NAMES;
use hook_json::text::shortened;
use hook_json::{JsonKind, JsonObject, RawJson, RawObject};

const SPECIFIC: &str = "hookSpecificOutput";

/// The maximum number of mistakes reported for one output, of each kind.
pub(super) const MAX_REPORTED: usize = 8;

/// An output with the results of reading it.
#[derive(Debug, Default)]
pub struct ParsedOutput {
    /// The answer.
    pub output: HookOutput,
    /// Warnings for the hook's author.
    pub warnings: Vec<String>,
    /// The reasons why the hook's decision is uncertain.
    pub invalid: Vec<InvalidReason>,
}

/// A reason why an output is invalid: a failure of a hook whose `failBehavior` is `block`, a
/// warning to any other.
#[derive(Debug, Clone)]
pub struct InvalidReason {
    /// The problem of the answer.
    pub answer: InvalidAnswer,
    /// The warning; `None` if another warning covers it.
    pub warning: Option<String>,
}

impl HookOutput {
    /// Reads an output. Known fields of a wrong type are dropped and unknown decisions kept, each
    /// with a warning. A restrictive decision counts in any spelling (reference/answers.md). Nothing else
    /// is lost.
    pub fn read(fields: JsonObject, warnings: &mut Vec<String>) -> Self {
        let entries = fields.iter().map(|(name, value)| (name.to_owned(), value.clone()));
        let ParsedOutput { output, warnings: own_warnings, invalid } =
            ParsedOutput::of(entries.collect(), None);
        warnings.extend(own_warnings);
        warnings.extend(invalid.into_iter().filter_map(|invalid| invalid.warning));
        output
    }

    /// Reads the output of a host's function again like that of a script, if a part of it that may
    /// decide is not written as documented.
    pub fn revalidated(self, event: HookEventName) -> ParsedOutput {
        let fields = decision_fields(Some(event));

        let unusual =
            |level: Level, name: &str, value: &RawJson| match DecisionField::find(name, fields) {
                Some(field) if field.name == name && field.level == level => {
                    matches!(
                        field.read(value),
                        Meaning::Invalid(_) | Meaning::Restrictive { exact: false, .. }
                    )
                }
                Some(_) => true,
                None if level == Level::Specific
                    && OLDER_NAMES.iter().any(|(_, older)| *older == name) =>
                {
                    true
                }
                None if level == Level::Specific && is_replacing_field(name) => {
                    !matches!(value.kind(), JsonKind::Object | JsonKind::Null)
                }
                None => {
                    is_spelling_of(name, SPECIFIC) || restriction_within(value, fields).is_some()
                }
            };
        let specific = self.hook_specific_output.as_ref();
        let is_unusual = matches!(self.decision, Some(Decision::Other(_)))
            || self.extra.iter().any(|(name, value)| unusual(Level::Top, name, value))
            || specific.is_some_and(|fields| {
                fields.iter().any(|(name, value)| unusual(Level::Specific, name, value))
            });
        let too_long =
            self.retry_after.is_some_and(|after| after > Duration::from_millis(MAX_RETRY_AFTER));
        if is_unusual || too_long {
            return ParsedOutput::of(self.to_raw().as_raw().to_entries(), Some(event));
        }
        ParsedOutput { output: self, ..ParsedOutput::default() }
    }
}

impl ParsedOutput {
    /// Reads the entries of an object, in which deciding fields may be repeated. Without an event,
    /// only the fields that decide on every event count.
    pub fn of(entries: Vec<(String, RawJson)>, event: Option<HookEventName>) -> Self {
        let fields = decision_fields(event);
        let mut occurrences = Occurrences::collect(&entries, fields);
        let mut known = KnownFields {
            fields: JsonObject::new(),
            decision_fields: fields,
            parsed: Self::default(),
        };
        known.parsed.report_nested(&entries, fields);
        known.fields = entries.into_iter().collect();
        let mut output = HookOutput {
            should_continue: known.take(CONTINUE.name).and_then(|value| value.to_bool()),
            stop_reason: known.take_as("stopReason", RawJson::to_text),
            suppress_output: known.take_as("suppressOutput", RawJson::to_bool),
            system_message: known.take_as("systemMessage", RawJson::to_text),
            decision: known
                .take(DECISION.name)
                .and_then(|value| value.to_text())
                .map(|name| Decision::from_name(&name)),
            reason: known.take_as("reason", RawJson::to_text),
            retry_after: known.retry_after(),
            skip_remaining: known.take_as("skipRemaining", RawJson::to_bool),
            hook_specific_output: known
                .take_as(SPECIFIC, |value| RawObject::try_from(value.clone()).ok())
                .map(|specific| known.specific(specific.fields())),
            extra: JsonObject::new(),
        };
        output.extra = known.fields;
        let mut reading = known.parsed;
        for field in fields {
            occurrences.apply_strictest(field, &mut output, &mut reading);
        }
        reading.report_foreign(&output, fields);
        reading.report_misspelled(&output, fields);
        reading.output = output;
        reading.truncate();
        reading
    }

    /// Returns `true` if the entries restrict anything on an event, also in another agent's format.
    pub fn restricts(entries: Vec<(String, RawJson)>, event: HookEventName) -> bool {
        let is_foreign =
            entries.iter().any(|(name, value)| foreign_restriction(name, value).is_some());
        let reading = Self::of(entries, Some(event));
        is_foreign || reading.output.policy(event) > PolicyDecision::Proceed
    }

    /// Keeps the first few mistakes, since an output may have any number of fields.
    fn truncate(&mut self) {
        let omitted = self.warnings.len().saturating_sub(MAX_REPORTED)
            + self.invalid.len().saturating_sub(MAX_REPORTED);
        self.warnings.truncate(MAX_REPORTED);
        self.invalid.truncate(MAX_REPORTED);
        if omitted > 0 {
            self.warnings.push(format!("and {omitted} more mistakes in the answer"));
        }
    }

    /// Reports restrictions nested deeper than decisions are read: the decision is uncertain.
    /// Outside the fields that hold data, text pasted into the output may have moved them there.
    fn report_nested(&mut self, entries: &[(String, RawJson)], fields: &[&'static DecisionField]) {
        for (name, value) in entries {
            let found = match value.kind() {
                JsonKind::Object if is_spelling_of(name, SPECIFIC) => value
                    .to_entries()
                    .iter()
                    .filter(|(name, _)| !is_replacing_field(name))
                    .find_map(|(_, value)| restriction_within(value, fields)),
                // The wrong type is reported already.
                _ if name == SPECIFIC => None,
                _ => restriction_within(value, fields),
            };
            let Some(found) = found else { continue };
            let name = shortened(name);
            let reason = format!("{found} stands in `{name}`, where no decision is read");
            let warning = format!("{reason}; it has no effect");
            let hint = "write it at the top of the answer, with jq or a JSON library, or call it \
                        otherwise if it is none";
            let answer = InvalidAnswer::new(reason, hint);
            self.invalid.push(InvalidReason { answer, warning: Some(warning) });
        }
    }

    /// Reports restrictions in another agent's format: the decision is uncertain.
    fn report_foreign(&mut self, output: &HookOutput, fields: &[&'static DecisionField]) {
        for (name, value) in output.extra.iter().take(MAX_COMPARED) {
            if DecisionField::find(name, fields).is_some() {
                continue;
            }
            let Some(decision) = foreign_restriction(name, value) else { continue };
            let written = entry(None, &shortened(name), &shortened(value.as_str()));
            let reason = format!("{written} is another agent's way to answer");
            let documented = entry(None, DECISION.name, &format!("\"{}\"", decision.as_str()));
            let warning = format!("{reason} and has no effect; write {documented}");
            let answer = InvalidAnswer::new(reason, format!("write {documented}"));
            self.invalid.push(InvalidReason { answer, warning: Some(warning) });
        }
    }

    /// Reports misspelled deciding fields with a restrictive value: the decision is uncertain. The
    /// warning is among [`HookOutput::mistakes`].
    fn report_misspelled(&mut self, output: &HookOutput, fields: &[&'static DecisionField]) {
        let specific = output.hook_specific_output.iter().flat_map(JsonObject::iter);
        for (name, value) in
            output.extra.iter().take(MAX_COMPARED).chain(specific.take(MAX_COMPARED))
        {
            if DecisionField::find(name, fields).is_none()
                && foreign_restriction(name, value).is_none()
                && let Some(field) = DecisionField::find_misspelled(name, fields)
                && matches!(field.read(value), Meaning::Restrictive { .. })
            {
                let name = shortened(name);
                let answer = InvalidAnswer::new(
                    format!("`{name}` is not known"),
                    format!("did you mean `{}`?", field.name),
                );
                self.invalid.push(InvalidReason { answer, warning: None });
            }
        }
    }
}

/// Formats an entry at the top level, or in the named object.
fn entry(container: Option<&str>, name: &str, value: &str) -> String {
    match container {
        None => format!("\"{name}\": {value}"),
        Some(container) => format!("\"{container}\": {{\"{name}\": {value}}}"),
    }
}

/// One occurrence of a deciding field in an output.
struct Occurrence {
    field: &'static DecisionField,
    level: Level,
    /// The name of the containing object, unless that is the output itself.
    container: Option<String>,
    name: String,
    value: RawJson,
    meaning: Meaning,
    /// The value of the reason field in the same object.
    reason: Option<RawJson>,
}

impl Occurrence {
    /// Returns `true` if the field has its exact name in the right object.
    fn is_canonical(&self) -> bool {
        self.level == self.field.level
            && self.name == self.field.name
            && self.container.as_ref().is_none_or(|name| name == SPECIFIC)
    }
}

/// All occurrences of deciding fields in an output.
struct Occurrences(Vec<Occurrence>);

impl Occurrences {
    fn collect(entries: &[(String, RawJson)], fields: &[&'static DecisionField]) -> Self {
        let mut occurrences = Vec::new();
        collect_level(None, entries, fields, &mut occurrences);
        // All of these objects count, so that pasted text cannot choose which one is read.
        for (name, specific) in entries.iter().filter(|(name, _)| is_spelling_of(name, SPECIFIC)) {
            collect_level(Some(name), &specific.to_entries(), fields, &mut occurrences);
        }
        Self(occurrences)
    }

    /// Applies the strictest occurrence of a field, and reports those that are not written as
    /// documented.
    fn apply_strictest(
        &mut self,
        field: &'static DecisionField,
        output: &mut HookOutput,
        reading: &mut ParsedOutput,
    ) {
        let occurrences: Vec<Occurrence> =
            self.0.extract_if(.., |occurrence| occurrence.field == field).collect();
        for occurrence in &occurrences {
            if let Meaning::Invalid(value_error) = &occurrence.meaning {
                reading.invalid.push(occurrence.invalid(value_error));
            }
        }
        let canonical_count =
            occurrences.iter().filter(|occurrence| occurrence.is_canonical()).count();
        if canonical_count > 1 {
            let name = field.name;
            reading.warnings.push(format!(
                "`{name}` is written {canonical_count} times; the most restrictive one counts, if one \
                 restricts, else the last"
            ));
        }
        let strictest = occurrences.iter().rev().max_by_key(|occurrence| occurrence.rank());
        let Some(occurrence) = strictest else { return };
        let Meaning::Restrictive { decision, exact } = &occurrence.meaning else { return };
        if occurrence.is_canonical()
            && *exact
            && occurrences.len() == 1
            && occurrence.is_in_output(output)
        {
            return;
        }
        if !occurrence.is_canonical() || !exact {
            reading.warnings.push(occurrence.correction(decision));
        }
        occurrence.apply(decision, output);
        let applied = || {
            occurrences
                .iter()
                .filter(|occurrence| occurrence.rank().is_some() && !occurrence.is_canonical())
        };
        let names = |container: Option<&str>| {
            let in_container =
                applied().filter(move |occurrence| occurrence.container.as_deref() == container);
            in_container
                .flat_map(|occurrence| {
                    let reason = (occurrence.level != field.level).then_some(field.reason);
                    [Some(occurrence.name.as_str()), reason].into_iter().flatten()
                })
                .collect::<HashSet<&str>>()
        };
        output.extra.remove_all(&names(None));
        if let Some(specific) = &mut output.hook_specific_output {
            specific.remove_all(&names(Some(SPECIFIC)));
        }
    }
}

fn collect_level(
    container: Option<&str>,
    entries: &[(String, RawJson)],
    fields: &[&'static DecisionField],
    occurrences: &mut Vec<Occurrence>,
) {
    let level = if container.is_some() { Level::Specific } else { Level::Top };
    // Of several reasons, the last counts.
    let reasons = fields.iter().map(|field| {
        let mut last = entries.iter().rev().filter(|(name, _)| name == field.reason);
        (field.reason, last.next().map(|(_, reason)| reason.clone()))
    });
    let reasons: Vec<_> = reasons.collect();
    let reason_of = |field: &DecisionField| {
        let found = reasons.iter().find(|(name, _)| *name == field.reason)?;
        found.1.clone()
    };
    for (name, value) in entries {
        let Some(field) = DecisionField::find(name, fields) else { continue };
        occurrences.push(Occurrence {
            field,
            level,
            container: container.map(str::to_owned),
            name: name.clone(),
            value: value.clone(),
            meaning: field.read(value),
            reason: reason_of(field),
        });
    }
}

impl Occurrence {
    /// Returns the rank of the restriction; `None` if it does not restrict.
    fn rank(&self) -> Option<PolicyDecision> {
        match &self.meaning {
            Meaning::Restrictive { decision, .. } => Some(decision.rank()),
            _ => None,
        }
    }

    /// Returns `true` if the output has this value. Of a repeated object, only the last was read.
    fn is_in_output(&self, output: &HookOutput) -> bool {
        match self.field.level {
            Level::Top => true,
            Level::Specific => output.specific(self.field.name) == Some(&self.value),
        }
    }

    fn display_name(&self) -> String {
        let name = shortened(&self.name);
        match &self.container {
            Some(container) if !self.is_canonical() => format!("{}.{name}", shortened(container)),
            _ => name,
        }
    }

    fn invalid(&self, value_error: &InvalidValue) -> InvalidReason {
        let (reason, hint) = value_error.problem(&self.display_name());
        let warning = match value_error {
            InvalidValue::UnknownKeyword(_) => format!("{reason} and has no effect; {hint}"),
            _ => format!("{reason}; it was ignored"),
        };
        InvalidReason { answer: InvalidAnswer::new(reason, hint), warning: Some(warning) }
    }

    /// Returns a warning with the documented spelling.
    fn correction(&self, decision: &Restriction) -> String {
        let container = self.container.as_deref().map(shortened);
        let (name, value) = (shortened(&self.name), shortened(self.value.as_str()));
        let written = entry(container.as_deref(), &name, &value);
        let field = self.field;
        let container = (field.level == Level::Specific).then_some(SPECIFIC);
        let documented = entry(container, field.name, decision.to_raw().as_str());
        format!("{written} was read as {documented}; write it so")
    }

    /// Writes the decision and its reason to the output.
    fn apply(&self, decision: &Restriction, output: &mut HookOutput) {
        match decision {
            Restriction::Stop => output.should_continue = Some(false),
            Restriction::Cancel => {
                let specific = output.hook_specific_output.get_or_insert_default();
                specific.insert(CANCEL.name, decision.to_raw());
            }
            Restriction::Decision(decision) if self.field == &DECISION => {
                output.decision = Some(decision.clone());
            }
            Restriction::Decision(_) => {
                let specific = output.hook_specific_output.get_or_insert_default();
                specific.insert(PERMISSION.name, decision.to_raw());
            }
        }
        let Some(reason) = self.reason.as_ref().filter(|reason| reason.kind() == JsonKind::String)
        else {
            return;
        };
        let level = match decision {
            // Both levels have a `reason`, so it stays where it was written.
            Restriction::Cancel => self.level,
            _ => self.field.level,
        };
        match level {
            Level::Top => {
                let field = match decision {
                    Restriction::Stop => &mut output.stop_reason,
                    Restriction::Cancel | Restriction::Decision(_) => &mut output.reason,
                };
                *field = reason.to_text().or(field.take());
            }
            Level::Specific => {
                let specific = output.hook_specific_output.get_or_insert_default();
                specific.insert(self.field.reason, reason.clone());
            }
        }
    }
}

struct KnownFields {
    fields: JsonObject,
    decision_fields: &'static [&'static DecisionField],
    parsed: ParsedOutput,
}

impl KnownFields {
    fn take(&mut self, name: &str) -> Option<RawJson> {
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    fn take_as<T>(&mut self, name: &str, read: impl FnOnce(&RawJson) -> Option<T>) -> Option<T> {
        let value = self.take(name)?;
        let read = read(&value);
        if read.is_none()
            && let Some(field) = COMMON_FIELDS.iter().find(|field| field.name == name)
            && let Some(expected) = json_kind(field)
        {
            self.wrong_type(name, expected, value.kind(), name == SPECIFIC);
        }
        read
    }

    /// Takes the delay before a retry. A value out of range is clamped, a non-number dropped.
    fn retry_after(&mut self) -> Option<Duration> {
        let name = "retryAfterMs";
        let number =
            self.take_as(name, |value| (value.kind() == JsonKind::Number).then(|| value.clone()))?;
        let requested: f64 = number.as_str().parse().ok()?;
        let max = MAX_RETRY_AFTER as f64;
        let milliseconds = requested.clamp(0.0, max).ceil();
        if milliseconds != requested {
            let given = shortened(number.as_str());
            self.parsed.warnings.push(format!(
                "{name} must be whole milliseconds from 0 to {MAX_RETRY_AFTER}, found {given}; \
                 {milliseconds} is used"
            ));
        }
        Some(Duration::from_millis(milliseconds as u64))
    }

    fn specific(&mut self, mut specific: JsonObject) -> JsonObject {
        for (name, older) in OLDER_NAMES {
            let Some(value) = specific.remove(older).filter(|value| !value.is_null()) else {
                continue;
            };
            match specific.get(name).filter(|own| !own.is_null()) {
                Some(own) if *own != value => {
                    let reason =
                        format!("both `{name}` and `{older}` are in {SPECIFIC}, and differ");
                    let warning = format!("{reason}; `{name}` counts");
                    let answer = InvalidAnswer::new(reason, "leave one out");
                    self.parsed.invalid.push(InvalidReason { answer, warning: Some(warning) });
                }
                Some(_) => {}
                None => specific.insert(name, value),
            }
        }
        for field in &SPECIFIC_FIELDS {
            let name = field.name;
            let Some(expected) = json_kind(field) else { continue };
            let Some(found) = specific.get(name).map(RawJson::kind) else { continue };
            if found != expected {
                specific.remove(name);
            }
            let decides = self.decision_fields.iter().any(|field| field.name == name);
            // Deciding fields are reported where they are read.
            if found != expected && found != JsonKind::Null && !decides {
                let full_name = format!("{SPECIFIC}.{name}");
                self.wrong_type(&full_name, expected, found, is_replacing_field(name));
            }
        }
        specific
    }

    /// Reports a wrong type. If the field `decides`, a denial or a change may have been meant.
    fn wrong_type(&mut self, name: &str, expected: JsonKind, found: JsonKind, decides: bool) {
        let reason = format!("{name} must be {expected}, found {found}");
        let warning = format!("{reason}; it was ignored");
        if !decides {
            return self.parsed.warnings.push(warning);
        }
        let answer = InvalidAnswer::new(reason, format!("write {expected}"));
        self.parsed.invalid.push(InvalidReason { answer, warning: Some(warning) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_tables_is_read_with_its_type_and_nothing_else_is() {
        let warnings_of = |name: &str, specific: bool, value: &str| {
            let mut fields = JsonObject::new();
            fields.insert(name, RawJson::parse(value).unwrap());
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
                let Some(kind) = json_kind(field) else { continue };
                let wrong = if kind == JsonKind::Number { "true" } else { "7" };
                let warnings = warnings_of(field.name, specific, wrong);
                let expected = format!("{} must be {kind}, found", field.name);
                assert!(warnings.iter().any(|it| it.contains(&expected)), "{warnings:?}");
            }
            assert_eq!(warnings_of("another", specific, "7"), [""; 0]);
        }
    }

    #[test]
    fn wrong_types_are_dropped_with_a_warning_and_the_rest_is_kept() {
        let text = r#"{"continue":"maybe","decision":"blok","reason":null,"other":[1],
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
                "hookSpecificOutput.tool_input must be an object, found a string; it was ignored",
                "continue must be a boolean, found a string; it was ignored",
                "decision \"blok\" is not known and has no effect; did you mean \"block\"?",
            ]
        );
    }

    fn read(text: &str) -> ParsedOutput {
        ParsedOutput::of(RawJson::parse(text).unwrap().to_entries(), None)
    }

    #[test]
    fn what_restricts_counts_in_whatever_form_it_is_written() {
        for (text, expected, warning) in [
            (
                r#"{"decision":"DENY","reason":"r"}"#,
                r#"{"decision":"deny","reason":"r"}"#,
                r#""decision": "DENY" was read as "decision": "deny"; write it so"#,
            ),
            (
                r#"{"continue":"false","stopReason":"s"}"#,
                r#"{"continue":false,"stopReason":"s"}"#,
                r#""continue": "false" was read as "continue": false; write it so"#,
            ),
            (
                r#"{"permissionDecision":"deny","permissionDecisionReason":"p","mine":1}"#,
                r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"},"mine":1}"#,
                r#""permissionDecision": "deny" was read as "hookSpecificOutput": {"permissionDecision": "deny"}; write it so"#,
            ),
            (
                r#"{"hookSpecificOutput":{"decision":"block","reason":"r","continue":0}}"#,
                r#"{"continue":false,"decision":"block","reason":"r","hookSpecificOutput":{}}"#,
                r#""hookSpecificOutput": {"continue": 0} was read as "continue": false; write it so"#,
            ),
            (
                r#"{"hook_specific_output":{"permissionDecision":"deny","permissionDecisionReason":"p"}}"#,
                r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"},"hook_specific_output":{"permissionDecision":"deny","permissionDecisionReason":"p"}}"#,
                r#""hook_specific_output": {"permissionDecision": "deny"} was read as "hookSpecificOutput": {"permissionDecision": "deny"}; write it so"#,
            ),
            (
                r#"{"permission_decision":"Ask"}"#,
                r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#,
                r#""permission_decision": "Ask" was read as "hookSpecificOutput": {"permissionDecision": "ask"}; write it so"#,
            ),
            (
                r#"{"decision":"deny","reason":"r","decision":"allow","x":1}"#,
                r#"{"decision":"deny","reason":"r","x":1}"#,
                "`decision` is written 2 times; the most restrictive one counts, if one restricts, else the last",
            ),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"deny"},"hookSpecificOutput":{"permissionDecision":"allow"}}"#,
                r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
                "`permissionDecision` is written 2 times; the most restrictive one counts, if one restricts, else the last",
            ),
        ] {
            let reading = read(text);
            assert_eq!(reading.output.to_raw().as_str(), expected, "{text}");
            assert_eq!(reading.warnings[0], warning, "{text}");
            assert!(reading.invalid.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_decision_that_cannot_be_read_is_invalid() {
        for (text, expected) in [
            (r#"{"decision":"blok"}"#, r#"decision "blok" is not known; did you mean "block"?"#),
            (r#"{"decision":"ALLOW"}"#, r#"decision "ALLOW" is not known; did you mean "allow"?"#),
            (r#"{"decision":true}"#, "decision must be a string, found a boolean; write a string"),
            (
                r#"{"continue":"yes"}"#,
                r#"continue must be a boolean, found a string; write true or false instead of "yes""#,
            ),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":["deny"]}}"#,
                "permissionDecision must be a string, found an array; write a string",
            ),
            (
                r#"{"hookSpecificOutput":[{"permissionDecision":"deny"}]}"#,
                "hookSpecificOutput must be an object, found an array; write an object",
            ),
            (r#"{"descision":"deny"}"#, "`descision` is not known; did you mean `decision`?"),
            (
                r#"{"hookSpecificOutput":{"tool_input":7}}"#,
                "hookSpecificOutput.tool_input must be an object, found a number; write an object",
            ),
            (
                r#"{"decision":"allow","x":[{"y":{"decision":"deny"}}],"x":1}"#,
                "\"decision\": \"deny\" stands in `x`, where no decision is read; write it at the top of the answer, with jq or a JSON library, or call it otherwise if it is none",
            ),
            (
                r#"{"hookSpecificOutput":{"x":{"continue":false}}}"#,
                "\"continue\": false stands in `hookSpecificOutput`, where no decision is read; write it at the top of the answer, with jq or a JSON library, or call it otherwise if it is none",
            ),
        ] {
            let invalid = read(text).invalid;
            assert_eq!(invalid.len(), 1, "{text}");
            assert_eq!(invalid[0].answer.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_written_as_documented_is_neither_invalid_nor_changed() {
        for text in [
            r#"{"continue":true,"decision":"allow","reason":"r","hookSpecificOutput":{"permissionDecision":"deny","tool_input":{"decision":"deny"}},"mine":{"decision":5,"was":"deny"}}"#,
            r#"{"hookSpecificOutput":{"decision":null,"mine":1},"permissionDecision":null}"#,
        ] {
            let ParsedOutput { output, warnings, invalid } = read(text);
            assert_eq!(output.to_raw().as_str(), text);
            assert!(warnings.is_empty() && invalid.is_empty(), "{warnings:?}");
        }
    }
}
