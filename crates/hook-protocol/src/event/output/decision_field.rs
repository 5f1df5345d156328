//! The deciding fields of an output, in any spelling and position (reference/answers.md, "Other ways
//! to write a restriction").
//!
//! A restrictive value counts in other spellings too. A permissive value counts only if it is
//! written exactly as documented.

use super::decision::Decision;
use super::fields::is_spelling_of;
use crate::event::HookEventName;
use crate::event::output::PolicyDecision;
use hook_json::text::{nearest, shortened};
use hook_json::{JsonKind, RawJson};

/// The object of an output that contains a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Beside `hookSpecificOutput`.
    Top,
    /// Inside `hookSpecificOutput`.
    Specific,
}

/// A field that decides.
#[derive(Debug)]
pub(super) struct DecisionField {
    pub(super) name: &'static str,
    /// The name of the field with the reason.
    pub(super) reason: &'static str,
    /// The level where the field belongs.
    pub(super) level: Level,
    read: fn(&RawJson) -> Meaning,
}

pub(super) static CONTINUE: DecisionField = DecisionField {
    name: "continue",
    reason: "stopReason",
    level: Level::Top,
    read: read_continue,
};
pub(super) static DECISION: DecisionField =
    DecisionField { name: "decision", reason: "reason", level: Level::Top, read: read_keyword };
pub(super) static PERMISSION: DecisionField = DecisionField {
    name: "permissionDecision",
    reason: "permissionDecisionReason",
    level: Level::Specific,
    read: read_keyword,
};
pub(super) static CANCEL: DecisionField =
    DecisionField { name: "cancel", reason: "reason", level: Level::Specific, read: read_cancel };

/// The deciding fields of any event, then those of some events.
static DECISION_FIELDS: [&DecisionField; 4] = [&CONTINUE, &DECISION, &PERMISSION, &CANCEL];

/// Returns the deciding fields of an event; without one, those of any event.
pub(super) fn decision_fields(event: Option<HookEventName>) -> &'static [&'static DecisionField] {
    match event.is_some_and(|event| event.row().acts_on(CANCEL.name)) {
        true => &DECISION_FIELDS,
        false => DECISION_FIELDS.split_last().map_or(&[], |(_, others)| others),
    }
}

/// The restrictive keywords, with their inflections. A permissive keyword must not be added.
const RESTRICTIVE_KEYWORDS: [(&str, Decision); 15] = [
    ("ask", Decision::Ask),
    ("asks", Decision::Ask),
    ("asked", Decision::Ask),
    ("retry", Decision::Retry),
    ("retries", Decision::Retry),
    ("retried", Decision::Retry),
    ("retrying", Decision::Retry),
    ("block", Decision::Block),
    ("blocks", Decision::Block),
    ("blocked", Decision::Block),
    ("blocking", Decision::Block),
    ("deny", Decision::Deny),
    ("denies", Decision::Deny),
    ("denied", Decision::Deny),
    ("denying", Decision::Deny),
];

/// Other spellings of `"cancel": true`, besides the number 1.
const TRUE_SPELLINGS: [&str; 4] = ["true", "yes", "on", "1"];

/// Other spellings of `"continue": false`, besides the number 0.
const FALSE_SPELLINGS: [&str; 4] = ["false", "no", "off", "0"];

/// Deciding fields of other agents: those with a keyword, with `true` or with `false` to block.
const FOREIGN_KEYWORD_FIELDS: [&str; 4] = ["action", "behavior", "permission", "verdict"];
const FOREIGN_TRUE_FIELDS: [&str; 5] = ["block", "blocked", "deny", "denied", "cancel"];
const FOREIGN_FALSE_FIELDS: [&str; 6] =
    ["ok", "allow", "allowed", "approve", "approved", "proceed"];

/// The maximum length of a keyword, in bytes.
const MAX_KEYWORD_LEN: usize = 64;

/// The meaning of a deciding field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// No value: `null`.
    Absent,
    /// A documented value that restricts nothing.
    Permissive,
    /// A value that restricts.
    Restrictive {
        decision: Restriction,
        /// `true` if it is written as documented.
        exact: bool,
    },
    /// An unknown value.
    Invalid(InvalidValue),
}

