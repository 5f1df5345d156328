//! What the Python SDK knows of events beside the engine: which answers of hooks mean something on which event. By
//! that it refuses responses of a fleet that contradict themselves.

use std::collections::BTreeSet;
use std::fs;

use hook_protocol::{HookEventName, HookOutput, PolicyDecision};
use hook_tests::{object, workspace};
use serde_json::{Value, json};

/// The words between two texts behind the one by which a list begins.
fn listed(source: &str, begins: &str, ends: &str) -> BTreeSet<String> {
    let (_, rest) = source.split_once(begins).unwrap_or_else(|| panic!("there is no {begins}"));
    let (list, _) = rest.split_once(ends).unwrap();
    let words = list.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[test]
fn the_python_sdk_knows_on_which_events_an_answer_decides() {
    let read = |path: &str| fs::read_to_string(workspace().join("sdks").join(path)).unwrap();
    let python = read("python/src/hook_sdk/consistent.py");
    let specific = |name: &str, value: Value| json!({"hookSpecificOutput": {name: value}});
    for (name, answer, meaning) in [
        ("DECIDING", json!({"decision": "deny"}), PolicyDecision::Block),
        ("PERMITTING", specific("permissionDecision", "deny".into()), PolicyDecision::Block),
        ("CANCELLING", specific("cancel", true.into()), PolicyDecision::Block),
        ("RETRYING", json!({"decision": "retry"}), PolicyDecision::Retry),
    ] {
        let output = HookOutput::read_back(&object(answer)).unwrap();
        let events = HookEventName::all().filter(|event| output.policy(*event) == meaning);
        let events: BTreeSet<String> = events.map(|it| it.as_str().to_lowercase()).collect();
        let (begins, ends) = match name {
            "DECIDING" => ("_DECIDING = frozenset(\n    (".to_owned(), ")"),
            _ => (format!("_{name} = ("), ")"),
        };
        assert_eq!(listed(&python, &begins, ends), events, "{name} in Python");
    }
}
