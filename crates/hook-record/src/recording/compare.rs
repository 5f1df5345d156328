//! Comparison of two responses, except times and ids.

use std::collections::HashSet;
use std::fmt;

use hook_json::{JsonKind, JsonObject, RawJson};

/// The maximum depth of comparing values; deeper values are compared as text.
const MAX_DEPTH: usize = 100;

/// Fields of `finalOutput` that determine a field of `processed`: a change is reported once.
const PROCESSED_SOURCES: [(&str, &str); 8] = [
    ("continue", "decision"),
    ("decision", "decision"),
    ("reason", "reason"),
    ("retryAfterMs", "retryAfterMs"),
    ("stopReason", "reason"),
    ("systemMessage", "systemMessage"),
    ("suppressOutput", "suppressOutput"),
    ("hookSpecificOutput.additionalContext", "additionalContext"),
];

/// A difference between two responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// A value changed, appeared or disappeared.
    Value {
        /// The path, such as `decision`, `finalOutput.hookSpecificOutput.tool_input.path`, or
        /// `hooks[guard].exitCode`.
        path: String,
        /// The value before.
        before: Option<RawJson>,
        /// The value now.
        now: Option<RawJson>,
    },
    /// A hook did not run before.
    HookAdded(String),
    /// A hook does not run now.
    HookRemoved(String),
    /// The same hooks run in another order.
    HookOrder {
        /// The order before.
        before: Vec<String>,
        /// The order now.
        now: Vec<String>,
    },
    /// A warning is new.
    WarningAdded(String),
    /// A warning is gone.
    WarningRemoved(String),
}

impl Difference {
    /// Returns the name of its kind, as in `hook replay --json`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Value { .. } => "value",
            Self::HookAdded(_) => "hook-added",
            Self::HookRemoved(_) => "hook-removed",
            Self::HookOrder { .. } => "hook-order",
            Self::WarningAdded(_) => "warning-added",
            Self::WarningRemoved(_) => "warning-removed",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let display = |value: &Option<RawJson>| match value {
            Some(value) => value.as_str().to_owned(),
            None => "nothing".to_owned(),
        };
        match self {
            Self::Value { path, before, now } => {
                write!(formatter, "{path}: {} → {}", display(before), display(now))
            }
            Self::HookAdded(name) => write!(formatter, "hook added: {name}"),
            Self::HookRemoved(name) => write!(formatter, "hook removed: {name}"),
            Self::HookOrder { before, now } => {
                write!(formatter, "hook order: {} → {}", before.join(", "), now.join(", "))
            }
            Self::WarningAdded(text) => write!(formatter, "warning added: {text}"),
            Self::WarningRemoved(text) => write!(formatter, "warning removed: {text}"),
        }
    }
}

/// Compares two response messages: decision, reasons and messages, merged output, error, which
/// hooks ran and how they ended, which were not started, and warnings. Times, durations, ids and
/// the hooks' other output are ignored. A response that is no object has no fields.
pub fn compare(before: &RawJson, now: &RawJson) -> Vec<Difference> {
    let (before, now) = (fields(Some(before)), fields(Some(now)));
    let mut differences = Vec::new();
    let processed = |response: &JsonObject| fields(response.get("processed"));
    let mut processed_differences = diff_objects("", &processed(&before), &processed(&now));
    let has_difference = |path: &str, list: &[Difference]| {
        list
            .iter()
            .any(|difference| matches!(difference, Difference::Value { path: other, .. } if other == path))
    };
    // `shouldStop`, `stopReason` and `modelMessage` repeat other fields.
    let (decision_differs, reason_differs) = (
        has_difference("decision", &processed_differences),
        has_difference("reason", &processed_differences),
    );
    let message_differs = has_difference("systemMessage", &processed_differences);
    processed_differences.retain(|it| match it {
        Difference::Value { path, .. } => match path.as_str() {
            "shouldStop" => !decision_differs,
            "stopReason" => !reason_differs,
            "modelMessage" => !message_differs,
            _ => true,
        },
        _ => true,
    });
    let output = |response: &JsonObject| fields(response.get("output"));
    let (output_before, output_now) = (output(&before), output(&now));
    let mut merged_differences = Vec::new();
    let (merged_before, merged_now) =
        (output_before.get("finalOutput"), output_now.get("finalOutput"));
    let empty = RawJson::from(JsonObject::new().to_raw());
    diff_values(
        "finalOutput",
        Some(merged_before.unwrap_or(&empty)),
        Some(merged_now.unwrap_or(&empty)),
        MAX_DEPTH,
        &mut merged_differences,
    );
    merged_differences.retain(|difference| match difference {
        Difference::Value { path, before, now } if is_default(path, before, now) => false,
        Difference::Value { path, .. } => {
            !PROCESSED_SOURCES.iter().any(|(field, processed_field)| {
                path.strip_prefix("finalOutput.") == Some(field)
                    && has_difference(processed_field, &processed_differences)
            })
        }
        _ => true,
    });
    // Report `modified` only if both sides have it and the merged output does not show the change.
    let has_modified = |response: &JsonObject| processed(response).get("modified").is_some();
    let both_modified = has_modified(&before) && has_modified(&now);
    processed_differences.retain(|it| match it {
        Difference::Value { path, .. } if path.starts_with("modified") => {
            let field = path.strip_prefix("modified").unwrap_or_default();
            let path = format!("finalOutput.hookSpecificOutput{field}");
            both_modified && !has_difference(&path, &merged_differences)
        }
        _ => true,
    });
    differences.append(&mut processed_differences);
    differences.append(&mut merged_differences);
    for name in ["code", "message"] {
        let error_field = |response: &JsonObject| fields(response.get("error")).get(name).cloned();
        let path = format!("error.{name}");
        diff_values(
            &path,
            error_field(&before).as_ref(),
            error_field(&now).as_ref(),
            MAX_DEPTH,
            &mut differences,
        );
    }
    diff_hooks(&before, &now, &mut differences);
    diff_not_started(&before, &now, &mut differences);
    diff_warnings("", &general_warnings(&before), &general_warnings(&now), &mut differences);
    differences
}

