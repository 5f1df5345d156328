//! Reviews of a project's hooks, and trust decisions.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_json::text::{self, PathText, one_line, shortened};
use hook_settings::{FailBehavior, MatcherDefinition};
use hook_trust::{Change, Grant, Review, ReviewedFile, TrustStatus, review_command};
use serde_json::{Map, Value, json};

use super::{counted, diff};
use crate::output::{Printer, Tone};

/// The number of lines of a script that are shown without `--show`.
const FIRST_LINES: usize = 20;

/// The maximum length of names in one line, in bytes.
const MAX_LINE: usize = 100;

/// The number of files named by no command that are listed without `--show`.
const FIRST_FILES: usize = 12;

/// The files that were shown already, as one folder may be of several hooks.
#[derive(Debug, Default)]
pub(crate) struct ShownFiles(HashSet<(PathBuf, Option<String>)>);

impl ShownFiles {
    /// Returns `true` if a file with that content was not shown before.
    fn is_new(&mut self, path: &Path, content: Option<String>) -> bool {
        self.0.insert((path.to_path_buf(), content))
    }
}

/// Formats a review: the files and settings of a hook, and changes since it was trusted.
pub(crate) fn review(
    review: &Review,
    whole: bool,
    known: &mut ShownFiles,
    printer: &Printer,
) -> String {
    let (mark, tone, status) = match &review.status {
        TrustStatus::Trusted if !review.is_decided() => {
            let what = "trusted, to go on from its copy where its folder changes; asked whether to block then";
            ("!", Tone::Warning, what.to_owned())
        }
        TrustStatus::Trusted => ("✓", Tone::Good, "trusted".to_owned()),
        TrustStatus::New => ("!", Tone::Warning, "not trusted".to_owned()),
        TrustStatus::Changed(grant) if grant.is_outdated() => {
            let why =
                "trusted by an earlier version, which covered other files; asked again this once";
            ("!", Tone::Warning, why.to_owned())
        }
        TrustStatus::Changed(grant) => match grant.seen.as_ref().map(|seen| &*seen.at) {
            Some(at) if !at.is_empty() => {
                ("!", Tone::Bad, format!("changed since it was trusted at {at}"))
            }
            _ => ("!", Tone::Bad, "changed since it was trusted".to_owned()),
        },
    };
    with_status(review, (mark, tone, &status), whole, known, printer)
}

/// Formats a hook that differs from the lock of its project.
pub(crate) fn unlocked(
    review: &Review,
    whole: bool,
    known: &mut ShownFiles,
    printer: &Printer,
) -> String {
    let status = match &review.status {
        TrustStatus::New => "not in the lock",
        _ => "changed since the lock was written",
    };
    with_status(review, ("!", Tone::Bad, status), whole, known, printer)
}

