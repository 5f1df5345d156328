//! The deciding fields of an output, in any spelling and position (protocol.md §4, "Decisions that
//! are not written as they should").
//!
//! A restrictive value counts in other spellings too. A permissive value counts only if it is
//! written exactly as documented.

use super::decision::Decision;
use super::fields::stands_for;
use crate::event::HookEventName;
use crate::event::output::PolicyDecision;
use hook_json::text::nearest;
use hook_json::text::shortened;
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
pub(super) struct Deciding {
    pub(super) name: &'static str,
    /// The name of the field with the reason.
    pub(super) reason: &'static str,
    /// The level where the field belongs.
    pub(super) level: Level,
    read: fn(&RawJson) -> Meaning,
}

pub(super) static CONTINUE: Deciding =
    Deciding { name: "continue", reason: "stopReason", level: Level::Top, read: read_continue };
pub(super) static DECISION: Deciding =
    Deciding { name: "decision", reason: "reason", level: Level::Top, read: read_word };
pub(super) static PERMISSION: Deciding = Deciding {
    name: "permissionDecision",
    reason: "permissionDecisionReason",
    level: Level::Specific,
    read: read_word,
};
pub(super) static CANCEL: Deciding =
    Deciding { name: "cancel", reason: "reason", level: Level::Specific, read: read_cancel };

/// The deciding fields of any event, then those of some events.
static DECIDING: [&Deciding; 4] = [&CONTINUE, &DECISION, &PERMISSION, &CANCEL];

/// Returns the deciding fields of an event; without one, those of any event.
pub(super) fn deciding(event: Option<HookEventName>) -> &'static [&'static Deciding] {
    match event.is_some_and(|event| event.row().acts_on(CANCEL.name)) {
        true => &DECIDING,
        false => DECIDING.split_last().map_or(&[], |(_, others)| others),
    }
}

/// The restrictive keywords, with their inflections. A permissive keyword must not be added.
const RESTRICTING_WORDS: [(&str, Decision); 15] = [
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
const OTHER_TRUE: [&str; 4] = ["true", "yes", "on", "1"];

/// Other spellings of `"continue": false`, besides the number 0.
const OTHER_FALSE: [&str; 4] = ["false", "no", "off", "0"];

/// Deciding fields of other agents: those with a keyword, with `true` or with `false` to block.
const WORDS_ELSEWHERE: [&str; 4] = ["action", "behavior", "permission", "verdict"];
const TRUE_ELSEWHERE: [&str; 5] = ["block", "blocked", "deny", "denied", "cancel"];
const FALSE_ELSEWHERE: [&str; 6] = ["ok", "allow", "allowed", "approve", "approved", "proceed"];

/// The maximum length of a keyword, in bytes.
const LONGEST_WORD: usize = 64;

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
    Unreadable(Unreadable),
}

/// The effect of a restrictive value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Restriction {
    Stop,
    Cancel,
    Word(Decision),
}

impl Restriction {
    pub(super) fn rank(&self) -> PolicyDecision {
        match self {
            Self::Stop => PolicyDecision::Stop,
            Self::Cancel => PolicyDecision::Block,
            Self::Word(decision) => decision.policy(),
        }
    }

    /// Returns the documented value.
    pub(super) fn to_raw(&self) -> RawJson {
        match self {
            Self::Stop => RawJson::from_bool(false),
            Self::Cancel => RawJson::from_bool(true),
            Self::Word(decision) => RawJson::from_text(decision.as_str()),
        }
    }
}

/// The reason why a value cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// A value of another kind.
    Kind { expected: JsonKind, found: JsonKind },
    /// An unknown keyword.
    Word(String),
    /// A string where a boolean is expected.
    NotBoolean(String),
}

impl PartialEq for Deciding {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Deciding {
    pub(super) fn read(&self, value: &RawJson) -> Meaning {
        (self.read)(value)
    }