/// Returns the warnings of a response that do not repeat those of its hooks.
fn general_warnings(response: &JsonObject) -> Vec<String> {
    let hooks = response.get("hooks").and_then(RawJson::to_items).unwrap_or_default();
    let names = hooks.iter().filter_map(|hook| fields(Some(hook)).get("name")?.to_text());
    let prefixes: HashSet<String> = names.map(|name| format!("hook {name}: ")).collect();
    let is_of_hook = |text: &String| prefixes.iter().any(|prefix| text.starts_with(prefix));
    let mut general = texts(response.get("warnings"));
    general.retain(|text| !is_of_hook(text));
    general
}

/// Checks whether a value differs only by stating its default.
fn is_default(path: &str, before: &Option<RawJson>, now: &Option<RawJson>) -> bool {
    let default = match path {
        "finalOutput.continue" => true,
        "finalOutput.suppressOutput" => false,
        _ => return false,
    };
    let value = |side: &Option<RawJson>| side.as_ref().map_or(Some(default), RawJson::to_bool);
    value(before) == value(now)
}

/// Compares the hooks of both responses.
fn diff_hooks(before: &JsonObject, now: &JsonObject, differences: &mut Vec<Difference>) {
    let by_name = |response: &JsonObject| -> Vec<(String, JsonObject)> {
        let hooks = response.get("hooks").and_then(RawJson::to_items).unwrap_or_default();
        let named = hooks.iter().map(|hook| {
            let hook = fields(Some(hook));
            (hook.get("name").and_then(RawJson::to_text).unwrap_or_default(), hook)
        });
        named.collect()
    };
    let (before, mut added) = (by_name(before), by_name(now));
    let order: Vec<String> = added.iter().map(|(name, _)| name.clone()).collect();
    let mut kept = Vec::new();
    for (name, hook) in &before {
        // Among hooks with the same name, match those of the same source first.
        let same_source = |other: &(String, JsonObject)| {
            other.0 == *name && other.1.get("source") == hook.get("source")
        };
        let index = added.iter().position(same_source);
        let by_name_index = index.or_else(|| added.iter().position(|(other, _)| other == name));
        let Some(index) = by_name_index else {
            differences.push(Difference::HookRemoved(name.clone()));
            continue;
        };
        kept.push(name.clone());
        let (_, other) = added.remove(index);
        for field in ["source", "success", "exitCode", "signal", "timedOut", "truncated", "error"] {
            let path = format!("hooks[{name}].{field}");
            diff_values(&path, hook.get(field), other.get(field), MAX_DEPTH, differences);
        }
        let (old_warnings, new_warnings) =
            (texts(hook.get("warnings")), texts(other.get("warnings")));
        diff_warnings(&format!("{name}: "), &old_warnings, &new_warnings, differences);
    }
    for (name, _) in &added {
        differences.push(Difference::HookAdded(name.clone()));
    }
    let before: Vec<String> = before.into_iter().map(|(name, _)| name).collect();
    if added.is_empty() && before.len() == kept.len() && before != order {
        differences.push(Difference::HookOrder { before, now: order });
    }
}

