//! Hooks of a project before they are trusted, and what is trusted.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use hook_core::MatcherDefinition;
use hook_core::text::{self, one_line};
use hook_core::trust::{Change, FileState, Grant, Review, ReviewedFile, Standing};
use serde_json::{Map, Value, json};

use super::{counted, diff};
use crate::output::{Printer, Tone};

/// How many lines of a script are shown unless all are asked for.
const FIRST_LINES: usize = 20;

/// What a hook would run, and what changed since it was trusted.
pub(crate) fn review(review: &Review, whole: bool, printer: &Printer) -> String {
    let (mark, tone, standing) = match &review.standing {
        Standing::Trusted => ("✓", Tone::Good, "trusted".to_owned()),
        Standing::New => ("!", Tone::Odd, "not trusted".to_owned()),
        Standing::Partly(_) => {
            ("!", Tone::Odd, "trusted by an earlier version, which covered less".to_owned())
        }
        Standing::Changed(grant) => match grant.seen.as_ref().map(|seen| &*seen.at) {
            Some(at) if !at.is_empty() => {
                ("!", Tone::Bad, format!("changed since it was trusted at {at}"))
            }
            _ => ("!", Tone::Bad, "changed since it was trusted".to_owned()),
        },
    };
    with_standing(review, (mark, tone, &standing), whole, printer)
}

/// A hook that is not as the lock of its project says.
pub(crate) fn unlocked(review: &Review, whole: bool, printer: &Printer) -> String {
    let standing = match &review.standing {
        Standing::New => "not in the lock",
        _ => "changed since the lock was written",
    };
    with_standing(review, ("!", Tone::Bad, standing), whole, printer)
}

fn with_standing(
    review: &Review,
    (mark, tone, standing): (&str, Tone, &str),
    whole: bool,
    printer: &Printer,
) -> String {
    let entry = &review.entry;
    let mut out = format!(
        "{} {} {}: {}\n",
        printer.paint(tone, mark),
        printer.paint(Tone::Strong, entry.event.as_str()),
        printer.paint(Tone::Strong, &one_line(entry.display_name())),
        printer.paint(tone, standing),
    );
    let mut field = |name: &str, text: &str| {
        let name = printer.paint(Tone::Quiet, &format!("{name:<12} "));
        // What a hook's author writes must not look like another field.
        let text = text::lines(text).replace('\n', "\n               │ ");
        let _ = writeln!(out, "  {name}{text}");
    };
    field("defined in", &entry.place.to_string());
    if let Some(description) = &entry.description {
        field("description", description);
    }
    match entry.matcher.as_deref() {
        None => field("matcher", "everything"),
        Some(matcher) => {
            // That of an object is among the terms, too.
            if let Some(text) = matcher.as_text() {
                field("matcher", text);
            }
        }
    }
    field("command", &entry.command);
    for (name, value) in &entry.env {
        field("env", &format!("{name}={value}"));
    }
    for (name, value) in review.terms() {
        field(&name, &value);
    }
    for file in &review.files {
        field("file", &about(file));
    }
    if review.files.is_empty() {
        field("files", "the command names no file of the project");
    }
    for file in &review.data {
        let file = file.display();
        field("data", &format!("{file}; you are not asked again when it changes"));
    }
    for reason in &review.opaque {
        field("opaque", &format!("it may run files that are not listed here: {reason}"));
    }
    if review.too_much {
        field("too much", "it names too many files, so it cannot be trusted");
    }
    let changes = review.changes();
    let shows_difference = changes
        .iter()
        .any(|change| matches!(change, Change::File { before: Some(_), after: Some(_), .. }));
    if whole || !shows_difference {
        for file in &review.files {
            out.push_str(&content(file, review.files.len() > 1, whole, printer));
        }
    }
    for change in &changes {
        out.push_str(&changed(change, printer));
    }
    out.push('\n');
    out
}

fn about(script: &ReviewedFile) -> String {
    let path = script.path.display().to_string();
    let leads = match script.target.ends_with(&script.path) {
        true => String::new(),
        false => format!(", a link to {}", script.target.display()),
    };
    let what = match (&script.bytes, script.text()) {
        (None, _) => match script.state {
            FileState::Absent => "does not exist; you are asked again when it does".to_owned(),
            FileState::TooLong => "longer than 64 MiB, so it cannot be trusted".to_owned(),
            _ => "cannot be read".to_owned(),
        },
        (Some(bytes), None) => format!("{} bytes, not a text", bytes.len()),
        (Some(bytes), Some(_)) => format!("{} bytes", bytes.len()),
    };
    let what = match (&script.bytes, script.executable) {
        (Some(_), Some(false)) => format!("{what}, not executable"),
        _ => what,
    };
    format!("{path}{leads} ({what})")
}