fn with_status(
    review: &Review,
    (mark, tone, status): (&str, Tone, &str),
    whole: bool,
    known: &mut ShownFiles,
    printer: &Printer,
) -> String {
    let entry = &review.entry;
    let mut out = format!(
        "{} {} {}: {}\n",
        printer.paint(tone, mark),
        printer.paint(Tone::Strong, entry.event.as_str()),
        printer.paint(Tone::Strong, &one_line(entry.display_name())),
        printer.paint(tone, status),
    );
    let mut field = |name: &str, text: &str| {
        let name = printer.paint(Tone::Quiet, &format!("{name:<12} "));
        // The text of a hook's author must not look like another field.
        let text = text::escaped_lines(text).replace('\n', "\n               │ ");
        let _ = writeln!(out, "  {name}{text}");
    };
    field("defined in", &entry.location.to_string());
    if let Some(description) = &entry.description {
        field("description", description);
    }
    match entry.matcher.as_deref() {
        None => field("matcher", "everything"),
        Some(matcher) => {
            // A matcher that is an object is shown with the other settings.
            if let Some(text) = matcher.as_text() {
                field("matcher", if text.is_empty() { "everything" } else { text });
            }
        }
    }
    field("command", &entry.command);
    for (name, value) in &entry.env {
        field("env", &format!("{name}={value}"));
    }
    let mut spec = review.spec();
    if let (Some(agent), Some(event)) = (spec.remove("language"), spec.remove("language.event")) {
        field("event", &format!("{event} of {agent}"));
    }
    if spec.get("runs").is_some_and(|definition| repeats_command(definition)) {
        spec.remove("runs");
    }
    for (name, value) in spec {
        match (name.as_str(), value.parse::<u64>()) {
            ("runs", _) => field("definition", &value),
            ("timeout" | "startTimeout" | "idleTimeout", Ok(milliseconds)) => {
                field(&name, &format!("{} s", Duration::from_millis(milliseconds).as_secs_f64()));
            }
            _ => field(&name, &value),
        }
    }
    for folder in
        review.folders.iter().filter(|folder| review.files.iter().all(|file| file.path != **folder))
    {
        let files = review.files.iter().filter(|file| file.path.starts_with(folder));
        let (packages, files) = files.partition::<Vec<_>, _>(|file| file.is_of_packages());
        let files = counted(files.len(), "file");
        let packages = match packages.len() {
            0 => String::new(),
            count => {
                format!(", and {} of node_modules, which are not listed", counted(count, "file"))
            }
        };
        let uncovered =
            if review.environments.is_empty() { "all of it" } else { "but for what follows" };
        field("folder", &format!("{} ({files}{packages}), {uncovered}", folder.display()));
    }
    for environment in &review.environments {
        let environment = environment.display();
        let text = "what is installed in this virtual environment, known by its pyvenv.cfg";
        field("not covered", &format!("{environment}: {text}"));
    }
    let listed = review.files.iter().filter(|file| file.is_named || !file.is_of_packages());
    let (named, others): (Vec<_>, Vec<_>) = listed.partition(|file| file.is_named);
    let shown = if whole { others.len() } else { FIRST_FILES };
    for file in named.iter().chain(others.iter().take(shown)) {
        field("file", &about(file));
    }
    if others.len() > shown {
        field("file", &format!("… {} more, with --show", counted(others.len() - shown, "file")));
    }
    if review.folders.is_empty() {
        field("files", "none of the project, so nothing is copied");
    } else if named.is_empty() && review.entry.module.is_none() {
        let copy = match &review.status {
            TrustStatus::Changed(grant) if review.runs_from_copy_of(grant) => {
                "; until you agree, the trusted copy goes on: put the file back, or take the hook out of the settings"
            }
            _ => "",
        };
        field(
            "missing",
            &format!("no file that the command names exists, so the hook fails at each run{copy}"),
        );
    }
    for file in &review.data {
        let file = file.display();
        field("data", &format!("{file}; you are not asked again when it changes"));
    }
    let covered: Vec<String> =
        review.folders.iter().map(|folder| folder.display().to_string()).collect();
    for line in &review.loading_lines {
        let covered = covered.join(" and ");
        field(
            "opens",
            &format!("what this line opens is covered only if it is {covered}, or in it: {line}"),
        );
    }
    if review.more_loading_lines > 0 {
        field("opens", &format!("and {} more", review.more_loading_lines));
    }
    let stops =
        if is_guard(review) { "it blocks what it matched before," } else { "it does not run" };
    match (&review.in_place, review.digest.is_some()) {
        (Some(why), true) => field(
            "runs",
            &format!("in place: if its files or settings change, {stops} until you agree; {why}"),
        ),
        (None, true) if review.strict => field(
            "runs",
            &format!(
                "from a copy; if the files here or its settings change, {stops} until you agree (--strict)"
            ),
        ),
        (None, true) => field(
            "runs",
            &format!(
                "from a copy: if the files here change or are gone, the copy goes on and you are told; if its \
                 settings change, {stops} until you agree"
            ),
        ),
        (_, false) => {}
    }
    for reason in &review.opaque {
        field("opaque", reason);
    }
    let changes = review.changes();
    let shows_difference = changes
        .iter()
        .any(|change| matches!(change, Change::File { before: Some(_), after: Some(_), .. }));
    if whole || !shows_difference {
        let named: Vec<&ReviewedFile> = review.files.iter().filter(|file| file.is_named).collect();
        let is_shown = |file: &&ReviewedFile| {
            whole || file.is_named || named.iter().any(|named| names(named, file))
        };
        for file in review.files.iter().filter(is_shown) {
            if known.is_new(&file.path, file.sha256()) {
                out.push_str(&content(file, review.files.len() > 1, whole, printer));
            } else {
                let text = format!("{}: shown above", one_line(&file.path.display().to_string()));
                let _ = writeln!(out, "    {}", printer.paint(Tone::Quiet, &text));
            }
        }
    }
    for change in &changes {
        let is_known = match change {
            Change::File { path, after, .. } => !known.is_new(path, after.clone()),
            _ => false,
        };
        if let Some((label, path)) = added_or_removed(change) {
            let (label, path) = (printer.paint(Tone::Warning, label), one_line(path));
            let _ = writeln!(out, "  {label} {path}");
            let file = review.files.iter().find(|file| file.path == Path::new(&*path));
            if let Some(file) = file.filter(|file| known.is_new(&file.path, file.sha256())) {
                out.push_str(&content(file, false, whole, printer));
            }
            continue;
        }
        out.push_str(&match (change, is_known) {
            (Change::File { path, .. }, true) => format!(
                "  {}      {}, as shown above\n",
                printer.paint(Tone::Warning, "changed"),
                one_line(&path.display().to_string())
            ),
            _ => changed(change, printer),
        });
    }
    out.push('\n');
    out
}

