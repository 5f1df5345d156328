use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn redaction() -> Redaction {
    Redaction::new(["SECRET[0-9]", "(?<=key=)\\w+"], ["Password"])
}

fn in_json(redaction: &Redaction, json: &str) -> String {
    let exempt_texts = HashSet::from(["type", "message", "at", "SECRET1-word"].map(str::to_owned));
    let exempt = Exemptions { texts: &exempt_texts, objects: &["message"] };
    redaction.json(json, exempt).unwrap_or_else(|| json.to_owned())
}

#[test]
fn what_matches_is_replaced_and_nothing_else() {
    let redaction = redaction();
    for (text, expected) in [
        ("nothing", "nothing"),
        ("a SECRET1 b SECRET2", "a [redacted] b [redacted]"),
        ("SECRET1SECRET2", "[redacted][redacted]"),
        ("key=value other=value", "key=[redacted] other=value"),
        // JSON in a text, in whole or in part.
        (
            r#"log {"PASSWORD": {"a": [1]}, "b": 2} end"#,
            r#"log {"PASSWORD": "[redacted]", "b": 2} end"#,
        ),
        (r#"it's "so {"password":"x\"y"}"#, r#"it's "so {"password":"[redacted]"}"#),
        (r#"{"password":"cut of"#, r#"{"password":"[redacted]""#),
        (r#"{"a":"\u0053ECRET1 b"}"#, r#"{"a":"[redacted] b"}"#),
        (r#"{"a":"{\"p\u0061ssword\":12}"}"#, r#"{"a":"{\"password\":\"[redacted]\"}"}"#),
        (r#"{\"password\":\"x\"}"#, r#"{\"password\":\"[redacted]\"}"#),
        (
            r#"{"password":"one"} then {\"password\":\"two\"} and {"a":"{\"password\":3}"}"#,
            r#"{"password":"[redacted]"} then {\"password\":\"[redacted]\"} and {"a":"{\"password\":\"[redacted]\"}"}"#,
        ),
        (r#"{"a":"\u0053afe \/"}"#, r#"{"a":"\u0053afe \/"}"#),
    ] {
        assert_eq!(redaction.text(text), expected, "{text}");
    }
}

#[test]
fn where_a_value_begins_and_ends_is_known_in_json_in_a_text_too() {
    let redaction = Redaction::new(["^sk[0-9]+$", "^[0-9]{4}$", "(?<!\")tok[0-9]"], []);
    for (text, expected) in [
        ("sk12", "[redacted]"),
        ("a sk12", "a sk12"),
        (r#"{"a":"sk12","b":"x sk12"}"#, r#"{"a":"[redacted]","b":"x sk12"}"#),
        (r#"said {"a": 1234, "b": 123}"#, r#"said {"a": "[redacted]", "b": 123}"#),
        (
            r#"{"a":"{\"b\":\"sk12\",\"c\":1234}"}"#,
            r#"{"a":"{\"b\":\"[redacted]\",\"c\":\"[redacted]\"}"}"#,
        ),
        (r#"{"a":"tok1"}"#, r#"{"a":"[redacted]"}"#),
    ] {
        assert_eq!(redaction.text(text), expected, "{text}");
    }
}

#[test]
fn overlapping_matches_are_replaced_together() {
    let redaction = Redaction::new(["abc", "bcd", "cde", "x"], []);
    assert_eq!(redaction.text("_abcde_x_"), "_[redacted]_[redacted]_");
}

#[test]
fn json_stays_json_and_the_words_of_the_protocol_stay() {
    let redaction = redaction();
    for (json, expected) in [
        (
            r#"{"type":"SECRET1-word", "a":[1.50,"\u0053ECRET1"]}"#,
            r#"{"type":"SECRET1-word", "a":[1.50,"[redacted]"]}"#,
        ),
        (
            r#"{"SECRET1":true,"password":[{"x":1}],"z":null}"#,
            r#"{"[redacted]":true,"password":"[redacted]","z":null}"#,
        ),
        (r#"{"a":"{\"password\":1}"}"#, r#"{"a":"{\"password\":\"[redacted]\"}"}"#),
        (r#"[{},[],"",{"a":{"passWORD" : 1}}]"#, r#"[{},[],"",{"a":{"passWORD" : "[redacted]"}}]"#),
    ] {
        assert_eq!(in_json(&redaction, json), expected);
        serde_json::from_str::<Value>(expected).unwrap();
    }
    let digits = Redaction::new(["[0-9]{4}"], []);
    assert_eq!(in_json(&digits, r#"{"a":12345,"b":123}"#), r#"{"a":"[redacted]","b":123}"#);
}

#[test]
fn where_rules_are_broken_no_value_is_left() {
    for broken in ["(", "a*", "x|"] {
        let redaction = Redaction::new(["good", broken], []);
        assert!(redaction.withheld().is_some(), "{broken}");
        assert_eq!(redaction.text("anything"), REDACTED);
        let line = r#"{"type":"t","message":{"type":"type","at":5,"ok":true},"input":{"pin":1},"list":[2]}"#;
        let expected = r#"{"type":"[redacted]","message":{"type":"type","at":5,"[redacted]":"[redacted]"},"[redacted]":"[redacted]","[redacted]":"[redacted]"}"#;
        assert_eq!(in_json(&redaction, line), expected);
    }
}

#[test]
fn a_pattern_that_is_given_up_leaves_out_the_whole_text() {
    let redaction = Redaction::new(["(?:(?!b)a|a)+$"], []);
    assert_eq!(redaction.text(&format!("x {}b", "a".repeat(60))), REDACTED);
}

#[test]
fn a_hundred_thousand_levels_and_megabytes_are_read_in_one_pass() {
    let redaction = redaction();
    let deep = format!("{}\"SECRET1\"{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(in_json(&redaction, &deep).contains("[\"[redacted]\"]"));
    for piece in ["\"", "\\\"", "{\"password\":", "\"a\\\\\"", "[", "\"password\":\"x\"", "\\"] {
        let text = piece.repeat(1_000_000 / piece.len());
        redaction.text(&text);
    }
}

/// A text as a JSON string, with some characters as numbers.
fn escaped(text: &str, which: &[bool]) -> String {
    let mut out = String::from("\"");
    for (index, character) in text.chars().enumerate() {
        let plain = json!(character.to_string()).to_string();
        match which.get(index % which.len().max(1)) {
            Some(true) if (character as u32) < 0x1_0000 => {
                out.push_str(&format!("\\u{:04X}", character as u32));
            }
            _ => out.push_str(&plain[1..plain.len() - 1]),
        }
    }
    out.push('"');
    out
}

fn survives(text: &str) -> bool {
    text.contains("SECRET1") || text.contains("hunter2")
}

/// Every name and text of a value.
fn texts(value: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => {
                texts.extend(fields.keys().cloned());
                waiting.extend(fields.values());
            }
            _ => {}
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_secret_survives_however_it_is_written(
        before in "[a-z \"{}:,\\\\]{0,9}", after in "[a-z \"{}:,\\\\]{0,9}",
        which in prop::collection::vec(any::<bool>(), 1..9), levels in 0_usize..4, in_name in any::<bool>(),
    ) {
        let redaction = redaction();
        let secret = format!("{before}SECRET1{after}");
        let mut json = match in_name {
            true => format!("{{{}:1}}", escaped(&secret, &which)),
            false => format!("[{},{{{}:{{\"x\":\"hunter2\"}}}}]",
                escaped(&secret, &which), escaped("passWord", &which)),
        };
        for _ in 0..levels {
            json = format!("{{\"text\":{}}}", escaped(&json, &which));
        }
        let redacted = in_json(&redaction, &json);
        let mut inner: Value = serde_json::from_str(&redacted).unwrap();
        for level in 0..=levels {
            for text in texts(&inner) {
                prop_assert!(!survives(&text), "{} in {}", text, redacted);
            }
            if level < levels {
                let text = inner["text"].as_str().unwrap();
                inner = serde_json::from_str(text).unwrap();
            }
        }
        // In a text as well, as a hook prints it.
        let printed = redaction.text(&json).into_owned();
        let printed: Value = serde_json::from_str(&printed).unwrap();
        prop_assert!(!texts(&printed).iter().any(|text| survives(text)));
    }

    #[test]
    fn any_text_is_taken_and_what_has_no_secret_stays(text in "\\PC{0,40}|[\\[\\]{}\"\\\\a:, ]{0,90}") {
        let redaction = redaction();
        let with = format!("{text}SECRET1{text}");
        prop_assert!(!redaction.text(&with).contains("SECRET1"));
        prop_assert_eq!(redaction.text(&text), text.as_str());
        let _ = in_json(&redaction, &text);
    }
}
