//! Decisions nested deeper in an output than they are read.
//!
//! Text that a guard pastes into its output can close an object too early, and so move the guard's
//! decision into the next one. So restrictions are searched at every depth, except in values that
//! are the caller's own data.

use super::decision_field::{DecisionField, Meaning};
use hook_json::RawJson;
use hook_json::text::shortened;

/// Returns the first restrictive occurrence of these fields at any depth of a value, as it is
/// written. It does not recurse, and takes linear time.
pub(super) fn restriction_within(
    value: &RawJson,
    fields: &[&'static DecisionField],
) -> Option<String> {
    let text = value.as_str();
    let mut position = 0;
    loop {
        let open = position + text.get(position..)?.find('"')?;
        let end = end_of_string(text, open);
        let key = text.get(open..end)?;
        position = end;
        let Some(rest) = text.get(end..)?.trim_start().strip_prefix(':') else { continue };
        let Some(field) = name(key).and_then(|name| DecisionField::find(&name, fields)) else {
            continue;
        };
        let rest = rest.trim_start();
        if let Ok(value) = RawJson::parse(scalar(rest))
            && matches!(field.read(&value), Meaning::Restrictive { .. })
        {
            return Some(format!("{}: {}", shortened(key), shortened(value.as_str())));
        }
    }
}

/// Returns the decoded key; `None` if it is too long to be a known name.
fn name(key: &str) -> Option<String> {
    const LONGEST: usize = 512;
    let key = Some(key).filter(|key| key.len() <= LONGEST)?;
    RawJson::parse(key).ok()?.to_text()
}

/// Returns the string, number or literal that a JSON text begins with; an empty text for others.
fn scalar(text: &str) -> &str {
    let end = match text.as_bytes().first() {
        Some(b'"') => end_of_string(text, 0),
        _ => text.find([',', ':', '{', '}', '[', ']', ' ']).unwrap_or(text.len()),
    };
    text.get(..end).unwrap_or_default()
}

/// Returns the end of the string that opens at `open`.
fn end_of_string(text: &str, open: usize) -> usize {
    let mut bytes = text.bytes().enumerate().skip(open + 1);
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::output::decision_field::decision_fields;

    #[test]
    fn what_restricts_is_found_at_any_depth() {
        for (text, expected) in [
            (r#"{"a":[{"decision" : "deny"}]}"#, Some(r#""decision": "deny""#)),
            (
                r#"[[{"Permission_Decision":"Blocked"}]]"#,
                Some(r#""Permission_Decision": "Blocked""#),
            ),
            (r#"{"continue":0}"#, Some(r#""continue": 0"#)),
            (r#"{"continue":false,"b":1}"#, Some(r#""continue": false"#)),
            (r#"{"decisio\u006e":"deny"}"#, Some(r#""decisio\u006e": "deny""#)),
            (r#"{"decision":{"decision":"ask"}}"#, Some(r#""decision": "ask""#)),
            (r#"{"decision":"allow","continue":true}"#, None),
            (r#"{"text":"\"decision\":\"deny\""}"#, None),
            (r#"["decision","deny"]"#, None),
            (r#""decision""#, None),
            ("7", None),
        ] {
            let value = RawJson::parse(text).unwrap();
            assert_eq!(
                restriction_within(&value, decision_fields(None)).as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_hundred_thousand_levels_overflow_no_stack() {
        let deep =
            format!("{}{{\"decision\":\"deny\"}}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(
            restriction_within(&RawJson::parse(deep).unwrap(), decision_fields(None)).is_some()
        );
    }
}