/// Returns the label and the path of a file that came or went.
fn added_or_removed(change: &Change) -> Option<(&'static str, &str)> {
    match change {
        Change::Field { name, before: None, after: Some(path) } if name == "file" => {
            Some(("added       ", path))
        }
        Change::Field { name, before: Some(path), after: None } if name == "file" => {
            Some(("removed     ", path))
        }
        _ => None,
    }
}

/// Checks whether a script names another file without its ending, as imports do.
fn names(script: &ReviewedFile, file: &ReviewedFile) -> bool {
    let stem = file.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_word_character = |character: char| character.is_alphanumeric() || character == '_';
    let has_stem =
        |text: &str| text.split(|character| !is_word_character(character)).any(|word| word == stem);
    !file.is_of_packages() && stem.len() > 2 && script.text().is_some_and(has_stem)
}

/// Checks whether an agent's definition of a hook says no more than its command and timeout.
fn repeats_command(definition: &str) -> bool {
    let fields = serde_json::from_str::<Map<String, Value>>(definition).unwrap_or_default();
    let is_known = |name: &String| ["command", "timeout", "type"].contains(&name.as_str());
    !fields.is_empty() && fields.keys().all(is_known)
}

/// Describes a file in a line.
pub(crate) fn about(file: &ReviewedFile) -> String {
    let path = file.path.display();
    let what = match (&file.target, &file.bytes, file.text()) {
        (Some(target), ..) => format!("a link to {}", target.display()),
        (None, None, _) => "does not exist; you are asked again when it does".to_owned(),
        (None, Some(bytes), None) => format!("{} bytes, not a text", bytes.len()),
        (None, Some(bytes), Some(_)) => format!("{} bytes", bytes.len()),
    };
    let is_program = file.executable && file.bytes.is_some();
    format!("{path} ({what}{})", if is_program { ", executable" } else { "" })
}

/// Formats the content of a file, if it is a text; with `whole` all of it.
pub(crate) fn content(file: &ReviewedFile, named: bool, whole: bool, printer: &Printer) -> String {
    let Some(text) = file.text() else { return String::new() };
    let bar = printer.paint(Tone::Quiet, "│");
    let count = text.lines().count();
    let shown = if whole { count } else { FIRST_LINES };
    let mut out = String::new();
    if named {
        let _ = writeln!(out, "    {}:", one_line(&file.path.display().to_string()));
    }
    for line in text.split('\n').take(shown.min(count)) {
        let _ = writeln!(
            out,
            "    {bar} {}",
            text::escaped_lines(line.strip_suffix('\r').unwrap_or(line))
        );
    }
    if count > shown {
        let more = format!("… {} more lines, with --show", count - shown);
        let _ = writeln!(out, "    {}", printer.paint(Tone::Warning, &more));
    }
    out
}

