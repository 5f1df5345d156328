//! Tests of edits of settings texts.

use super::*;
use crate::{HookSource, parse};
use proptest::prelude::*;

#[test]
fn the_list_is_laid_out_as_the_file_is() {
    for (before, after) in [
        ("{}", "{\n  \"hooksConfig\": {\n    \"disabled\": [\"x\"]\n  }\n}"),
        ("{\"hooks\":{}}", "{\"hooksConfig\":{\"disabled\":[\"x\"]},\"hooks\":{}}"),
        ("{\"hooks\": {}}", "{\"hooksConfig\": {\"disabled\": [\"x\"]}, \"hooks\": {}}"),
        (
            "{\r\n\t\"hooks\" : {}\r\n}\r\n",
            "{\r\n\t\"hooksConfig\": {\r\n\t\t\"disabled\": [\"x\"]\r\n\t},\r\n\t\"hooks\" : {}\r\n}\r\n",
        ),
        ("{\"hooksConfig\": null}", "{\"hooksConfig\": {\"disabled\": [\"x\"]}}"),
        ("{\"hooksConfig\":{ }}", "{\"hooksConfig\":{\"disabled\":[\"x\"]}}"),
        (
            "{\"hooksConfig\": {\"enabled\": true, \"maxConcurrent\": 1}}",
            "{\"hooksConfig\": {\"enabled\": true, \"maxConcurrent\": 1, \"disabled\": [\"x\"]}}",
        ),
        (
            "{\"hooksConfig\": {\n      \"enabled\": true\n   }}",
            "{\"hooksConfig\": {\n      \"enabled\": true,\n      \"disabled\": [\"x\"]\n   }}",
        ),
        ("{\"hooksConfig\":{\"disabled\":null}}", "{\"hooksConfig\":{\"disabled\":[\"x\"]}}"),
        ("{\"hooksConfig\":{\"disabled\":[ ]}}", "{\"hooksConfig\":{\"disabled\":[\"x\"]}}"),
        (
            "{\"hooksConfig\":{\"disabled\":[\"a\"]}}",
            "{\"hooksConfig\":{\"disabled\":[\"a\",\"x\"]}}",
        ),
        (
            "{\"hooksConfig\": {\"disabled\": [\"a\"]}}",
            "{\"hooksConfig\": {\"disabled\": [\"a\", \"x\"]}}",
        ),
        (
            "{\"hooksConfig\": {\"disabled\": [\n    7,\n      \"b\"\n  ]}}",
            "{\"hooksConfig\": {\"disabled\": [\n    7,\n      \"b\",\n      \"x\"\n  ]}}",
        ),
        // The last of duplicates is the one that counts.
        (
            "\u{feff}{\"hooksConfig\":{\"disabled\":[\"x\"],\"dis\\u0061bled\":[\"a\"]}}",
            "\u{feff}{\"hooksConfig\":{\"disabled\":[\"x\"],\"dis\\u0061bled\":[\"a\",\"x\"]}}",
        ),
    ] {
        assert_eq!(set_hook_enabled(before, "x", false).unwrap(), after, "{before}");
        assert_eq!(set_hook_enabled(after, "x", false).unwrap(), after, "once is enough");
    }
}

#[test]
fn every_mention_is_taken_off_with_its_comma() {
    for (before, after) in [
        ("[]", "[]"),
        ("[ ]", "[ ]"),
        ("[\"x\"]", "[]"),
        ("[ \"x\" , \"x\" ]", "[]"),
        ("[\"a\"]", "[\"a\"]"),
        ("[\"x\", \"a\"]", "[\"a\"]"),
        ("[\"a\", \"x\", \"b\"]", "[\"a\", \"b\"]"),
        ("[\n  \"x\",\n  \"x\",\n  \"b\",\n  \"\\u0078\",\n  \"x\"\n]", "[\n  \"b\"\n]"),
    ] {
        let file = |list: &str| format!("{{ \"hooksConfig\" : {{\"disabled\" :{list} }} }}\n");
        assert_eq!(set_hook_enabled(&file(before), "x", true).unwrap(), file(after), "{before}");
    }
    for text in ["{}", "{\"hooksConfig\":null}", "{\"hooksConfig\":{\"disabled\":null}}"] {
        assert_eq!(set_hook_enabled(text, "x", true).unwrap(), text);
    }
}

