//! The output of `hook explain`: the hooks that an event would run, and reasons for the others.

use std::fmt::Write;
use std::time::Duration;

use hook_core::{ExplainedHook, Explanation, Group, Hook, NotRun};
use hook_json::ObjectWriter;
use hook_json::text::PathText;
use hook_protocol::HookEventName;
use hook_run::{HookKind, HookStart};
use hook_settings::{DEFAULT_PRIORITY, FailBehavior, SettingsSource, TimeoutOrigin};

use super::columns::{aligned, first_line};
use super::hook::{cells, write_hook, write_location};
use super::plural;
use super::response::duration;
use crate::output::{Printer, Tone};
use crate::server::LiveStates;

/// An explanation, and the parts of it to show.
#[derive(Debug)]
pub(crate) struct Explained<'e> {
    pub(crate) explanation: &'e Explanation,
    /// The status of workers at the project's server.
    pub(crate) states: &'e LiveStates,
    /// `true` if matchers were compared with a sample's value, since none was given.
    pub(crate) is_sample_subject: bool,
    /// `true` if hooks of other events are listed, too.
    pub(crate) all: bool,
    /// The settings that were searched.
    pub(crate) sources: &'e [SettingsSource],
}

/// Formats one hook as a line of JSON: the fields of `hook list`, and the outcome for the event.
pub(crate) fn explained_json(
    explanation: &Explanation,
    explained: &ExplainedHook,
    states: &LiveStates,
) -> Vec<u8> {
    ObjectWriter::line(|object| {
        write_hook(object, &explained.hook, states);
        let subject = explanation.subject.as_deref();
        object.optional_text(
            "subject",
            subject.filter(|_| explained.hook.event == explanation.event),
        );
        object.bool("runs", explained.runs());
        object.optional_text("blocks", explained.blocks().as_deref());
        if let Some(position) = explained.plan_index {
            object.integer("position", position as i128 + 1);
            if let Some(group) = explanation.group_of(explained) {
                object.integer("group", group as i128 + 1);
            }
            let because = explanation.sequential_because.get(&explained.hook.priority);
            let is_alone = because.is_some() || explained.hook.runs_in_turn();
            object.text("mode", if is_alone { "sequential" } else { "parallel" });
            object.optional_text("modeFrom", because.map(|hook| hook.display_name()));
        }
        if !explained.rules.is_empty() {
            object.texts("rules", &explained.rules);
        }
        object.objects("reasons", &explained.reasons, |out, reason| {
            out.text("code", reason.code());
            out.text("message", &reason.to_string());
            match reason {
                NotRun::Disabled(by) => {
                    out.text("source", &by.source.to_string());
                    let file = by.file.as_ref().map(|file| file.to_string_lossy());
                    out.optional_text("file", file.as_deref());
                    out.optional_text("setting", by.switch.setting());
                }
                NotRun::PartNotMatched { part, pattern, compared, total, .. } => {
                    out.text("part", part);
                    out.text("pattern", pattern);
                    out.texts("comparedWith", compared);
                    out.integer("comparedCount", *total as i128);
                }
                NotRun::Untrusted { changed } => out.bool("changed", *changed),
                NotRun::Duplicate { of } => {
                    out.text("source", &of.source.to_string());
                    write_location(out, of);
                }
                _ => {}
            }
        });
        object.texts("warnings", &explained.warnings);
        object.optional_text("hint", explained.hint.as_deref());
    })
}

/// Formats the explanation for people: hooks in run order, each followed by the reasons.
pub(crate) fn explained(explained: &Explained<'_>, printer: &Printer) -> String {
    let explanation = explained.explanation;
    let event = explanation.event;
    let (placeholders, hooks): (Vec<_>, Vec<_>) =
        explanation.hooks.iter().partition(|entry| entry.hook.is_placeholder());
    let (of_event, others): (Vec<_>, Vec<_>) =
        hooks.into_iter().partition(|entry| entry.hook.event == event);
    let mut out = headline(explained, printer);
    let unknown = every_event_hooks(&others, &placeholders, explained, printer);
    if of_event.is_empty() {
        if unknown.is_empty() {
            out.push_str(&nothing_found(Some(event), explained.sources, printer));
        }
    } else {
        let groups = Groups { explanation, hooks: &of_event };
        let heading = |index| groups.heading(index);
        lines(&mut out, &of_event, heading, explained.states, printer);
        let _ = writeln!(out, "\n{}", summary(explanation, of_event.len()));
        if groups.has_several() && explanation.groups.len() > 1 {
            let _ = writeln!(out, "{}", printer.paint(Tone::Quiet, &ending_rule(event)));
        }
    }
    out.push_str(&unknown);
    if explained.all && !others.is_empty() {
        out.push('\n');
        lines(&mut out, &others, |_| None, explained.states, printer);
    } else if !others.is_empty() {
        let hooks = plural(others.len(), "hook listens", "hooks listen");
        let text = format!("{hooks} to other events; --all lists them");
        let _ = writeln!(out, "{}", printer.paint(Tone::Quiet, &text));
    }
    out
}