fn changed(change: &Change, printer: &Printer) -> String {
    let label = printer.paint(Tone::Warning, "changed");
    let side = |sign: &str, tone: Tone, text: Option<&str>| {
        let text =
            text.map_or_else(|| "(none)".to_owned(), |text| text.replace('\n', "\n      │ "));
        format!("    {}\n", printer.paint(tone, &format!("{sign} {text}")))
    };
    match change {
        Change::Field { name, before, after } => format!(
            "  {label}      {}\n{}{}",
            printer.paint(Tone::Strong, &one_line(name)),
            side("-", Tone::Bad, before.as_deref()),
            side("+", Tone::Good, after.as_deref()),
        ),
        Change::File { path, before: Some(before), after: Some(after) } => format!(
            "  {label}      {}\n{}",
            printer.paint(Tone::Strong, &one_line(&path.display().to_string())),
            diff::paint_diff(&diff::unified(before, after, None), "    ", printer)
        ),
        Change::File { path, .. } => format!(
            "  {label}      {}; its earlier content was not kept\n",
            printer.paint(Tone::Strong, &one_line(&path.display().to_string()))
        ),
        Change::Version => format!(
            "  {label}      what trust is: the whole folder, by content, where it was the files that a \
             command was thought to open\n"
        ),
        _ => {
            format!("  {label}      something that the decision did not record\n")
        }
    }
}

/// Formats a review as JSON.
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
    put("file", entry.location.file.as_ref().map(|file| file.to_string_lossy()).into());
    put("line", entry.location.line.into());
    put("column", entry.location.column.into());
    let spec: Map<String, Value> =
        review.spec().into_iter().map(|(name, value)| (name, value.into())).collect();
    put("terms", spec.into());
    put("files", review.files.iter().map(file_json).collect::<Vec<_>>().into());
    let data = review.data.iter().map(|file| file.to_string_lossy());
    put("data", data.collect::<Vec<_>>().into());
    let uncovered = review.environments.iter().map(PathBuf::as_path);
    put("notCovered", uncovered.map(Path::to_string_lossy).collect::<Vec<_>>().into());
    put("opaque", review.opaque.clone().into());
    put("opens", review.loading_lines.clone().into());
    if review.more_loading_lines > 0 {
        put("opensMore", review.more_loading_lines.into());
    }
    put(
        "folders",
        review.folders.iter().map(|folder| folder.to_string_lossy()).collect::<Vec<_>>().into(),
    );
    put("digest", review.digest.clone().into());
    put("inPlace", review.in_place.clone().into());
    put("strict", review.strict.into());
    let status = match review.status {
        TrustStatus::Trusted => "trusted",
        TrustStatus::New => "new",
        TrustStatus::Changed(_) => "changed",
    };
    put("standing", status.into());
    if let TrustStatus::Changed(grant) = &review.status {
        put("trustedAt", grant.seen.as_ref().map(|seen| seen.at.clone()).into());
    }
    put("changes", review.changes().iter().map(change_json).collect::<Vec<_>>().into());
    put("fingerprint", review.fingerprint.clone().into());
    put("granted", granted.into());
    object.into()
}

/// Returns a matcher as written: a string or an object.
fn matcher_json(matcher: &MatcherDefinition) -> Value {
    match matcher {
        MatcherDefinition::Fields(fields) => {
            serde_json::from_str(fields.to_raw().as_str()).unwrap_or_default()
        }
        other => other.to_text().into(),
    }
}