#[test]
fn comments_and_trailing_commas_stay() {
    let file = |list: &str| format!("{{ \"hooksConfig\": {{ \"disabled\": {list} }} }} // end\n");
    for (without, with) in [
        ("[ /* none */ ]", "[ /* none */ \"x\"]"),
        ("[\n  \"a\", // why, and\n]", "[\n  \"a\", // why, and\n  \"x\",\n]"),
        ("[\n  \"a\" // why\r\n]", "[\n  \"a\", // why\n  \"x\"\r\n]"),
        ("[\"a\" /* why */, ]", "[\"a\" /* why */, \"x\", ]"),
        ("[\"a\" // why\n]", "[\"a\", \"x\" // why\n]"),
    ] {
        assert_eq!(set_hook_enabled(&file(without), "x", false).unwrap(), file(with));
    }
    for (with, without) in [
        ("[\n  \"x\", // why\n  \"b\"\n]", "[\n   // why\n  \"b\"\n]"),
        ("[\"a\", /* é */ \"x\",]", "[\"a\", /* é */ ]"),
        ("[\n  \"a\", // why\n  \"x\",\n]", "[\n  \"a\", // why\n]"),
        ("[\n  \"a\", // why\n  \"x\"\n]", "[\n  \"a\" // why\n]"),
        ("[ // all, \"x\"\n  \"x\",\n]", "[ // all, \"x\"\n  \n]"),
    ] {
        assert_eq!(set_hook_enabled(&file(with), "x", true).unwrap(), file(without));
    }
    for (before, after) in [
        ("{ // first\n}", "{ // first\n\n  \"hooksConfig\": {\n    \"disabled\": [\"x\"]\n  }\n}"),
        (
            "{\n  // first\n  \"hooks\": {},\n}",
            "{\n  \"hooksConfig\": {\n    \"disabled\": [\"x\"]\n  },\n  // first\n  \"hooks\": {},\n}",
        ),
        (
            "{\"hooksConfig\": {\n  \"enabled\": true, // a, b\n  // c\n}}",
            "{\"hooksConfig\": {\n  \"enabled\": true, // a, b\n  \"disabled\": [\"x\"],\n  // c\n}}",
        ),
    ] {
        assert_eq!(set_hook_enabled(before, "x", false).unwrap(), after);
    }
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    for (text, place, said) in [
        ("", "settings:1:1", "it is not JSON: EOF while parsing a value"),
        ("{\n  # guards\n}", "settings:2:3", "it is not JSON: key must be a string"),
        ("{ // é\n  \"hooks\": {,}\n}", "settings:2:13", "it is not JSON: key must be a string"),
        ("{\n  \"hooks\": {,}\n}", "settings:2:13", "it is not JSON: key must be a string"),
        ("[]", "settings:1:1", "expected an object, found an array"),
        ("{\"hooksConfig\":7}", "settings:1:16", "hooksConfig: expected an object, found a number"),
        (
            "{\"hooksConfig\":{\"disabled\":\"x\"}}",
            "settings:1:28",
            "hooksConfig.disabled: expected an array of strings, found a string",
        ),
    ] {
        for enabled in [true, false] {
            let problem = set_hook_enabled(text, "x", enabled).unwrap_err();
            assert_eq!(problem.location.to_string(), place, "{text}");
            assert!(problem.message.starts_with(said), "{}", problem.message);
        }
    }
}

/// Whitespace, and comments if there are to be any.
fn blanks(comments: bool) -> BoxedStrategy<String> {
    let whitespace = "[ \\t\\r\\n]{0,4}";
    match comments {
        false => whitespace.boxed(),
        true => prop_oneof![whitespace, "/\\*[a,\"é]{0,3}\\*/", "//[a,\"é]{0,3}\n"].boxed(),
    }
}

