//! Differences between two texts.

use std::time::Duration;

use hook_json::text::{PathText, one_line};
use hook_settings::edit::FileChange;
use similar::TextDiff;

use crate::output::{Printer, Tone};

/// The time limit for finding the shortest diff; after that, a longer one may be shown.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns a unified diff of two texts, with a final newline, or an empty string if they are equal.
pub(crate) fn unified(before: &str, after: &str, name: Option<(&str, &str)>) -> String {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(before, after);
    let mut unified = diff.unified_diff();
    if let Some((before, after)) = name {
        unified.header(&one_line(before), &one_line(after));
    }
    unified.to_string()
}

/// Returns the coloured diff of an edited file.
pub(crate) fn file_diff(change: &FileChange, printer: &Printer) -> String {
    let path = change.path.shown().to_string();
    paint_diff(&unified(&change.before, &change.after, Some((&path, &path))), "", printer)
}

/// Colours a unified diff, with `indent` before each line.
pub(crate) fn paint_diff(diff: &str, indent: &str, printer: &Printer) -> String {
    let paint = |line: &str| {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(b'@') => Tone::Quiet,
            _ => Tone::Plain,
        };
        format!("{indent}{}\n", printer.paint(tone, line.trim_end_matches(['\r', '\n'])))
    };
    diff.split_inclusive('\n').map(paint).collect()
}