fn file_json(file: &ReviewedFile) -> Value {
    let mut object = json!({
        "path": file.path.to_string_lossy(),
        "executable": file.executable,
    });
    if let Some(target) = &file.target {
        object["target"] = target.to_string_lossy().into();
    }
    if let (Some(bytes), Some(hash)) = (&file.bytes, file.sha256()) {
        object["size"] = bytes.len().into();
        object["sha256"] = hash.into();
    }
    if let Some(text) = file.text() {
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
        Change::Version => json!({ "field": "version", "before": null, "after": null }),
        _ => json!({ "field": "unknown", "before": null, "after": null }),
    }
}

/// Checks whether a hook is one whose failure blocks.
fn is_guard(review: &Review) -> bool {
    let entry = &review.entry;
    entry.fail_behavior == FailBehavior::Block
        || entry.foreign.is_some() && entry.event.is_before_tool()
}

/// Returns the last line of a review.
pub(crate) fn trusted(approved: &[&str], rejected: &[&Review], printer: &Printer) -> String {
    let mut out = match approved {
        [] => "trusted nothing".to_owned(),
        approved => {
            let names: Vec<String> = approved.iter().map(|name| shortened(name)).collect();
            let verb = printer.paint(Tone::Good, "trusted");
            // Commands have commas of their own.
            match names.len() > 1 && names.iter().map(String::len).sum::<usize>() > MAX_LINE {
                true => {
                    format!("{verb} {}:\n  {}\n ", counted(names.len(), "hook"), names.join("\n  "))
                }
                false => format!("{verb} {}", names.join(", ")),
            }
        }
    };
    let has_list = out.ends_with("\n ");
    if has_list {
        out.truncate(out.len() - 2);
    }
    if !rejected.is_empty() {
        let separator = if has_list { "\n" } else { "; " };
        let _ = write!(out, "{separator}{}", not_agreed(rejected, 0));
    }
    out.push('\n');
    out
}

/// Returns where the files of trusted hooks were copied, if any of them runs from a copy.
pub(crate) fn copied(approved: &[&Review], copies: &Path) -> String {
    let of_copy = approved.iter().filter(|review| review.in_place.is_none());
    let folders: BTreeSet<&PathBuf> = of_copy.flat_map(|review| &review.folders).collect();
    let verb = if folders.len() == 1 { "was" } else { "were" };
    let folders: Vec<String> = folders.iter().map(|folder| folder.shown().to_string()).collect();
    match folders.is_empty() {
        true => String::new(),
        false => format!(
            "{} {verb} copied to {}; the decision is yours, for this folder: others and clones decide for themselves\n",
            folders.join(", "),
            copies.shown()
        ),
    }
}

/// Returns what becomes of hooks that were not agreed to: they do not run, a changed guard blocks, and what
/// was trusted before goes on from its copy. A guard that is gone from the settings is held to, too.
pub(crate) fn not_agreed(reviews: &[&Review], removed: usize) -> String {
    let (mut untrusted, mut blocking, mut going_on) = (0, 0, 0);
    for review in reviews {
        let count = match &review.status {
            TrustStatus::Trusted => &mut going_on,
            TrustStatus::Changed(grant) if review.runs_from_copy_of(grant) => &mut going_on,
            TrustStatus::Changed(_) if is_guard(review) => &mut blocking,
            _ => &mut untrusted,
        };
        *count += 1;
    }
    let parts = [
        (
            untrusted,
            if untrusted == 1 {
                "is not trusted and will not run"
            } else {
                "are not trusted and will not run"
            },
        ),
        (blocking, "changed, and will block until that is agreed to"),
        (going_on, "changed, and the trusted copy goes on"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, what)| format!("{} {what}", counted(*count, "hook")));
    let (verb, them) = if removed == 1 { ("is", "its") } else { ("are", "their") };
    let removed = (removed > 0).then(|| {
        format!(
            "{} {verb} gone from the settings, and {verb} held to until you agree to {them} removal",
            counted(removed, "trusted guard")
        )
    });
    parts.chain(removed).collect::<Vec<_>>().join(", ")
}