    /// Returns the field that a name stands for: the name itself, or the name in another case, with
    /// spaces around it, hyphens or underscores.
    pub(super) fn named(name: &str, fields: &[&'static Deciding]) -> Option<&'static Deciding> {
        fields.iter().find(|field| stands_for(name, field.name)).copied()
    }

    /// Returns the field that a name is probably a misspelling of.
    pub(super) fn misspelt(name: &str, fields: &[&'static Deciding]) -> Option<&'static Deciding> {
        let specific = fields.iter().filter(|field| field.level == Level::Specific);
        let known = nearest(name, super::COMMON_FIELDS.iter().map(|field| field.name))
            .or_else(|| nearest(name, specific.map(|field| field.name)))?;
        fields.iter().find(|field| field.name == known).copied()
    }
}

/// Returns the decision if a field at the top of an output restricts in another agent's format.
pub(super) fn restriction_elsewhere(name: &str, value: &RawJson) -> Option<Decision> {
    let among = |names: &[&str]| names.iter().any(|known| stands_for(name, known));
    match value.kind() {
        JsonKind::String if among(&WORDS_ELSEWHERE) => match read_word(value) {
            Meaning::Restrictive { decision: Restriction::Word(word), .. } => Some(word),
            _ => None,
        },
        JsonKind::Bool if value.to_bool() == Some(true) && among(&TRUE_ELSEWHERE) => {
            Some(Decision::Block)
        }
        JsonKind::Bool if value.to_bool() == Some(false) && among(&FALSE_ELSEWHERE) => {
            Some(Decision::Block)
        }
        _ => None,
    }
}

fn read_continue(value: &RawJson) -> Meaning {
    read_bool(value, false, Restriction::Stop, (0.0, &OTHER_FALSE))
}

fn read_cancel(value: &RawJson) -> Meaning {
    read_bool(value, true, Restriction::Cancel, (1.0, &OTHER_TRUE))
}

/// Reads a boolean with one restrictive value, which a number and keywords also stand for.
fn read_bool(
    value: &RawJson,
    restricting: bool,
    decision: Restriction,
    (number, words): (f64, &[&str]),
) -> Meaning {
    let restricts = |exact| Meaning::Restrictive { decision, exact };
    match value.kind() {
        JsonKind::Null => Meaning::Absent,
        JsonKind::Bool if value.to_bool() == Some(restricting) => restricts(true),
        JsonKind::Bool => Meaning::Permissive,
        JsonKind::Number if value.as_str().parse() == Ok(number) => restricts(false),
        JsonKind::String => {
            let text = value.to_text().unwrap_or_default();
            match folded_word(&text) {
                Some(word) if words.contains(&word.as_str()) => restricts(false),
                _ => Meaning::Unreadable(Unreadable::NotBoolean(text)),
            }
        }
        found => Meaning::Unreadable(Unreadable::Kind { expected: JsonKind::Bool, found }),
    }
}

fn read_word(value: &RawJson) -> Meaning {
    match value.kind() {
        JsonKind::Null => Meaning::Absent,
        JsonKind::String => meaning_of_word(value.to_text().unwrap_or_default()),
        found => Meaning::Unreadable(Unreadable::Kind { expected: JsonKind::String, found }),
    }
}

fn meaning_of_word(word: String) -> Meaning {
    match Decision::from_word(&word) {
        Decision::Other(word) => {
            let known = folded_word(&word).and_then(|folded| {
                RESTRICTING_WORDS.into_iter().find(|(known, _)| *known == folded)
            });
            match known {
                Some((_, decision)) => {
                    Meaning::Restrictive { decision: Restriction::Word(decision), exact: false }
                }
                None => Meaning::Unreadable(Unreadable::Word(word)),
            }
        }
        known if known.policy() > PolicyDecision::Proceed => {
            Meaning::Restrictive { decision: Restriction::Word(known), exact: true }
        }
        _ => Meaning::Permissive,
    }
}

/// Returns a word in lower case, without the punctuation around it.
fn folded_word(text: &str) -> Option<String> {
    let word = text.trim_matches(|letter: char| !letter.is_alphanumeric());
    (word.len() <= LONGEST_WORD).then(|| word.to_lowercase())
}

impl Unreadable {
    /// Returns the problem, and a hint for solving it.
    pub(super) fn problem(&self, name: &str) -> (String, String) {
        match self {
            Self::Kind { expected, found } => {
                (format!("{name} must be {expected}, found {found}"), format!("write {expected}"))
            }
            Self::NotBoolean(text) => (
                format!("{name} must be a boolean, found a string"),
                format!("write true or false instead of \"{}\"", shortened(text)),
            ),
            Self::Word(word) => {
                let hint = match Decision::nearest(word) {
                    Some(known) => format!("did you mean \"{known}\"?"),
                    None => format!("the words are {}", Decision::WORDS.join(", ")),
                };
                (format!("{name} \"{}\" is not known", shortened(word)), hint)
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
        for (word, decision) in RESTRICTING_WORDS {
            assert!(decision.policy() > PolicyDecision::Proceed, "{word}");
            assert_eq!(folded_word(word).as_deref(), Some(word));
        }
        for word in ["ALLOW", "Approve", "allow ", " approve", "allowed", "approved", "ok", "yes"] {
            let meaning = DECISION.read(&RawJson::from_text(word));
            assert!(matches!(meaning, Meaning::Unreadable(Unreadable::Word(_))), "{word}");
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
            assert_eq!(Deciding::named(name, deciding(None)), expected, "{name}");
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