/// A JSON text of a settings file with random formatting.
fn file(comments: bool) -> impl Strategy<Value = (String, usize)> {
    let blanks = move || blanks(comments);
    let name = prop_oneof![Just("x".to_owned()), "[a-z\\\\\"é\u{1}]{0,3}"];
    let item = (blanks(), name, blanks())
        .prop_map(|(before, name, after)| format!("{before}{}{after}", quoted(&name)));
    let list = proptest::collection::vec(item, 0..5);
    let member = move |name: &'static str| {
        (blanks(), blanks(), blanks())
            .prop_map(move |(a, b, c)| (format!("{a}\"{name}\"{b}:{c}"), String::new()))
    };
    let numbers = proptest::collection::vec((blanks(), "[1-9][0-9]{0,30}"), 0..3);
    (
        member("hooksConfig"),
        member("disabled"),
        list,
        numbers,
        blanks(),
        any::<(bool, bool, bool)>(),
    )
        .prop_map(|((config, _), (disabled, _), list, numbers, blank, (has, first, null))| {
            let mut members: Vec<String> = numbers
                .iter()
                .map(|(blank, number)| format!("{blank}\"maxConcurrent\":{number}"))
                .collect();
            let items = list.len();
            if has {
                let at = if first { 0 } else { members.len() };
                let value = if null { "null".to_owned() } else { format!("[{}]", list.join(",")) };
                members.insert(at, format!("{disabled}{value}{blank}"));
            }
            let text =
                format!("{blank}{{{config}{{{}}},{blank}\"hooks\":{{}} }}", members.join(","));
            (text, if has && !null { items } else { 0 })
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_and_off_change_the_list_alone((text, items) in file(false), name in "[a-zé\"\\\\]{1,3}") {
        let names = |text: &str| parse(text, HookSource::User, None).config.disabled.clone();
        let before = names(&text);
        let off = set_hook_enabled(&text, &name, false).unwrap();
        let mut expected = before.clone();
        if !expected.contains(&name) {
            expected.push(name.clone());
        }
        prop_assert_eq!(names(&off), expected, "{}", off);
        let on = set_hook_enabled(&off, &name, true).unwrap();
        let kept: Vec<String> = before.iter().filter(|known| **known != name).cloned().collect();
        prop_assert_eq!(names(&on), kept, "{}", on);
        if items > 0 && !before.contains(&name) {
            prop_assert_eq!(&on, &text);
        }
        // What was added is one piece: all of the old text is there around it.
        let front = text.bytes().zip(off.bytes()).take_while(|(one, other)| one == other).count();
        let end = text.len().saturating_sub(front);
        if items > 0 {
            prop_assert!(off.as_bytes().ends_with(&text.as_bytes()[text.len() - end..]));
        }
    }

    #[test]
    fn on_and_off_keep_every_comment(
        (text, _) in file(true), name in "[a-zé\"\\\\]{1,3}", comma in prop_oneof![Just(""), Just(",")],
    ) {
        let text = text.replace("\"hooks\":{}", &format!("\"hooks\":{{}}{comma}"));
        let names = |text: &str| parse(text, HookSource::User, None).config.disabled.clone();
        let comments = |text: &str| {
            let plain = without_comments(text, Comments::Allowed);
            let pairs = text.bytes().zip(plain.bytes());
            let comments = pairs.filter(|(byte, plain)| byte != plain && !byte.is_ascii_whitespace()).map(|(byte, _)| byte);
            String::from_utf8(comments.collect()).unwrap()
        };
        let off = set_hook_enabled(&text, &name, false).unwrap();
        prop_assert!(names(&off).contains(&name), "{}", off);
        prop_assert_eq!(comments(&off), comments(&text), "{}", off);
        let on = set_hook_enabled(&off, &name, true).unwrap();
        let kept: Vec<String> = names(&text).into_iter().filter(|known| *known != name).collect();
        prop_assert_eq!(names(&on), kept, "{}", on);
        prop_assert_eq!(comments(&on), comments(&text), "{}", on);
    }

    #[test]
    fn any_text_is_edited_or_refused(text in "[{}\\[\\]\",:a-z0-9/*\\\\ \n]{0,80}", name in ".{0,4}") {
        for enabled in [true, false] {
            if let Ok(edited) = set_hook_enabled(&text, &name, enabled) {
                prop_assert!(crate::document::parse_root(&edited).is_ok());
            }
        }
    }
}
