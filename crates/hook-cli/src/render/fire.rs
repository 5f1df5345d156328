//! The output of `hook fire`: the decision, then each hook with its output.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::HookExecutionResponse;
use hook_core::{Explanation, Hook};
use hook_json::{RawJson, RawObject, text};
use hook_protocol::{HookEventName, HookFailure, PolicyDecision};
use hook_run::{Captured, HookExecutionResult};
use hook_trust::review_command;

use super::columns::{aligned, first_line};
use super::json::pretty;
use super::response::{answer_fields, duration, ending, field, not_started, tone};
use super::{counted, plural};
use crate::output::{Printer, Tone};

/// The limits on the shown output of a hook: lines, and characters of each line.
const MAX_LINES: usize = 10;
const MAX_CHARACTERS: usize = 400;

/// The minimum time a hook waited for a permit for it to be shown.
const MIN_WAIT: Duration = Duration::from_millis(1);

/// A fired event.
#[derive(Debug)]
pub(crate) struct Fired<'f> {
    pub(crate) event: HookEventName,
    /// The value that matchers were compared with.
    pub(crate) subject: Option<String>,
    /// The reasons why no hook ran, if none did.
    pub(crate) explanation: Option<&'f Explanation>,
    /// Warnings of the response that were already shown.
    pub(crate) notices: Vec<&'f str>,
    /// `true` if a signal ended the command.
    pub(crate) interrupted: bool,
    /// The async hooks that outlive the command.
    pub(crate) background_hooks: &'f [Arc<Hook>],
    /// The input, if it is to be shown.
    pub(crate) input: Option<&'f RawJson>,
    pub(crate) response: &'f HookExecutionResponse,
    /// The total duration.
    pub(crate) elapsed: Duration,
    /// `true` if all output of hooks is shown.
    pub(crate) full: bool,
}

/// Formats the result, with a final newline.
pub(crate) fn fired(fired: &Fired<'_>, printer: &Printer) -> String {
    let response = fired.response;
    let mut out = headline(fired, printer);
    let shown = if fired.full { text::escaped_lines } else { excerpt };
    if let Some(error) = response.error() {
        let text = match fired.interrupted {
            true => "interrupted".to_owned(),
            false => format!("{}: {}", error.code.as_str(), error.message),
        };
        field(&mut out, "error", &text::escaped_lines(&text), printer);
        if let Some(names) = error.details.get("unfinished").and_then(RawJson::to_items) {
            let names: Vec<String> = names.iter().filter_map(RawJson::to_text).collect();
            field(&mut out, "not done", &text::escaped_lines(&names.join(", ")), printer);
        }
    }
    answer_fields(&mut out, response, shown, &fired.notices, printer);
    if let Some(input) = fired.input
        && response.hooks.iter().all(|result| result.input.is_none())
    {
        // An input that no hook received is still the input of the event.
        let mut details = Details { out: &mut out, indent: 2, printer };
        details.lines("input", Tone::Quiet, &pretty(input.as_str()));
    }
    if response.hooks.is_empty()
        && fired.background_hooks.is_empty()
        && response.not_started.is_empty()
    {
        if response.success() {
            let text = no_hook_reason(fired.explanation);
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, &text));
        }
        return out;
    }
    out.push('\n');
    hooks(&mut out, fired, printer);
    let rows: Vec<_> = not_started(response)
        .map(|(name, why)| [(Tone::Plain, name), (Tone::Quiet, why)])
        .collect();
    for line in aligned(&rows, printer) {
        let _ = writeln!(out, "  {} {line}", printer.paint(Tone::Quiet, "-"));
    }
    let row = |hook: &Arc<Hook>| {
        let name = first_line(hook.display_name());
        [(Tone::Plain, name), (Tone::Quiet, "async, goes on by itself".to_owned())]
    };
    let rows: Vec<_> = fired.background_hooks.iter().map(row).collect();
    for line in aligned(&rows, printer) {
        let _ = writeln!(out, "  {} {line}", printer.paint(Tone::Good, "↗"));
    }
    let _ = writeln!(out, "\n{}", summary(fired, printer));
    out
}

/// The hint for authors who end a hook with exit code 1.
const EXIT_1: &str = "exit 1 is a failure, and the tool runs; exit 2 refuses; `failBehavior: block` makes failures refuse";

/// The end of a reason that does not say all.
const EXPLAIN: &str = "`hook explain` with the same arguments says why";