/// Returns the workers and modules whose hooks may listen to the event, since their hooks are known
/// only while they run, and the guards among them that block until then.
fn every_event_hooks(
    others: &[&ExplainedHook],
    placeholders: &[&ExplainedHook],
    explained: &Explained<'_>,
    printer: &Printer,
) -> String {
    let event = explained.explanation.event;
    let mut out = String::new();
    for guard in
        placeholders.iter().filter(|entry| entry.hook.event == event && entry.plan_index.is_some())
    {
        let name = first_line(guard.hook.display_name());
        let _ = match guard.blocks() {
            Some(why) => writeln!(out, "{name} blocks this event: {}", first_line(&why)),
            None => writeln!(out, "{name} blocks this event until it has said which hooks it has"),
        };
    }
    // A guard whose content was not trusted is not loaded; its block is shown above.
    let every = others
        .iter()
        .filter(|entry| entry.hook.event.is_wildcard() && !entry.hook.blocks_without_running());
    let unknown: Vec<_> =
        every.filter_map(|entry| Some((entry, unknown_reason(entry, explained.states)?))).collect();
    if unknown.is_empty() {
        return out;
    }
    let _ = writeln!(out, "may listen to {event}, too, and would say so when it is loaded:");
    let row = |entry: &ExplainedHook| {
        let [name, _, origin] = cells(&entry.hook);
        [name, origin]
    };
    let rows: Vec<_> = unknown.iter().map(|(entry, _)| row(entry)).collect();
    for ((_, why), line) in unknown.iter().zip(aligned(&rows, printer)) {
        let _ = writeln!(out, "  {} {line}", printer.paint(Tone::Warning, "?"));
        let _ = writeln!(out, "      {}", printer.paint(Tone::Plain, &first_line(why)));
    }
    out
}

/// Returns the reason why the events of a worker or a module are unknown; `None` if they are known.
fn unknown_reason(explained: &ExplainedHook, states: &LiveStates) -> Option<String> {
    let not_run = explained.reasons.iter().find(|why| why.code() != "other_event");
    if let Some(why) = not_run {
        return Some(why.to_string());
    }
    match explained.hook.loaded_module() {
        Some(module) => module.error,
        None => {
            let status = states.describe(&explained.hook);
            Some(status.unwrap_or_else(|| "it is not running".to_owned()))
        }
    }
}

fn headline(explained: &Explained<'_>, printer: &Printer) -> String {
    let explanation = explained.explanation;
    let mut line = printer.paint(Tone::Strong, explanation.event.as_str());
    let field = explanation.event.row().matching.field();
    if let (Some(field), Some(subject)) = (field, &explanation.subject) {
        line.push_str(
            &printer.paint(Tone::Plain, &format!(" with {field} {}", first_line(subject))),
        );
        if explained.is_sample_subject {
            let another = if field == "tool_name" { "--tool or --input" } else { "--input" };
            let text = format!(" (a sample; {another} gives another)");
            line.push_str(&printer.paint(Tone::Quiet, &text));
        }
    }
    line.push('\n');
    line
}

/// The hooks of an event by priority, if there is more than one.
struct Groups<'g> {
    explanation: &'g Explanation,
    hooks: &'g [&'g ExplainedHook],
}

