//! Differences from expected values, and errors in scenarios.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use hook_record::script::{Change, Mismatch, ScenarioError, ScenarioErrorKind};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::output::{Printer, Tone};
use hook_json::text;
use hook_json::text::PathText;

/// The maximum length of values that are compared on one line.
const ONE_LINE: usize = 100;

/// The time limit for finding the shortest diff of two texts.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The number of lines shown around a difference.
const CONTEXT_LINES: usize = 3;

/// Writes one mismatch, below the line of its test.
pub(crate) fn mismatch(out: &mut String, mismatch: &Mismatch, printer: &Printer) {
    let Mismatch { path, expected, found, .. } = mismatch;
    let _ = writeln!(out, "  {}", printer.paint(Tone::Strong, &text::one_line(path)));
    out.push_str(&difference(expected, found, printer));
}

/// Formats expected and found values, in two lines or as a diff.
fn difference(expected: &Value, found: &Value, printer: &Printer) -> String {
    let mut out = String::new();
    let one_line = [expected.to_string(), found.to_string()];
    let is_long = |value: &Value| {
        value.as_str().is_some_and(|text| text.contains('\n'))
            || value.to_string().chars().count() > ONE_LINE
    };
    let same_kind = std::mem::discriminant(expected) == std::mem::discriminant(found);
    if !same_kind || !(is_long(expected) || is_long(found)) || is_regex(expected) {
        for (title, tone, text) in
            [("expected:", Tone::Good, &one_line[0]), ("found:   ", Tone::Bad, &one_line[1])]
        {
            let _ = writeln!(out, "    {title} {}", printer.paint(tone, text));
        }
        return out;
    }
    let (expected, found) = (lines_of(expected), lines_of(found));
    let mut configured = TextDiff::configure();
    let difference = configured.timeout(TIMEOUT).diff_lines(&expected, &found);
    let [minus, plus] = [(Tone::Good, "- expected"), (Tone::Bad, "+ found")]
        .map(|(tone, text)| printer.paint(tone, text));
    let _ = writeln!(out, "    {minus} {plus}");
    for (index, group) in difference.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if index > 0 {
            out.push_str("      …\n");
        }
        for change in group.iter().flat_map(|operation| difference.iter_changes(operation)) {
            let (sign, tone) = match change.tag() {
                ChangeTag::Delete => ("-", Tone::Good),
                ChangeTag::Insert => ("+", Tone::Bad),
                ChangeTag::Equal => (" ", Tone::Quiet),
            };
            let line = change.value().trim_end_matches('\n');
            let _ = writeln!(out, "    {}", printer.paint(tone, &format!("{sign} {line}")));
        }
    }
    out
}

fn is_regex(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() > 1 && text.starts_with('/') && text.ends_with('/'))
}

fn lines_of(value: &Value) -> String {
    let mut text = match value {
        Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    text.push('\n');
    text
}

/// Formats one mismatch without colours and diffs, for machine-readable reports.
pub(super) fn plain_text(mismatch: &Mismatch) -> String {
    let Mismatch { path, expected, found, .. } = mismatch;
    format!("{path}: expected {expected}, found {found}")
}

/// Writes a change that was made to a scenario.
pub(super) fn change(out: &mut String, change: &Change, printer: &Printer) {
    let lines = match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("before: {before}\n    now:    {after}"),
        (None, Some(after)) => format!("added: {after}"),
        (Some(before), None) => format!("removed, since nothing is there; it was {before}"),
        (None, None) => return,
    };
    let key = printer.paint(Tone::Strong, &change.key.to_string());
    let _ = writeln!(out, "  {key}\n    {}", text::escaped_lines(&lines));
}

/// Formats an error in a scenario, with its line.
pub(crate) fn scenario_error(path: &Path, text: &str, error: &ScenarioError) -> String {
    let mut out = text::one_line(&format!("{}:{error}", path.shown())).into_owned();
    if *error.kind() == ScenarioErrorKind::Empty {
        return out;
    }
    let Some(line) = text.lines().nth(error.line() - 1) else { return out };
    let number = error.line().to_string();
    let margin = " ".repeat(number.len());
    // A long line is shown around the error.
    let from = error.column().saturating_sub(1).saturating_sub(ONE_LINE / 2);
    let shown: String = line.chars().skip(from).take(ONE_LINE).collect();
    let indent: String = shown
        .chars()
        .take(error.column() - 1 - from)
        .map(|character| if character == '\t' { '\t' } else { ' ' })
        .collect();
    let marked = text.get(error.span()).unwrap_or_default().lines().next().unwrap_or_default();
    let width = shown.chars().count().saturating_sub(indent.chars().count());
    let marks = "^".repeat(marked.chars().count().clamp(1, width.max(1)));
    let _ = write!(out, "\n {margin} |\n {number} | {shown}\n {margin} | {indent}{marks}");
    out
}
