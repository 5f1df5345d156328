//! docs/dev/a3s.md says what is.

use std::collections::BTreeSet;
use std::fs;

use hook_protocol::HookEventName;
use hook_protocol::event::input::BASE_FIELDS;
use hook_tests::workspace;

fn page() -> String {
    fs::read_to_string(workspace().join("docs/dev/a3s.md")).unwrap()
}

/// The cells of the table below a heading.
fn table<'p>(page: &'p str, heading: &str) -> Vec<Vec<&'p str>> {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.contains("---"));
    rows.skip(1).map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn nothing_is_planned_any_more() {
    assert!(!page().to_lowercase().contains("planned"));
}

#[test]
fn every_event_of_the_design_is_on_the_page_with_all_its_fields_here() {
    let page = page();
    let rows = table(&page, "Events");
    let base: BTreeSet<&str> = BASE_FIELDS.iter().map(|field| field.name).collect();
    assert_eq!(quoted(rows[0][2]).into_iter().collect::<BTreeSet<_>>(), base);
    let mut found = BTreeSet::new();
    for row in &rows[1..] {
        let (theirs, here) = (row[0], row[2]);
        // What is near to another event is no mapping.
        let Some((names, listed)) = here.split_once(": ").filter(|_| theirs.starts_with('`'))
        else {
            continue;
        };
        let Some(event) = quoted(names).first().and_then(|name| HookEventName::from_name(name))
        else {
            continue;
        };
        let fields: BTreeSet<&str> = event.row().fields.iter().map(|field| field.name).collect();
        let listed: BTreeSet<&str> = quoted(listed)
            .into_iter()
            .filter(|word| word.chars().all(|it| it.is_lowercase() || it == '_'))
            .collect();
        assert_eq!(listed, fields, "{event}");
        found.extend(quoted(theirs.split(": ").next().unwrap()));
    }
    let expected = [
        "PreToolUse",
        "PostToolUse",
        "ToolError",
        "PermissionRequest",
        "PermissionGranted",
        "PermissionDenied",
        "GenerateStart",
        "GenerateEnd",
        "SessionStart",
        "SessionEnd",
        "PreCompact",
        "PostCompact",
        "ContextWarning",
    ];
    assert_eq!(found, expected.into_iter().collect());
}