/// Returns hooks by event and name, for a message.
pub(crate) fn shown_names(hooks: &BTreeSet<(String, String)>) -> String {
    let names =
        hooks.iter().map(|(event, name)| format!("{} {}", one_line(event), shortened(name)));
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the text for a review without open decisions.
pub(crate) fn nothing_to_trust(trusted: usize) -> String {
    match trusted {
        0 => {
            "the project has no hooks that need trust; `hook init` writes rules, which need none\n"
                .to_owned()
        }
        1 => "the hook is trusted already\n".to_owned(),
        count => format!("all {count} hooks are trusted already\n"),
    }
}

/// The match between a decision and the existing hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// A hook and its folders match.
    Full,
    /// A hook matches, and runs from the copy because its folders changed.
    Copy,
    /// A hook is what the decision was about, and changed since: it does not run.
    Changed,
    /// It is about an agent's own file, which was not read.
    OfAgent,
    /// A hook matches, and its copy was changed or is gone.
    BrokenCopy,
    /// No hook matches.
    None,
}

/// Formats decisions for people.
pub(crate) fn grants(
    grants: &[&Grant],
    fits: impl Fn(&Grant) -> Match,
    printer: &Printer,
) -> String {
    if grants.is_empty() {
        return "nothing is trusted in this project\n".to_owned();
    }
    let mut out = String::new();
    // Later decisions first.
    let (replaced, current): (Vec<&Grant>, Vec<&Grant>) =
        grants.iter().copied().partition(|grant| grant.replaced);
    for grant in current.into_iter().chain(replaced) {
        let (mark, tone, mut note) = match (grant.replaced, fits(grant)) {
            (true, _) => ("-", Tone::Quiet, ", replaced by a later decision".to_owned()),
            (false, Match::Full) => ("✓", Tone::Good, String::new()),
            (false, Match::Copy) => (
                "✓",
                Tone::Warning,
                ", its folder changed since, and the trusted copy runs".to_owned(),
            ),
            (false, Match::Changed) => {
                let what = if grant.is_guard() { "it blocks" } else { "it does not run" };
                (
                    "✗",
                    Tone::Bad,
                    format!(", it changed since, so {what}; `hook trust` shows the difference"),
                )
            }
            (false, Match::OfAgent) => {
                let agent = grant.foreign_event().map_or("NAME", |(language, _)| language);
                let command = review_command([agent]);
                (
                    "-",
                    Tone::Quiet,
                    format!(", in a file of {agent}: `{command} --list` compares it"),
                )
            }
            (false, Match::None) if grant.is_guard() => {
                let agree =
                    ", gone from the settings, and holds until you agree to that with `hook trust`";
                ("!", Tone::Warning, agree.to_owned())
            }
            (false, Match::None) => {
                ("-", Tone::Quiet, ", but it is not in the settings any more".to_owned())
            }
            (false, Match::BrokenCopy) => {
                let restore = ", its copy was changed or is gone: `hook trust` restores it";
                ("✗", Tone::Bad, restore.to_owned())
            }
        };
        if let Some(digest) = grant.digest.as_deref().and_then(|digest| digest.get(..16)) {
            let _ = write!(note, ", digest {digest}");
        }
        match (&grant.in_place, &grant.digest) {
            (Some(_), _) => note.push_str(", runs in place"),
            (None, Some(_)) if mark == "✓" => note.push_str(", runs from a copy"),
            (None, _) => {}
        }
        if grant.strict {
            note.push_str(", strict");
        }
        if !grant.opaque.is_empty() {
            note.push_str(", opaque");
        }
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
            let command = text::escaped_lines(&grant.command).replace('\n', "\n    │ ");
            let _ = writeln!(out, "    {command}");
        }
    }
    out
}

/// Returns the text about a written lock.
pub(crate) fn locked(path: &Path, hooks: usize) -> String {
    format!("wrote {}: {}\n", one_line(&path.display().to_string()), counted(hooks, "hook"))
}

/// Returns the text for hooks that all match the lock.
pub(crate) fn all_locked(hooks: usize) -> String {
    match hooks {
        0 => "the project has no hooks\n".to_owned(),
        1 => "the hook is as the lock says\n".to_owned(),
        count => format!("all {count} hooks are as the lock says\n"),
    }
}

