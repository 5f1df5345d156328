//! A recording as a waterfall in the terminal.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use hook_record::recording::{
    EventTotals, RecordedHook, RecordedNotStarted, RecordedOutcome, RecordedRequest, Recording,
    RecordingSummary,
};
use hook_run::WorkerHistory;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::bar::Track;
use super::{answered_text, ending, joined_title, title};
use crate::output::{Printer, Tone};
use crate::render::counted;
use hook_json::text;

/// The time span that the width of the bars represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// The span of the whole recording.
    Recording,
    /// The span of the hook's request.
    Request,
}

/// The widths of the columns for offset, outcome and duration, including spaces.
const OFFSET: usize = 12;
const OUTCOME: usize = 13;
const DURATION: usize = 9;
/// The limits on the width of the column for names.
const NAMES: std::ops::RangeInclusive<usize> = 16..=44;
/// The minimum width of bars.
const MIN_BARS: usize = 8;

/// Formats a recording.
pub(crate) fn trace_text(recording: &Recording, scale: Scale, printer: &Printer) -> String {
    let mut page = Page::new(recording, scale, printer);
    page.head();
    let mut gaps = recording.gaps.iter().peekable();
    for request in &recording.requests {
        while let Some(gap) = gaps.next_if(|gap| gap.at <= request.at) {
            page.gap(gap.at, gap.missed);
        }
        page.request(request);
    }
    for gap in gaps {
        page.gap(gap.at, gap.missed);
    }
    page.summary(&recording.summary());
    page.out
}

struct Page<'r> {
    recording: &'r Recording,
    scale: Scale,
    printer: &'r Printer,
    names: usize,
    /// The width of the bars; `None` if they do not fit.
    bars: Option<usize>,
    /// The last shown history of each hook's worker, by the hook's name.
    workers: HashMap<String, WorkerHistory>,
    out: String,
}

impl<'r> Page<'r> {
    fn new(recording: &'r Recording, scale: Scale, printer: &'r Printer) -> Self {
        let width = printer.width();
        let fixed = OFFSET + OUTCOME + DURATION;
        let longest = recording.requests.iter().map(longest_name).max().unwrap_or_default();
        // Names and bars share the remaining width.
        let max_names = (width.saturating_sub(fixed + 2) / 2).clamp(*NAMES.start(), *NAMES.end());
        let names = longest.clamp(*NAMES.start(), max_names);
        let bars = width.checked_sub(fixed + names + 2).filter(|bars| *bars >= MIN_BARS);
        let workers = HashMap::new();
        Self { recording, scale, printer, names, bars, workers, out: String::new() }
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        self.printer.paint(tone, text)
    }

    /// Returns a text in a column of this width, shortened or padded.
    fn column(&self, tone: Tone, text: &str, columns: usize) -> String {
        let (text, padding) = fitted(&folded(text), columns);
        format!("{}{:padding$}", self.paint(tone, &text), "")
    }

    /// Writes the title of a part of the summary.
    fn title(&mut self, title: &str) {
        let _ = writeln!(self.out, "\n{}", self.paint(Tone::Strong, title));
    }

    fn head(&mut self) {
        let header = &self.recording.header;
        let parts = [("", &header.started_at), ("", &header.project), ("hook ", &header.engine)];
        let parts = parts.iter().filter(|(_, text)| !text.is_empty());
        let parts = parts.map(|(prefix, text)| format!("{prefix}{}", folded(text)));
        let head = parts.collect::<Vec<_>>().join("  ");
        let _ = writeln!(self.out, "{}", self.paint(Tone::Quiet, &head));
        if let (Some(bars), Scale::Recording) = (self.bars, self.scale) {
            let end = format!("+{}", time(self.recording.duration));
            let blanks = (OFFSET + self.names + OUTCOME + DURATION + 2).saturating_sub(1);
            let between = bars.saturating_sub(1 + end.width());
            let axis = format!("{:blanks$} 0{:─<between$}{end}", "", "");
            let _ = writeln!(self.out, "{}", self.paint(Tone::Quiet, &axis));
        }
    }

    fn gap(&mut self, at: Duration, missed: u64) {
        let text = format!("{:>10}  {} missed", offset(at), counted(missed as usize, "message"));
        let _ = writeln!(self.out, "{}", self.paint(Tone::Warning, &text));
    }

