//! A test run as a JUnit report for CI servers.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use hook_bus::script::TestReport;
use hook_run::HookExecutionResult;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::mismatches::plain_text;
use super::test_report::{TestOutcome, TestRun, TestStatus};

/// Returns the report, with a suite for each file. The writer escapes the output of hooks for XML.
pub(crate) fn junit(run: &TestRun<'_>) -> Report {
    let mut report = Report::new("hook test");
    report.set_time(run.duration);
    let mut of_file: Option<(&Path, TestSuite, Duration)> = None;
    for outcome in &run.outcomes {
        if of_file.as_ref().is_none_or(|(file, ..)| *file != outcome.file) {
            finish(&mut report, of_file.take());
            let suite = TestSuite::new(outcome.file.to_string_lossy());
            of_file = Some((outcome.file, suite, Duration::ZERO));
        }
        if let Some((_, suite, time)) = &mut of_file {
            suite.add_test_case(case(outcome));
            *time += outcome.report.as_ref().map_or(Duration::ZERO, |report| report.duration);
        }
    }
    finish(&mut report, of_file);
    report
}

fn finish(report: &mut Report, suite: Option<(&Path, TestSuite, Duration)>) {
    if let Some((_, mut suite, time)) = suite {
        suite.set_time(time);
        report.add_test_suite(suite);
    }
}

fn case(outcome: &TestOutcome<'_>) -> TestCase {
    let mut case = TestCase::new(outcome.test.name.as_str(), status(outcome));
    case.set_classname(outcome.file.to_string_lossy());
    let Some(report) = &outcome.report else { return case };
    case.set_time(report.duration);
    let hooks = &report.response.hooks;
    let out = streams(hooks, |hook| &hook.process.stdout.bytes);
    if !out.is_empty() {
        case.set_system_out(out);
    }
    let err = streams(hooks, |hook| &hook.process.stderr.bytes);
    if !err.is_empty() {
        case.set_system_err(err);
    }
    case
}

fn status(outcome: &TestOutcome<'_>) -> TestCaseStatus {
    match (outcome.status(), &outcome.report) {
        (TestStatus::Failed, Some(report)) => failure(report),
        (TestStatus::Skipped, _) => TestCaseStatus::skipped(),
        _ => TestCaseStatus::success(),
    }
}

fn failure(report: &TestReport) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let lines: Vec<String> = report.mismatches.iter().map(plain_text).collect();
    if let Some(first) = lines.first() {
        status.set_message(first.as_str());
    }
    status.set_type("mismatch").set_description(lines.join("\n"));
    status
}

/// Returns the output of a test's hooks, each under the hook's name.
fn streams(hooks: &[HookExecutionResult], stream: fn(&HookExecutionResult) -> &[u8]) -> String {
    let mut text = String::new();
    for hook in hooks {
        let written = String::from_utf8_lossy(stream(hook));
        if !written.trim().is_empty() {
            let _ = writeln!(text, "{}:\n{}", hook.hook.display_name(), written.trim_end());
        }
    }
    text
}