fn content(file: &ReviewedFile, named: bool, whole: bool, printer: &Printer) -> String {
    let Some(text) = file.text() else { return String::new() };
    let bar = printer.paint(Tone::Quiet, "│");
    let count = text.lines().count();
    let shown = if whole { count } else { FIRST_LINES };
    let mut out = String::new();
    if named {
        let _ = writeln!(out, "    {}:", one_line(&file.path.display().to_string()));
    }
    for line in text.split('\n').take(shown.min(count)) {
        let _ = writeln!(out, "    {bar} {}", text::lines(line.strip_suffix('\r').unwrap_or(line)));
    }
    if count > shown {
        let more = format!("… {} more lines, with --show", count - shown);
        let _ = writeln!(out, "    {}", printer.paint(Tone::Odd, &more));
    }
    out
}

fn changed(change: &Change, printer: &Printer) -> String {
    let word = printer.paint(Tone::Odd, "changed");
    let side = |sign: &str, tone: Tone, text: Option<&str>| {
        let text =
            text.map_or_else(|| "(none)".to_owned(), |text| text.replace('\n', "\n      │ "));
        format!("    {}\n", printer.paint(tone, &format!("{sign} {text}")))
    };
    match change {
        Change::Field { name, before, after } => format!(
            "  {word}      {}\n{}{}",
            printer.paint(Tone::Strong, &one_line(name)),
            side("-", Tone::Bad, before.as_deref()),
            side("+", Tone::Good, after.as_deref()),
        ),
        Change::File { path, before: Some(before), after: Some(after) } => format!(
            "  {word}      {}\n{}",
            printer.paint(Tone::Strong, &one_line(&path.display().to_string())),
            diff::painted(&diff::unified(before, after, None), "    ", printer)
        ),
        Change::File { path, .. } => format!(
            "  {word}      {}; its earlier content was not kept\n",
            printer.paint(Tone::Strong, &one_line(&path.display().to_string()))
        ),
        Change::AlsoCovers { what } => {
            let what = match what.is_empty() {
                true => "that no other setting is set".to_owned(),
                false => one_line(&what.join(", ")).into_owned(),
            };
            format!("  {:<13}{what}\n", "now also")
        }
        _ => {
            format!("  {word}      something that the decision did not record\n")
        }
    }
}

/// A review as JSON.
pub(crate) fn review_json(review: &Review, granted: bool) -> Value {
    let entry = &review.entry;
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            object.insert(name.to_owned(), value);
        }
    };
    put("event", entry.event.as_str().into());
    put("name", entry.display_name().into());
    put("command", entry.command.clone().into());
    put("description", entry.description.clone().into());
    put("matcher", entry.matcher.as_deref().map(matcher_json).into());
    let env: Map<String, Value> =
        entry.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    put("env", env.into());
    put("file", entry.place.file.as_ref().map(|file| file.to_string_lossy()).into());
    put("line", entry.place.line.into());
    put("column", entry.place.column.into());
    let terms: Map<String, Value> =
        review.terms().into_iter().map(|(name, value)| (name, value.into())).collect();
    put("terms", terms.into());
    put("files", review.files.iter().map(file_json).collect::<Vec<_>>().into());
    let data = review.data.iter().map(|file| file.to_string_lossy());
    put("data", data.collect::<Vec<_>>().into());
    put("opaque", review.opaque.clone().into());
    let standing = match review.standing {
        Standing::Trusted => "trusted",
        Standing::New => "new",
        Standing::Changed(_) => "changed",
        Standing::Partly(_) => "partly",
    };
    put("standing", standing.into());
    if let Standing::Changed(grant) | Standing::Partly(grant) = &review.standing {
        put("trustedAt", grant.seen.as_ref().map(|seen| seen.at.clone()).into());
    }
    put("changes", review.changes().iter().map(change_json).collect::<Vec<_>>().into());
    put("fingerprint", review.fingerprint.clone().into());
    put("granted", (granted && review.standing != Standing::Trusted).into());
    object.into()
}

/// A matcher as it was written: a string or an object.
fn matcher_json(matcher: &MatcherDefinition) -> Value {
    match matcher {
        MatcherDefinition::Fields(fields) => {
            serde_json::from_str(fields.to_raw().as_str()).unwrap_or_default()
        }
        other => other.to_text().into(),
    }
}

fn file_json(script: &ReviewedFile) -> Value {
    let mut object = json!({
        "path": script.path.to_string_lossy(),
        "target": script.target.to_string_lossy(),
    });
    if let (Some(bytes), Some(hash)) = (&script.bytes, script.sha256()) {
        object["size"] = bytes.len().into();
        object["sha256"] = hash.into();
    }
    if let Some(text) = script.text() {
        object["content"] = text.into();
    }
    object
}

