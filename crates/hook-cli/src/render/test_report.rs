//! Reports of `hook test`: the outcome of each test, and a summary.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use hook_record::script::{Change, NotUpdated, ScenarioTest, TestReport};
use hook_run::HookExecutionResult;
use serde_json::{Value, json};

use super::columns::first_line;
use super::mismatches::{change, mismatch};
use super::{counted, response};
use crate::output::{Printer, Tone, View, json_line};
use hook_json::text::{self, PathText, one_line};

/// The outcome of a test.
#[derive(Debug)]
pub(crate) struct TestOutcome<'f> {
    pub(crate) file: &'f Path,
    /// The test's index in the file.
    pub(crate) index: usize,
    pub(crate) test: &'f ScenarioTest,
    /// The report; `None` if the test was not played.
    pub(crate) report: Option<TestReport>,
    /// The changes written into the file.
    pub(crate) changes: Vec<Change>,
    /// The changes that could not be written.
    pub(crate) not_updated: Vec<NotUpdated>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestStatus {
    Passed,
    Updated,
    Failed,
    Skipped,
}

impl TestStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Updated => "updated",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl<'f> TestOutcome<'f> {
    pub(crate) fn new(
        file: &'f Path,
        index: usize,
        test: &'f ScenarioTest,
        report: Option<TestReport>,
    ) -> Self {
        Self { file, index, test, report, changes: Vec::new(), not_updated: Vec::new() }
    }

    pub(crate) fn status(&self) -> TestStatus {
        match &self.report {
            None => TestStatus::Skipped,
            Some(_) if !self.not_updated.is_empty() => TestStatus::Failed,
            Some(_) if !self.changes.is_empty() => TestStatus::Updated,
            Some(report) if report.passed() => TestStatus::Passed,
            Some(_) => TestStatus::Failed,
        }
    }
}

/// A run of selected tests.
#[derive(Debug)]
pub(crate) struct TestRun<'f> {
    /// The number of selected tests.
    pub(crate) selected: usize,
    /// The number of tests that filters excluded.
    pub(crate) filtered_out: usize,
    /// The number of files with selected tests.
    pub(crate) files: usize,
    pub(crate) outcomes: Vec<TestOutcome<'f>>,
    pub(crate) duration: Duration,
}

impl TestRun<'_> {
    pub(crate) fn count(&self, status: TestStatus) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.status() == status).count()
    }

    /// Returns `true` if every test was played, and passed or was updated.
    pub(crate) fn passed(&self) -> bool {
        self.count(TestStatus::Passed) + self.count(TestStatus::Updated) == self.selected
    }
}

/// Returns the name of a test: its file and its own name.
pub(crate) fn test_label(file: &Path, name: &str) -> String {
    format!("{}::{name}", file.to_string_lossy())
}

fn painted_label(file: &Path, test: &ScenarioTest, printer: &Printer) -> String {
    format!(
        "{}{}",
        printer.paint(Tone::Quiet, &format!("{}::", file.shown())),
        printer.paint(Tone::Plain, &one_line(&test.name))
    )
}

/// A test in a list.
pub(crate) struct ListedTest<'f> {
    pub(crate) file: &'f Path,
    pub(crate) test: &'f ScenarioTest,
}

impl View for ListedTest<'_> {
    fn json(&self) -> Vec<u8> {
        let ScenarioTest { name, line, .. } = self.test;
        json_line(&json!({"file": self.file.to_string_lossy(), "test": name, "line": line}))
    }

    fn text(&self, printer: &Printer) -> String {
        format!("{}\n", painted_label(self.file, self.test, printer))
    }
}

/// Returns the line before all tests.
pub(crate) fn test_header(run: &TestRun<'_>, printer: &Printer) -> String {
    let (tests, files) = (counted(run.selected, "test"), counted(run.files, "file"));
    format!("{} {tests} from {files}\n", column(Tone::Good, "Running", printer))
}

/// Formats one test for people: a line if it passed, all details if it did not.
pub(crate) fn test_outcome(outcome: &TestOutcome<'_>, printer: &Printer) -> String {
    let mut out = status_line(outcome, printer);
    let Some(report) = &outcome.report else { return out };
    for change_made in &outcome.changes {
        change(&mut out, change_made, printer);
    }
    if outcome.status() != TestStatus::Failed {
        return out;
    }
    for entry in &outcome.not_updated {
        let text = format!("  {} is not updated: {}\n", entry.key, entry.reason);
        out.push_str(&printer.paint(Tone::Warning, &text));
    }
    for found in &report.mismatches {
        mismatch(&mut out, found, printer);
    }
    let shown = response(&report.response, printer);
    let _ = writeln!(out, "  {}", shown.trim_end().replace('\n', "\n  "));
    for hook in &report.response.hooks {
        streams(&mut out, hook, printer);
    }
    out.push('\n');
    out
}

