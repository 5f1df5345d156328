//! A test run as a JUnit report for CI servers.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use console::strip_ansi_codes;
use hook_run::HookExecutionResult;

use super::mismatches::plain_text;
use super::test_report::{TestOutcome, TestRun, TestStatus};

/// Returns the report as XML, with a suite for each file.
pub(crate) fn junit(run: &TestRun<'_>) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&TestOutcome<'_>> = run.outcomes.iter().collect();
    let (skipped, failures) = (count(&all, TestStatus::Skipped), count(&all, TestStatus::Failed));
    let time = run.duration.as_secs_f64();
    let _ = writeln!(
        text,
        "<testsuites name=\"hook test\" tests=\"{}\" skipped=\"{skipped}\" failures=\"{failures}\" \
         errors=\"0\" time=\"{time:.3}\">",
        all.len()
    );
    for suite in all.chunk_by(|one, next| one.file == next.file) {
        write_suite(&mut text, suite);
    }
    text.push_str("</testsuites>\n");
    text
}

fn count(outcomes: &[&TestOutcome<'_>], status: TestStatus) -> usize {
    outcomes.iter().filter(|outcome| outcome.status() == status).count()
}

fn write_suite(text: &mut String, outcomes: &[&TestOutcome<'_>]) {
    let Some(first) = outcomes.first() else { return };
    let (name, tests) = (file_name(first), outcomes.len());
    let skipped = count(outcomes, TestStatus::Skipped);
    let failures = count(outcomes, TestStatus::Failed);
    let durations = outcomes.iter().filter_map(|outcome| Some(outcome.report.as_ref()?.duration));
    let time = durations.sum::<Duration>().as_secs_f64();
    let _ = writeln!(
        text,
        "    <testsuite name=\"{name}\" tests=\"{tests}\" skipped=\"{skipped}\" errors=\"0\" \
         failures=\"{failures}\" time=\"{time:.3}\">"
    );
    outcomes.iter().for_each(|outcome| write_case(text, outcome));
    text.push_str("    </testsuite>\n");
}

fn write_case(text: &mut String, outcome: &TestOutcome<'_>) {
    let (name, file) = (escaped(&outcome.test.name), file_name(outcome));
    let _ = write!(text, "        <testcase name=\"{name}\" classname=\"{file}\"");
    let mut content = String::new();
    if outcome.status() == TestStatus::Skipped {
        content.push_str("            <skipped/>\n");
    }
    if let Some(report) = &outcome.report {
        let _ = write!(text, " time=\"{:.3}\"", report.duration.as_secs_f64());
        if outcome.status() == TestStatus::Failed {
            let lines: Vec<String> = report.mismatches.iter().map(plain_text).collect();
            let message = escaped(lines.first().map_or("", String::as_str));
            let all = escaped(&lines.join("\n"));
            let _ = writeln!(
                content,
                "            <failure message=\"{message}\" type=\"mismatch\">{all}</failure>"
            );
        }
        let hooks = &report.response.hooks;
        write_stream(&mut content, "system-out", hooks, |hook| &hook.process.stdout.bytes);
        write_stream(&mut content, "system-err", hooks, |hook| &hook.process.stderr.bytes);
    }
    match content.is_empty() {
        true => text.push_str("/>\n"),
        false => {
            let _ = writeln!(text, ">\n{content}        </testcase>");
        }
    }
}

/// Writes the output of a test's hooks, if there is any, each under the hook's name.
fn write_stream(
    text: &mut String,
    element: &str,
    hooks: &[HookExecutionResult],
    stream: fn(&HookExecutionResult) -> &[u8],
) {
    let mut output = String::new();
    for hook in hooks {
        let written = String::from_utf8_lossy(stream(hook));
        if !written.trim().is_empty() {
            let _ = writeln!(output, "{}:\n{}", hook.hook.display_name(), written.trim_end());
        }
    }
    if !output.is_empty() {
        let _ = writeln!(text, "            <{element}>{}</{element}>", escaped(&output));
    }
}

fn file_name(outcome: &TestOutcome<'_>) -> String {
    escaped(&outcome.file.to_string_lossy())
}

/// Escapes a text for XML. Colours, and characters that XML cannot have, are left out.
fn escaped(text: &str) -> String {
    let plain: Cow<'_, str> = strip_ansi_codes(text);
    let mut escaped = String::with_capacity(plain.len());
    for character in plain.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if character < ' ' => {}
            _ => escaped.push(character),
        }
    }
    escaped
}
