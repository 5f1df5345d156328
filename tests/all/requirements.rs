//! docs/dev/requirements.md names every requirement, docs/reliability.md every fault, and both only
//! tests that exist.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use hook_tests::workspace;

/// Every number that the project is held to.
const NUMBERS: &[(&str, usize)] = &[
    ("DELTA-HSYS-", 2),
    ("DELTA-HEVT-", 4),
    ("DELTA-HRUN-", 4),
    ("DELTA-HPAY-", 6),
    ("DELTA-HBUS-", 3),
    ("DELTA-HTEL-", 3),
    ("DELTA-HAPP-", 2),
    ("DELTA-HFAIL-", 5),
    ("REW-", 11),
    ("FLEET-", 11),
    ("A3S-", 6),
    ("MODULE-", 1),
    ("MODEL-", 1),
    ("BRIDGE-", 2),
    ("SEED-001-", 2),
    ("SEED-002-", 5),
    ("SEED-003-", 3),
];
const RANGES: [&str; 7] = ["F1–F4", "C1–C3", "V1–V4", "T1–T3", "TY1–TY4", "O1–O4", "L1–L3"];

fn expected() -> Vec<String> {
    let numbered = NUMBERS.iter().flat_map(|(prefix, count)| {
        (1..=*count).map(move |number| match prefix.starts_with("DELTA") {
            true => format!("{prefix}{number:03}"),
            false => format!("{prefix}{number}"),
        })
    });
    numbered.chain(RANGES.map(str::to_owned)).collect()
}

/// The names of all test functions in the workspace.
fn tests_that_exist() -> HashSet<String> {
    let mut names = HashSet::new();
    let mut folders = vec![workspace().join("tests"), workspace().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                names.extend(tests_in(&path));
            }
        }
    }
    names
}

fn tests_in(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut is_test = false;
    let mut names = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        }
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        if let Some(name) = function.and_then(|rest| rest.split('(').next())
            && std::mem::take(&mut is_test)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// The rows of a page's tables, without those of headings.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let is_row = |line: &&str| line.starts_with("| ") && !line.contains("---");
    page.lines()
        .filter(is_row)
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

static EXIST: LazyLock<HashSet<String>> = LazyLock::new(tests_that_exist);

fn assert_tests_exist(row: &[&str]) {
    let last = row.last().unwrap();
    let named: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
    assert!(!named.is_empty() || last.contains("Later"), "{} has no test", row[0]);
    for test in named {
        assert!(EXIST.contains(test), "{} names {test}, which is no test", row[0]);
    }
}

#[test]
fn the_fault_table_is_complete_and_names_tests_that_exist() {
    let page = fs::read_to_string(workspace().join("docs/reliability.md")).unwrap();
    let rows = rows(&page);
    for fault in 1..=116 {
        let of_fault: Vec<_> = rows.iter().filter(|row| row[0] == fault.to_string()).collect();
        assert_eq!(of_fault.len(), 1, "fault {fault} stands on the page {} times", of_fault.len());
        assert_tests_exist(of_fault[0]);
    }
}

#[test]
fn the_requirements_page_is_complete_and_names_tests_that_exist() {
    let page = fs::read_to_string(workspace().join("docs/dev/requirements.md")).unwrap();
    let rows = rows(&page);
    for id in expected() {
        let count = rows.iter().filter(|row| row[0] == id).count();
        assert_eq!(count, 1, "{id} stands on the page {count} times");
    }
    for row in rows.iter().filter(|row| row[0] != "id") {
        assert_tests_exist(row);
    }
    for invariant in 1..=13 {
        let prefix = format!("invariant_{invariant:02}_");
        assert!(EXIST.iter().any(|name| name.starts_with(&prefix)), "{prefix} has no test");
    }
}