/// The effect of a restrictive value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Restriction {
    Stop,
    Cancel,
    Decision(Decision),
}

impl Restriction {
    pub(super) fn rank(&self) -> PolicyDecision {
        match self {
            Self::Stop => PolicyDecision::Stop,
            Self::Cancel => PolicyDecision::Block,
            Self::Decision(decision) => decision.policy(),
        }
    }

    /// Returns the documented value.
    pub(super) fn to_raw(&self) -> RawJson {
        match self {
            Self::Stop => RawJson::from_bool(false),
            Self::Cancel => RawJson::from_bool(true),
            Self::Decision(decision) => RawJson::from_text(decision.as_str()),
        }
    }
}

/// The reason why a value cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InvalidValue {
    /// A value of another kind.
    WrongKind { expected: JsonKind, found: JsonKind },
    /// An unknown keyword.
    UnknownKeyword(String),
    /// A string where a boolean is expected.
    NotBoolean(String),
}

impl PartialEq for DecisionField {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl DecisionField {
    pub(super) fn read(&self, value: &RawJson) -> Meaning {
        (self.read)(value)
    }

    /// Returns the field that a name stands for: the name itself, or the name in another case, with
    /// spaces around it, hyphens or underscores.
    pub(super) fn find(
        name: &str,
        fields: &[&'static DecisionField],
    ) -> Option<&'static DecisionField> {
        fields.iter().find(|field| is_spelling_of(name, field.name)).copied()
    }

