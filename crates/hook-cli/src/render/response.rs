//! A response: the decision, then the result of each hook.

use std::collections::HashSet;
use std::fmt::Write;
use std::time::Duration;

use hook_bus::HookExecutionResponse;
use hook_protocol::{HookEventName, PolicyDecision};
use hook_run::HookExecutionResult;

use super::columns::first_line;
use crate::output::{Printer, Tone};
use hook_json::text;

/// Formats a response, with a final newline.
pub(crate) fn response(response: &HookExecutionResponse, printer: &Printer) -> String {
    let processed = &response.processed;
    let event = response.event.map_or("?", HookEventName::as_str);
    let decision = match response.error() {
        Some(error) => printer.paint(Tone::Bad, error.code.as_str()),
        None => printer.paint(tone(processed.decision), processed.decision.as_str()),
    };
    let id = printer.paint(Tone::Quiet, &first_line(response.correlation_id.as_str()));
    let mut out = format!("{} {decision} {id}\n", printer.paint(Tone::Strong, event));
    if let Some(error) = response.error() {
        field(&mut out, "error", &text::escaped_lines(&error.message), printer);
    }
    answer_fields(&mut out, response, text::escaped_lines, &[], printer);
    for result in &response.hooks {
        hook(&mut out, result, printer);
    }
    for (name, why) in not_started(response) {
        let name = printer.paint(Tone::Plain, &name);
        let why = printer.paint(Tone::Quiet, &why);
        let _ = writeln!(out, "  {} {name} {why}", printer.paint(Tone::Quiet, "-"));
    }
    if response.success() && response.hooks.is_empty() {
        let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, "no hook matches"));
    }
    out
}

/// Returns the hooks that were not started, and the hook that ended the plan before each.
pub(super) fn not_started(
    response: &HookExecutionResponse,
) -> impl Iterator<Item = (String, String)> {
    response.not_started.iter().map(|skipped| {
        let by = first_line(&skipped.ended_by);
        (first_line(skipped.hook.display_name()), format!("not started, because of `{by}`"))
    })
}

/// Writes the fields of the merged output, each formatted by `shown`, without the warnings in
/// `said`.
pub(super) fn answer_fields(
    out: &mut String,
    response: &HookExecutionResponse,
    shown: fn(&str) -> String,
    notices: &[&str],
    printer: &Printer,
) {
    let processed = &response.processed;
    for (name, value) in [
        ("reason", &processed.reason),
        ("message", &processed.system_message),
        ("context", &processed.additional_context),
    ] {
        if let Some(value) = value {
            field(out, name, &shown(value), printer);
        }
    }
    if let Some(after) = processed.retry_after {
        field(out, "try again", &format!("after {}", duration(after)), printer);
    }
    if processed.granted {
        field(out, "granted", "yes; the user need not be asked", printer);
    }
    if let Some(output) = processed.aggregated.final_output.as_ref()
        && let Some(specific) = &output.hook_specific_output
    {
        for (name, value) in specific.iter() {
            if !matches!(name, "hookEventName" | "additionalContext") {
                field(out, name, &shown(value.as_str()), printer);
            }
        }
    }
    // Warnings about a hook are shown below that hook.
    let hook_warnings: HashSet<String> =
        response.hooks.iter().flat_map(HookExecutionResult::caller_warnings).collect();
    let is_new = |warning: &&String| {
        !notices.contains(&warning.as_str()) && !hook_warnings.contains(*warning)
    };
    for warning in processed.warnings.iter().filter(is_new) {
        field(out, "warning", &text::escaped_lines(warning), printer);
    }
}

/// Writes a name and an already escaped text, which may have several lines.
pub(super) fn field(out: &mut String, name: &str, value: &str, printer: &Printer) {
    let value = value.replace('\n', "\n    ");
    let _ = writeln!(out, "  {}: {value}", printer.paint(Tone::Quiet, name));
}

fn hook(out: &mut String, result: &HookExecutionResult, printer: &Printer) {
    let decision = result.decision;
    let (mark, mark_tone) = match (decision, &result.failure) {
        (_, Some(_)) => ("!", Tone::Warning),
        (Some(PolicyDecision::Block | PolicyDecision::Stop), None) => ("✗", Tone::Bad),
        (Some(PolicyDecision::Ask), None) => ("?", Tone::Warning),
        (Some(PolicyDecision::Retry), None) => ("↻", Tone::Warning),
        _ => ("✓", Tone::Good),
    };
    let said = decision.map_or("said nothing", PolicyDecision::as_str);
    let details = [&*result.hook.origin(), &duration(result.duration), &ending(result), said];
    let details = details.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let mark = printer.paint(mark_tone, mark);
    let name = printer.paint(Tone::Plain, &first_line(result.hook.display_name()));
    let _ = writeln!(out, "  {mark} {name} {}", printer.paint(Tone::Quiet, &details));
    let mut indented = |tone, text: &str| {
        let _ = writeln!(out, "      {}", printer.paint(tone, &text.replace('\n', "\n      ")));
    };
    if let Some(failure) = &result.failure {
        indented(Tone::Warning, &failure.to_string());
        let stderr = String::from_utf8_lossy(&result.process.stderr.bytes);
        if !stderr.trim().is_empty() {
            indented(Tone::Quiet, stderr.trim());
        }
    }
    for warning in &result.warnings {
        indented(Tone::Warning, &format!("warning: {warning}"));
    }
}

/// Returns how a hook's process ended, or an empty string without an exit.
pub(super) fn ending(result: &HookExecutionResult) -> String {
    match (result.process.exit_code, result.process.signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => hook_protocol::failure::signal_name(signal),
        (None, None) => String::new(),
    }
}

pub(super) fn tone(decision: PolicyDecision) -> Tone {
    match decision {
        PolicyDecision::Proceed => Tone::Good,
        PolicyDecision::Ask | PolicyDecision::Retry => Tone::Warning,
        PolicyDecision::Block | PolicyDecision::Stop => Tone::Bad,
    }
}

pub(super) fn duration(duration: Duration) -> String {
    match duration.as_millis() {
        0 => format!("{} µs", duration.as_micros()),
        milliseconds @ 1..10_000 => format!("{milliseconds} ms"),
        milliseconds => format!("{}.{} s", milliseconds / 1_000, milliseconds / 100 % 10),
    }
}
