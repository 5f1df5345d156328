//! Hooks of a project before they are trusted, and what is trusted.

use std::collections::BTreeMap;
use std::fmt::Write;

use hook_core::trust::{Change, Grant, Review, ReviewedScript, ScriptState, Standing};
use serde_json::{Map, Value, json};

use super::diff;
use crate::output::{Printer, Tone, harmless};

/// How many lines of a script are shown unless all are asked for.
const FIRST_LINES: usize = 20;

/// What a hook would run, and what changed since it was trusted.
pub(crate) fn review(review: &Review, whole: bool, printer: &Printer) -> String {
    let entry = &review.entry;
    let (mark, tone, standing) = match &review.standing {
        Standing::Trusted => ("✓", Tone::Good, "trusted".to_owned()),
        Standing::New => ("!", Tone::Odd, "not trusted".to_owned()),
        Standing::Changed(grant) => match grant.seen.as_ref().map(|seen| &*seen.at) {
            Some(at) if !at.is_empty() => {
                ("!", Tone::Bad, format!("changed since it was trusted at {at}"))
            }
            _ => ("!", Tone::Bad, "changed since it was trusted".to_owned()),
        },
    };
    let mut out = format!(
        "{} {} {}: {}\n",
        printer.paint(tone, mark),
        printer.paint(Tone::Strong, entry.event.as_str()),
        printer.paint(Tone::Strong, &on_one_line(entry.display_name())),
        printer.paint(tone, &standing),
    );
    let mut field = |name: &str, text: &str| {
        let name = printer.paint(Tone::Quiet, &format!("{name:<11}"));
        // What a hook's author writes must not look like another field.
        let text = harmless(text).replace('\n', "\n             │ ");
        let _ = writeln!(out, "  {name}{text}");
    };
    field("stands in", &entry.place.to_string());
    if let Some(description) = &entry.description {
        field("says it is", description);
    }
    field("matcher", entry.matcher.as_deref().unwrap_or("everything"));
    field("command", &entry.command);
    for (name, value) in &entry.env {
        field("env", &format!("{name}={value}"));
    }
    for file in &review.uncovered {
        let file = file.display();
        field("also names", &format!("{file}, which can change without anybody being asked"));
    }
    match &review.script {
        None => field("script", "none in the project; what is trusted is the command's text"),
        Some(script) => field("script", &about(script)),
    }
    if let Some(script) = review.interpreted_script() {
        let path = script.display();
        field(
            "to cover",
            &format!(
                "{path}: begin it with a line such as `#!/usr/bin/env {}`, make it executable with \
                 `chmod +x {path}`, and write \"$HOOK_PROJECT_DIR\"/{path} as the command",
                review.interpreter().unwrap_or_default()
            ),
        );
    }
    let changes = review.changes();
    let shows_difference = changes
        .iter()
        .any(|change| matches!(change, Change::Script { before: Some(_), after: Some(_) }));
    if (whole || !shows_difference)
        && let Some(text) = review.script.as_ref().and_then(ReviewedScript::text)
    {
        out.push_str(&content(text, whole, printer));
    }
    for change in &changes {
        out.push_str(&changed(change, printer));
    }
    out.push('\n');
    out
}

fn about(script: &ReviewedScript) -> String {
    let path = script.path.display().to_string();
    let leads = match script.target.ends_with(&script.path) {
        true => String::new(),
        false => format!(", a link to {}", script.target.display()),
    };
    let what = match (&script.bytes, script.text()) {
        (None, _) => match script.state {
            ScriptState::Absent => "does not exist; making it asks again".to_owned(),
            ScriptState::TooLong => "longer than 64 MiB, so it cannot be trusted".to_owned(),
            _ => "cannot be read".to_owned(),
        },
        (Some(bytes), None) => format!("{} bytes, not a text", bytes.len()),
        (Some(bytes), Some(_)) => format!("{} bytes", bytes.len()),
    };
    format!("{path}{leads} ({what})")
}