    /// Returns the field that a name is probably a misspelling of.
    pub(super) fn find_misspelled(
        name: &str,
        fields: &[&'static DecisionField],
    ) -> Option<&'static DecisionField> {
        let specific = fields.iter().filter(|field| field.level == Level::Specific);
        let known = nearest(name, super::COMMON_FIELDS.iter().map(|field| field.name))
            .or_else(|| nearest(name, specific.map(|field| field.name)))?;
        fields.iter().find(|field| field.name == known).copied()
    }
}

/// Returns the decision if a field at the top of an output restricts in another agent's format.
pub(super) fn foreign_restriction(name: &str, value: &RawJson) -> Option<Decision> {
    let is_one_of = |names: &[&str]| names.iter().any(|known| is_spelling_of(name, known));
    match value.kind() {
        JsonKind::String if is_one_of(&FOREIGN_KEYWORD_FIELDS) => match read_keyword(value) {
            Meaning::Restrictive { decision: Restriction::Decision(decision), .. } => {
                Some(decision)
            }
            _ => None,
        },
        JsonKind::Bool if value.to_bool() == Some(true) && is_one_of(&FOREIGN_TRUE_FIELDS) => {
            Some(Decision::Block)
        }
        JsonKind::Bool if value.to_bool() == Some(false) && is_one_of(&FOREIGN_FALSE_FIELDS) => {
            Some(Decision::Block)
        }
        _ => None,
    }
}

fn read_continue(value: &RawJson) -> Meaning {
    read_bool(value, false, Restriction::Stop, (0.0, &FALSE_SPELLINGS))
}

fn read_cancel(value: &RawJson) -> Meaning {
    read_bool(value, true, Restriction::Cancel, (1.0, &TRUE_SPELLINGS))
}

/// Reads a boolean with one restrictive value, which a number and keywords also stand for.
fn read_bool(
    value: &RawJson,
    restrictive: bool,
    decision: Restriction,
    (number, spellings): (f64, &[&str]),
) -> Meaning {
    let restricts = |exact| Meaning::Restrictive { decision, exact };
    match value.kind() {
        JsonKind::Null => Meaning::Absent,
        JsonKind::Bool if value.to_bool() == Some(restrictive) => restricts(true),
        JsonKind::Bool => Meaning::Permissive,
        JsonKind::Number if value.as_str().parse() == Ok(number) => restricts(false),
        JsonKind::String => {
            let text = value.to_text().unwrap_or_default();
            match normalized_keyword(&text) {
                Some(keyword) if spellings.contains(&keyword.as_str()) => restricts(false),
                _ => Meaning::Invalid(InvalidValue::NotBoolean(text)),
            }
        }
        found => Meaning::Invalid(InvalidValue::WrongKind { expected: JsonKind::Bool, found }),
    }
}

fn read_keyword(value: &RawJson) -> Meaning {
    match value.kind() {
        JsonKind::Null => Meaning::Absent,
        JsonKind::String => keyword_meaning(value.to_text().unwrap_or_default()),
        found => Meaning::Invalid(InvalidValue::WrongKind { expected: JsonKind::String, found }),
    }
}

fn keyword_meaning(keyword: String) -> Meaning {
    match Decision::from_name(&keyword) {
        Decision::Other(unknown) => {
            let known = normalized_keyword(&unknown).and_then(|normalized| {
                RESTRICTIVE_KEYWORDS.into_iter().find(|(known, _)| *known == normalized)
            });
            match known {
                Some((_, decision)) => {
                    Meaning::Restrictive { decision: Restriction::Decision(decision), exact: false }
                }
                None => Meaning::Invalid(InvalidValue::UnknownKeyword(unknown)),
            }
        }
        known if known.policy() > PolicyDecision::Proceed => {
            Meaning::Restrictive { decision: Restriction::Decision(known), exact: true }
        }
        _ => Meaning::Permissive,
    }
}

/// Returns a word in lower case, without the punctuation around it.
fn normalized_keyword(text: &str) -> Option<String> {
    let keyword = text.trim_matches(|character: char| !character.is_alphanumeric());
    (keyword.len() <= MAX_KEYWORD_LEN).then(|| keyword.to_lowercase())
}

impl InvalidValue {
    /// Returns the problem, and a hint for solving it.
    pub(super) fn problem(&self, name: &str) -> (String, String) {
        match self {
            Self::WrongKind { expected, found } => {
                (format!("{name} must be {expected}, found {found}"), format!("write {expected}"))
            }
            Self::NotBoolean(text) => (
                format!("{name} must be a boolean, found a string"),
                format!("write true or false instead of \"{}\"", shortened(text)),
            ),
            Self::UnknownKeyword(keyword) => {
                let hint = match Decision::nearest(keyword) {
                    Some(known) => format!("did you mean \"{known}\"?"),
                    None => format!("the words are {}", Decision::NAMES.join(", ")),
                };
                (format!("{name} \"{}\" is not known", shortened(keyword)), hint)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_other_spelling_allows_anything() {
        for (keyword, decision) in RESTRICTIVE_KEYWORDS {
            assert!(decision.policy() > PolicyDecision::Proceed, "{keyword}");
            assert_eq!(normalized_keyword(keyword).as_deref(), Some(keyword));
        }
        for word in ["ALLOW", "Approve", "allow ", " approve", "allowed", "approved", "ok", "yes"] {
            let meaning = DECISION.read(&RawJson::from_text(word));
            assert!(matches!(meaning, Meaning::Invalid(InvalidValue::UnknownKeyword(_))), "{word}");
        }
    }

    #[test]
    fn restrictions_are_understood_however_they_are_written() {
        for (field, text, expected) in [
            (&DECISION, r#""DENY""#, "\"deny\""),
            (&DECISION, r#"" deny\t""#, "\"deny\""),
            (&DECISION, r#""Blocked!""#, "\"block\""),
            (&PERMISSION, r#""Ask""#, "\"ask\""),
            (&CONTINUE, r#""False""#, "false"),
            (&CONTINUE, r#"" no ""#, "false"),
            (&CONTINUE, "0.0", "false"),
            (&CONTINUE, "-0", "false"),
        ] {
            match field.read(&RawJson::parse(text).unwrap()) {
                Meaning::Restrictive { decision, exact: false } => {
                    assert_eq!(decision.to_raw().as_str(), expected, "{text}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn names_are_understood_in_any_case() {
        for (name, expected) in [
            ("Decision", Some(&DECISION)),
            ("permission_decision", Some(&PERMISSION)),
            (" CONTINUE ", Some(&CONTINUE)),
            ("decisions", None),
            ("reason", None),
            ("", None),
        ] {
            assert_eq!(DecisionField::find(name, decision_fields(None)), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_word_is_permissive_only_if_it_is_written_exactly(word in "\\PC{0,12}|[aAlLoOwWpPrRvVeE ]{0,9}") {
            let meaning = DECISION.read(&RawJson::from_text(&word));
            prop_assert_eq!(meaning == Meaning::Permissive, word == "allow" || word == "approve");
        }
    }
}