    fn request(&mut self, request: &RecordedRequest) {
        let outcome = request.outcome();
        let (event, subject) = title(request);
        let (event, subject) = (folded(&event), subject.map(|subject| folded(&subject)));
        let (mut name, mut padding) = fitted(&event, self.names);
        name = self.paint(Tone::Strong, &name);
        if let (Some(subject), 3..) = (subject, padding) {
            let (subject, rest) = fitted(&subject, padding - 1);
            name = format!("{name} {}", self.paint(Tone::Plain, &subject));
            padding = rest;
        }
        let took = request.response.as_ref().map(|response| response.at.saturating_sub(request.at));
        let track = self.track(request);
        let span = took.map(|_| (request.at, request.end()));
        self.line(Line {
            offset: offset(request.at),
            name: format!("{name}{:padding$}", ""),
            outcome,
            label: outcome.as_str(),
            took,
            span: span.or(Some((request.at, request.at))),
            track,
            thin: true,
        });
        let error = answered_text(request, &["error", "message"]);
        let reason = answered_text(request, &["processed", "reason"]);
        for text in [error, reason].into_iter().flatten().take(1) {
            self.note(outcome, &text);
        }
        if let Some(after) = request.retry_after() {
            self.note(outcome, &format!("to be tried again after {}", time(after)));
        }
        if request.granted() {
            self.note(outcome, "granted, so that the user need not be asked");
        }
        let mut group = None;
        for hook in &request.hooks {
            let own = hook.group.map(|group| group.number);
            self.hook(hook, own.filter(|_| own != group), track);
            group = own;
        }
        for skipped in request.not_started() {
            self.not_started(&skipped);
        }
    }

    /// Writes a line for a hook that did not run, without times.
    fn not_started(&mut self, skipped: &RecordedNotStarted) {
        let why = format!("- not started, because of {}", folded(&skipped.ended_by));
        let room = self.printer.width().saturating_sub(OFFSET + self.names + 1);
        let why = self.paint(Tone::Quiet, &fitted(&why, room).0);
        let name = self.column(Tone::Plain, &skipped.name, self.names.saturating_sub(2));
        let _ = writeln!(self.out, "{:OFFSET$}  {name} {why}", "");
    }

    /// Writes the line of a hook, with the group's number for the first hook of a group.
    fn hook(&mut self, hook: &RecordedHook, group: Option<usize>, track: Option<Track>) {
        let outcome = hook.outcome();
        let name = self.column(Tone::Plain, &hook.name, self.names.saturating_sub(2));
        // A hook that never ended ran at least until the recording ended.
        let until = hook.end.unwrap_or(self.recording.duration);
        self.line(Line {
            offset: group.map(|group| format!("group {group}")).unwrap_or_default(),
            name: format!("  {name}"),
            outcome,
            label: &ending(hook, outcome),
            took: hook.duration(),
            span: Some((hook.start, until)),
            track,
            thin: false,
        });
        if let Some(error) = hook.text("error") {
            self.note(outcome, &error);
        }
        if let Some(worker) = hook.worker() {
            // Shown once, not for each further call.
            if self.workers.get(&hook.name) != Some(&worker) {
                self.note(outcome, &format!("its worker: {worker}"));
                self.workers.insert(hook.name.clone(), worker);
            }
        }
    }

    fn line(&mut self, line: Line<'_>) {
        let offset = line.offset;
        let (mark, tone) = mark(line.outcome);
        let label = fitted(&folded(line.label), OUTCOME - 3).0;
        let label = format!("{mark} {label}");
        let blanks = (OUTCOME - 1).saturating_sub(label.width());
        let took = line.took.map(time).unwrap_or_default();
        let mut out = format!(
            "{}  {} {}{:blanks$}{}",
            self.paint(Tone::Quiet, &format!("{offset:>10}")),
            line.name,
            self.paint(tone, &label),
            "",
            self.paint(Tone::Quiet, &format!("{took:>DURATION$}")),
        );
        if let (Some(track), Some((start, end))) = (line.track, line.span) {
            let mut bar = track.bar(start, end);
            if line.thin {
                bar.blocks = bar.blocks.chars().map(|_| '─').collect();
            }
            let tone = if line.thin { Tone::Quiet } else { tone };
            let before = bar.before + 2;
            let _ = write!(out, "{:before$}{}", "", self.paint(tone, &bar.blocks));
        }
        let _ = writeln!(self.out, "{out}");
    }

    /// Writes a reason on its own line.
    fn note(&mut self, outcome: RecordedOutcome, text: &str) {
        let width = self.printer.width().saturating_sub(OFFSET + 4);
        let (text, _) = fitted(&folded(text), width.max(*NAMES.start()));
        let tone = if outcome == RecordedOutcome::Proceed { Tone::Quiet } else { mark(outcome).1 };
        let _ = writeln!(self.out, "{:OFFSET$}    {}", "", self.paint(tone, &text));
    }

    fn track(&self, request: &RecordedRequest) -> Option<Track> {
        let (start, end) = match self.scale {
            Scale::Recording => (Duration::ZERO, self.recording.duration),
            Scale::Request => (request.at, request.end()),
        };
        Some(Track { columns: self.bars?, start, end })
    }