/// Writes a hook's output, as far as the response does not show it.
fn streams(out: &mut String, result: &HookExecutionResult, printer: &Printer) {
    let stderr = match result.failure {
        Some(_) => &[],
        None => result.process.stderr.bytes.as_slice(),
    };
    for (name, bytes) in [("stdout", &*result.process.stdout.bytes), ("stderr", stderr)] {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        let title = format!("{name} of {}", first_line(result.hook.display_name()));
        let _ = writeln!(out, "  {}:", printer.paint(Tone::Quiet, &title));
        for line in text.lines().take(SHOWN_LINES) {
            let shown: String = line.chars().take(SHOWN_COLUMNS).collect();
            let cut = if shown.len() < line.len() { "…" } else { "" };
            let _ = writeln!(out, "    {}{cut}", text::escaped_lines(&shown));
        }
        let more = text.lines().count().saturating_sub(SHOWN_LINES);
        if more > 0 {
            let _ = writeln!(out, "    … and {} more", counted(more, "line"));
        }
    }
}

/// The limits on the shown output of a hook: lines, and characters of each line.
const SHOWN_LINES: usize = 40;
const SHOWN_COLUMNS: usize = 400;

/// Formats one test as JSON. Returns `None` if it was not played.
pub(crate) fn test_json(outcome: &TestOutcome<'_>) -> Option<Value> {
    let report = outcome.report.as_ref()?;
    let mismatches = report.mismatches.iter().map(|mismatch| {
        let key = mismatch.key.as_ref().map(ToString::to_string);
        json!({"path": mismatch.path, "key": key, "expected": mismatch.expected,
            "found": mismatch.found})
    });
    let mut line = json!({
        "file": outcome.file.to_string_lossy(), "line": outcome.test.line, "test": report.name,
        "status": outcome.status().as_str(), "passed": report.passed(),
        "duration": milliseconds(report.duration), "mismatches": mismatches.collect::<Value>(),
    });
    if !outcome.changes.is_empty() {
        let changes = outcome.changes.iter().map(|change| {
            let key = change.key.to_string();
            json!({"key": key, "before": change.before, "after": change.after})
        });
        line["updated"] = changes.collect();
    }
    if !outcome.not_updated.is_empty() {
        let not_updated = outcome.not_updated.iter();
        let not_updated =
            not_updated.map(|entry| json!({"key": entry.key, "reason": entry.reason.to_string()}));
        line["notUpdated"] = not_updated.collect();
    }
    if !report.passed() {
        let mut response = report.response.clone();
        response.streams = true;
        line["response"] = serde_json::from_slice(&response.to_json()).unwrap_or_default();
    }
    Some(line)
}

/// Returns milliseconds with up to three decimals, as everywhere in messages.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1_000.0
}

/// Formats the end of a run: the counts by status, and the failed tests again.
pub(crate) fn test_summary(run: &TestRun<'_>, printer: &Printer) -> String {
    use TestStatus::{Failed, Passed, Skipped, Updated};
    let tone = if run.passed() { Tone::Good } else { Tone::Bad };
    let not_played = run.count(Skipped);
    let played = run.outcomes.len() - not_played;
    let played_of = match played == run.selected {
        true => counted(played, "test"),
        false => format!("{played}/{}", counted(run.selected, "test")),
    };
    let mut counts = vec![printer.paint(Tone::Good, &format!("{} passed", run.count(Passed)))];
    if run.count(Updated) > 0 {
        counts.push(printer.paint(Tone::Warning, &format!("{} updated", run.count(Updated))));
    }
    let failed = if run.count(Failed) > 0 { Tone::Bad } else { Tone::Plain };
    counts.push(printer.paint(failed, &format!("{} failed", run.count(Failed))));
    counts.push(format!("{} skipped", not_played + run.filtered_out));
    let mut out = format!(
        "{}\n{} {} {played_of} run: {}\n",
        printer.paint(Tone::Quiet, "------------"),
        column(tone, "Summary", printer),
        seconds(run.duration),
        counts.join(", ")
    );
    let repeated = |outcome: &&TestOutcome<'_>| matches!(outcome.status(), Failed);
    for outcome in run.outcomes.iter().filter(repeated) {
        out.push_str(&status_line(outcome, printer));
    }
    out
}

fn status_line(outcome: &TestOutcome<'_>, printer: &Printer) -> String {
    let (status_text, tone) = match outcome.status() {
        TestStatus::Passed => ("PASS", Tone::Good),
        TestStatus::Updated => ("UPDATE", Tone::Warning),
        TestStatus::Failed => ("FAIL", Tone::Bad),
        TestStatus::Skipped => ("SKIP", Tone::Warning),
    };
    let time = match &outcome.report {
        Some(report) => seconds(report.duration),
        None => format!("[{:9}]", ""),
    };
    let label = painted_label(outcome.file, outcome.test, printer);
    format!("{} {time} {label}\n", column(tone, status_text, printer))
}

/// Right-aligns a word in the first column.
fn column(tone: Tone, label: &str, printer: &Printer) -> String {
    const WIDTH: usize = 12;
    format!("{}{}", " ".repeat(WIDTH.saturating_sub(label.len())), printer.paint(tone, label))
}

fn seconds(duration: Duration) -> String {
    format!("[{:>8.3}s]", duration.as_secs_f64())
}