/// Compares the hooks that were not started, and the hooks that ended the plan.
fn diff_not_started(before: &JsonObject, now: &JsonObject, differences: &mut Vec<Difference>) {
    let by_name = |response: &JsonObject| -> Vec<(String, Option<RawJson>)> {
        let hooks = response.get("notStarted").and_then(RawJson::to_items).unwrap_or_default();
        let named = hooks.iter().map(|hook| {
            let hook = fields(Some(hook));
            let name = hook.get("name").and_then(RawJson::to_text).unwrap_or_default();
            (name, hook.get("endedBy").cloned())
        });
        named.collect()
    };
    let mut added = by_name(now);
    let mut differ = |name: &str, before: Option<&RawJson>, now: Option<&RawJson>| {
        diff_values(&format!("notStarted[{name}].endedBy"), before, now, MAX_DEPTH, differences);
    };
    for (name, ended_by) in by_name(before) {
        let index = added.iter().position(|(other, _)| *other == name);
        let now = index.and_then(|index| added.remove(index).1);
        differ(&name, ended_by.as_ref(), now.as_ref());
    }
    for (name, ended_by) in &added {
        differ(name, None, ended_by.as_ref());
    }
}

fn diff_warnings(
    prefix: &str,
    before: &[String],
    now: &[String],
    differences: &mut Vec<Difference>,
) {
    for text in before.iter().filter(|text| !now.contains(text)) {
        differences.push(Difference::WarningRemoved(format!("{prefix}{text}")));
    }
    for text in now.iter().filter(|text| !before.contains(text)) {
        differences.push(Difference::WarningAdded(format!("{prefix}{text}")));
    }
}

/// Compares the fields of two objects.
fn diff_objects(path: &str, before: &JsonObject, now: &JsonObject) -> Vec<Difference> {
    let mut differences = Vec::new();
    diff_fields(path, before, now, MAX_DEPTH, &mut differences);
    differences
}

fn diff_fields(
    path: &str,
    before: &JsonObject,
    now: &JsonObject,
    depth: usize,
    differences: &mut Vec<Difference>,
) {
    let separator = if path.is_empty() { "" } else { "." };
    let added = now.iter().filter(|(name, _)| before.get(name).is_none());
    for (name, _) in before.iter().chain(added) {
        let path = format!("{path}{separator}{name}");
        diff_values(&path, before.get(name), now.get(name), depth, differences);
    }
}

/// Collects the differences at `path` and below it.
fn diff_values(
    path: &str,
    before: Option<&RawJson>,
    now: Option<&RawJson>,
    depth: usize,
    differences: &mut Vec<Difference>,
) {
    // `null` means absent (reference/messages.md).
    let (before, now) =
        (before.filter(|value| !value.is_null()), now.filter(|value| !value.is_null()));
    if before == now {
        return;
    }
    if let (Some(before), Some(now), Some(depth)) = (before, now, depth.checked_sub(1))
        && before.kind() == now.kind()
    {
        match before.kind() {
            JsonKind::Object => {
                let (before, now) = (fields(Some(before)), fields(Some(now)));
                return diff_fields(path, &before, &now, depth, differences);
            }
            JsonKind::Array => {
                let items = |value: &RawJson| value.to_items().unwrap_or_default();
                let (before, now) = (items(before), items(now));
                if before.len() == now.len() {
                    for (index, (before, now)) in before.iter().zip(&now).enumerate() {
                        let path = format!("{path}[{index}]");
                        diff_values(&path, Some(before), Some(now), depth, differences);
                    }
                    return;
                }
            }
            // The same text can be escaped in different ways.
            JsonKind::String if before.to_text() == now.to_text() => return,
            _ => {}
        }
    }
    differences.push(Difference::Value {
        path: path.to_owned(),
        before: before.cloned(),
        now: now.cloned(),
    });
}

fn fields(value: Option<&RawJson>) -> JsonObject {
    value.and_then(|value| value.to_object().ok()).unwrap_or_default()
}