/// Returns the reasons why no hook ran that can be fixed, counted over the hooks.
fn no_hook_reason(explanation: Option<&Explanation>) -> String {
    let hooks = explanation.into_iter().flat_map(|explanation| &explanation.hooks);
    let agents: Vec<&str> = hooks.clone().filter_map(|hook| hook.hook.agent()).collect();
    let (mut untrusted, mut off, mut dynamic) = (0, 0, 0);
    for hook in hooks {
        let has = |code| hook.reasons.iter().any(|reason| reason.code() == code);
        match () {
            // The events of a module or worker with `*` are known only while it runs.
            () if has("untrusted") && hook.hook.event.is_wildcard() => dynamic += 1,
            () if has("other_event") || has("not_matched") => {}
            () if has("untrusted") => untrusted += 1,
            () if has("disabled") => off += 1,
            () => {}
        }
    }
    let of_event = |count, what: &str| {
        let hooks = plural(count, "hook of this event is", "hooks of this event are");
        (count, format!("{hooks} {what}"))
    };
    let dynamic_hooks = plural(
        dynamic,
        "hook that says itself what it listens to is not trusted",
        "hooks that say themselves what they listen to are not trusted",
    );
    if untrusted > 0 && off == 0 && dynamic == 0 {
        let review = review_command(agents);
        let verb = if untrusted == 1 { "it is" } else { "they are" };
        let hooks = counted(untrusted, "hook");
        return format!("{hooks} of this event did not run, since {verb} not trusted: `{review}`");
    }
    let all = [of_event(untrusted, "not trusted"), of_event(off, "switched off")];
    let all = all.into_iter().chain([(dynamic, dynamic_hooks)]);
    let counts: Vec<String> = all.filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    match counts.is_empty() {
        true => format!("no hook matches; {EXPLAIN}"),
        false => format!("{}; {EXPLAIN}", counts.join(", ")),
    }
}

/// Returns `true` if the hook's program could not start.
fn cannot_start(failure: &HookFailure) -> bool {
    // Shells exit with these codes if a program cannot be run or does not exist.
    matches!(failure, HookFailure::Spawn { .. } | HookFailure::ExitCode { code: 126 | 127 })
}

fn headline(fired: &Fired<'_>, printer: &Printer) -> String {
    let decision = fired.response.processed.decision;
    let (label, tone) = match fired.response.success() || decision > PolicyDecision::Proceed {
        true => (decision.as_str(), tone(decision)),
        false => ("error", Tone::Bad),
    };
    let event = printer.paint(Tone::Strong, fired.event.as_str());
    let mut line = format!("{}  {event}", printer.paint(tone, label));
    if let Some(subject) = &fired.subject {
        line.push(' ');
        line.push_str(&printer.paint(Tone::Plain, &first_line(subject)));
    }
    line.push('\n');
    line
}

fn hooks(out: &mut String, fired: &Fired<'_>, printer: &Printer) {
    let results = &fired.response.hooks;
    let decisions = decisions(fired.event, fired.response);
    let rows: Vec<_> = results
        .iter()
        .zip(&decisions)
        .map(|(result, decision)| {
            let (_, tone, label) = outcome(result, *decision);
            let mut time = duration(result.duration);
            if result.queued > MIN_WAIT {
                let _ = write!(time, ", waited {}", duration(result.queued));
            }
            [
                (Tone::Plain, first_line(result.hook.display_name())),
                (tone, label.to_owned()),
                (Tone::Quiet, ending(result)),
                (Tone::Quiet, result.hook.origin().into_owned()),
                (Tone::Quiet, time),
            ]
        })
        .collect();
    let mut before: Option<&RawObject> = None;
    for ((line, result), decision) in
        aligned(&rows, printer).into_iter().zip(results).zip(decisions)
    {
        let (mark, tone, _) = outcome(result, decision);
        let _ = writeln!(out, "  {} {line}", printer.paint(tone, mark));
        let mut details = Details { out: &mut *out, indent: 6, printer };
        if let Some(failure) = &result.failure {
            details.lines("error", Tone::Warning, &failure.to_string());
            if cannot_start(failure) {
                let hint = "`hook check` looks at scripts and interpreters";
                details.lines("hint", Tone::Quiet, hint);
            }
            let could_refuse = fired.event.row().block_means.is_some();
            let proceeded = result.decision.is_none_or(|decision| decision < PolicyDecision::Block);
            if matches!(failure, HookFailure::ExitCode { code: 1 }) && could_refuse && proceeded {
                details.lines("hint", Tone::Quiet, EXIT_1);
            }
        }
        for warning in &result.warnings {
            details.lines("warning", Tone::Warning, warning);
        }
        if let Some(input) = &result.input {
            match before {
                Some(before) if before == input => {
                    details.lines("stdin", Tone::Quiet, "the same as that of the hook above");
                }
                _ => details.lines("stdin", Tone::Quiet, &pretty(input.as_str())),
            }
            before = Some(input);
        }
        for (name, captured) in
            [("stdout", &result.process.stdout), ("stderr", &result.process.stderr)]
        {
            details.stream(name, captured, fired.full);
        }
    }
}

/// The details of a hook, below its line.
struct Details<'d> {
    out: &'d mut String,
    indent: usize,
    printer: &'d Printer,
}

