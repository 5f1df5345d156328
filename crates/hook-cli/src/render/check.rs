//! Problems of settings: for people with the source text, and as lines of JSON.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use hook_json::ObjectWriter;
use hook_json::text::{PathText, is_hidden, one_line};
use hook_settings::check::CheckedFile;
use hook_settings::{Diagnostic, Severity};

use super::counted;
use crate::output::{Printer, Tone};

/// The length in bytes above which only a part of a line is shown.
const LONG_LINE: usize = 1_000;

/// The number of characters of a long line that are shown on each side of a problem's start.
const CONTEXT: usize = 60;

/// Formats a problem for people, with its source line and a final blank line.
pub(crate) fn problem(problem: &Diagnostic, text: &str, cwd: &Path, printer: &Printer) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let location = &problem.location;
    let title = level.primary_title(one_line(&problem.message)).id(problem.rule.id());
    let mut group = Group::with_title(title);
    let file = location.file.as_ref().map(|file| {
        one_line(&file.strip_prefix(cwd).unwrap_or(file).shown().to_string()).into_owned()
    });
    let excerpt = Excerpt::of(problem, text);
    // A part of a line needs the column in words, since it cannot be counted.
    if let Some(file) = &file
        && excerpt.as_ref().is_none_or(|excerpt| excerpt.is_cut)
    {
        let origin = Origin::path(file);
        group = group.element(match location.line {
            0 => origin,
            line => origin.line(line).char_column(location.column),
        });
    }
    if let Some(Excerpt { line, marked, is_cut: skips }) = excerpt {
        let snippet = Snippet::source(line)
            .line_start(location.line)
            .path(file.clone().filter(|_| !skips))
            .annotation(AnnotationKind::Primary.span(marked));
        group = group.element(snippet);
    }
    if let Some(suggestion) = &problem.suggestion {
        group =
            group.element(Level::HELP.message(format!("did you mean `{}`?", one_line(suggestion))));
    }
    if problem.suggestion.is_none() || problem.help.is_some() {
        group = group.element(Level::HELP.message(one_line(problem.help())));
    }
    let renderer = if printer.colours_stdout() { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n\n", renderer.render(&[group]))
}

/// A line or a part of a long one, and the range of bytes to mark.
struct Excerpt {
    line: String,
    marked: Range<usize>,
    /// `true` if the text before the part is left out.
    is_cut: bool,
}

impl Excerpt {
    fn of(problem: &Diagnostic, text: &str) -> Option<Self> {
        let location = &problem.location;
        let line = text.lines().nth(location.line.checked_sub(1)?).unwrap_or_default();
        let from = location.column.saturating_sub(1);
        let until = match location.end_line == location.line {
            true => location.end_column.saturating_sub(1).max(from + 1),
            // Of a range over several lines, the first line is enough.
            false => usize::MAX,
        };
        let is_long = line.len() > LONG_LINE;
        let (begin, end) = match is_long {
            true => (from.saturating_sub(CONTEXT), from + CONTEXT),
            false => (0, usize::MAX),
        };
        let mut shown = String::from(if begin > 0 { "…" } else { "" });
        let mut marked = None;
        let mut characters = line.chars().enumerate().skip(begin);
        for (index, character) in characters.by_ref().take_while(|(index, _)| *index < end) {
            let position = shown.len();
            // Control characters take one column, as they are counted.
            shown.push(if is_hidden(character) { ' ' } else { character });
            if (from..until).contains(&index) {
                marked = Some(marked.unwrap_or(position..position).start..shown.len());
            }
        }
        if characters.next().is_some() {
            shown.push('…');
        }
        // A problem at a line's end is marked after its last character.
        let marked = marked.unwrap_or(shown.len()..shown.len());
        Some(Self { line: shown, marked, is_cut: begin > 0 })
    }
}

/// Returns the last line: the number of problems.
pub(crate) fn summary(files: &[CheckedFile], printer: &Printer) -> String {
    let files_text = counted(files.len(), "file");
    let of = |severity| {
        let problems = files.iter().flat_map(|file| &file.file.diagnostics);
        problems.filter(|problem| problem.severity == severity).count()
    };
    let [errors, warnings, hints] = [Severity::Error, Severity::Warning, Severity::Hint].map(of);
    if errors + warnings + hints == 0 {
        let hooks = files.iter().map(|file| file.file.names().count()).sum();
        let text = format!("no problems in {files_text}, {}", counted(hooks, "hook"));
        return format!("{}\n", printer.paint(Tone::Good, &text));
    }
    let counts = [(errors, "error"), (warnings, "warning"), (hints, "hint")];
    let counts_text: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    let tone = match (errors, warnings) {
        (0, 0) => Tone::Plain,
        (0, _) => Tone::Warning,
        _ => Tone::Bad,
    };
    let text = format!("{} in {files_text}", counts_text.join(", "));
    format!("{}\n", printer.paint(tone, &text))
}

/// Formats a problem as a line of JSON.
pub(crate) fn problem_json(problem: &Diagnostic) -> Vec<u8> {
    let location = &problem.location;
    ObjectWriter::line(|object| {
        object.text("severity", problem.severity.as_str());
        object.text("rule", problem.rule.id());
        object.text("message", &problem.message);
        let file = location.file.as_ref().map(|file| file.to_string_lossy());
        object.optional_text("file", file.as_deref());
        if location.line > 0 {
            object.integer("line", location.line as i128);
            object.integer("column", location.column as i128);
            object.integer("endLine", location.end_line as i128);
            object.integer("endColumn", location.end_column as i128);
        }
        if !location.path.is_empty() {
            object.text("path", &location.path);
        }
        object.optional_text("suggestion", problem.suggestion.as_deref());
        object.text("help", problem.help());
    })
}