impl Groups<'_> {
    fn priority(&self, index: usize) -> Option<i32> {
        self.hooks.get(index).map(|explained| explained.hook.priority)
    }

    fn has_several(&self) -> bool {
        (1..self.hooks.len()).any(|index| self.priority(index) != self.priority(0))
    }

    /// Returns the heading before the first hook of a priority, with the order of its hooks.
    fn heading(&self, index: usize) -> Option<String> {
        let priority = self.priority(index)?;
        let is_first = index == 0 || self.priority(index - 1) != Some(priority);
        if !is_first || !(self.has_several() || priority != DEFAULT_PRIORITY) {
            return None;
        }
        let of_priority = |group: &&Group| group.priority == priority;
        let groups: Vec<&Group> = self.explanation.groups.iter().filter(of_priority).collect();
        let hooks: usize = groups.iter().map(|group| group.hooks.len()).sum();
        Some(match (groups.len(), hooks) {
            (0, _) => format!("priority {priority}, of which none runs"),
            (_, 1) => format!("priority {priority}"),
            _ => format!("priority {priority}, {}", schedule_text(&groups)),
        })
    }
}

/// Describes the order in which the hooks of one priority run.
fn schedule_text(groups: &[&Group]) -> String {
    let hooks: usize = groups.iter().map(|group| group.hooks.len()).sum();
    let at_once = groups.iter().map(|group| group.hooks.len()).max().unwrap_or_default();
    match groups.len() {
        1 => "all at once".to_owned(),
        _ if at_once <= 1 => "one after the other".to_owned(),
        // Hooks that run in turn come last.
        _ if hooks - at_once == 1 => format!("{at_once} at once, then 1 more"),
        _ => format!("{at_once} at once, then {} one after the other", hooks - at_once),
    }
}

/// Describes the answers to the event that keep later priorities from starting.
fn ending_rule(event: HookEventName) -> String {
    let row = event.row();
    let skips = "skipRemaining does, except for guards and hooks that are trusted more";
    if row.merge.is_observe_only() {
        return format!("later priorities start when earlier ones are done; {skips}");
    }
    let mut ends = Vec::new();
    ends.extend(row.block_means.map(|_| "a block"));
    ends.extend(row.retry_means.map(|_| "a retry"));
    ends.push("a stop");
    let last = ends.pop().unwrap_or_default();
    let ends = match ends.is_empty() {
        true => last.to_owned(),
        false => format!("{} or {last}", ends.join(", ")),
    };
    format!("{ends} keeps later priorities from starting; {skips}")
}

/// Writes hooks, each with the heading that `heading` returns for its index.
fn lines(
    out: &mut String,
    hooks: &[&ExplainedHook],
    heading: impl Fn(usize) -> Option<String>,
    states: &LiveStates,
    printer: &Printer,
) {
    let rows = hooks.iter().map(|explained| {
        let position = explained.plan_index.map(|position| (position + 1).to_string());
        let [name, matcher, origin] = cells(&explained.hook);
        [(Tone::Plain, position.unwrap_or_default()), name, matcher, origin]
    });
    let rows: Vec<_> = rows.collect();
    for (index, (line, explained)) in aligned(&rows, printer).into_iter().zip(hooks).enumerate() {
        if let Some(heading) = heading(index) {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Plain, &heading));
        }
        let blocks = explained.blocks();
        let (mark, tone) = match (explained.runs(), &blocks) {
            (true, _) => ("✓", Tone::Good),
            (false, Some(_)) => ("✗", Tone::Bad),
            (false, None) => ("-", Tone::Quiet),
        };
        let _ = writeln!(out, "  {} {line}", printer.paint(tone, mark));
        let mut detail = |tone, text: &str| {
            let _ = writeln!(out, "      {}", printer.paint(tone, &first_line(text)));
        };
        if explained.runs() {
            detail(Tone::Quiet, &run_summary(&explained.hook, states));
        }
        for rule in &explained.rules {
            detail(Tone::Warning, rule);
        }
        if let Some(why) = &blocks {
            detail(Tone::Bad, &format!("blocks this event: {why}"));
        }
        for reason in &explained.reasons {
            detail(Tone::Plain, &reason.to_string());
        }
        for warning in &explained.warnings {
            detail(Tone::Warning, &format!("warning: {warning}"));
        }
        if let Some(hint) = &explained.hint {
            detail(Tone::Good, &format!("hint: {hint}"));
        }
    }
}

