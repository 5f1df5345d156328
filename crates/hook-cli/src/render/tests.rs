//! Reports of `hook test`.

use std::fmt::Write;
use std::path::Path;

use hook_bus::script::TestReport;
use serde_json::{Value, json};

use super::response;
use crate::output::{Printer, Tone, harmless};

/// One test for people: a line when it passed, everything when it did not.
pub(crate) fn test_report(file: &Path, report: &TestReport, printer: &Printer) -> String {
    let (word, tone) = if report.passed() { ("PASS", Tone::Good) } else { ("FAIL", Tone::Bad) };
    let mut out = format!(
        "{} {} {}\n",
        printer.paint(tone, word),
        printer.paint(Tone::Quiet, &file.display().to_string()),
        printer.paint(Tone::Plain, &report.name)
    );
    for mismatch in &report.mismatches {
        let _ = writeln!(out, "  {}", printer.paint(Tone::Strong, &mismatch.path));
        let _ = writeln!(out, "    expected: {}", harmless(&mismatch.expected.to_string()));
        let _ = writeln!(out, "    found:    {}", harmless(&mismatch.found.to_string()));
    }
    if !report.passed() {
        let shown = response(&report.response, printer);
        let _ = writeln!(out, "  {}", shown.trim_end().replace('\n', "\n  "));
    }
    out
}

/// One test as JSON.
pub(crate) fn test_report_json(file: &Path, report: &TestReport) -> Value {
    let mismatches: Vec<Value> = report
        .mismatches
        .iter()
        .map(|mismatch| {
            json!({
                "path": mismatch.path,
                "expected": mismatch.expected,
                "found": mismatch.found,
            })
        })
        .collect();
    json!({
        "file": file.to_string_lossy(),
        "test": report.name,
        "passed": report.passed(),
        "mismatches": mismatches,
    })
}

/// The last line.
pub(crate) fn test_summary(reports: &[TestReport], printer: &Printer) -> String {
    let failed = reports.iter().filter(|report| !report.passed()).count();
    let tone = if failed == 0 { Tone::Good } else { Tone::Bad };
    let text = format!("{} passed, {failed} failed", reports.len() - failed);
    format!("{}\n", printer.paint(tone, &text))
}