/// Formats the hooks that only the lock contains.
pub(crate) fn missing_hooks(grants: &[Grant], printer: &Printer) -> String {
    let line = |grant: &Grant| {
        let mark = printer.paint(Tone::Bad, "-");
        let (event, name) = (one_line(&grant.event), one_line(grant.display_name()));
        format!(
            "{mark} {} {}: in the lock, but not in the settings\n",
            text::escaped_lines(&event),
            text::escaped_lines(&name)
        )
    };
    grants.iter().map(line).collect()
}

/// Formats a trusted guard that is gone from the settings.
pub(crate) fn removed_guard(grant: &Grant, project: &Path, printer: &Printer) -> String {
    let mut out = format!(
        "{} {} {}: {}\n",
        printer.paint(Tone::Bad, "-"),
        printer.paint(Tone::Strong, &one_line(&grant.event)),
        printer.paint(Tone::Strong, &one_line(grant.display_name())),
        printer.paint(Tone::Bad, "trusted, and gone from the settings"),
    );
    let mut field = |name: &str, text: &str| {
        let name = printer.paint(Tone::Quiet, &format!("{name:<12} "));
        let text = text::escaped_lines(text).replace('\n', "\n               │ ");
        let _ = writeln!(out, "  {name}{text}");
    };
    field("project", &project.shown().to_string());
    if let Some(seen) = grant.seen.as_ref().filter(|seen| !seen.at.is_empty()) {
        field("trusted at", &seen.at);
    }
    match grant.matcher() {
        Some(None) => field("matcher", "everything"),
        Some(Some(matcher)) => field("matcher", &matcher.to_text()),
        None => {}
    }
    field("command", &grant.command);
    out.push('\n');
    out
}

/// Returns what became of guards that are gone from the settings.
pub(crate) fn removals(agreed: &[&Grant], kept: usize, printer: &Printer) -> String {
    let mut out = String::new();
    for grant in agreed {
        let _ = writeln!(
            out,
            "agreed to the removal of {} {}: it checks nothing any more",
            one_line(&grant.event),
            printer.paint(Tone::Strong, &shortened(grant.display_name()))
        );
    }
    if kept > 0 {
        let _ = writeln!(out, "{}", not_agreed(&[], kept));
    }
    out
}

/// Formats revoked decisions, and what follows.
pub(crate) fn revoked(grants: &[&Grant], printer: &Printer) -> String {
    if grants.is_empty() {
        return "nothing was trusted in this project\n".to_owned();
    }
    let mut hooks: BTreeMap<(&str, &str), (usize, bool)> = BTreeMap::new();
    for grant in grants {
        let (count, is_guard) = hooks.entry((&grant.event, grant.display_name())).or_default();
        *count += 1;
        *is_guard |= !grant.replaced && grant.is_guard();
    }
    let line = |((event, name), (count, is_guard)): ((&str, &str), (usize, bool))| {
        let event = text::escaped_lines(event);
        let name = printer.paint(Tone::Strong, &shortened(name));
        let several = if count > 1 { format!(" ({count} decisions)") } else { String::new() };
        let unchecked = if is_guard { ", and checks nothing" } else { "" };
        format!(
            "revoked {event} {name}{several}: it does not run until it is trusted again{unchecked}\n"
        )
    };
    hooks.into_iter().map(line).collect()
}

/// Formats a decision as JSON, with an additional field.
pub(crate) fn grant_json(grant: &Grant, flag: (&str, bool)) -> Value {
    let mut object = json!({
        "event": grant.event,
        "name": grant.display_name(),
        "command": grant.command,
        "fingerprint": grant.fingerprint,
        "digest": grant.digest,
        "folders": grant.folders,
        "inPlace": grant.in_place,
        "opaque": grant.opaque,
        "replaced": grant.replaced,
        "strict": grant.strict,
    });
    if let Some(seen) = &grant.seen {
        object["trustedAt"] = seen.at.clone().into();
    }
    object[flag.0] = flag.1.into();
    object
}