fn content(text: &str, whole: bool, printer: &Printer) -> String {
    let bar = printer.paint(Tone::Quiet, "│");
    let count = text.lines().count();
    let shown = if whole { count } else { FIRST_LINES };
    let mut out = String::new();
    for line in text.split('\n').take(shown.min(count)) {
        let _ = writeln!(out, "    {bar} {}", harmless(line.strip_suffix('\r').unwrap_or(line)));
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
            "  {word}    {}\n{}{}",
            printer.paint(Tone::Strong, &on_one_line(name)),
            side("-", Tone::Bad, before.as_deref()),
            side("+", Tone::Good, after.as_deref()),
        ),
        Change::Script { before: Some(before), after: Some(after) } => format!(
            "  {word}    {}\n{}",
            printer.paint(Tone::Strong, "the script"),
            diff::painted(&diff::unified(before, after, None), "    ", printer)
        ),
        Change::Script { .. } => {
            format!("  {word}    the script; what was in it was not kept\n")
        }
        Change::Unknown => {
            format!("  {word}    something that was not kept when it was trusted\n")
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
    put("matcher", entry.matcher.clone().into());
    let env: Map<String, Value> =
        entry.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    put("env", env.into());
    put("file", entry.place.file.as_ref().map(|file| file.to_string_lossy()).into());
    put("line", entry.place.line.into());
    put("column", entry.place.column.into());
    if let Some(script) = &review.script {
        put("script", script_json(script));
    }
    let uncovered = review.uncovered.iter().map(|file| file.to_string_lossy());
    put("uncovered", uncovered.collect::<Vec<_>>().into());
    let standing = match review.standing {
        Standing::Trusted => "trusted",
        Standing::New => "new",
        Standing::Changed(_) => "changed",
    };
    put("standing", standing.into());
    if let Standing::Changed(grant) = &review.standing {
        put("trustedAt", grant.seen.as_ref().map(|seen| seen.at.clone()).into());
    }
    put("changes", review.changes().iter().map(change_json).collect::<Vec<_>>().into());
    put("fingerprint", review.fingerprint.clone().into());
    put("granted", (granted && review.standing != Standing::Trusted).into());
    object.into()
}

fn script_json(script: &ReviewedScript) -> Value {
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
    let (field, before, after) = match change {
        Change::Field { name, before, after } => (name.as_str(), before, after),
        Change::Script { before, after } => ("script content", before, after),
        Change::Unknown => ("unknown", &None, &None),
    };
    json!({ "field": field, "before": before, "after": after })
}

/// The last line of a review.
pub(crate) fn trusted(agreed: &[&Review], left: usize, printer: &Printer) -> String {
    let names: Vec<String> = agreed.iter().map(|it| on_one_line(it.entry.display_name())).collect();
    let mut out = match names.is_empty() {
        true => "trusted nothing".to_owned(),
        false => {
            format!("{} {}", printer.paint(Tone::Good, "trusted"), harmless(&names.join(", ")))
        }
    };
    if left > 0 {
        let _ = write!(out, "; {left} not trusted, which will not run");
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
pub(crate) fn grants(grants: &[Grant], fits: impl Fn(&Grant) -> bool, printer: &Printer) -> String {
    if grants.is_empty() {
        return "nothing is trusted in this project\n".to_owned();
    }
    let mut out = String::new();
    for grant in grants {
        let (mark, tone, note) = match fits(grant) {
            true => ("✓", Tone::Good, ""),
            false => ("-", Tone::Quiet, ", no hook is like this now"),
        };
        let at = grant.seen.as_ref().map(|seen| format!("trusted at {}", seen.at));
        let at = at.unwrap_or_else(|| "trusted".to_owned());
        let _ = writeln!(
            out,
            "{} {} {}  {}",
            printer.paint(tone, mark),
            printer.paint(Tone::Plain, &on_one_line(&grant.event)),
            printer.paint(Tone::Plain, &on_one_line(grant.display_name())),
            printer.paint(Tone::Quiet, &format!("{at}{note}")),
        );
        if grant.name.is_some() {
            let command = harmless(&grant.command).replace('\n', "\n    │ ");
            let _ = writeln!(out, "    {command}");
        }
    }
    out
}

/// What was taken back.
pub(crate) fn revoked(grants: &[Grant], printer: &Printer) -> String {
    if grants.is_empty() {
        return "nothing was trusted in this project\n".to_owned();
    }
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for grant in grants {
        *counts.entry((&grant.event, grant.display_name())).or_default() += 1;
    }
    let line = |((event, name), count): ((&str, &str), usize)| {
        let name = printer.paint(Tone::Strong, &on_one_line(name));
        let several = if count > 1 { format!(" ({count} decisions)") } else { String::new() };
        format!("revoked {} {name}{several}\n", harmless(event))
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

fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}