    fn summary(&mut self, summary: &RecordingSummary) {
        let events = summary.events.iter().map(|totals| folded(&totals.event).width());
        let names = events.max().unwrap_or_default().clamp(5, *NAMES.end());
        if !summary.slowest.is_empty() {
            self.title("Slowest hooks");
        }
        for slow in &summary.slowest {
            let Some(request) = self.recording.requests.get(slow.request) else { continue };
            let Some(hook) = request.hooks.get(slow.hook) else { continue };
            let about = format!("{} {}", offset(request.at), folded(&joined_title(request)));
            let about = self.paint(Tone::Quiet, &about);
            let name = self.column(Tone::Plain, &hook.name, 24);
            let _ = writeln!(self.out, "{:>10}  {name}  {about}", time(slow.duration));
        }
        if !summary.workers.is_empty() {
            self.title("Workers");
        }
        for (hook, worker) in &summary.workers {
            let name = self.column(Tone::Plain, hook, 24);
            let tone = if worker.is_broken() { Tone::Bad } else { Tone::Quiet };
            let how = self.paint(tone, &worker.to_string());
            let _ = writeln!(self.out, "{:OFFSET$}{name}  {how}", "");
        }
        if !summary.events.is_empty() {
            let head = format!(
                "{:names$}  {:>8}  {:>7}  {:>5}  {:>6}  {:>9}  {:>9}",
                "Event", "requests", "held up", "hooks", "failed", "in hooks", "longest"
            );
            self.title(&head);
        }
        for totals in &summary.events {
            let name = self.column(Tone::Plain, &totals.event, names);
            let [in_hooks, longest] = [totals.in_hooks, totals.longest]
                .map(|duration| if totals.hooks == 0 { "-".to_owned() } else { time(duration) });
            let EventTotals { requests, interrupted, hooks, failed_hooks, .. } = totals;
            let _ = writeln!(
                self.out,
                "{name}  {requests:>8}  {interrupted:>7}  {hooks:>5}  {failed_hooks:>6}  \
                 {in_hooks:>9}  {longest:>9}"
            );
        }
        let last = format!(
            "{}, {}, {} failed; {} recorded, hooks ran in {} of it",
            counted(self.recording.requests.len(), "request"),
            counted(summary.hooks, "hook"),
            summary.failed_hooks,
            time(self.recording.duration),
            time(summary.waited),
        );
        self.title(&last);
    }
}

struct Line<'l> {
    /// The start time, or another short text.
    offset: String,
    /// The painted name, padded to the width of names.
    name: String,
    outcome: RecordedOutcome,
    label: &'l str,
    took: Option<Duration>,
    span: Option<(Duration, Duration)>,
    track: Option<Track>,
    thin: bool,
}

fn mark(outcome: RecordedOutcome) -> (char, Tone) {
    match outcome {
        RecordedOutcome::Proceed => ('✓', Tone::Good),
        RecordedOutcome::Ask => ('?', Tone::Warning),
        RecordedOutcome::Retry => ('↻', Tone::Warning),
        RecordedOutcome::Block => ('✗', Tone::Bad),
        RecordedOutcome::Stop => ('■', Tone::Bad),
        RecordedOutcome::Failed => ('!', Tone::Warning),
        RecordedOutcome::Unfinished => ('…', Tone::Quiet),
    }
}

fn longest_name(request: &RecordedRequest) -> usize {
    let (event, subject) = title(request);
    let own = event.width() + subject.map_or(0, |subject| 1 + subject.width());
    let hooks = request.hooks.iter().map(|hook| hook.name.width() + 2);
    let skipped = request.not_started();
    let skipped = skipped.iter().map(|hook| hook.name.width() + 2);
    hooks.chain(skipped).fold(own, usize::max)
}

/// Shortens the text to at most `columns`, and returns the number of unused columns.
fn fitted(text: &str, columns: usize) -> (String, usize) {
    if text.width() <= columns {
        return (text.to_owned(), columns - text.width());
    }
    let mut fitted = String::new();
    let mut remaining = columns.saturating_sub(1);
    for character in text.chars() {
        let Some(rest) = remaining.checked_sub(character.width().unwrap_or_default()) else {
            break;
        };
        (remaining, _) = (rest, fitted.push(character));
    }
    fitted.push('…');
    (fitted, remaining)
}

/// Returns foreign text on one line, without control characters.
fn folded(text: &str) -> String {
    text::escaped_lines(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn offset(at: Duration) -> String {
    let (seconds, millis) = (at.as_secs(), at.subsec_millis());
    match seconds {
        0..60 => format!("+{seconds}.{millis:03} s"),
        60..3_600 => format!("+{}:{:02}.{millis:03}", seconds / 60, seconds % 60),
        _ => format!("+{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60),
    }
}

/// Formats a duration with about three digits.
fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match duration.as_micros() {
        0..1_000 => format!("{} µs", duration.as_micros()),
        1_000..10_000 => format!("{:.1} ms", seconds * 1_000.0),
        10_000..1_000_000 => format!("{:.0} ms", seconds * 1_000.0),
        1_000_000..100_000_000 => format!("{seconds:.2} s"),
        _ => format!("{seconds:.0} s"),
    }
}
