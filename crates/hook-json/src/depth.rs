//! A limit on the nesting depth of JSON, which its readers need.

use super::strings::end_of_string;

/// The maximum number of nested arrays and objects in a line that the engine writes. Readers have
/// limits of their own: serde_json 128, jq 256, Python about 1,000.
pub const MAX_LINE_DEPTH: usize = 100;

/// Replaces each array and object nested deeper than `levels` with `null`; `None` if there is none.
/// The value itself is the first level.
pub(super) fn nullify_below(json: &str, levels: usize) -> Option<String> {
    let bytes = json.as_bytes();
    // Each level takes two bytes, so the length alone shows that most values are not deep.
    if bytes.len() <= 2 * levels || count_openings(bytes) <= levels {
        return None;
    }
    let mut cut: Option<String> = None;
    let (mut at, mut copied, mut depth) = (0, 0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            b'{' | b'[' if depth == levels => {
                let cut = cut.get_or_insert_with(|| String::with_capacity(json.len()));
                cut.push_str(json.get(copied..at).unwrap_or_default());
                cut.push_str("null");
                at = end_of_nested(bytes, at);
                copied = at;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    let mut cut = cut?;
    cut.push_str(json.get(copied..).unwrap_or_default());
    Some(cut)
}

/// Counts the bytes that could open an array or object, including those in strings.
fn count_openings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte | 0x20) == b'{').count()
}

/// Returns the index after the array or object that begins at `start`.
fn end_of_nested(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Replaces values nested too deep with `null`, level by level.
    fn cut(value: &Value, levels: usize) -> Value {
        match value {
            Value::Array(_) | Value::Object(_) if levels == 0 => Value::Null,
            Value::Array(items) => items.iter().map(|item| cut(item, levels - 1)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), cut(value, levels - 1))).collect()
            }
            leaf => leaf.clone(),
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(Value::Null), "[\\[\\]{}\"\\\\a]{0,9}".prop_map(Value::from)];
        leaf.prop_recursive(8, 64, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[\\[{\"a]{0,3}", inner, 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn a_hundred_thousand_levels_are_cut_and_overflow_no_stack() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(nullify_below(&deep, 3).unwrap(), "{\"a\":[[null]]}");
        assert_eq!(nullify_below(&deep, 0).unwrap(), "null");
        assert_eq!(nullify_below(&deep, 100_001), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_deeper_becomes_null_and_nothing_else_changes(
            value in any_value(), levels in 0_usize..9,
        ) {
            let expected = cut(&value, levels);
            let found = nullify_below(&value.to_string(), levels);
            prop_assert_eq!(found.is_some(), expected != value);
            prop_assert_eq!(found.unwrap_or(value.to_string()), expected.to_string());
        }

        #[test]
        fn any_text_is_taken(text in "\\PC{0,40}|[\\[\\]{}\"\\\\a]{0,90}", levels in 0_usize..9) {
            let _ = nullify_below(&text, levels);
        }
    }
}