fn change_json(change: &Change) -> Value {
    match change {
        Change::Field { name, before, after } => {
            json!({ "field": name, "before": before, "after": after })
        }
        Change::File { path, before, after } => {
            let path = path.to_string_lossy();
            json!({ "field": "content", "file": path, "before": before, "after": after })
        }
        Change::AlsoCovers { what } => json!({ "field": "also covers", "after": what }),
        _ => json!({ "field": "unknown", "before": null, "after": null }),
    }
}

/// The last line of a review.
pub(crate) fn trusted(agreed: &[&str], left: usize, printer: &Printer) -> String {
    let mut out = match agreed.is_empty() {
        true => "trusted nothing".to_owned(),
        false => {
            format!("{} {}", printer.paint(Tone::Good, "trusted"), one_line(&agreed.join(", ")))
        }
    };
    if left > 0 {
        let _ = write!(out, "; {left} not trusted and will not run");
    }
    out.push('\n');
    out
}

/// What there is to say when no hook waits for a decision.
pub(crate) fn nothing_to_trust(trusted: usize) -> String {
    match trusted {
        0 => "the project has no hooks\n".to_owned(),
        1 => "the hook is trusted already\n".to_owned(),
        count => format!("all {count} hooks are trusted already\n"),
    }
}

/// Decisions for people.
pub(crate) fn grants(
    grants: &[&Grant],
    fits: impl Fn(&Grant) -> bool,
    printer: &Printer,
) -> String {
    if grants.is_empty() {
        return "nothing is trusted in this project\n".to_owned();
    }
    let mut out = String::new();
    for grant in grants {
        let (mark, tone, note) = match fits(grant) {
            true => ("✓", Tone::Good, ""),
            false => ("-", Tone::Quiet, ", but no hook matches this decision now"),
        };
        let at = grant.seen.as_ref().map(|seen| format!("trusted at {}", seen.at));
        let at = at.unwrap_or_else(|| "trusted".to_owned());
        let _ = writeln!(
            out,
            "{} {} {}  {}",
            printer.paint(tone, mark),
            printer.paint(Tone::Plain, &one_line(&grant.event)),
            printer.paint(Tone::Plain, &one_line(grant.display_name())),
            printer.paint(Tone::Quiet, &format!("{at}{note}")),
        );
        if grant.name.is_some() {
            let command = text::lines(&grant.command).replace('\n', "\n    │ ");
            let _ = writeln!(out, "    {command}");
        }
    }
    out
}

/// What was written to a lock.
pub(crate) fn locked(path: &Path, hooks: usize) -> String {
    format!("wrote {}: {}\n", one_line(&path.display().to_string()), counted(hooks, "hook"))
}

/// What there is to say when every hook is as the lock says.
pub(crate) fn as_locked(hooks: usize) -> String {
    match hooks {
        0 => "the project has no hooks\n".to_owned(),
        1 => "the hook is as the lock says\n".to_owned(),
        count => format!("all {count} hooks are as the lock says\n"),
    }
}

/// Hooks that are in the lock and nowhere else.
pub(crate) fn gone(grants: &[Grant], printer: &Printer) -> String {
    let line = |grant: &Grant| {
        let mark = printer.paint(Tone::Bad, "-");
        let (event, name) = (one_line(&grant.event), one_line(grant.display_name()));
        format!(
            "{mark} {} {}: in the lock, but not in the settings\n",
            text::lines(&event),
            text::lines(&name)
        )
    };
    grants.iter().map(line).collect()
}

/// What was taken back.
pub(crate) fn revoked(grants: &[&Grant], printer: &Printer) -> String {
    if grants.is_empty() {
        return "nothing was trusted in this project\n".to_owned();
    }
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for grant in grants {
        *counts.entry((&grant.event, grant.display_name())).or_default() += 1;
    }
    let line = |((event, name), count): ((&str, &str), usize)| {
        let name = printer.paint(Tone::Strong, &one_line(name));
        let several = if count > 1 { format!(" ({count} decisions)") } else { String::new() };
        format!("revoked {} {name}{several}\n", text::lines(event))
    };
    counts.into_iter().map(line).collect()
}

/// A decision as JSON, with what is to be said of it.
pub(crate) fn grant_json(grant: &Grant, said: (&str, bool)) -> Value {
    let mut object = json!({
        "event": grant.event,
        "name": grant.display_name(),
        "command": grant.command,
        "fingerprint": grant.fingerprint,
    });
    if let Some(seen) = &grant.seen {
        object["trustedAt"] = seen.at.clone().into();
    }
    object[said.0] = said.1.into();
    object
}