impl Details<'_> {
    /// Writes a name, followed by a text that may have several lines.
    fn lines(&mut self, name: &str, tone: Tone, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let name = match index {
                0 => self.printer.paint(Tone::Quiet, &format!("{name:<7}")),
                _ => " ".repeat(7),
            };
            let line = self.printer.paint(tone, line);
            let line = format!("{:indent$}{name}  {line}", "", indent = self.indent);
            let _ = writeln!(self.out, "{}", line.trim_end());
        }
    }

    fn stream(&mut self, name: &str, captured: &Captured, full: bool) {
        if captured.bytes.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(&captured.bytes);
        let text = text.trim_end();
        match (text.is_empty(), full) {
            (true, _) => self.lines(name, Tone::Quiet, "nothing but blanks"),
            (_, true) => self.lines(name, Tone::Plain, text),
            _ => self.lines(name, Tone::Plain, &excerpt(text)),
        }
    }
}

/// Returns the beginning of a text, and the size of the rest.
fn excerpt(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().take(MAX_LINES).map(line_excerpt).collect();
    let more = text.lines().count().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.push(format!("… {}; --full shows all", counted(more, "more line")));
    }
    text::escaped_lines(&lines.join("\n"))
}

fn line_excerpt(line: &str) -> String {
    match line.char_indices().nth(MAX_CHARACTERS) {
        None => line.to_owned(),
        Some((end, _)) => {
            let (shown, rest) = line.split_at(end);
            format!("{shown}… {} more characters; --full shows all", rest.chars().count())
        }
    }
}

/// The decision of a hook, as far as it is known.
#[derive(Clone, Copy)]
enum HookDecision {
    Decision(Option<PolicyDecision>),
    /// Unknown: the response does not assign its outputs to hooks.
    Unknown,
}

/// Returns the decision of each hook of a response. A fleet's response lists outputs apart from the
/// hooks, in the same order, without hooks that had no output.
fn decisions(event: HookEventName, response: &HookExecutionResponse) -> Vec<HookDecision> {
    let (hooks, outputs) = (&response.hooks, &response.processed.aggregated.all_outputs);
    let known = hooks.iter().filter(|result| result.decision.is_some()).count();
    let decision_of = |index: usize, result: &HookExecutionResult| {
        if result.decision.is_some() || known == outputs.len() {
            return HookDecision::Decision(result.decision);
        }
        if hooks.len() == outputs.len() {
            return HookDecision::Decision(outputs.get(index).map(|output| output.policy(event)));
        }
        // Exit code 2 is a denial if the event can be blocked.
        match event.row().block_means {
            Some(_) if result.process.exit_code == Some(2) => {
                HookDecision::Decision(Some(PolicyDecision::Block))
            }
            _ => HookDecision::Unknown,
        }
    };
    hooks.iter().enumerate().map(|(index, result)| decision_of(index, result)).collect()
}

/// Returns the mark, tone and name of a hook's outcome.
fn outcome(
    result: &HookExecutionResult,
    decision: HookDecision,
) -> (&'static str, Tone, &'static str) {
    let said = match (decision, &result.failure) {
        (HookDecision::Decision(said), _) => said,
        (HookDecision::Unknown, Some(_)) => None,
        (HookDecision::Unknown, None) => return ("·", Tone::Plain, "not told"),
    };
    match (said, &result.failure) {
        (Some(said @ (PolicyDecision::Block | PolicyDecision::Stop)), _) => {
            ("✗", Tone::Bad, said.as_str())
        }
        (Some(said @ PolicyDecision::Ask), None) => ("?", Tone::Warning, said.as_str()),
        (Some(said @ PolicyDecision::Retry), None) => ("↻", Tone::Warning, said.as_str()),
        (_, Some(HookFailure::TimedOut { .. })) => ("!", Tone::Warning, "timed out"),
        (_, Some(HookFailure::Cancelled)) => ("!", Tone::Warning, "cancelled"),
        (
            _,
            Some(
                HookFailure::Untrusted { .. }
                | HookFailure::UntrustedFromDirectory { .. }
                | HookFailure::NotInSettings { .. }
                | HookFailure::TrustedCopy { .. },
            ),
        ) => ("!", Tone::Warning, "not trusted"),
        (_, Some(_)) => ("!", Tone::Warning, "failed"),
        (Some(said), None) => ("✓", Tone::Good, said.as_str()),
        (None, None) => ("✓", Tone::Good, "said nothing"),
    }
}

/// Returns the last line: the number of hooks per outcome.
fn summary(fired: &Fired<'_>, printer: &Printer) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let decisions = decisions(fired.event, fired.response);
    for (result, decision) in fired.response.hooks.iter().zip(decisions) {
        let (_, _, label) = outcome(result, decision);
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    let number = fired.response.hooks.len();
    let mut text = format!("{} in {}", counted(number, "hook"), duration(fired.elapsed));
    if number > 1 {
        let counts: Vec<String> =
            counts.iter().map(|(label, count)| format!("{count} {label}")).collect();
        let _ = write!(text, ": {}", counts.join(", "));
    }
    let skipped = (fired.response.not_started.len(), "not started");
    for (count, what) in [skipped, (fired.background_hooks.len(), "async")] {
        if count > 0 {
            let _ = write!(text, "; {count} {what}");
        }
    }
    printer.paint(Tone::Quiet, &text)
}