fn run_summary(hook: &Hook, states: &LiveStates) -> String {
    let timeout = match (hook.kind(), hook.timeout_origin) {
        (HookKind::Inline, _) => "no timeout".to_owned(),
        (_, origin) => {
            let origin_text = match origin {
                TimeoutOrigin::Hook if hook.module().is_some() => "of every module",
                TimeoutOrigin::Hook => "its own",
                TimeoutOrigin::File => "defaultTimeout of its file",
                TimeoutOrigin::Engine => "the engine's default",
            };
            format!("timeout {} ({origin_text})", timeout_text(hook.timeout))
        }
    };
    let start = match hook.start() {
        HookStart::Direct => "started directly".to_owned(),
        HookStart::Shell(program) => {
            let name = program.file_stem().unwrap_or(program.as_os_str());
            format!("started by {}", name.to_string_lossy())
        }
        HookStart::Posted => "posted to a server".to_owned(),
        // The module in this process may be in another state than the one that runs.
        HookStart::Called if hook.module().is_some() => {
            match states.get(hook).and_then(|_| states.describe(hook)) {
                Some(status) => format!("calls its module ({status})"),
                None => "calls its module".to_owned(),
            }
        }
        HookStart::Called if hook.worker().is_some() => match states.describe(hook) {
            Some(status) => format!("calls its worker ({status})"),
            None => "calls its worker".to_owned(),
        },
        HookStart::Called => "called over its connection".to_owned(),
        HookStart::Missing(service) => format!("not run: this host lacks {service}"),
        _ => "in process".to_owned(),
    };
    let failure = match hook.fail_behavior {
        _ if hook.runs_in_background() => "async: nothing waits for it, and it cannot block",
        FailBehavior::Continue => "if it fails, things go on",
        FailBehavior::Block => "if it fails, that blocks",
    };
    let opaque = if hook.opaque().is_empty() { "" } else { "; opaque: runs in place" };
    let copy = match hook.broken_copy() {
        Some(why) => format!("; it fails: {}", first_line(&why)),
        None if hook.runs_trusted_copy() => "; the trusted copy runs".to_owned(),
        None => String::new(),
    };
    format!("{timeout}; {start}; {failure}{opaque}{copy}")
}

/// Formats a timeout without loss.
fn timeout_text(timeout: Duration) -> String {
    match timeout.subsec_millis() {
        0 => format!("{} s", timeout.as_secs()),
        _ => duration(timeout),
    }
}

fn summary(explanation: &Explanation, of_event: usize) -> String {
    let number = explanation.running().count();
    let mut text = match number {
        0 => format!("none of {of_event} runs"),
        1 => format!("1 of {of_event} runs"),
        _ => format!("{number} of {of_event} run"),
    };
    let first = explanation.running().next().map(|entry| entry.hook.priority);
    let is_one_priority = explanation.running().all(|entry| Some(entry.hook.priority) == first);
    let because = first.and_then(|priority| explanation.sequential_because.get(&priority));
    match because {
        _ if number > 1 && !is_one_priority => text.push_str(", one priority after the other"),
        Some(hook) if number > 1 => {
            let _ = write!(
                text,
                ", one after the other: `{}` is in a sequential definition",
                first_line(hook.display_name())
            );
            if let Some(location) = &hook.location {
                let _ = write!(text, ", {}", first_line(&location.to_string()));
            }
        }
        None if number > 1 => {
            let groups: Vec<&Group> = explanation.groups.iter().collect();
            let _ = write!(text, ", {}", schedule_text(&groups));
        }
        _ => {}
    }
    let guards = explanation.blocking().count();
    if guards > 0 {
        let _ = write!(text, "; {} this event", plural(guards, "guard blocks", "guards block"));
    }
    text
}

/// Reports that there is no hook, with the settings that were searched.
pub(crate) fn nothing_found(
    event: Option<HookEventName>,
    sources: &[SettingsSource],
    printer: &Printer,
) -> String {
    let mut out = match event {
        Some(event) => format!("no hook listens to {event}\n"),
        None => "no hooks found\n".to_owned(),
    };
    let rows: Vec<_> = sources
        .iter()
        .map(|source| {
            let state = match source.path.try_exists() {
                Ok(true) => "is there".to_owned(),
                Ok(false) => "is not there".to_owned(),
                Err(error) => format!("cannot be looked at: {error}"),
            };
            [
                (Tone::Quiet, source.source.to_string()),
                (Tone::Quiet, state),
                (Tone::Plain, first_line(&source.path.shown().to_string())),
            ]
        })
        .collect();
    out.push_str("looked for:\n");
    for line in aligned(&rows, printer) {
        let _ = writeln!(out, "  {line}");
    }
    out
}
