//! The one JSON reader.

use hook_json::{JsonError, JsonKind, RawJson, RawObject};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::generate::{altered, bytes, damaged, example_requests, one_line, tree};
use super::{VERY_DEEP, check};

const WORDS: &[&str] = &["a", "b", "", "tool_input", "é", "\u{1f600}", "a\"b", "\n"];

/// What the reader takes and serde_json's values cannot hold (reference/answers.md, "Reading JSON").
const DOCUMENTED: [&str; 4] = [
    "number out of range",
    "recursion limit exceeded",
    "lone leading surrogate in hex escape",
    "unexpected end of hex escape",
];

fn any_text() -> impl Strategy<Value = String> {
    let examples = example_requests();
    let lines = examples.iter().map(|request| request.to_string().into_bytes()).collect();
    let trees = examples.iter().map(Into::into).collect();
    prop_oneof![
        2 => bytes(WORDS).prop_map(|bytes| bytes.text()),
        2 => tree(WORDS).prop_map(|tree| format!(" {tree}\n")),
        1 => altered(trees, WORDS).prop_map(|tree| tree.to_string()),
        2 => damaged(lines).prop_map(|bytes| bytes.text()),
    ]
}

/// What is in a text, read one level after the other.
fn read_all(raw: &RawJson) -> Value {
    match raw.kind() {
        JsonKind::String => Value::from(raw.to_text().unwrap()),
        JsonKind::Array => raw.to_items().unwrap().iter().map(read_all).collect(),
        JsonKind::Object => {
            let fields = raw.to_object().unwrap();
            fields.iter().map(|(name, value)| (name.to_owned(), read_all(value))).collect()
        }
        JsonKind::Null | JsonKind::Bool | JsonKind::Number => {
            serde_json::from_str(raw.as_str()).unwrap()
        }
    }
}

fn lies_inside(error: &JsonError, text: &str) -> bool {
    let line = text.split('\n').nth(error.line() - 1);
    line.is_some_and(|line| (1..=line.len() + 1).contains(&error.column()))
}

#[test]
fn the_reader_takes_and_finds_what_serde_json_does_but_for_documented_differences() {
    check(2_000, any_text(), |text| {
        match (RawJson::parse(text.as_str()), serde_json::from_str::<Value>(&text)) {
            (Ok(raw), Ok(value)) => {
                let text = text.trim_matches([' ', '\t', '\r', '\n']);
                prop_assert_eq!(raw.as_str(), one_line(text));
                prop_assert_eq!(read_all(&raw), value.clone());
                if let Ok(object) = RawObject::try_from(raw) {
                    let rewritten = object.fields().to_raw();
                    prop_assert_eq!(read_all(rewritten.as_raw()), value);
                }
            }
            (Ok(_), Err(error)) => {
                let error = error.to_string();
                prop_assert!(DOCUMENTED.iter().any(|known| error.starts_with(known)), "{error}");
            }
            (Err(error), Ok(_)) => prop_assert!(false, "refused: {error}"),
            (Err(error), Err(_)) => prop_assert!(lies_inside(&error, &text), "{error}"),
        }
        Ok(())
    });
}

#[test]
fn a_string_of_any_code_units_is_read_with_lone_halves_replaced() {
    // Halves of characters, and units whose WTF-8 has two and three bytes.
    let odd = vec![0xd800, 0xdbff, 0xdc00, 0xdfff, 0xd83d, 0xde00, 0, 0x7f, 0x80, 0x800, 0xffff];
    let unit = prop_oneof![select(odd), 0x20..0x7f_u16, any::<u16>()];
    // Each is written as an escape, or as it is where it can be.
    let unit = (unit, any::<bool>());
    check(3_000, prop::collection::vec(unit, 0..12), |units| {
        let written: String = units
            .iter()
            .map(|(unit, escaped)| match char::from_u32((*unit).into()) {
                Some(plain) if !escaped && plain >= ' ' && !"\"\\".contains(plain) => plain.into(),
                _ => format!("\\u{unit:04X}"),
            })
            .collect();
        let units: Vec<u16> = units.iter().map(|(unit, _)| *unit).collect();
        let expected = String::from_utf16_lossy(&units);
        let raw = RawJson::parse(format!("\"{written}\"")).unwrap();
        prop_assert_eq!(raw.to_text(), Some(expected.clone()));
        let object = RawJson::parse(format!("{{\"{written}\":1}}")).unwrap().to_object().unwrap();
        prop_assert_eq!(object.iter().next().unwrap().0, expected.as_str());
        prop_assert_eq!(RawJson::from_text(&expected).to_text(), Some(expected));
        Ok(())
    });
}

#[test]
fn a_number_keeps_its_digits_and_is_whole_if_it_says_so() {
    let zeros = (0..3_usize).prop_map(|count| "0".repeat(count));
    let written = prop_oneof![
        (0..1_u64 << 53, zeros.clone()).prop_map(|(whole, zeros)| {
            let point = if zeros.is_empty() { "" } else { "." };
            (format!("{whole}{point}{zeros}"), Some(whole))
        }),
        (0..1_u64 << 40, 0..4_u32).prop_map(|(whole, power)| (
            format!("{whole}e{power}"),
            Some(whole * 10_u64.pow(power))
        )),
        any::<u64>().prop_map(|whole| (whole.to_string(), Some(whole))),
        (1..u64::MAX).prop_map(|whole| (format!("-{whole}"), None)),
        (0..1_u64 << 40, 1..100_u32).prop_map(|(whole, rest)| (format!("{whole}.{rest:03}"), None)),
        ("[1-9][0-9]{20,60}", zeros)
            .prop_map(|(digits, zeros)| (format!("{digits}.{zeros}0"), None)),
        "[1-9]\\.[0-9]{1,9}[Ee]\\+?[1-9][0-9]{2,8}".prop_map(|number| (number, None)),
    ];
    check(3_000, written, |(number, whole)| {
        let list = RawJson::parse(format!("[ {number} ,0]")).unwrap();
        let read = list.to_items().unwrap().remove(0);
        prop_assert_eq!(read.as_str(), number);
        prop_assert_eq!(read.to_u64(), whole);
        Ok(())
    });
}

#[test]
fn very_deep_texts_overflow_no_stack_whether_they_end_or_not() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]"), (" [ ", " ] ")] {
        let opened = open.repeat(VERY_DEEP);
        assert!(RawJson::parse(opened.clone()).is_err());
        let text = format!("{opened}1{}", close.repeat(VERY_DEEP));
        let raw = RawJson::parse(text.as_str()).unwrap();
        assert_eq!(raw.as_str(), text.trim());
        assert_eq!(serde_json::to_string(&raw).unwrap(), text.trim());
        let inner = raw.to_items().map_or_else(
            || raw.to_object().unwrap().get("a").unwrap().clone(),
            |mut items| items.remove(0),
        );
        assert!(text.contains(inner.as_str()) && inner != raw);
        assert!(RawJson::parse(format!("{text}]")).is_err());
    }
}