fn texts(value: Option<&RawJson>) -> Vec<String> {
    let items = value.and_then(RawJson::to_items).unwrap_or_default();
    items.iter().filter_map(RawJson::to_text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, now: &str) -> Vec<String> {
        let response = |text: &str| RawJson::parse(text).unwrap();
        let differences = compare(&response(before), &response(now));
        differences.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn times_ids_and_streams_are_no_difference() {
        let before = r#"{"correlationId":"a","success":true,"output":{"totalDuration":1,
            "finalOutput":{"reason":"\u0061","x":null}},"processed":{"decision":"proceed"},
            "hooks":[{"name":"h","duration":1,"queued":2,"stdout":"a","warnings":[]}]}"#;
        let now = r#"{"correlationId":"b","success":true,"output":{"totalDuration":2,
            "finalOutput":{"reason":"a"}},"processed":{"decision":"proceed"},
            "hooks":[{"name":"h","duration":3,"queued":4,"stdout":"b","warnings":[]}]}"#;
        assert_eq!(shown(before, now), [""; 0]);
        assert_eq!(shown("[]", "7"), [""; 0]);
    }

    #[test]
    fn what_differs_is_said_once_and_by_its_place() {
        for (before, now, expected) in [
            (
                r#"{"output":{"finalOutput":{"decision":"deny","reason":"no"}},
                    "processed":{"decision":"block","reason":"no","shouldStop":false}}"#,
                r#"{"output":{"finalOutput":{"decision":"allow"}},
                    "processed":{"decision":"proceed","shouldStop":false}}"#,
                vec![r#"decision: "block" → "proceed""#, r#"reason: "no" → nothing"#],
            ),
            (
                r#"{"output":{"finalOutput":{"continue":true,"suppressOutput":false,"x":1}}}"#,
                r#"{"output":{}}"#,
                vec!["finalOutput.x: 1 → nothing"],
            ),
            (
                r#"{"output":{"finalOutput":{"decision":"approve"}},"processed":{"decision":"proceed"}}"#,
                r#"{"output":{"finalOutput":{"decision":"allow"}},"processed":{"decision":"proceed"}}"#,
                vec![r#"finalOutput.decision: "approve" → "allow""#],
            ),
            (
                r#"{"output":{"finalOutput":{"hookSpecificOutput":{"tool_input":{"path":"a","l":[1,2]}}}}}"#,
                r#"{"output":{"finalOutput":{"hookSpecificOutput":{"tool_input":{"path":"b","l":[1,3]}}}}}"#,
                vec![
                    r#"finalOutput.hookSpecificOutput.tool_input.path: "a" → "b""#,
                    "finalOutput.hookSpecificOutput.tool_input.l[1]: 2 → 3",
                ],
            ),
            (
                r#"{"hooks":[{"name":"a","exitCode":0},{"name":"b","warnings":["w"]}]}"#,
                r#"{"hooks":[{"name":"c"},{"name":"b","warnings":["v"],"exitCode":1}],"warnings":["x"]}"#,
                vec![
                    "hook removed: a",
                    "hooks[b].exitCode: nothing → 1",
                    "warning removed: b: w",
                    "warning added: b: v",
                    "hook added: c",
                    "warning added: x",
                ],
            ),
            (
                r#"{"notStarted":[{"name":"a","endedBy":"g"},{"name":"b","endedBy":"g"}]}"#,
                r#"{"notStarted":[{"name":"b","endedBy":"h"},{"name":"c","endedBy":"g"}]}"#,
                vec![
                    r#"notStarted[a].endedBy: "g" → nothing"#,
                    r#"notStarted[b].endedBy: "g" → "h""#,
                    r#"notStarted[c].endedBy: nothing → "g""#,
                ],
            ),
            (
                r#"{"output":{"finalOutput":{"retryAfterMs":5}},"processed":{"retryAfterMs":5}}"#,
                r#"{"output":{"finalOutput":{"retryAfterMs":7}},"processed":{"retryAfterMs":7}}"#,
                vec!["retryAfterMs: 5 → 7"],
            ),
            (
                r#"{"hooks":[{"name":"a"},{"name":"b"}]}"#,
                r#"{"hooks":[{"name":"b"},{"name":"a"}]}"#,
                vec!["hook order: a, b → b, a"],
            ),
            (
                r#"{"error":{"code":"deadline_exceeded","message":"late"}}"#,
                r#"{"processed":{"decision":"proceed"}}"#,
                vec![
                    r#"decision: nothing → "proceed""#,
                    r#"error.code: "deadline_exceeded" → nothing"#,
                    r#"error.message: "late" → nothing"#,
                ],
            ),
        ] {
            assert_eq!(shown(before, now), expected);
            assert_eq!(shown(before, before), [""; 0]);
        }
    }
}
